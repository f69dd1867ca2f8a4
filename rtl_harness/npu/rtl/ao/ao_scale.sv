/// Second half of the arithmetic of one element: multiply, round, zero point, clamp.
///
/// Four stages. With shifts above 31 and the rounding mode "double", the product is rounded twice as TensorFlow
/// Lite's reference does.
module ao_scale
  import npu_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  op_t                op_i,
  input  logic               valid_i,
  input  logic signed [35:0] value_i,
  input  logic signed [32:0] factor_i,
  input  logic [5:0]         shift_i,
  output logic               valid_o,
  output logic signed [31:0] value_o
);
  function automatic logic signed [31:0] sat32(logic signed [71:0] v);
    if (v > 72'sh0_7FFF_FFFF) return 32'sh7FFF_FFFF;
    if (v < -72'sh0_8000_0000) return 32'sh8000_0000;
    return v[31:0];
  endfunction

  localparam logic [1:0] Double = 2'd0;
  localparam logic [1:0] Truncate = 2'd1;

  // Multiply.
  logic mul_valid_q;
  logic signed [71:0] mul_q;
  logic [5:0] mul_shift_q;

  // First rounding: at bit 31, if there are two.
  logic twice, half_valid_q, half_twice_q;
  logic signed [71:0] half_q;
  logic [5:0] half_shift_q;
  assign twice = op_i.rounding == Double && mul_shift_q > 6'd31;

  // Second rounding: halves upwards, away from zero after a first rounding; or towards zero.
  logic round_valid_q;
  logic signed [71:0] half_unit, rounded;
  logic signed [31:0] round_q;
  assign half_unit = (72'sd1 <<< half_shift_q) >>> 1;
  always_comb begin
    if (op_i.rounding == Truncate) begin
      rounded = half_q < 0 ? -((-half_q) >>> half_shift_q) : half_q >>> half_shift_q;
    end else begin
      rounded = (half_q + half_unit - (half_twice_q && half_q < 0 ? 72'sd1 : 72'sd0)) >>> half_shift_q;
    end
  end

  // Zero point and clamp. Elements of 32 bits without a table have neither bound nor zero point.
  logic signed [33:0] value;
  logic plain32, valid_q;
  logic signed [31:0] value_d, value_q;
  assign plain32 = op_i.ofm.log2_bytes == 2'd2 && !op_i.table_used;
  assign value   = 34'(round_q) + 34'($signed(op_i.ofm_zero_point));
  logic signed [33:0] lowest, highest;
  always_comb begin
    lowest  = -34'sd128;
    highest = 34'sd127;
    if (!op_i.clip_int8) begin
      unique case ({op_i.ofm.log2_bytes, op_i.ofm_signed})
        3'b000: {lowest, highest} = {34'sd0, 34'sd255};
        3'b001: {lowest, highest} = {-34'sd128, 34'sd127};
        3'b010: {lowest, highest} = {34'sd0, 34'sd65535};
        default: {lowest, highest} = {-34'sd32768, 34'sd32767};
      endcase
    end
  end
  logic signed [33:0] above, below, bounded;
  assign above   = value < 34'($signed(op_i.activation_min)) ? 34'($signed(op_i.activation_min)) : value;
  assign below   = above > 34'($signed(op_i.activation_max)) ? 34'($signed(op_i.activation_max)) : above;
  assign bounded  = below < lowest ? lowest : (below > highest ? highest : below);
  assign value_d = sat32(72'(plain32 ? value : bounded));

  assign valid_o = valid_q;
  assign value_o = value_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mul_valid_q   <= 1'b0;
      mul_q         <= '0;
      mul_shift_q   <= '0;
      half_valid_q  <= 1'b0;
      half_twice_q  <= 1'b0;
      half_q        <= '0;
      half_shift_q  <= '0;
      round_valid_q <= 1'b0;
      round_q       <= '0;
      valid_q       <= 1'b0;
      value_q       <= '0;
    end else if (en_i) begin
      mul_valid_q   <= valid_i;
      half_valid_q  <= mul_valid_q;
      round_valid_q <= half_valid_q;
      valid_q       <= round_valid_q;
      if (valid_i) begin
        mul_q       <= 72'(value_i) * 72'(factor_i);
        mul_shift_q <= shift_i;
      end
      if (mul_valid_q) begin
        half_q       <= twice ? 72'(sat32((mul_q + 72'sh0_4000_0000) >>> 31)) : mul_q;
        half_shift_q <= twice ? mul_shift_q - 6'd31 : mul_shift_q;
        half_twice_q <= twice;
      end
      if (half_valid_q) round_q <= sat32(rounded);
      if (round_valid_q) value_q <= value_d;
    end
  end
endmodule
