// SPDX-License-Identifier: Apache-2.0
/// Command processor: what the command stream's words set, what of it is checked, and what comes of it.
module cc_decode
  import npu_pkg::*;
  import cc_cmd_pkg::*;
#(
  parameter int unsigned UblkW  = 1,
  parameter int unsigned UblkH  = 1,
  parameter int unsigned UblkD  = 4,
  parameter int unsigned Banks  = 16,
  parameter int unsigned Usable = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic        clear_irq_i,
  input  linear_req_t stream_i,
  input  region_t [NumRegions-1:0] regions_i,
  output logic [31:0] status_o,
  output logic [31:0] qread_o,
  output logic        running_o,
  output logic        irq_o,
  // Command stream, 64 bits at a time
  output logic        fetch_start_o,
  output logic        fetch_stop_o,
  input  logic        fetch_idle_i,
  input  logic        fetch_valid_i,
  output logic        fetch_ready_o,
  input  logic [63:0] fetch_data_i,
  // Operation
  output logic        op_start_o,
  output op_t         op_o,
  input  logic        op_busy_i,
  input  op_error_t   op_error_i,
  output logic        next_weighted_o,  // the next one waits; its weights lie where nothing is written,
  output stream_t     next_weight_o,    // and these are they
  output logic        flushing_o,       // the stream is over
  // Copy
  output logic        copy_start_o,
  output copy_req_t   copy_o,
  input  logic        copy_busy_i,
  // Performance monitor
  input  logic        pmu_irq_i,
  output logic        counted_o  // PMU_MASK wants what follows counted
);
  cmd_regs_t regs;
  logic [9:0] code, last_code;
  logic [15:0] param, last_param;
  logic [31:0] word;
  logic regs_clear, set_param, set_payload, param_known, payload_known, is_address, is_stride;
  cc_regs u_regs (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .clear_i        (regs_clear),
    .set_param_i    (set_param),
    .set_payload_i  (set_payload),
    .code_i         (code),
    .param_i        (param),
    .payload_i      (word),
    .param_known_o  (param_known),
    .payload_known_o(payload_known),
    .is_address_o   (is_address),
    .is_stride_o    (is_stride),
    .regs_o         (regs)
  );

  logic check_start, check_done, check_cmd_error, check_address_error, check_scale_error;
  op_t check_op;
  cc_check #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Banks (Banks),
    .Usable(Usable)
  ) u_check (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .start_i        (check_start),
    .code_i         (last_code),
    .param_i        (last_param),
    .regs_i         (regs),
    .regions_i      (regions_i),
    .done_o         (check_done),
    .cmd_error_o    (check_cmd_error),
    .address_error_o(check_address_error),
    .scale_error_o  (check_scale_error),
    .op_o           (check_op)
  );

  logic op_waits;
  logic copy_check, copy_bad, copy_leaves;
  cc_copy #(
    .Banks(Banks)
  ) u_copy (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .start_i  (copy_check),
    .regs_i   (regs),
    .regions_i(regions_i),
    .bad_o    (copy_bad),
    .leaves_o (copy_leaves),
    .copy_o   (copy_o)
  );

  logic begin_stream, set_cmd_error, set_address_error, set_scale_error, set_end, set_mask, set_irq, failed;
  cc_status u_status (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .clear_irq_i    (clear_irq_i),
    .begin_i        (begin_stream),
    .running_i      (running_o),
    .op_error_i     (op_error_i),
    .cmd_error_i    (set_cmd_error),
    .address_error_i(set_address_error),
    .scale_error_i  (set_scale_error),
    .end_i          (set_end),
    .mask_i         (set_mask),
    .param_i        (last_param),
    .irq_i          (set_irq),
    .pmu_irq_i      (pmu_irq_i),
    .failed_o       (failed),
    .irq_o          (irq_o),
    .status_o       (status_o)
  );

  cc_control u_control (
    .clk_i                (clk_i),
    .rst_ni               (rst_ni),
    .start_i              (start_i),
    .stream_i             (stream_i),
    .qread_o              (qread_o),
    .running_o            (running_o),
    .counted_o            (counted_o),
    .fetch_start_o        (fetch_start_o),
    .fetch_stop_o         (fetch_stop_o),
    .fetch_idle_i         (fetch_idle_i),
    .fetch_valid_i        (fetch_valid_i),
    .fetch_ready_o        (fetch_ready_o),
    .fetch_data_i         (fetch_data_i),
    .regs_clear_o         (regs_clear),
    .set_param_o          (set_param),
    .set_payload_o        (set_payload),
    .code_o               (code),
    .param_o              (param),
    .word_o               (word),
    .param_known_i        (param_known),
    .payload_known_i      (payload_known),
    .is_address_i         (is_address),
    .is_stride_i          (is_stride),
    .last_code_o          (last_code),
    .last_param_o         (last_param),
    .check_start_o        (check_start),
    .check_done_i         (check_done),
    .check_cmd_error_i    (check_cmd_error),
    .check_address_error_i(check_address_error),
    .check_scale_error_i  (check_scale_error),
    .op_start_o           (op_start_o),
    .op_busy_i            (op_busy_i),
    .op_waits_o           (op_waits),
    .flushing_o           (flushing_o),
    .copy_check_o         (copy_check),
    .copy_bad_i           (copy_bad),
    .copy_leaves_i        (copy_leaves),
    .copy_start_o         (copy_start_o),
    .copy_busy_i          (copy_busy_i),
    .begin_stream_o       (begin_stream),
    .set_cmd_error_o      (set_cmd_error),
    .set_address_error_o  (set_address_error),
    .set_scale_error_o    (set_scale_error),
    .set_end_o            (set_end),
    .set_mask_o           (set_mask),
    .set_irq_o            (set_irq),
    .failed_i             (failed)
  );

  assign next_weight_o   = check_op.weight;
  assign next_weighted_o = op_waits && !failed && regions_i[check_op.weight.region].port
                           && (check_op.kind == Conv || check_op.kind == Depthwise);

  op_t op_q;
  assign op_o = op_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) op_q <= '0;
    else if (op_start_o) op_q <= check_op;
  end
endmodule
