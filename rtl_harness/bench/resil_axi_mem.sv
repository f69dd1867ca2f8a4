// SPDX-License-Identifier: Apache-2.0
/// Memory behind an AXI4 port that closes a design for fault injection: latency, bandwidth, bounds.
///
/// Bursts are served in the order of their addresses, whatever their IDs. The first beat of a read is offered
/// `ReadLatency` cycles after its address was taken at the earliest, the answer to a write `WriteLatency` cycles
/// after its last beat; each direction moves a beat every `BeatInterval` cycles. A beat outside the memory, a write
/// to a memory that is not `Writable`, and a burst that AXI4 does not have are answered SLVERR; they read zero
/// and write nothing, so that a wild address reaches no other. `mem_q` starts as the file that +PlusArg=FILE
/// names, read with $readmemh, and zero elsewhere.
module resil_axi_mem #(
  parameter int unsigned          DataWidth    = 64,    // 8, 16, ... 1024
  parameter int unsigned          AddrWidth    = 32,
  parameter int unsigned          IdWidth      = 1,
  parameter int unsigned          Words        = 1024,  // of DataWidth bits
  parameter logic [AddrWidth-1:0] Base         = '0,
  parameter bit                   Writable     = 1'b1,
  parameter int unsigned          ReadLatency  = 16,    // at least 3
  parameter int unsigned          WriteLatency = 16,    // at least 1
  parameter int unsigned          BeatInterval = 1,
  parameter int unsigned          MaxReads     = 8,
  parameter int unsigned          MaxWrites    = 4,
  parameter                       PlusArg      = "mem"
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   arvalid_i,
  output logic                   arready_o,
  input  logic     [IdWidth-1:0] arid_i,
  input  logic   [AddrWidth-1:0] araddr_i,
  input  logic             [7:0] arlen_i,
  input  logic             [2:0] arsize_i,
  input  logic             [1:0] arburst_i,
  output logic                   rvalid_o,
  input  logic                   rready_i,
  output logic     [IdWidth-1:0] rid_o,
  output logic   [DataWidth-1:0] rdata_o,
  output logic             [1:0] rresp_o,
  output logic                   rlast_o,
  input  logic                   awvalid_i,
  output logic                   awready_o,
  input  logic     [IdWidth-1:0] awid_i,
  input  logic   [AddrWidth-1:0] awaddr_i,
  input  logic             [7:0] awlen_i,
  input  logic             [2:0] awsize_i,
  input  logic             [1:0] awburst_i,
  input  logic                   wvalid_i,
  output logic                   wready_o,
  input  logic   [DataWidth-1:0] wdata_i,
  input  logic [DataWidth/8-1:0] wstrb_i,
  input  logic                   wlast_i,
  output logic                   bvalid_o,
  input  logic                   bready_i,
  output logic     [IdWidth-1:0] bid_o,
  output logic             [1:0] bresp_o
);
  localparam int unsigned Bytes = DataWidth / 8;
  localparam int unsigned ByteW = $clog2(Bytes);
  localparam int unsigned IndexW = Words > 1 ? $clog2(Words) : 1;
  localparam int unsigned PaceW = BeatInterval > 1 ? $clog2(BeatInterval) : 1;
  localparam int unsigned BurstW = IdWidth + AddrWidth + 13;
  localparam logic [1:0] Okay = 2'd0;
  localparam logic [1:0] SlvErr = 2'd2;

  if (DataWidth < 8 || DataWidth > 1024 || 8 << ByteW != DataWidth) begin : g_width
    $error("resil_axi_mem: DataWidth must be 8, 16, 32, ... 1024, found %0d", DataWidth);
  end
  if (ReadLatency < 3 || WriteLatency < 1 || BeatInterval < 1 || MaxReads < 1 || MaxWrites < 1) begin : g_timing
    $error("resil_axi_mem: ReadLatency must be at least 3, the other timing parameters at least 1");
  end

  logic [DataWidth-1:0] mem_q [Words];

  string file;
  initial begin
    for (int i = 0; i < int'(Words); i++) mem_q[i] = '0;
    if ($value$plusargs({PlusArg, "=%s"}, file)) $readmemh(file, mem_q);
  end

  // Reads: queued address, burst, register of the beat that is offered.
  logic ar_valid, ar_ready, r_active, r_bad, r_last, r_step, r_hit;
  logic [IdWidth-1:0] ar_id, r_id;
  logic [AddrWidth-1:0] ar_addr, r_addr, r_offset;
  logic [7:0] ar_len;
  logic [2:0] ar_size;
  logic [1:0] ar_burst;
  logic [PaceW-1:0] r_pace_q;
  logic r_valid_q, r_last_q;
  logic [IdWidth-1:0] r_id_q;
  logic [DataWidth-1:0] r_data_q;
  logic [1:0] r_resp_q;

  resil_delay_queue #(
    .Width(BurstW),
    .Depth(MaxReads),
    .Delay(ReadLatency - 3)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .valid_i(arvalid_i),
    .ready_o(arready_o),
    .data_i ({arid_i, araddr_i, arlen_i, arsize_i, arburst_i}),
    .valid_o(ar_valid),
    .ready_i(ar_ready),
    .data_o ({ar_id, ar_addr, ar_len, ar_size, ar_burst})
  );

  resil_axi_burst #(
    .AddrWidth(AddrWidth),
    .IdWidth  (IdWidth),
    .MaxSize  (ByteW)
  ) u_read (
    .clk_i,
    .rst_ni,
    .valid_i(ar_valid),
    .ready_o(ar_ready),
    .id_i   (ar_id),
    .addr_i (ar_addr),
    .len_i  (ar_len),
    .size_i (ar_size),
    .burst_i(ar_burst),
    .valid_o(r_active),
    .step_i (r_step),
    .id_o   (r_id),
    .addr_o (r_addr),
    .last_o (r_last),
    .bad_o  (r_bad)
  );

  assign r_offset = r_addr - Base;
  assign r_hit    = !r_bad && 64'(r_offset >> ByteW) < 64'(Words);
  assign r_step   = r_active && r_pace_q == '0 && (!r_valid_q || rready_i);
  assign rvalid_o = r_valid_q;
  assign rid_o    = r_id_q;
  assign rdata_o  = r_data_q;
  assign rresp_o  = r_resp_q;
  assign rlast_o  = r_last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      r_valid_q <= 1'b0;
      r_id_q    <= '0;
      r_data_q  <= '0;
      r_resp_q  <= Okay;
      r_last_q  <= 1'b0;
      r_pace_q  <= '0;
    end else begin
      if (!r_valid_q || rready_i) begin
        r_valid_q <= r_step;
        r_id_q    <= r_step ? r_id : '0;
        r_data_q  <= r_step && r_hit ? mem_q[IndexW'(r_offset >> ByteW)] : '0;
        r_resp_q  <= r_step && !r_hit ? SlvErr : Okay;
        r_last_q  <= r_step && r_last;
      end
      if (r_step) r_pace_q <= PaceW'(BeatInterval - 1);
      else if (r_pace_q != '0) r_pace_q <= r_pace_q - PaceW'(1);
    end
  end

  // Writes: queued address, burst, queued answer. A write is bad if any of its beats is.
  logic aw_valid, aw_ready, w_active, w_bad, w_last, w_step, w_hit, w_failed_q, b_free;
  logic [IdWidth-1:0] aw_id, w_id;
  logic [AddrWidth-1:0] aw_addr, w_addr, w_offset;
  logic [7:0] aw_len;
  logic [2:0] aw_size;
  logic [1:0] aw_burst;
  logic [PaceW-1:0] w_pace_q;

  resil_delay_queue #(
    .Width(BurstW),
    .Depth(MaxWrites)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .valid_i(awvalid_i),
    .ready_o(awready_o),
    .data_i ({awid_i, awaddr_i, awlen_i, awsize_i, awburst_i}),
    .valid_o(aw_valid),
    .ready_i(aw_ready),
    .data_o ({aw_id, aw_addr, aw_len, aw_size, aw_burst})
  );

  resil_axi_burst #(
    .AddrWidth(AddrWidth),
    .IdWidth  (IdWidth),
    .MaxSize  (ByteW)
  ) u_write (
    .clk_i,
    .rst_ni,
    .valid_i(aw_valid),
    .ready_o(aw_ready),
    .id_i   (aw_id),
    .addr_i (aw_addr),
    .len_i  (aw_len),
    .size_i (aw_size),
    .burst_i(aw_burst),
    .valid_o(w_active),
    .step_i (w_step),
    .id_o   (w_id),
    .addr_o (w_addr),
    .last_o (w_last),
    .bad_o  (w_bad)
  );

  assign w_offset = w_addr - Base;
  assign w_hit    = Writable && !w_bad && 64'(w_offset >> ByteW) < 64'(Words) && wlast_i == w_last;
  assign wready_o = w_active && w_pace_q == '0 && b_free;
  assign w_step   = wready_o && wvalid_i;

  always_ff @(posedge clk_i) begin
    if (w_step && w_hit) begin
      for (int unsigned i = 0; i < Bytes; i++) begin
        if (wstrb_i[i]) mem_q[IndexW'(w_offset >> ByteW)][8*i+:8] <= wdata_i[8*i+:8];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      w_failed_q <= 1'b0;
      w_pace_q   <= '0;
    end else begin
      if (w_step) w_failed_q <= !w_last && (w_failed_q || !w_hit);
      if (w_step) w_pace_q <= PaceW'(BeatInterval - 1);
      else if (w_pace_q != '0) w_pace_q <= w_pace_q - PaceW'(1);
    end
  end

  logic b_failed;
  resil_delay_queue #(
    .Width(IdWidth + 1),
    .Depth(MaxWrites),
    .Delay(WriteLatency - 1)
  ) u_b (
    .clk_i,
    .rst_ni,
    .valid_i(w_step && w_last),
    .ready_o(b_free),
    .data_i ({w_id, w_failed_q || !w_hit}),
    .valid_o(bvalid_o),
    .ready_i(bready_i),
    .data_o ({bid_o, b_failed})
  );
  assign bresp_o = bvalid_o && b_failed ? SlvErr : Okay;
endmodule
