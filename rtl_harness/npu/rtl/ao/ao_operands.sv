// SPDX-License-Identifier: Apache-2.0
/// Brings the operands of an addition to a common scale, multiplies narrow ones; all else passes.
///
/// Of the operands of an addition the first is scaled by OPA_SCALE, the other by OPB_SCALE or shifted left. One
/// that is scaled alone is rounded twice, later: here the half of its first rounding is added.
module ao_operands
  import npu_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  op_t                op_i,
  input  logic               valid_i,
  input  logic signed [32:0] first_i,
  input  logic signed [32:0] second_i,
  input  logic [5:0]         shift_i,
  output logic signed [50:0] scaled_o,  // product that is not yet shifted, or the first source
  output logic signed [32:0] other_o,
  output logic [5:0]         shift_o
);
  function automatic logic signed [31:0] sat32(logic signed [49:0] v);
    if (v[49:31] != {19{v[49]}}) return v[49] ? 32'sh8000_0000 : 32'sh7FFF_FFFF;
    return v[31:0];
  endfunction

  // Left shift of the operand that is not scaled
  localparam int unsigned Headroom8 = 19;
  localparam int unsigned Headroom16 = 14;
  // Places of the first rounding of the one that is
  localparam int unsigned First8 = 11;
  localparam int unsigned First16 = 16;

  // Operands that are multiplied have 8 or 16 bits: without their zero point they fit 18.
  logic signed [17:0] first, second;
  assign first  = first_i[17:0];
  assign second = second_i[17:0];

  logic is_narrow, add, multiply, rounds;
  assign is_narrow = op_i.kind == Elementwise && op_i.ifm.log2_bytes != 2'd2;
  assign add       = op_i.elementwise == EwAdd || op_i.elementwise == EwSub;
  assign multiply  = op_i.elementwise == EwMul;
  assign rounds    = !multiply && op_i.operand_to_scale != '0;

  // First operand: the product, with the half for its rounding
  logic signed [32:0] factor;
  logic signed [50:0] half, product;
  always_comb begin
    factor = $signed({1'b0, op_i.opa_scale});
    half   = '0;
    if (multiply) factor = 33'(second);
    if (rounds) half = op_i.ifm.log2_bytes == '0 ? 51'sd1 <<< (First8 - 1) : 51'sd1 <<< (First16 - 1);
  end
  assign product = 51'(first) * 51'(factor) + half;

  // Second operand
  logic signed [49:0] product_other, shifted;
  assign product_other = 50'(second) * 50'($signed({1'b0, op_i.opb_scale}));
  assign shifted       = op_i.ifm.log2_bytes == '0 ? 50'(second) <<< Headroom8 : 50'(second) <<< Headroom16;

  logic signed [50:0] scaled_q;
  logic signed [32:0] other_q;
  logic [5:0] shift_q;
  assign scaled_o = scaled_q;
  assign other_o  = other_q;
  assign shift_o  = shift_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scaled_q <= '0;
      other_q  <= '0;
      shift_q  <= '0;
    end else if (en_i && valid_i) begin
      scaled_q <= is_narrow && (add || multiply) ? product : 51'(first_i);
      other_q  <= second_i;
      if (is_narrow && add) other_q <= 33'(rounds ? sat32(shifted) : sat32(product_other));
      shift_q  <= shift_i;
    end
  end
endmodule
