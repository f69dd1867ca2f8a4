// SPDX-License-Identifier: Apache-2.0
/// Adds the zero point to a scaled element and keeps it within its bounds.
module ao_finish
  import npu_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  op_t                op_i,
  input  logic               valid_i,
  input  logic signed [31:0] value_i,
  input  logic signed [16:0] low_i,
  input  logic signed [16:0] high_i,
  output logic [31:0]        value_o
);
  localparam logic signed [33:0] Int32Max = 34'sh0_7FFF_FFFF;
  localparam logic signed [33:0] Int32Min = -34'sh0_8000_0000;

  // Elements of 32 bits without a table have no bounds but their type's.
  logic plain32;
  logic signed [33:0] value, low, high;
  assign plain32 = op_i.ofm.log2_bytes == 2'd2 && !op_i.table_used;
  assign low     = plain32 ? Int32Min : 34'(low_i);
  assign high    = plain32 ? Int32Max : 34'(high_i);
  assign value   = 34'(value_i) + 34'($signed(op_i.ofm_zero_point));

  logic [31:0] value_q;
  assign value_o = value_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) value_q <= '0;
    else if (en_i && valid_i) value_q <= value < low ? low[31:0] : (value > high ? high[31:0] : value[31:0]);
  end
endmodule
