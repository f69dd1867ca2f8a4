// SPDX-License-Identifier: Apache-2.0
/// Scales one element: multiply, then round once or twice to 32 bits.
///
/// Three stages. With shifts above 31 and the rounding mode "double", the product is rounded twice as TensorFlow
/// Lite's reference does.
module ao_scale
  import npu_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  op_t                op_i,
  input  logic [2:0]         valid_i,   // of each stage
  input  logic signed [35:0] value_i,
  input  logic signed [32:0] factor_i,
  input  logic [5:0]         shift_i,
  output logic signed [31:0] value_o
);
  localparam logic [1:0] Double = 2'd0;
  localparam logic [1:0] Truncate = 2'd1;
  localparam logic [31:0] Int32Max = 32'h7FFF_FFFF;
  localparam logic [31:0] Int32Min = 32'h8000_0000;

  // Multiply.
  logic signed [68:0] mul_q;
  logic [5:0] mul_shift_q;

  // First rounding: at bit 31, if there are two.
  logic twice, half_twice_q;
  logic signed [37:0] high;
  logic signed [31:0] high_sat;
  logic signed [68:0] half_q;
  logic [5:0] half_shift_q;
  assign twice = op_i.rounding == Double && mul_shift_q > 6'd31;
  assign high  = mul_q[68:31] + 38'(mul_q[30]);
  always_comb begin
    high_sat = high[31:0];
    if (high[37:31] != {7{high[37]}}) high_sat = high[37] ? Int32Min : Int32Max;
  end

  // Second rounding: halves upwards, away from zero after a first rounding; or towards zero.
  logic negative, half, below, round_up, overflow;
  logic [68:0] whole, mask;
  logic [31:0] round_d, round_q;
  assign negative      = half_q[68];
  assign {whole, half} = $signed({half_q, 1'b0}) >>> half_shift_q;
  assign mask          = ~({69{1'b1}} << half_shift_q) >> 1;
  assign below         = (half_q & mask) != '0;  // a bit below the half is set
  assign overflow      = whole[68:31] != {38{negative}};
  always_comb begin
    round_up = half && (below || !(half_twice_q && negative));
    if (op_i.rounding == Truncate) round_up = negative && (half || below);
    round_d = whole[31:0] + 32'(round_up);
    if (overflow) round_d = negative ? Int32Min : Int32Max;
    else if (whole[31:0] == Int32Max) round_d = Int32Max;
  end
  assign value_o = round_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mul_q        <= '0;
      mul_shift_q  <= '0;
      half_q       <= '0;
      half_shift_q <= '0;
      half_twice_q <= 1'b0;
      round_q      <= '0;
    end else if (en_i) begin
      if (valid_i[0]) begin
        mul_q       <= 69'(value_i) * 69'(factor_i);
        mul_shift_q <= shift_i;
      end
      if (valid_i[1]) begin
        half_q       <= twice ? 69'(high_sat) : mul_q;
        half_shift_q <= twice ? mul_shift_q - 6'd31 : mul_shift_q;
        half_twice_q <= twice;
      end
      if (valid_i[2]) round_q <= round_d;
    end
  end
endmodule
