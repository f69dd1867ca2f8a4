// SPDX-License-Identifier: Apache-2.0
// An AXI4 master that plays a script against resil_axi_mem and logs every answer with its cycle.
module traffic #(
  parameter int unsigned DataWidth    = 32,
  parameter int unsigned Words        = 64,
  parameter int unsigned ReadLatency  = 5,
  parameter int unsigned WriteLatency = 3,
  parameter int unsigned BeatInterval = 1,
  parameter bit          Stall        = 1'b1,
  parameter              Name         = "a"
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o
);
  localparam logic [31:0] Base = 32'h4000_0000;
  localparam int unsigned LogWords = 4096;

  typedef struct packed {
    logic [10:0] unused;
    logic        no_last;
    logic  [3:0] id;
    logic        finish;
    logic        write;
    logic  [1:0] burst;
    logic        spare;
    logic  [2:0] size;
    logic  [7:0] len;
    logic [31:0] addr;
  } entry_t;

  logic [63:0] script_q [512];
  logic [DataWidth+63:0] reads_q [LogWords];
  logic [63:0] writes_q [512];
  logic [31:0] issued_q [512];

  initial begin : load
    string file;
    if ($value$plusargs({Name, "_script=%s"}, file)) $readmemh(file, script_q);
  end

  entry_t entry, w_entry;
  logic [8:0] index_q, w_index_q;
  logic [7:0] w_beat_q;
  logic [15:0] w_count_q;
  logic [15:0] r_log_q;
  logic [15:0] b_log_q;
  logic [7:0] reads_open_q, writes_open_q;
  logic [31:0] cycle_q;
  logic [15:0] noise_q;

  assign entry   = script_q[index_q];
  assign w_entry = script_q[w_index_q];

  logic ar_valid, ar_ready, r_valid, r_ready, r_last, aw_valid, aw_ready, w_valid, w_ready, b_valid, b_ready;
  logic [3:0] r_id, b_id;
  logic [1:0] r_resp, b_resp;
  logic [DataWidth-1:0] r_data, w_data;
  logic [DataWidth/8-1:0] w_strb;
  logic [31:0] mix;

  assign ar_valid = !entry.finish && !entry.write && writes_open_q == '0;
  assign aw_valid = !entry.finish && entry.write && reads_open_q == '0;
  assign w_valid  = w_index_q != index_q && w_entry.write && (!Stall || noise_q[3]);
  assign r_ready  = !Stall || noise_q[0];
  assign b_ready  = !Stall || noise_q[1];
  assign mix      = {16'd0, w_count_q} * 32'h9E37_79B1;
  assign w_data   = {(DataWidth / 32) {mix}};
  assign w_strb   = {(DataWidth / 32) {mix[15:12] | {4{mix[16]}}}};
  assign done_o   = entry.finish && reads_open_q == '0 && writes_open_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      index_q       <= '0;
      w_index_q     <= '0;
      w_beat_q      <= '0;
      w_count_q     <= '0;
      r_log_q       <= '0;
      b_log_q       <= '0;
      reads_open_q  <= '0;
      writes_open_q <= '0;
      cycle_q       <= '0;
      noise_q       <= 16'hACE1;
    end else begin
      cycle_q <= cycle_q + 32'd1;
      noise_q <= {noise_q[14:0], noise_q[15] ^ noise_q[13] ^ noise_q[12] ^ noise_q[10]};
      if ((ar_valid && ar_ready) || (aw_valid && aw_ready)) index_q <= index_q + 9'd1;
      if (w_index_q != index_q && !w_entry.write) w_index_q <= w_index_q + 9'd1;
      if (w_valid && w_ready) begin
        w_count_q <= w_count_q + 16'd1;
        w_beat_q  <= w_beat_q + 8'd1;
        if (w_beat_q == w_entry.len) begin
          w_beat_q  <= '0;
          w_index_q <= w_index_q + 9'd1;
        end
      end
      if (r_valid && r_ready) r_log_q <= r_log_q + 16'd1;
      if (b_valid && b_ready) b_log_q <= b_log_q + 16'd1;
      reads_open_q  <= reads_open_q + 8'(ar_valid && ar_ready) - 8'(r_valid && r_ready && r_last);
      writes_open_q <= writes_open_q + 8'(aw_valid && aw_ready) - 8'(b_valid && b_ready);
    end
  end

  always_ff @(posedge clk_i) begin
    if ((ar_valid && ar_ready) || (aw_valid && aw_ready)) issued_q[index_q] <= cycle_q;
    if (r_valid && r_ready) reads_q[r_log_q[11:0]] <= {cycle_q, 25'(r_last), r_id[2:0], 2'd0, r_resp, r_data};
    if (b_valid && b_ready) writes_q[b_log_q[8:0]] <= {cycle_q, 24'd0, 1'b0, b_id[2:0], 2'd0, b_resp};
  end

  resil_axi_mem #(
    .DataWidth   (DataWidth),
    .IdWidth     (4),
    .Words       (Words),
    .Base        (Base),
    .ReadLatency (ReadLatency),
    .WriteLatency(WriteLatency),
    .BeatInterval(BeatInterval),
    .PlusArg     ({Name, "_mem"})
  ) u_mem (
    .clk_i,
    .rst_ni,
    .arvalid_i(ar_valid),
    .arready_o(ar_ready),
    .arid_i   (entry.id),
    .araddr_i (entry.addr),
    .arlen_i  (entry.len),
    .arsize_i (entry.size),
    .arburst_i(entry.burst),
    .rvalid_o (r_valid),
    .rready_i (r_ready),
    .rid_o    (r_id),
    .rdata_o  (r_data),
    .rresp_o  (r_resp),
    .rlast_o  (r_last),
    .awvalid_i(aw_valid),
    .awready_o(aw_ready),
    .awid_i   (entry.id),
    .awaddr_i (entry.addr),
    .awlen_i  (entry.len),
    .awsize_i (entry.size),
    .awburst_i(entry.burst),
    .wvalid_i (w_valid),
    .wready_o (w_ready),
    .wdata_i  (w_data),
    .wstrb_i  (w_strb),
    .wlast_i  (w_beat_q == w_entry.len && !w_entry.no_last),
    .bvalid_o (b_valid),
    .bready_i (b_ready),
    .bid_o    (b_id),
    .bresp_o  (b_resp)
  );

  // What AXI4 demands of a slave: an answer stays until it is taken.
  logic held_q;
  logic [DataWidth+6:0] answer_q;
  logic broken_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q   <= 1'b0;
      answer_q <= '0;
      broken_q <= 1'b0;
    end else begin
      held_q   <= r_valid && !r_ready;
      answer_q <= {r_id, r_resp, r_last, r_data};
      if (held_q && (!r_valid || answer_q != {r_id, r_resp, r_last, r_data})) broken_q <= 1'b1;
    end
  end
endmodule
