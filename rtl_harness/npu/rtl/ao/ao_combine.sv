// SPDX-License-Identifier: Apache-2.0
/// Combines the operands of an elementwise operation; chooses scale and shift of every operation.
///
/// One shifter serves the second rounding of an operand and shifts right, one adder adds, subtracts and negates.
module ao_combine
  import npu_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  op_t                op_i,
  input  logic               valid_i,
  input  logic signed [50:0] scaled_i,
  input  logic signed [32:0] other_i,
  input  logic [5:0]         shift_i,           // of the channel, whose scale is `other_i`
  input  logic [32:0]        average_factor_i,
  input  logic [5:0]         average_shift_i,
  output logic signed [35:0] value_o,
  output logic signed [32:0] factor_o,
  output logic [5:0]         shift_o
);
  localparam logic [1:0] Natural = 2'd2;
  // Places of the first rounding of an operand
  localparam logic [5:0] First8 = 6'd11;
  localparam logic [5:0] First16 = 6'd16;
  localparam logic signed [35:0] Int32Max = 36'sh0_7FFF_FFFF;
  localparam logic signed [35:0] Int32Min = -36'sh0_8000_0000;

  logic wide, elementwise, subtract, add, narrow_add, swapped;
  assign wide        = op_i.ifm.log2_bytes == 2'd2;
  assign elementwise = op_i.kind == Elementwise;
  assign subtract    = elementwise && op_i.elementwise == EwSub;
  assign add         = subtract || (elementwise && op_i.elementwise == EwAdd);
  assign narrow_add  = add && !wide;
  assign swapped     = second_scaled(op_i);

  // First rounding of an operand that is scaled: the half has been added
  logic shift_right, operand;
  logic [5:0] first_places;
  logic signed [50:0] high;
  logic signed [35:0] value;
  assign shift_right  = elementwise && op_i.elementwise == EwShr;
  assign operand      = narrow_add && op_i.operand_to_scale != '0;
  assign first_places = op_i.ifm.log2_bytes == '0 ? First8 : First16;
  always_comb begin
    high = scaled_i;
    if (operand) high = op_i.ifm.log2_bytes == '0 ? scaled_i >>> First8 : scaled_i >>> First16;
  end
  always_comb begin
    value = high[35:0];
    if (narrow_add && high[50:31] != {20{high[50]}}) value = high[50] ? Int32Min : Int32Max;
  end

  // Shift right: halves upwards, of an operand away from zero
  logic half, below, up;
  logic [5:0] places;
  logic [35:0] mask;
  logic signed [35:0] first;
  always_comb begin
    places = '0;
    if (shift_right) places = other_i[5:0];
    if (operand) places = op_i.opa_shift > first_places ? op_i.opa_shift - first_places : '0;
  end
  assign {first, half} = $signed({value, 1'b0}) >>> places;
  assign mask          = ~({36{1'b1}} << places) >> 1;
  assign below         = (value & mask) != '0;  // a bit below the half is set
  assign up            = half && ((operand && (below || !value[35]))
                                  || (shift_right && op_i.rounding == Natural));

  // Add, subtract, negate
  logic negate_first, negate_other;
  logic [1:0] carry;
  logic signed [35:0] other, sum;
  assign negate_first = (subtract && swapped)
                        || (elementwise && op_i.elementwise == EwAbs && scaled_i[50]);
  assign negate_other = subtract && !swapped;
  assign other        = add ? 36'(other_i) : '0;
  // -(first + up) = ~first + 1 - up
  assign carry        = negate_first ? {1'b0, !up} : 2'(negate_other) + 2'(up);
  assign sum = (negate_first ? ~first : first) + (negate_other ? ~other : other) + 36'(carry);

  // Compare
  logic less, compare;
  assign compare = elementwise && (op_i.elementwise == EwMin || op_i.elementwise == EwMax);
  assign less    = $signed(scaled_i[32:0]) < other_i;

  // Shift left, with saturation
  function automatic logic signed [31:0] shifted_left(logic signed [32:0] v, logic [5:0] by);
    logic signed [63:0] wanted;
    wanted = 64'(v) <<< by[4:0];
    if (v == 0) return '0;
    if (by[5] || wanted[63:31] != {33{v[32]}}) return v < 0 ? Int32Min[31:0] : Int32Max[31:0];
    return wanted[31:0];
  endfunction

  function automatic logic [5:0] leading_zeros(logic [31:0] v);
    logic [31:0] rest;
    logic [5:0] zeros;
    rest  = v;
    zeros = '0;
    for (int unsigned n = 16; n > 0; n /= 2) begin
      if (rest >> (32 - n) == '0) begin
        rest  = rest << n;
        zeros = zeros | 6'(n);
      end
    end
    return v == '0 ? 6'd32 : zeros;
  endfunction

  logic signed [35:0] value_d, value_q;
  logic signed [32:0] factor_d, factor_q;
  logic [5:0] shift_d, shift_q;
  always_comb begin
    value_d = sum;
    if (compare) value_d = less == (op_i.elementwise == EwMin) ? 36'(scaled_i) : 36'(other_i);
    if (elementwise && op_i.elementwise == EwClz) value_d = 36'(leading_zeros(scaled_i[31:0]));
    if (elementwise && op_i.elementwise == EwShl) value_d = 36'(shifted_left(scaled_i[32:0], other_i[5:0]));
  end

  always_comb begin
    factor_d = op_i.global_scale && !(wide && elementwise) ? $signed({1'b0, op_i.ofm_scale}) : 33'sd1;
    shift_d  = op_i.global_scale ? op_i.ofm_shift : '0;
    unique case (op_i.kind)
      Conv, Depthwise: begin
        factor_d = other_i;
        shift_d  = shift_i;
      end
      AveragePool: begin
        if (!op_i.global_scale || op_i.padded) begin
          factor_d = $signed(average_factor_i);
          shift_d  = average_shift_i;
        end
      end
      Elementwise: begin
        if (op_i.elementwise == EwMul && wide) factor_d = other_i;
        if (op_i.elementwise == EwLrelu && !scaled_i[50]) begin
          factor_d = 33'sd1;
          shift_d  = '0;
        end
      end
      default: ;
    endcase
  end

  assign value_o  = value_q;
  assign factor_o = factor_q;
  assign shift_o  = shift_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      value_q  <= '0;
      factor_q <= '0;
      shift_q  <= '0;
    end else if (en_i && valid_i) begin
      value_q  <= value_d;
      factor_q <= factor_d;
      shift_q  <= shift_d;
    end
  end
endmodule
