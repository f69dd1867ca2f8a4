// SPDX-License-Identifier: Apache-2.0
/// Central control: programming interface, command processor, and the sequencing of an operation's blocks.
module cc
  import npu_pkg::*;
#(
  parameter int unsigned UblkW  = 1,
  parameter int unsigned UblkH  = 1,
  parameter int unsigned UblkD  = 4,
  parameter int unsigned Banks  = 16,
  parameter int unsigned Usable = 16,
  parameter bit RegionCheck = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        psel_i,
  input  logic        penable_i,
  input  logic        pwrite_i,
  input  logic [11:0] paddr_i,
  input  logic [31:0] pwdata_i,
  output logic        pready_o,
  output logic [31:0] prdata_o,
  output logic        irq_o,
  output logic        running_o,
  output logic        soft_reset_o,
  output logic        op_done_o,
  output region_t [NumRegions-1:0] regions_o,
  // Command stream
  output linear_req_t fetch_req_o,
  output logic        fetch_start_o,
  output logic        fetch_stop_o,
  input  logic        fetch_idle_i,
  input  logic        fetch_valid_i,
  output logic        fetch_ready_o,
  input  logic [63:0] fetch_data_i,
  // Copy
  output logic        copy_start_o,
  output copy_req_t   copy_o,
  input  logic        copy_busy_i,
  // Operation
  output logic        op_busy_o,
  output op_t         op_o,
  input  op_error_t   op_error_i,
  output logic        piece_valid_o,
  output piece_t      piece_o,
  output logic        piece_second_o,
  input  logic        piece_done_i,
  output logic        mac_valid_o,
  output step_t       mac_step_o,
  output logic        mac_ifm_buffer_o,
  output logic        mac_acc_buffer_o,
  input  logic        mac_ready_i,
  input  logic        mac_step_done_i,
  input  logic        mac_row_done_i,
  input  logic        mac_block_done_i,
  output logic        weight_start_o,
  output logic        weight_stop_o,
  output logic        weight_ahead_o,
  output logic        weight_kept_o,
  output logic        weight_flush_o,
  output stream_t     weight_next_o,
  input  logic        weight_idle_i,
  output logic        out_valid_o,
  output logic        out_ready_o,
  output step_t       out_step_o,
  output logic        out_acc_buffer_o,
  output logic        out_ifm_buffer_o,
  input  logic        out_done_i,
  output logic        ofm_valid_o,
  output step_t       ofm_step_o,
  input  logic        ofm_done_i,
  input  logic        streams_idle_i,
  // Beats on the AXI ports in this cycle
  input  axi_beats_t  beats_i
);
  logic start, clear_irq, reg_wr;
  logic [31:0] status, qread, pmu_data;
  linear_req_t stream;

  cc_apb #(
    .RegionCheck(RegionCheck)
  ) u_apb (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .psel_i      (psel_i),
    .penable_i   (penable_i),
    .pwrite_i    (pwrite_i),
    .paddr_i     (paddr_i),
    .pwdata_i    (pwdata_i),
    .pready_o    (pready_o),
    .prdata_o    (prdata_o),
    .start_o     (start),
    .clear_irq_o (clear_irq),
    .soft_reset_o(soft_reset_o),
    .stream_o    (stream),
    .regions_o   (regions_o),
    .status_i    (status),
    .qread_i     (qread),
    .wr_o        (reg_wr),
    .pmu_data_i  (pmu_data)
  );

  logic counted, pmu_irq;
  cc_pmu u_pmu (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .wr_i      (reg_wr),
    .addr_i    (paddr_i),
    .data_i    (pwdata_i),
    .data_o    (pmu_data),
    .events_i  ('{
        active: running_o, mac: mac_valid_o, ao: out_ready_o, m0_read: beats_i.m0_read,
        m0_write: beats_i.m0_write, m1_read: beats_i.m1_read
    }),
    .unmasked_i(counted),
    .irq_o     (pmu_irq)
  );

  assign fetch_req_o = stream;

  logic op_start, next_weighted, flushing;
  assign weight_flush_o = flushing;
  cc_decode #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Banks (Banks),
    .Usable(Usable)
  ) u_decode (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .start_i      (start),
    .clear_irq_i  (clear_irq),
    .stream_i     (stream),
    .regions_i    (regions_o),
    .status_o     (status),
    .qread_o      (qread),
    .running_o    (running_o),
    .irq_o        (irq_o),
    .fetch_start_o(fetch_start_o),
    .fetch_stop_o (fetch_stop_o),
    .fetch_idle_i (fetch_idle_i),
    .fetch_valid_i(fetch_valid_i),
    .fetch_ready_o(fetch_ready_o),
    .fetch_data_i (fetch_data_i),
    .op_start_o   (op_start),
    .op_o         (op_o),
    .op_busy_i    (op_busy_o),
    .op_error_i   (op_error_i),
    .next_weighted_o(next_weighted),
    .next_weight_o(weight_next_o),
    .flushing_o   (flushing),
    .copy_start_o (copy_start_o),
    .copy_o       (copy_o),
    .copy_busy_i  (copy_busy_i),
    .pmu_irq_i    (pmu_irq),
    .counted_o    (counted)
  );

  cc_sequencer #(
    .UblkW(UblkW),
    .UblkH(UblkH)
  ) u_sequencer (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .start_i         (op_start),
    .op_i            (op_o),
    .busy_o          (op_busy_o),
    .done_o          (op_done_o),
    .piece_valid_o   (piece_valid_o),
    .piece_o         (piece_o),
    .piece_second_o  (piece_second_o),
    .piece_done_i    (piece_done_i),
    .mac_valid_o     (mac_valid_o),
    .mac_step_o      (mac_step_o),
    .mac_ifm_buffer_o(mac_ifm_buffer_o),
    .mac_acc_buffer_o(mac_acc_buffer_o),
    .mac_ready_i     (mac_ready_i),
    .mac_step_done_i (mac_step_done_i),
    .mac_row_done_i  (mac_row_done_i),
    .mac_block_done_i(mac_block_done_i),
    .weight_start_o  (weight_start_o),
    .weight_stop_o   (weight_stop_o),
    .next_weighted_i (next_weighted),
    .weight_idle_i   (weight_idle_i),
    .flushing_i      (flushing),
    .weight_ahead_o  (weight_ahead_o),
    .weight_kept_o   (weight_kept_o),
    .out_valid_o     (out_valid_o),
    .out_ready_o     (out_ready_o),
    .out_step_o      (out_step_o),
    .out_acc_buffer_o(out_acc_buffer_o),
    .out_ifm_buffer_o(out_ifm_buffer_o),
    .out_done_i      (out_done_i),
    .ofm_valid_o     (ofm_valid_o),
    .ofm_step_o      (ofm_step_o),
    .ofm_done_i      (ofm_done_i),
    .streams_idle_i  (streams_idle_i)
  );
endmodule
