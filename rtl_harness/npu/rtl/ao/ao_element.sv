// SPDX-License-Identifier: Apache-2.0
/// Arithmetic of one element, from its sources to what is stored or looked up.
///
/// One element a cycle, in stages that go on together: bring to a common scale, combine, multiply, round,
/// round again, finish.
module ao_element
  import npu_pkg::*;
#(
  localparam int unsigned Stages = 6
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  op_t                op_i,
  input  logic [Stages-1:0]  valid_i,           // of each stage
  input  logic signed [32:0] first_i,
  input  logic signed [32:0] second_i,
  input  logic [5:0]         shift_i,
  input  logic [32:0]        average_factor_i,  // in the second stage
  input  logic [5:0]         average_shift_i,
  input  logic signed [16:0] low_i,
  input  logic signed [16:0] high_i,
  output logic [31:0]        value_o
);
  logic signed [50:0] scaled;
  logic signed [32:0] other;
  logic [5:0] channel_shift;
  ao_operands u_operands (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .en_i    (en_i),
    .op_i    (op_i),
    .valid_i (valid_i[0]),
    .first_i (first_i),
    .second_i(second_i),
    .shift_i (shift_i),
    .scaled_o(scaled),
    .other_o (other),
    .shift_o (channel_shift)
  );

  logic signed [35:0] value;
  logic signed [32:0] factor;
  logic [5:0] shift;
  ao_combine u_combine (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .en_i            (en_i),
    .op_i            (op_i),
    .valid_i         (valid_i[1]),
    .scaled_i        (scaled),
    .other_i         (other),
    .shift_i         (channel_shift),
    .average_factor_i(average_factor_i),
    .average_shift_i (average_shift_i),
    .value_o         (value),
    .factor_o        (factor),
    .shift_o         (shift)
  );

  logic signed [31:0] rounded;
  ao_scale u_scale (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .en_i    (en_i),
    .op_i    (op_i),
    .valid_i (valid_i[4:2]),
    .value_i (value),
    .factor_i(factor),
    .shift_i (shift),
    .value_o (rounded)
  );

  ao_finish u_finish (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (en_i),
    .op_i   (op_i),
    .valid_i(valid_i[5]),
    .value_i(rounded),
    .low_i  (low_i),
    .high_i (high_i),
    .value_o(value_o)
  );
endmodule
