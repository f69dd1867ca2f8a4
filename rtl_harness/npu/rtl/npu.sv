// SPDX-License-Identifier: Apache-2.0
/// The NPU: seven blocks, one APB slave, a read/write and a read-only AXI4 port, one interrupt.
module npu
  import axi_pkg::*;
  import npu_pkg::*;
#(
  parameter int unsigned Macs        = 32,   // a cycle: 32, 64, 128 or 256
  parameter bit          RegionCheck = 1'b1, // an access beyond its region's size is an error
  parameter bit          ClockGates  = 1'b0, // blocks have gated clocks, else enables
  parameter int unsigned BufferCode  = 0,    // of the shared buffer's words: 0 none, 1 parity, 2 SECDED
  parameter bit          BusParity   = 1'b0  // the AXI ports have check bits
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        scan_mode_i,   // constant while the NPU works; 1: rst_ni alone resets, all clocks run
  input  logic        psel_i,
  input  logic        penable_i,
  input  logic        pwrite_i,
  input  logic [11:0] paddr_i,
  input  logic [31:0] pwdata_i,
  output logic        pready_o,
  output logic [31:0] prdata_o,
  output logic        irq_o,
  output logic        quiescent_o,
  output logic        op_done_o,     // pulses when an operation ends
  output logic        buffer_corrected_o,
  output logic        buffer_error_o,
  output logic        bus_parity_error_o,
  output logic        m0_ar_valid_o,
  input  logic        m0_ar_ready_i,
  output axi_ar_t     m0_ar_o,
  output axi_ax_check_t m0_ar_check_o,  // zeros without BusParity
  input  logic        m0_r_valid_i,
  output logic        m0_r_ready_o,
  input  axi_r_t      m0_r_i,
  input  axi_r_check_t m0_r_check_i,    // not looked at without BusParity
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
  output logic        m1_ar_valid_o,
  input  logic        m1_ar_ready_i,
  output axi_ar_t     m1_ar_o,
  output axi_ax_check_t m1_ar_check_o,
  input  logic        m1_r_valid_i,
  output logic        m1_r_ready_o,
  input  axi_r_t      m1_r_i,
  input  axi_r_check_t m1_r_check_i
);
  if (Macs != 32 && Macs != 64 && Macs != 128 && Macs != 256) begin : gen_no_such_size
    $error("Macs is %0d: expected 32, 64, 128 or 256; no other size is built", Macs);
  end

  if (BufferCode >= sb_code_pkg::Codes) begin : gen_no_such_code
    $error("BufferCode is %0d: expected 0 (none), 1 (parity) or 2 (SECDED); no other code is built", BufferCode);
  end

  // The compiler's unit of work: pixels across and down, OFM channels; eight IFM channels
  localparam int unsigned UblkD  = Macs == 32 ? 4 : 8;
  localparam int unsigned UblkW  = Macs >= 128 ? 2 : 1;
  localparam int unsigned UblkH  = Macs >= 256 ? 2 : 1;
  localparam int unsigned Lanes  = UblkW * UblkH;
  // KiB of shared buffer, and how many of them feature maps and accumulators may use
  localparam int unsigned Banks  = Macs <= 64 ? 16 : (Macs == 128 ? 24 : 48);
  localparam int unsigned Usable = Macs <= 64 ? Banks : Banks - 2;
  localparam int unsigned AccBanks = Lanes * UblkD / 4;
  localparam int unsigned VecWeights = 8 * UblkD;
  localparam int unsigned OutRate = Macs <= 64 ? 1 : Macs / 64;
  // Beats of the weight stream in flight and queued: faster decoders take them faster than a latency gives 16
  localparam int unsigned WeightBeats = Macs <= 64 ? 16 : 32;

  // Clock and power
  typedef enum logic [2:0] {
    DmaDomain = 3'd0,
    WdDomain  = 3'd1,
    MacDomain = 3'd2,
    AoDomain  = 3'd3,
    SbDomain  = 3'd4
  } domain_e;
  logic rst_n, soft_reset, running, op_busy;
  logic [4:0] clk, enable;
  cpm #(
    .Domains   (5),
    .ClockGates(ClockGates)
  ) u_cpm (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .scan_mode_i (scan_mode_i),
    .soft_reset_i(soft_reset),
    .rst_no      (rst_n),
    .wake_i      ({running, {3{op_busy}}, running}),  // copies write the shared buffer
    .clk_o       (clk),
    .enable_o    (enable),
    .quiescent_o (quiescent_o)
  );

  region_t [NumRegions-1:0] regions;
  linear_req_t fetch_req;
  logic fetch_start, fetch_stop, fetch_idle, fetch_valid, fetch_ready;
  logic [63:0] fetch_data;
  logic copy_start, copy_busy;
  copy_req_t copy;
  op_t op;
  op_error_t op_error;
  logic piece_valid, piece_second, piece_done;
  piece_t piece;
  logic mac_valid, mac_ready, mac_ifm_buffer, mac_acc_buffer;
  logic mac_step_done, mac_row_done, mac_block_done;
  logic weight_start, weight_stop, weight_ahead, weight_kept, weight_flush, weight_idle;
  stream_t weight_next;
  logic out_valid, out_ready, out_acc_buffer, out_ifm_buffer, out_done;
  logic ofm_valid, ofm_done, streams_idle;
  step_t mac_step, out_step, ofm_step;

  cc #(
    .UblkW      (UblkW),
    .UblkH      (UblkH),
    .UblkD      (UblkD),
    .Banks      (Banks),
    .Usable     (Usable),
    .RegionCheck(RegionCheck)
  ) u_cc (
    .clk_i           (clk_i),
    .rst_ni          (rst_n),
    .psel_i          (psel_i),
    .penable_i       (penable_i),
    .pwrite_i        (pwrite_i),
    .paddr_i         (paddr_i),
    .pwdata_i        (pwdata_i),
    .pready_o        (pready_o),
    .prdata_o        (prdata_o),
    .irq_o           (irq_o),
    .running_o       (running),
    .soft_reset_o    (soft_reset),
    .op_done_o       (op_done_o),
    .regions_o       (regions),
    .fetch_req_o     (fetch_req),
    .fetch_start_o   (fetch_start),
    .fetch_stop_o    (fetch_stop),
    .fetch_idle_i    (fetch_idle),
    .fetch_valid_i   (fetch_valid),
    .fetch_ready_o   (fetch_ready),
    .fetch_data_i    (fetch_data),
    .copy_start_o    (copy_start),
    .copy_o          (copy),
    .copy_busy_i     (copy_busy),
    .op_busy_o       (op_busy),
    .op_o            (op),
    .op_error_i      (op_error),
    .piece_valid_o   (piece_valid),
    .piece_o         (piece),
    .piece_second_o  (piece_second),
    .piece_done_i    (piece_done),
    .mac_valid_o     (mac_valid),
    .mac_step_o      (mac_step),
    .mac_ifm_buffer_o(mac_ifm_buffer),
    .mac_acc_buffer_o(mac_acc_buffer),
    .mac_ready_i     (mac_ready),
    .mac_step_done_i (mac_step_done),
    .mac_row_done_i  (mac_row_done),
    .mac_block_done_i(mac_block_done),
    .weight_start_o  (weight_start),
    .weight_stop_o   (weight_stop),
    .weight_ahead_o  (weight_ahead),
    .weight_kept_o   (weight_kept),
    .weight_flush_o  (weight_flush),
    .weight_next_o   (weight_next),
    .weight_idle_i   (weight_idle),
    .out_valid_o     (out_valid),
    .out_ready_o     (out_ready),
    .out_step_o      (out_step),
    .out_acc_buffer_o(out_acc_buffer),
    .out_ifm_buffer_o(out_ifm_buffer),
    .out_done_i      (out_done),
    .ofm_valid_o     (ofm_valid),
    .ofm_step_o      (ofm_step),
    .ofm_done_i      (ofm_done),
    .streams_idle_i  (streams_idle),
    .beats_i         ('{
        m0_read: m0_r_valid_i && m0_r_ready_o, m0_write: m0_w_valid_o && m0_w_ready_i,
        m1_read: m1_r_valid_i && m1_r_ready_o
    })
  );
  assign op_error.scale = 1'b0;  // known before the operation starts

  logic weight_valid, weight_ready, weight_last;
  logic [63:0] weight_data;
  logic scale_start, scale_valid, scale_ready, scale_idle;
  logic [31:0] scale_offset, scale_length;
  logic [63:0] scale_data;
  logic word_wr, stage_put, stage_full, stage_rd;
  logic [5:0] word_wr_bank;
  logic [6:0] word_wr_addr, stage_rd_addr, stage_wr_addr;
  logic [63:0] word_wr_data;
  logic [127:0] stage_rd_data, stage_wr_data;

  dma #(
    .UblkW      (UblkW),
    .UblkH      (UblkH),
    .WeightBeats(WeightBeats),
    .BusParity  (BusParity)
  ) u_dma (
    .clk_i          (clk[DmaDomain]),
    .rst_ni         (rst_n),
    .en_i           (enable[DmaDomain]),
    .regions_i      (regions),
    .fetch_req_i    (fetch_req),
    .fetch_start_i  (fetch_start),
    .fetch_stop_i   (fetch_stop),
    .fetch_idle_o   (fetch_idle),
    .fetch_valid_o  (fetch_valid),
    .fetch_ready_i  (fetch_ready),
    .fetch_data_o   (fetch_data),
    .copy_start_i   (copy_start),
    .copy_i         (copy),
    .copy_busy_o    (copy_busy),
    .op_i           (op),
    .bus_error_o    (op_error.bus),
    .parity_error_o (bus_parity_error_o),
    .address_error_o(op_error.address),
    .streams_idle_o (streams_idle),
    .piece_valid_i  (piece_valid),
    .piece_i        (piece),
    .piece_second_i (piece_second),
    .piece_done_o   (piece_done),
    .weight_start_i (weight_start),
    .weight_stop_i  (weight_stop),
    .weight_ahead_i (weight_ahead),
    .weight_kept_i  (weight_kept),
    .weight_flush_i (weight_flush),
    .weight_next_i  (weight_next),
    .weight_idle_o  (weight_idle),
    .weight_valid_o (weight_valid),
    .weight_ready_i (weight_ready),
    .weight_data_o  (weight_data),
    .weight_last_o  (weight_last),
    .scale_start_i  (scale_start),
    .scale_offset_i (scale_offset),
    .scale_length_i (scale_length),
    .scale_valid_o  (scale_valid),
    .scale_ready_i  (scale_ready),
    .scale_data_o   (scale_data),
    .scale_idle_o   (scale_idle),
    .ofm_valid_i    (ofm_valid),
    .ofm_step_i     (ofm_step),
    .ofm_done_o     (ofm_done),
    .word_wr_o      (word_wr),
    .word_wr_bank_o (word_wr_bank),
    .word_wr_addr_o (word_wr_addr),
    .word_wr_data_o (word_wr_data),
    .stage_put_i    (stage_put),
    .stage_full_o   (stage_full),
    .stage_rd_o     (stage_rd),
    .stage_rd_addr_o(stage_rd_addr),
    .stage_rd_data_i(stage_rd_data),
    .m0_ar_valid_o  (m0_ar_valid_o),
    .m0_ar_ready_i  (m0_ar_ready_i),
    .m0_ar_o        (m0_ar_o),
    .m0_ar_check_o  (m0_ar_check_o),
    .m0_r_valid_i   (m0_r_valid_i),
    .m0_r_ready_o   (m0_r_ready_o),
    .m0_r_i         (m0_r_i),
    .m0_r_check_i   (m0_r_check_i),
    .m0_aw_valid_o  (m0_aw_valid_o),
    .m0_aw_ready_i  (m0_aw_ready_i),
    .m0_aw_o        (m0_aw_o),
    .m0_aw_check_o  (m0_aw_check_o),
    .m0_w_valid_o   (m0_w_valid_o),
    .m0_w_ready_i   (m0_w_ready_i),
    .m0_w_o         (m0_w_o),
    .m0_w_check_o   (m0_w_check_o),
    .m0_b_valid_i   (m0_b_valid_i),
    .m0_b_ready_o   (m0_b_ready_o),
    .m0_b_i         (m0_b_i),
    .m0_b_check_i   (m0_b_check_i),
    .m1_ar_valid_o  (m1_ar_valid_o),
    .m1_ar_ready_i  (m1_ar_ready_i),
    .m1_ar_o        (m1_ar_o),
    .m1_ar_check_o  (m1_ar_check_o),
    .m1_r_valid_i   (m1_r_valid_i),
    .m1_r_ready_o   (m1_r_ready_o),
    .m1_r_i         (m1_r_i),
    .m1_r_check_i   (m1_r_check_i)
  );

  logic vec_valid, vec_ready;
  logic [VecWeights*9-1:0] vec;
  wd #(
    .VecWeights  (VecWeights),
    .ShortWeights(UblkD),
    .Rate        (Macs <= 64 ? 4 : 8)
  ) u_wd (
    .clk_i      (clk[WdDomain]),
    .rst_ni     (rst_n),
    .en_i       (enable[WdDomain]),
    .short_i    (op.kind == Depthwise),
    .start_i    (weight_start),
    .stop_i     (weight_stop),
    .in_valid_i (weight_valid),
    .in_ready_o (weight_ready),
    .in_data_i  (weight_data),
    .in_last_i  (weight_last),
    .vec_valid_o(vec_valid),
    .vec_ready_i(vec_ready),
    .vec_o      (vec),
    .error_o    (op_error.weight)
  );

  logic [Lanes-1:0] word_rd;
  logic [Lanes-1:0][5:0] word_rd_bank;
  logic [Lanes-1:0][6:0] word_rd_addr;
  logic [Lanes-1:0][63:0] word_rd_data;
  logic acc_rd, acc_wr;
  logic [5:0] acc_rd_group, acc_rd_row, acc_wr_group, acc_wr_row;
  logic [AccBanks*128-1:0] acc_rd_data, acc_wr_data;
  logic [2:0] out_rd;
  logic [2:0][5:0] out_rd_bank, out_rd_row;
  logic [2:0][127:0] out_rd_data;

  mac #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Usable(Usable)
  ) u_mac (
    .clk_i         (clk[MacDomain]),
    .rst_ni        (rst_n),
    .en_i          (enable[MacDomain]),
    .op_i          (op),
    .valid_i       (mac_valid),
    .ready_o       (mac_ready),
    .step_i        (mac_step),
    .ifm_buffer_i  (mac_ifm_buffer),
    .acc_buffer_i  (mac_acc_buffer),
    .step_done_o   (mac_step_done),
    .row_done_o    (mac_row_done),
    .block_done_o  (mac_block_done),
    .vec_valid_i   (vec_valid),
    .vec_ready_o   (vec_ready),
    .vec_i         (vec),
    .ifm_rd_o      (word_rd),
    .ifm_rd_bank_o (word_rd_bank),
    .ifm_rd_addr_o (word_rd_addr),
    .ifm_rd_data_i (word_rd_data),
    .acc_rd_o      (acc_rd),
    .acc_rd_group_o(acc_rd_group),
    .acc_rd_row_o  (acc_rd_row),
    .acc_rd_data_i (acc_rd_data),
    .acc_wr_o      (acc_wr),
    .acc_wr_group_o(acc_wr_group),
    .acc_wr_row_o  (acc_wr_row),
    .acc_wr_data_o (acc_wr_data)
  );

  ao #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Banks (Banks),
    .Usable(Usable),
    .Rate  (OutRate)
  ) u_ao (
    .clk_i          (clk[AoDomain]),
    .rst_ni         (rst_n),
    .en_i           (enable[AoDomain]),
    .op_i           (op),
    .valid_i        (out_valid),
    .ready_i        (out_ready),
    .step_i         (out_step),
    .acc_buffer_i   (out_acc_buffer),
    .ifm_buffer_i   (out_ifm_buffer),
    .done_o         (out_done),
    .scale_start_o  (scale_start),
    .scale_offset_o (scale_offset),
    .scale_length_o (scale_length),
    .scale_valid_i  (scale_valid),
    .scale_ready_o  (scale_ready),
    .scale_data_i   (scale_data),
    .scale_idle_i   (scale_idle),
    .rd_o           (out_rd),
    .rd_bank_o      (out_rd_bank),
    .rd_row_o       (out_rd_row),
    .rd_data_i      (out_rd_data),
    .stage_full_i   (stage_full),
    .stage_wr_o     (stage_put),
    .stage_wr_addr_o(stage_wr_addr),
    .stage_wr_data_o(stage_wr_data)
  );

  sb #(
    .Banks   (Banks),
    .Usable  (Usable),
    .Lanes   (Lanes),
    .AccBanks(AccBanks),
    .Code    (BufferCode)
  ) u_sb (
    .clk_i          (clk[SbDomain]),
    .rst_ni         (rst_n),
    .en_i           (enable[SbDomain]),
    .word_wr_i      (word_wr),
    .word_wr_bank_i (word_wr_bank),
    .word_wr_addr_i (word_wr_addr),
    .word_wr_data_i (word_wr_data),
    .word_rd_i      (word_rd),
    .word_rd_bank_i (word_rd_bank),
    .word_rd_addr_i (word_rd_addr),
    .word_rd_data_o (word_rd_data),
    .acc_wr_i       (acc_wr),
    .acc_wr_group_i (acc_wr_group),
    .acc_wr_row_i   (acc_wr_row),
    .acc_wr_data_i  (acc_wr_data),
    .acc_rd_i       (acc_rd),
    .acc_rd_group_i (acc_rd_group),
    .acc_rd_row_i   (acc_rd_row),
    .acc_rd_data_o  (acc_rd_data),
    .out_rd_i       (out_rd),
    .out_rd_bank_i  (out_rd_bank),
    .out_rd_row_i   (out_rd_row),
    .out_rd_data_o  (out_rd_data),
    .stage_wr_i     (stage_put),
    .stage_wr_addr_i(stage_wr_addr),
    .stage_wr_data_i(stage_wr_data),
    .stage_rd_i     (stage_rd),
    .stage_rd_addr_i(stage_rd_addr),
    .stage_rd_data_o(stage_rd_data),
    .corrected_o    (buffer_corrected_o),
    .error_o        (buffer_error_o)
  );
endmodule
