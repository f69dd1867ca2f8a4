// SPDX-License-Identifier: Apache-2.0
/// DMA controller: command, scale and weight streams and IFM pieces in, OFM blocks out, copies across.
module dma
  import axi_pkg::*;
  import npu_pkg::*;
#(
  parameter int unsigned UblkW = 1,
  parameter int unsigned UblkH = 1,
  parameter int unsigned WeightBeats = 16, // queue of weights, which holds two bursts
  parameter bit          BusParity   = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  region_t [NumRegions-1:0] regions_i,
  // Command stream
  input  linear_req_t fetch_req_i,
  input  logic        fetch_start_i,
  input  logic        fetch_stop_i,
  output logic        fetch_idle_o,
  output logic        fetch_valid_o,
  input  logic        fetch_ready_i,
  output logic [63:0] fetch_data_o,
  // Copy
  input  logic        copy_start_i,
  input  copy_req_t   copy_i,
  output logic        copy_busy_o,
  // Operation
  input  op_t         op_i,
  output logic        bus_error_o,
  output logic        parity_error_o,
  output logic        address_error_o,
  output logic        streams_idle_o,
  input  logic        piece_valid_i,
  input  piece_t      piece_i,
  input  logic        piece_second_i,
  output logic        piece_done_o,
  input  logic        weight_start_i,
  input  logic        weight_stop_i,
  input  logic        weight_ahead_i,  // begin with the next operation's
  input  logic        weight_kept_i,   // what is read is for it
  input  logic        weight_flush_i,  // it does not come
  input  stream_t     weight_next_i,
  output logic        weight_idle_o,
  output logic        weight_valid_o,
  input  logic        weight_ready_i,
  output logic [63:0] weight_data_o,
  output logic        weight_last_o,
  input  logic        scale_start_i,
  input  logic [31:0] scale_offset_i,  // first byte of the scale stream, a multiple of 8
  input  logic [31:0] scale_length_i,
  output logic        scale_valid_o,
  input  logic        scale_ready_i,
  output logic [63:0] scale_data_o,
  output logic        scale_idle_o,
  input  logic        ofm_valid_i,
  input  step_t       ofm_step_i,
  output logic        ofm_done_o,
  // Shared buffer
  output logic        word_wr_o,
  output logic [5:0]  word_wr_bank_o,
  output logic [6:0]  word_wr_addr_o,
  output logic [63:0] word_wr_data_o,
  input  logic        stage_put_i,
  output logic        stage_full_o,
  output logic        stage_rd_o,
  output logic [6:0]  stage_rd_addr_o,
  input  logic [127:0] stage_rd_data_i,
  // AXI M0 (read, write)
  output logic        m0_ar_valid_o,
  input  logic        m0_ar_ready_i,
  output axi_ar_t     m0_ar_o,
  output axi_ax_check_t m0_ar_check_o,
  input  logic        m0_r_valid_i,
  output logic        m0_r_ready_o,
  input  axi_r_t      m0_r_i,
  input  axi_r_check_t m0_r_check_i,
  output logic        m0_aw_valid_o,
  input  logic        m0_aw_ready_i,
  output axi_aw_t     m0_aw_o,
  output axi_ax_check_t m0_aw_check_o,
  output logic        m0_w_valid_o,
  input  logic        m0_w_ready_i,
  output axi_w_t      m0_w_o,
  output axi_w_check_t m0_w_check_o,
  input  logic        m0_b_valid_i,
  output logic        m0_b_ready_o,
  input  axi_b_t      m0_b_i,
  input  axi_b_check_t m0_b_check_i,
  // AXI M1 (read only)
  output logic        m1_ar_valid_o,
  input  logic        m1_ar_ready_i,
  output axi_ar_t     m1_ar_o,
  output axi_ax_check_t m1_ar_check_o,
  input  logic        m1_r_valid_i,
  output logic        m1_r_ready_o,
  input  axi_r_t      m1_r_i,
  input  axi_r_check_t m1_r_check_i
);
  logic [NumRdClients-1:0] ar_valid, ar_ready, ar_port, r_valid, r_ready;
  burst_t [NumRdClients-1:0] ar;
  logic [NumRdClients-1:0][63:0] r_data;

  // Linear streams
  stream_t weight_stream;
  region_t weight_region, scale_region;
  linear_req_t weight_req, scale_req;
  assign weight_stream = weight_ahead_i ? weight_next_i : op_i.weight;
  assign weight_region = regions_i[weight_stream.region];
  assign scale_region  = regions_i[op_i.scale.region];
  assign weight_req    = '{port: weight_region.port, addr: weight_region.base + weight_stream.base,
                           length: weight_stream.length};
  assign scale_req     = '{port: scale_region.port,
                           addr: scale_region.base + op_i.scale.base + scale_offset_i,
                           length: scale_length_i};

  logic weight_valid, command_idle, fetch_last, scale_last, copy_last;
  logic [29:0] fetch_left, scale_left, weight_left, copy_left;
  dma_linear #(
    .Depth   (16),
    .MaxBurst(8)
  ) u_command (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .en_i      (en_i),
    .start_i   (fetch_start_i),
    .stop_i    (fetch_stop_i),
    .req_i     (fetch_req_i),
    .idle_o    (command_idle),
    .ar_valid_o(ar_valid[RdCommand]),
    .ar_ready_i(ar_ready[RdCommand]),
    .ar_port_o (ar_port[RdCommand]),
    .ar_o      (ar[RdCommand]),
    .r_valid_i (r_valid[RdCommand]),
    .r_data_i  (r_data[RdCommand]),
    .valid_o   (fetch_valid_o),
    .ready_i   (fetch_ready_i),
    .data_o    (fetch_data_o),
    .last_o    (fetch_last),
    .left_o    (fetch_left)
  );
  dma_linear #(
    .Depth   (16),
    .MaxBurst(8)
  ) u_scale (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .en_i      (en_i),
    .start_i   (scale_start_i),
    .stop_i    (1'b0),
    .req_i     (scale_req),
    .idle_o    (scale_idle_o),
    .ar_valid_o(ar_valid[RdScale]),
    .ar_ready_i(ar_ready[RdScale]),
    .ar_port_o (ar_port[RdScale]),
    .ar_o      (ar[RdScale]),
    .r_valid_i (r_valid[RdScale]),
    .r_data_i  (r_data[RdScale]),
    .valid_o   (scale_valid_o),
    .ready_i   (scale_ready_i),
    .data_o    (scale_data_o),
    .last_o    (scale_last),
    .left_o    (scale_left)
  );
  dma_linear #(
    .Depth   (WeightBeats),
    .MaxBurst(WeightBeats / 2)
  ) u_weight (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .en_i      (en_i),
    .start_i   (weight_ahead_i || (weight_start_i && !weight_kept_i)),
    .stop_i    (weight_stop_i && !(weight_kept_i && !weight_flush_i)),
    .req_i     (weight_req),
    .idle_o    (weight_idle_o),
    .ar_valid_o(ar_valid[RdWeight]),
    .ar_ready_i(ar_ready[RdWeight]),
    .ar_port_o (ar_port[RdWeight]),
    .ar_o      (ar[RdWeight]),
    .r_valid_i (r_valid[RdWeight]),
    .r_data_i  (r_data[RdWeight]),
    .valid_o   (weight_valid),
    .ready_i   (weight_ready_i && !weight_kept_i),
    .data_o    (weight_data_o),
    .last_o    (weight_last_o),
    .left_o    (weight_left)
  );
  assign weight_valid_o = weight_valid && !weight_kept_i;
  assign fetch_idle_o   = command_idle && weight_idle_o;

  // Feature-map pieces
  fmap_t piece_fmap;
  region_t piece_region;
  logic piece_address_error, piece_wr;
  logic [5:0] piece_wr_bank;
  logic [6:0] piece_wr_addr;
  logic [63:0] piece_wr_data;
  assign piece_fmap   = piece_second_i ? op_i.ifm2 : op_i.ifm;
  assign piece_region = regions_i[piece_fmap.region];
  assign ar_port[RdIfm] = piece_region.port;
  dma_piece #(
    .UblkW(UblkW),
    .UblkH(UblkH)
  ) u_piece (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .region_i       (piece_region),
    .fmap_i         (piece_fmap),
    .valid_i        (piece_valid_i),
    .piece_i        (piece_i),
    .done_o         (piece_done_o),
    .address_error_o(piece_address_error),
    .ar_valid_o     (ar_valid[RdIfm]),
    .ar_ready_i     (ar_ready[RdIfm]),
    .ar_o           (ar[RdIfm]),
    .r_valid_i      (r_valid[RdIfm]),
    .r_ready_o      (r_ready[RdIfm]),
    .r_data_i       (r_data[RdIfm]),
    .wr_o           (piece_wr),
    .wr_bank_o      (piece_wr_bank),
    .wr_addr_o      (piece_wr_addr),
    .wr_data_o      (piece_wr_data)
  );

  // Copies and OFM blocks. What of a read burst waits for the rest of a write burst leaves room for two others.
  localparam int unsigned CopyDepth = 24;
  logic copy_src_idle, copy_src_valid, copy_src_ready, ofm_address_error, ofm_idle;
  logic copy_word;
  logic [5:0] copy_word_bank;
  logic [6:0] copy_word_addr;
  logic [63:0] copy_src_data;
  logic [1:0] wr_valid, wr_take, wr_pop, wr_idle;
  burst_t [1:0] wr_burst;
  logic [1:0][63:0] wr_data;
  logic [1:0][7:0] wr_strb;
  dma_linear #(
    .Depth   (CopyDepth),
    .MaxBurst(8)
  ) u_copy_source (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .en_i      (en_i),
    .start_i   (copy_start_i),
    .stop_i    (1'b0),
    .req_i     (copy_i.src),
    .idle_o    (copy_src_idle),
    .ar_valid_o(ar_valid[RdCopy]),
    .ar_ready_i(ar_ready[RdCopy]),
    .ar_port_o (ar_port[RdCopy]),
    .ar_o      (ar[RdCopy]),
    .r_valid_i (r_valid[RdCopy]),
    .r_data_i  (r_data[RdCopy]),
    .valid_o   (copy_src_valid),
    .ready_i   (copy_src_ready),
    .data_o    (copy_src_data),
    .last_o    (copy_last),
    .left_o    (copy_left)
  );
  dma_copy #(
    .Depth   (CopyDepth),
    .MaxBurst(8)
  ) u_copy (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .en_i         (en_i),
    .start_i      (copy_start_i),
    .req_i        (copy_i),
    .busy_o       (copy_busy_o),
    .src_idle_i   (copy_src_idle),
    .src_valid_i  (copy_src_valid),
    .src_ready_o  (copy_src_ready),
    .src_push_i   (r_valid[RdCopy]),
    .src_left_i   (copy_left),
    .burst_valid_o(wr_valid[1]),
    .burst_take_i (wr_take[1]),
    .burst_o      (wr_burst[1]),
    .beat_pop_i   (wr_pop[1]),
    .wr_idle_i    (wr_idle[1]),
    .word_valid_o (copy_word),
    .word_ready_i (!piece_wr),
    .word_bank_o  (copy_word_bank),
    .word_addr_o  (copy_word_addr)
  );
  assign wr_data[1] = copy_src_data;
  assign wr_strb[1] = '1;
  assign word_wr_o      = piece_wr || copy_word;
  assign word_wr_bank_o = piece_wr ? piece_wr_bank : copy_word_bank;
  assign word_wr_addr_o = piece_wr ? piece_wr_addr : copy_word_addr;
  assign word_wr_data_o = piece_wr ? piece_wr_data : copy_src_data;
  dma_ofm u_ofm (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .op_i           (op_i),
    .region_i       (regions_i[op_i.ofm.region]),
    .valid_i        (ofm_valid_i),
    .step_i         (ofm_step_i),
    .done_o         (ofm_done_o),
    .idle_o         (ofm_idle),
    .address_error_o(ofm_address_error),
    .row_put_i      (stage_put_i),
    .full_o         (stage_full_o),
    .rd_o           (stage_rd_o),
    .rd_addr_o      (stage_rd_addr_o),
    .rd_data_i      (stage_rd_data_i),
    .burst_valid_o  (wr_valid[0]),
    .burst_take_i   (wr_take[0]),
    .burst_o        (wr_burst[0]),
    .beat_pop_i     (wr_pop[0]),
    .beat_data_o    (wr_data[0]),
    .beat_strb_o    (wr_strb[0])
  );
  assign streams_idle_o = (weight_idle_o || weight_kept_i) && scale_idle_o && wr_idle[0] && ofm_idle;

  // Ports
  logic m0_rd_error, m1_rd_error, wr_error;
  logic [63:0] m0_data, m1_data;
  logic [NumRdClients-1:0] m0_ready, m1_ready, m0_r_valid, m1_r_valid;
  assign r_ready[RdCommand] = 1'b1;
  assign r_ready[RdScale]   = 1'b1;
  assign r_ready[RdWeight]  = 1'b1;
  assign r_ready[RdCopy]    = 1'b1;

  logic m0_parity_error, m1_parity_error, wr_parity_error;
  assign parity_error_o = m0_parity_error || m1_parity_error || wr_parity_error;

  dma_rd_port #(
    .Parity(BusParity)
  ) u_m0_read (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .en_i         (en_i),
    .valid_i      (ar_valid & ~ar_port),
    .ready_o      (m0_ready),
    .burst_i      (ar),
    .r_valid_o    (m0_r_valid),
    .r_ready_i    (r_ready),
    .r_data_o     (m0_data),
    .bus_error_o  (m0_rd_error),
    .parity_error_o(m0_parity_error),
    .ar_valid_o   (m0_ar_valid_o),
    .ar_ready_i   (m0_ar_ready_i),
    .ar_o         (m0_ar_o),
    .ar_check_o   (m0_ar_check_o),
    .r_valid_axi_i(m0_r_valid_i),
    .r_ready_axi_o(m0_r_ready_o),
    .r_i          (m0_r_i),
    .r_check_i    (m0_r_check_i)
  );
  dma_rd_port #(
    .Parity(BusParity)
  ) u_m1_read (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .en_i         (en_i),
    .valid_i      (ar_valid & ar_port),
    .ready_o      (m1_ready),
    .burst_i      (ar),
    .r_valid_o    (m1_r_valid),
    .r_ready_i    (r_ready),
    .r_data_o     (m1_data),
    .bus_error_o  (m1_rd_error),
    .parity_error_o(m1_parity_error),
    .ar_valid_o   (m1_ar_valid_o),
    .ar_ready_i   (m1_ar_ready_i),
    .ar_o         (m1_ar_o),
    .ar_check_o   (m1_ar_check_o),
    .r_valid_axi_i(m1_r_valid_i),
    .r_ready_axi_o(m1_r_ready_o),
    .r_i          (m1_r_i),
    .r_check_i    (m1_r_check_i)
  );
  for (genvar i = 0; i < NumRdClients; i++) begin : gen_client
    assign ar_ready[i] = ar_port[i] ? m1_ready[i] : m0_ready[i];
    assign r_valid[i]  = ar_port[i] ? m1_r_valid[i] : m0_r_valid[i];
    assign r_data[i]   = ar_port[i] ? m1_data : m0_data;
  end

  dma_wr_port #(
    .Parity(BusParity)
  ) u_m0_write (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .en_i       (en_i),
    .valid_i    (wr_valid),
    .take_o     (wr_take),
    .burst_i    (wr_burst),
    .pop_o      (wr_pop),
    .data_i     (wr_data),
    .strb_i     (wr_strb),
    .idle_o     (wr_idle),
    .bus_error_o(wr_error),
    .parity_error_o(wr_parity_error),
    .aw_valid_o (m0_aw_valid_o),
    .aw_ready_i (m0_aw_ready_i),
    .aw_o       (m0_aw_o),
    .aw_check_o (m0_aw_check_o),
    .w_valid_o  (m0_w_valid_o),
    .w_ready_i  (m0_w_ready_i),
    .w_o        (m0_w_o),
    .w_check_o  (m0_w_check_o),
    .b_valid_i  (m0_b_valid_i),
    .b_ready_o  (m0_b_ready_o),
    .b_i        (m0_b_i),
    .b_check_i  (m0_b_check_i)
  );

  // A weight that is read ahead and is bad counts when the operation begins with it.
  logic ahead_error, ahead_error_q;
  assign ahead_error = m1_rd_error && m1_r_valid[RdWeight] && weight_kept_i && !weight_start_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ahead_error_q <= 1'b0;
    else if (en_i) ahead_error_q <= (ahead_error || ahead_error_q) && weight_kept_i && !weight_start_i;
  end

  assign bus_error_o     = m0_rd_error || (m1_rd_error && !ahead_error) || wr_error
                           || (ahead_error_q && weight_start_i);
  assign address_error_o = piece_address_error || ofm_address_error;

  logic unused_streams;
  assign unused_streams = ^{fetch_last, scale_last, copy_last, fetch_left, scale_left, weight_left};
endmodule
