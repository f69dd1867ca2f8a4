// SPDX-License-Identifier: Apache-2.0
/// The NPU's blocks side by side, each with a clock of its own, so that a test of one costs nothing for the
/// others. The structures of the ports are those of blocks_pkg.sv.
module blocks
  import npu_pkg::*;
  import cc_cmd_pkg::*;
  import blocks_pkg::*;
#(
  parameter int unsigned Macs = 32
) (
  input  logic dma_clk,
  input  logic [$bits(op_t)-1:0] dma_op,
  input  logic [NumRegions*$bits(region_t)-1:0] dma_regions,
  input  logic [$bits(dma_in_t)-1:0] dma_i,
  output logic [$bits(dma_out_t)-1:0] dma_o,

  input  logic data_clk,
  input  logic [$bits(op_t)-1:0] data_op,
  input  logic [$bits(data_in_t)-1:0] data_i,
  output logic [$bits(data_out_t)-1:0] data_o,

  input  logic element_clk,
  input  logic [$bits(op_t)-1:0] element_op,
  input  logic [$bits(element_in_t)-1:0] element_i,
  output logic [$bits(element_out_t)-1:0] element_o,

  input  logic array_clk,
  input  logic [$bits(array_in_t)-1:0] array_i,
  output logic [$bits(array_out_t)-1:0] array_o,

  input  logic check_clk,
  input  logic [$bits(cmd_regs_t)-1:0] check_regs,
  input  logic [NumRegions*$bits(region_t)-1:0] check_regions,
  input  logic [$bits(check_in_t)-1:0] check_i,
  output logic [$bits(check_out_t)-1:0] check_o,

  input  logic decode_clk,
  input  logic [NumRegions*$bits(region_t)-1:0] decode_regions,
  input  logic [$bits(decode_in_t)-1:0] decode_i,
  output logic [$bits(decode_out_t)-1:0] decode_o,

  input  logic apb_clk,
  input  logic [$bits(apb_in_t)-1:0] apb_i,
  output logic [$bits(apb_out_t)-1:0] apb_o,

  input  logic cpm_clk,
  input  logic [$bits(cpm_in_t)-1:0] cpm_i,
  output logic [$bits(cpm_out_t)-1:0] cpm_o,

  input  logic mem_clk,
  input  logic [$bits(mem_in_t)-1:0] mem_i,
  output logic [$bits(mem_out_t)-1:0] mem_o,

  input  logic wd_clk,
  input  logic [$bits(wd_in_t)-1:0] wd_i,
  output logic [$bits(wd_out_t)-1:0] wd_o,

  input  logic sb_clk,
  input  logic [$bits(sb_in_t)-1:0] sb_i,
  output logic [$bits(sb_out_t)-1:0] sb_o,

  input  logic code_clk,
  input  logic [$bits(code_in_t)-1:0] code_i,
  output logic [$bits(code_out_t)-1:0] code_o
);
  // As in npu.sv
  localparam int unsigned UblkD  = Macs == 32 ? 4 : 8;
  localparam int unsigned UblkW  = Macs >= 128 ? 2 : 1;
  localparam int unsigned UblkH  = Macs >= 256 ? 2 : 1;
  localparam int unsigned Lanes  = UblkW * UblkH;
  localparam int unsigned Banks  = Macs <= 64 ? 16 : (Macs == 128 ? 24 : 48);
  localparam int unsigned Usable = Macs <= 64 ? Banks : Banks - 2;
  localparam int unsigned AccBanks = Lanes * UblkD / 4;
  localparam int unsigned VecBits = 8 * UblkD * 9;
  localparam int unsigned OutRate = Macs <= 64 ? 1 : Macs / 64;

  // DMA controller
  dma_in_t dma_in;
  dma_out_t dma_out;
  assign dma_in = dma_i;
  assign dma_o  = dma_out;
  dma #(
    .UblkW    (UblkW),
    .UblkH    (UblkH),
    .BusParity(1'b1)
  ) u_dma (
    .clk_i          (dma_clk),
    .rst_ni         (dma_in.rst_n),
    .en_i           (1'b1),
    .regions_i      (dma_regions),
    .fetch_req_i    (dma_in.fetch_req),
    .fetch_start_i  (dma_in.fetch_start),
    .fetch_stop_i   (dma_in.fetch_stop),
    .fetch_idle_o   (dma_out.fetch_idle),
    .fetch_valid_o  (dma_out.fetch_valid),
    .fetch_ready_i  (dma_in.fetch_ready),
    .fetch_data_o   (dma_out.fetch_data),
    .copy_start_i   (dma_in.copy_start),
    .copy_i         (dma_in.copy),
    .copy_busy_o    (dma_out.copy_busy),
    .op_i           (dma_op),
    .bus_error_o    (dma_out.bus_error),
    .parity_error_o (dma_out.parity_error),
    .address_error_o(dma_out.address_error),
    .streams_idle_o (dma_out.streams_idle),
    .piece_valid_i  (dma_in.piece_valid),
    .piece_i        (dma_in.piece),
    .piece_second_i (dma_in.piece_second),
    .piece_done_o   (dma_out.piece_done),
    .weight_start_i (dma_in.weight_start),
    .weight_stop_i  (dma_in.weight_stop),
    .weight_ahead_i (dma_in.weight_ahead),
    .weight_kept_i  (dma_in.weight_kept),
    .weight_flush_i (dma_in.weight_flush),
    .weight_next_i  (dma_in.weight_next),
    .weight_idle_o  (dma_out.weight_idle),
    .weight_valid_o (dma_out.weight_valid),
    .weight_ready_i (dma_in.weight_ready),
    .weight_data_o  (dma_out.weight_data),
    .weight_last_o  (dma_out.weight_last),
    .scale_start_i  (dma_in.scale_start),
    .scale_offset_i (dma_in.scale_offset),
    .scale_length_i (dma_in.scale_length),
    .scale_valid_o  (dma_out.scale_valid),
    .scale_ready_i  (dma_in.scale_ready),
    .scale_data_o   (dma_out.scale_data),
    .scale_idle_o   (dma_out.scale_idle),
    .ofm_valid_i    (dma_in.ofm_valid),
    .ofm_step_i     (dma_in.ofm_step),
    .ofm_done_o     (dma_out.ofm_done),
    .word_wr_o      (dma_out.word_wr),
    .word_wr_bank_o (dma_out.word_wr_bank),
    .word_wr_addr_o (dma_out.word_wr_addr),
    .word_wr_data_o (dma_out.word_wr_data),
    .stage_put_i    (dma_in.stage_put),
    .stage_full_o   (dma_out.stage_full),
    .stage_rd_o     (dma_out.stage_rd),
    .stage_rd_addr_o(dma_out.stage_rd_addr),
    .stage_rd_data_i(dma_in.stage_rd_data),
    .m0_ar_valid_o  (dma_out.m0_ar_valid),
    .m0_ar_ready_i  (dma_in.m0_ar_ready),
    .m0_ar_o        (dma_out.m0_ar),
    .m0_ar_check_o  (dma_out.m0_ar_check),
    .m0_r_valid_i   (dma_in.m0_r_valid),
    .m0_r_ready_o   (dma_out.m0_r_ready),
    .m0_r_i         (dma_in.m0_r),
    .m0_r_check_i   (axi_pkg::r_check(dma_in.m0_r_valid, dma_in.m0_r) ^ dma_in.m0_r_flip),
    .m0_aw_valid_o  (dma_out.m0_aw_valid),
    .m0_aw_ready_i  (dma_in.m0_aw_ready),
    .m0_aw_o        (dma_out.m0_aw),
    .m0_aw_check_o  (dma_out.m0_aw_check),
    .m0_w_valid_o   (dma_out.m0_w_valid),
    .m0_w_ready_i   (dma_in.m0_w_ready),
    .m0_w_o         (dma_out.m0_w),
    .m0_w_check_o   (dma_out.m0_w_check),
    .m0_b_valid_i   (dma_in.m0_b_valid),
    .m0_b_ready_o   (dma_out.m0_b_ready),
    .m0_b_i         (dma_in.m0_b),
    .m0_b_check_i   (axi_pkg::b_check(dma_in.m0_b_valid, dma_in.m0_b) ^ dma_in.m0_b_flip),
    .m1_ar_valid_o  (dma_out.m1_ar_valid),
    .m1_ar_ready_i  (dma_in.m1_ar_ready),
    .m1_ar_o        (dma_out.m1_ar),
    .m1_ar_check_o  (dma_out.m1_ar_check),
    .m1_r_valid_i   (dma_in.m1_r_valid),
    .m1_r_ready_o   (dma_out.m1_r_ready),
    .m1_r_i         (dma_in.m1_r),
    .m1_r_check_i   (axi_pkg::r_check(dma_in.m1_r_valid, dma_in.m1_r) ^ dma_in.m1_r_flip)
  );

  // MAC unit, output unit and shared buffer
  data_in_t data_in;
  data_out_t data_out;
  assign data_in = data_i;
  assign data_o  = data_out;

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
  assign data_out.probe_data = out_rd_data[0];

  mac #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Usable(Usable)
  ) u_mac (
    .clk_i         (data_clk),
    .rst_ni        (data_in.rst_n),
    .en_i          (1'b1),
    .op_i          (data_op),
    .valid_i       (data_in.mac_valid),
    .ready_o       (data_out.mac_ready),
    .step_i        (data_in.mac_step),
    .ifm_buffer_i  (data_in.mac_ifm_buffer),
    .acc_buffer_i  (data_in.mac_acc_buffer),
    .step_done_o   (data_out.mac_step_done),
    .row_done_o    (data_out.mac_row_done),
    .block_done_o  (data_out.mac_block_done),
    .vec_valid_i   (data_in.vec_valid),
    .vec_ready_o   (data_out.vec_ready),
    .vec_i         (data_in.vec[VecBits-1:0]),
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
    .clk_i          (data_clk),
    .rst_ni         (data_in.rst_n),
    .en_i           (1'b1),
    .op_i           (data_op),
    .valid_i        (data_in.out_valid),
    .ready_i        (data_in.out_ready),
    .step_i         (data_in.out_step),
    .acc_buffer_i   (data_in.out_acc_buffer),
    .ifm_buffer_i   (data_in.out_ifm_buffer),
    .done_o         (data_out.out_done),
    .scale_start_o  (data_out.scale_start),
    .scale_offset_o (data_out.scale_offset),
    .scale_length_o (data_out.scale_length),
    .scale_valid_i  (data_in.scale_valid),
    .scale_ready_o  (data_out.scale_ready),
    .scale_data_i   (data_in.scale_data),
    .scale_idle_i   (data_in.scale_idle),
    .rd_o           (out_rd),
    .rd_bank_o      (out_rd_bank),
    .rd_row_o       (out_rd_row),
    .rd_data_i      (out_rd_data),
    .stage_full_i   (data_in.stage_full),
    .stage_wr_o     (data_out.stage_wr),
    .stage_wr_addr_o(data_out.stage_wr_addr),
    .stage_wr_data_o(data_out.stage_wr_data)
  );

  sb #(
    .Banks   (Banks),
    .Usable  (Usable),
    .Lanes   (Lanes),
    .AccBanks(AccBanks)
  ) u_data_sb (
    .clk_i          (data_clk),
    .rst_ni         (data_in.rst_n),
    .en_i           (1'b1),
    .word_wr_i      (data_in.word_wr),
    .word_wr_bank_i (data_in.word_wr_bank),
    .word_wr_addr_i (data_in.word_wr_addr),
    .word_wr_data_i (data_in.word_wr_data),
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
    .out_rd_i       (data_in.probe ? 3'b001 : out_rd),
    .out_rd_bank_i  (data_in.probe ? {12'd0, data_in.probe_bank} : out_rd_bank),
    .out_rd_row_i   (data_in.probe ? {12'd0, data_in.probe_row} : out_rd_row),
    .out_rd_data_o  (out_rd_data),
    .stage_wr_i     (data_out.stage_wr),
    .stage_wr_addr_i(data_out.stage_wr_addr),
    .stage_wr_data_i(data_out.stage_wr_data),
    .stage_rd_i     (data_in.stage_rd),
    .stage_rd_addr_i(data_in.stage_rd_addr),
    .stage_rd_data_o(data_out.stage_rd_data),
    .corrected_o    (),
    .error_o        ()
  );

  // Arithmetic of one element
  element_in_t element_in;
  element_out_t element_out;
  assign element_in = element_i;
  assign element_o  = element_out;
  localparam int unsigned ElementStages = 6;
  logic [ElementStages:0] element_valid;
  logic [ElementStages:1] element_valid_q;
  assign element_valid     = {element_valid_q, element_in.valid};
  assign element_out.valid = element_valid[ElementStages];
  always_ff @(posedge element_clk or negedge element_in.rst_n) begin
    if (!element_in.rst_n) element_valid_q <= '0;
    else element_valid_q <= element_valid[ElementStages-1:0];
  end
  logic [32:0] average_factor;
  logic [5:0] average_shift;
  ao_reciprocal u_reciprocal (
    .clk_i   (element_clk),
    .rst_ni  (element_in.rst_n),
    .en_i    (1'b1),
    .valid_i (element_in.valid),
    .count_i (element_in.count),
    .factor_o(average_factor),
    .shift_o (average_shift)
  );
  logic signed [16:0] low, high;
  ao_bounds u_bounds (
    .op_i  (element_op),
    .low_o (low),
    .high_o(high)
  );
  ao_element u_element (
    .clk_i           (element_clk),
    .rst_ni          (element_in.rst_n),
    .en_i            (1'b1),
    .op_i            (element_op),
    .valid_i         (element_valid[ElementStages-1:0]),
    .first_i         (element_in.first),
    .second_i        (element_in.second),
    .shift_i         (element_in.shift),
    .average_factor_i(average_factor),
    .average_shift_i (average_shift),
    .low_i           (low),
    .high_i          (high),
    .value_o         (element_out.value)
  );

  // Multipliers of one pixel
  array_in_t array_in;
  assign array_in = array_i;
  logic [7:0][9:0] factors;
  logic [UblkD-1:0][31:0] dot;
  assign array_o = 256'(dot);
  mac_operands u_factors (
    .word_i       (array_in.ifm),
    .absent_i     (array_in.absent),
    .channels_m1_i(array_in.channels_m1),
    .signed_i     (array_in.is_signed),
    .wide_i       (array_in.wide),
    .zero_point_i (array_in.zero_point),
    .factors_o    (factors)
  );
  mac_array #(
    .UblkD(UblkD)
  ) u_array (
    .clk_i     (array_clk),
    .rst_ni    (array_in.rst_n),
    .multiply_i(array_in.multiply),
    .wide_i    (array_in.wide),
    .factors_i (factors),
    .weights_i (array_in.weights[VecBits-1:0]),
    .dot_o     (dot)
  );

  // Checks of an operation
  check_in_t check_in;
  check_out_t check_out;
  assign check_in = check_i;
  assign check_o  = check_out;
  cc_check #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Banks (Banks),
    .Usable(Usable)
  ) u_check (
    .clk_i          (check_clk),
    .rst_ni         (check_in.rst_n),
    .start_i        (check_in.start),
    .code_i         (check_in.code),
    .param_i        (check_in.param),
    .regs_i         (check_regs),
    .regions_i      (check_regions),
    .done_o         (check_out.done),
    .cmd_error_o    (check_out.cmd_error),
    .address_error_o(check_out.address_error),
    .scale_error_o  (check_out.scale_error),
    .op_o           (check_out.op)
  );

  // Command processor
  decode_in_t decode_in;
  decode_out_t decode_out;
  assign decode_in = decode_i;
  assign decode_o  = decode_out;
  op_t decode_op;
  assign decode_out.kind     = decode_op.kind;
  assign decode_out.weight   = decode_op.weight;
  assign decode_out.scale    = decode_op.scale;
  assign decode_out.ofm_w_m1 = decode_op.ofm_w_m1;
  cc_decode #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Banks (Banks),
    .Usable(Usable)
  ) u_decode (
    .clk_i        (decode_clk),
    .rst_ni       (decode_in.rst_n),
    .start_i      (decode_in.start),
    .clear_irq_i  (decode_in.clear_irq),
    .stream_i     (decode_in.stream),
    .regions_i    (decode_regions),
    .status_o     (decode_out.status),
    .qread_o      (decode_out.qread),
    .running_o    (decode_out.running),
    .irq_o        (decode_out.irq),
    .fetch_start_o(decode_out.fetch_start),
    .fetch_stop_o (decode_out.fetch_stop),
    .fetch_idle_i (decode_in.fetch_idle),
    .fetch_valid_i(decode_in.fetch_valid),
    .fetch_ready_o(decode_out.fetch_ready),
    .fetch_data_i (decode_in.fetch_data),
    .op_start_o   (decode_out.op_start),
    .op_o         (decode_op),
    .op_busy_i    (decode_in.op_busy),
    .op_error_i   (decode_in.op_error),
    .next_weighted_o(decode_out.next_weighted),
    .next_weight_o(decode_out.next_weight),
    .flushing_o   (decode_out.flushing),
    .copy_start_o (decode_out.copy_start),
    .copy_o       (decode_out.copy),
    .copy_busy_i  (decode_in.copy_busy),
    .pmu_irq_i    (decode_in.pmu_irq),
    .counted_o    (decode_out.counted)
  );

  // Programming interface
  apb_in_t apb_in;
  apb_out_t apb_out;
  assign apb_in = apb_i;
  assign apb_o  = apb_out;
  logic reg_wr;
  logic [31:0] pmu_data;
  cc_apb u_apb (
    .clk_i       (apb_clk),
    .rst_ni      (apb_in.rst_n),
    .psel_i      (apb_in.psel),
    .penable_i   (apb_in.penable),
    .pwrite_i    (apb_in.pwrite),
    .paddr_i     (apb_in.paddr),
    .pwdata_i    (apb_in.pwdata),
    .pready_o    (apb_out.pready),
    .prdata_o    (apb_out.prdata),
    .start_o     (apb_out.start),
    .clear_irq_o (apb_out.clear_irq),
    .soft_reset_o(apb_out.soft_reset),
    .stream_o    (apb_out.stream),
    .regions_o   (apb_out.regions),
    .status_i    (apb_in.status),
    .qread_i     (apb_in.qread),
    .wr_o        (reg_wr),
    .pmu_data_i  (pmu_data)
  );
  cc_pmu u_pmu (
    .clk_i     (apb_clk),
    .rst_ni    (apb_in.rst_n),
    .wr_i      (reg_wr),
    .addr_i    (apb_in.paddr),
    .data_i    (apb_in.pwdata),
    .data_o    (pmu_data),
    .events_i  (apb_in.events),
    .unmasked_i(apb_in.unmasked),
    .irq_o     (apb_out.pmu_irq)
  );

  // Clock and power
  cpm_in_t cpm_in;
  cpm_out_t cpm_out;
  assign cpm_in = cpm_i;
  assign cpm_o  = cpm_out;
  cpm u_cpm (
    .clk_i       (cpm_clk),
    .rst_ni      (cpm_in.rst_n),
    .scan_mode_i (cpm_in.scan_mode),
    .soft_reset_i(cpm_in.soft_reset),
    .rst_no      (cpm_out.rst_n),
    .wake_i      (cpm_in.wake),
    .clk_o       (),
    .enable_o    (cpm_out.enable),
    .quiescent_o (cpm_out.quiescent)
  );

  // The bench's memory
  mem_in_t mem_in;
  mem_out_t mem_out;
  assign mem_in = mem_i;
  assign mem_o  = mem_out;
  axi_mem #(
    .Words       (512),
    .Base        (32'h2000_0000),
    .ReadLatency (5),
    .WriteLatency(3),
    .BeatInterval(2),
    .MaxReads    (4),
    .MaxWrites   (3)
  ) u_mem (
    .clk_i     (mem_clk),
    .rst_ni    (mem_in.rst_n),
    .ar_valid_i(mem_in.ar_valid),
    .ar_ready_o(mem_out.ar_ready),
    .ar_i      (mem_in.ar),
    .r_valid_o (mem_out.r_valid),
    .r_ready_i (mem_in.r_ready),
    .r_o       (mem_out.r),
    .aw_valid_i(mem_in.aw_valid),
    .aw_ready_o(mem_out.aw_ready),
    .aw_i      (mem_in.aw),
    .w_valid_i (mem_in.w_valid),
    .w_ready_o (mem_out.w_ready),
    .w_i       (mem_in.w),
    .b_valid_o (mem_out.b_valid),
    .b_ready_i (mem_in.b_ready),
    .b_o       (mem_out.b)
  );

  // Weight decoder
  wd_in_t wd_in;
  wd_out_t wd_out;
  assign wd_in = wd_i;
  assign wd_o  = wd_out;
  logic [VecBits-1:0] wd_vec;
  assign wd_out.vec = 576'(wd_vec);
  wd #(
    .VecWeights  (8 * UblkD),
    .ShortWeights(UblkD),
    .Rate        (Macs <= 64 ? 4 : 8)
  ) u_wd (
    .clk_i      (wd_clk),
    .rst_ni     (wd_in.rst_n),
    .en_i       (1'b1),
    .short_i    (wd_in.is_short),
    .start_i    (wd_in.start),
    .stop_i     (wd_in.stop),
    .in_valid_i (wd_in.in_valid),
    .in_ready_o (wd_out.in_ready),
    .in_data_i  (wd_in.in_data),
    .in_last_i  (wd_in.in_last),
    .vec_valid_o(wd_out.vec_valid),
    .vec_ready_i(wd_in.vec_ready),
    .vec_o      (wd_vec),
    .error_o    (wd_out.error)
  );

  // Shared buffer alone
  sb_in_t sb_in;
  sb_out_t sb_out;
  assign sb_in = sb_i;
  assign sb_o  = sb_out;
  logic [Lanes-1:0][63:0] sb_word_rd_data;
  logic [AccBanks*128-1:0] sb_acc_rd_data;
  assign sb_out.word_rd_data = 256'(sb_word_rd_data);
  assign sb_out.acc_rd_data  = 1024'(sb_acc_rd_data);
  sb #(
    .Banks   (Banks),
    .Usable  (Usable),
    .Lanes   (Lanes),
    .AccBanks(AccBanks),
    .Code    (sb_code_pkg::Secded)
  ) u_sb (
    .clk_i          (sb_clk),
    .rst_ni         (sb_in.rst_n),
    .en_i           (1'b1),
    .word_wr_i      (sb_in.word_wr),
    .word_wr_bank_i (sb_in.word_wr_bank),
    .word_wr_addr_i (sb_in.word_wr_addr),
    .word_wr_data_i (sb_in.word_wr_data),
    .word_rd_i      (sb_in.word_rd[Lanes-1:0]),
    .word_rd_bank_i (sb_in.word_rd_bank[Lanes-1:0]),
    .word_rd_addr_i (sb_in.word_rd_addr[Lanes-1:0]),
    .word_rd_data_o (sb_word_rd_data),
    .acc_wr_i       (sb_in.acc_wr),
    .acc_wr_group_i (sb_in.acc_wr_group),
    .acc_wr_row_i   (sb_in.acc_wr_row),
    .acc_wr_data_i  (sb_in.acc_wr_data[AccBanks*128-1:0]),
    .acc_rd_i       (sb_in.acc_rd),
    .acc_rd_group_i (sb_in.acc_rd_group),
    .acc_rd_row_i   (sb_in.acc_rd_row),
    .acc_rd_data_o  (sb_acc_rd_data),
    .out_rd_i       (sb_in.out_rd),
    .out_rd_bank_i  (sb_in.out_rd_bank),
    .out_rd_row_i   (sb_in.out_rd_row),
    .out_rd_data_o  (sb_out.out_rd_data),
    .stage_wr_i     (sb_in.stage_wr),
    .stage_wr_addr_i(sb_in.stage_wr_addr),
    .stage_wr_data_i(sb_in.stage_wr_data),
    .stage_rd_i     (sb_in.stage_rd),
    .stage_rd_addr_i(sb_in.stage_rd_addr),
    .stage_rd_data_o(sb_out.stage_rd_data),
    .corrected_o    (sb_out.corrected),
    .error_o        (sb_out.error)
  );

  // Codes of the shared buffer: two words, encoded, disturbed and decoded
  code_in_t code_in;
  code_out_t code_out;
  logic unused_code_clk;
  assign code_in         = code_i;
  assign code_o          = code_out;
  assign unused_code_clk = code_clk;
  logic [1:0][38:0] secded;
  logic [1:0][32:0] parity;
  sb_encode #(
    .Code (sb_code_pkg::Secded),
    .Words(2)
  ) u_secded_encode (
    .data_i (code_in.data),
    .coded_o(secded)
  );
  sb_decode #(
    .Code (sb_code_pkg::Secded),
    .Words(2)
  ) u_secded_decode (
    .coded_i    (secded ^ code_in.flips),
    .data_o     (code_out.secded_data),
    .corrected_o(code_out.secded_corrected),
    .error_o    (code_out.secded_error)
  );
  sb_encode #(
    .Code (sb_code_pkg::Parity),
    .Words(2)
  ) u_parity_encode (
    .data_i (code_in.data),
    .coded_o(parity)
  );
  sb_decode #(
    .Code (sb_code_pkg::Parity),
    .Words(2)
  ) u_parity_decode (
    .coded_i    (parity ^ {code_in.flips[1][32:0], code_in.flips[0][32:0]}),
    .data_o     (code_out.parity_data),
    .corrected_o(code_out.parity_corrected),
    .error_o    (code_out.parity_error)
  );
  assign code_out.coded = secded;
endmodule
