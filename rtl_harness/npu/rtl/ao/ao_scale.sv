/// Requantisation of one accumulator a cycle: bias, scale with double rounding, zero point, clamp.
module ao_scale
  import npu_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  op_t                op_i,
  input  logic               valid_i,
  input  logic signed [31:0] acc_i,
  input  logic signed [39:0] bias_i,
  input  logic [31:0]        scale_i,
  input  logic [5:0]         shift_i,
  output logic               valid_o,
  output logic [7:0]         value_o
);
  function automatic logic signed [31:0] sat32(logic signed [65:0] v);
    if (v > 66'sh0_7FFF_FFFF) return 32'sh7FFF_FFFF;
    if (v < -66'sh0_8000_0000) return 32'sh8000_0000;
    return v[31:0];
  endfunction

  // Bias and, for shifts below 31, shift to the left.
  logic add_valid_q;
  logic signed [31:0] add_q, biased, shifted;
  logic [31:0] add_scale_q;
  logic [5:0] add_shift_q, left;
  assign biased  = sat32(66'(acc_i) + 66'(bias_i));
  assign left    = shift_i < 6'd31 ? 6'd31 - shift_i : 6'd0;
  assign shifted = sat32(66'(biased) <<< left);

  // Multiply.
  logic mul_valid_q;
  logic signed [65:0] mul_q;
  logic [5:0] mul_shift_q;

  // High part, rounded to nearest.
  logic high_valid_q;
  logic signed [31:0] high_q;
  logic [5:0] high_shift_q;

  // Rounding shift to the right, halves away from zero.
  logic [5:0] right;
  logic signed [65:0] rounding, rounded, offset, value;
  assign right    = high_shift_q > 6'd31 ? high_shift_q - 6'd31 : 6'd0;
  assign rounding = right == 6'd0 ? '0
                    : (66'sd1 <<< (right - 6'd1)) - (high_q < 0 ? 66'sd1 : 66'sd0);
  assign rounded  = (66'(high_q) + rounding) >>> right;
  assign offset   = rounded + 66'($signed(op_i.ofm_zero_point));

  logic signed [65:0] lowest, highest;
  assign lowest  = 66'($signed(op_i.activation_min));
  assign highest = 66'($signed(op_i.activation_max));
  always_comb begin
    value = offset;
    if (value < lowest) value = lowest;
    if (value > highest) value = highest;
    if (op_i.ofm_signed) begin
      if (value < -66'sd128) value = -66'sd128;
      if (value > 66'sd127) value = 66'sd127;
    end else begin
      if (value < 66'sd0) value = 66'sd0;
      if (value > 66'sd255) value = 66'sd255;
    end
  end
  assign valid_o = high_valid_q;
  assign value_o = value[7:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      add_valid_q  <= 1'b0;
      add_q        <= '0;
      add_scale_q  <= '0;
      add_shift_q  <= '0;
      mul_valid_q  <= 1'b0;
      mul_q        <= '0;
      mul_shift_q  <= '0;
      high_valid_q <= 1'b0;
      high_q       <= '0;
      high_shift_q <= '0;
    end else if (en_i) begin
      add_valid_q  <= valid_i;
      mul_valid_q  <= add_valid_q;
      high_valid_q <= mul_valid_q;
      if (valid_i) begin
        add_q       <= shifted;
        add_scale_q <= scale_i;
        add_shift_q <= shift_i;
      end
      if (add_valid_q) begin
        mul_q       <= 66'(add_q) * 66'($signed({1'b0, add_scale_q}));
        mul_shift_q <= add_shift_q;
      end
      if (mul_valid_q) begin
        high_q       <= sat32((mul_q + 66'sh0_4000_0000) >>> 31);
        high_shift_q <= mul_shift_q;
      end
    end
  end
endmodule
