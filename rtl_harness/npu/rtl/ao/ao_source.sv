// SPDX-License-Identifier: Apache-2.0
/// What the arithmetic of one element begins with, cut out of the rows of the shared buffer.
///
/// Of an elementwise operation its two operands without their zero points; else the accumulator with its bias,
/// and the channel's scale and shift. Of an addition that scales one operand by OPA_SCALE, that one comes first.
module ao_source
  import npu_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  op_t                op_i,
  input  logic               valid_i,
  input  logic [1:0][127:0]  data_i,
  input  logic [1:0][3:0]    byte_i,    // where the elements begin
  input  logic [39:0]        bias_i,
  input  logic [31:0]        scale_i,
  input  logic [5:0]         shift_i,
  output logic signed [32:0] first_o,   // accumulator, or an operand
  output logic signed [32:0] second_o,  // scale, or the other operand
  output logic [5:0]         shift_o
);
  localparam logic signed [32:0] Int32Max = 33'sh0_7FFF_FFFF;
  localparam logic signed [32:0] Int32Min = -33'sh0_8000_0000;

  function automatic logic signed [32:0] element(logic [31:0] raw, logic [1:0] log2_bytes, logic is_signed);
    unique case (log2_bytes)
      2'd0:    return 33'($signed({is_signed && raw[7], raw[7:0]}));
      2'd1:    return 33'($signed({is_signed && raw[15], raw[15:0]}));
      default: return $signed({is_signed && raw[31], raw});
    endcase
  endfunction

  logic elementwise, weighted;
  assign elementwise = op_i.kind == Elementwise;
  assign weighted    = op_i.kind == Conv || op_i.kind == Depthwise;

  // First source: one adder for the bias or the zero point
  logic [31:0] raw;
  logic signed [32:0] value, first_d;
  logic signed [40:0] addend, sum;
  assign raw   = 32'(data_i[0] >> {byte_i[0], 3'd0});
  assign value = element(raw, elementwise ? op_i.ifm.log2_bytes : 2'd2, !elementwise || op_i.ifm_signed);
  always_comb begin
    addend = '0;
    if (elementwise) addend = -41'($signed(op_i.ifm_zero_point));
    else if (weighted) addend = 41'($signed(bias_i));
  end
  assign sum = 41'(value) + addend;
  always_comb begin
    first_d = sum[32:0];
    if (!elementwise && sum[40:31] != {10{sum[40]}}) first_d = sum[40] ? Int32Min : Int32Max;
  end

  // Second source
  logic [31:0] raw2;
  logic signed [32:0] second_d;
  assign raw2     = op_i.ifm2_scalar_used ? 32'(op_i.ifm2_scalar) : 32'(data_i[1] >> {byte_i[1], 3'd0});
  assign second_d = element(raw2, op_i.ifm2_scalar_used ? 2'd1 : op_i.ifm2.log2_bytes, op_i.ifm2_signed)
                    - 33'($signed(op_i.ifm2_zero_point));

  logic swap;
  assign swap = elementwise && (op_i.reversed != second_scaled(op_i));

  logic signed [32:0] first_q, second_q;
  logic [5:0] shift_q;
  assign first_o  = first_q;
  assign second_o = second_q;
  assign shift_o  = shift_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q  <= '0;
      second_q <= '0;
      shift_q  <= '0;
    end else if (en_i && valid_i) begin
      first_q  <= swap ? second_d : first_d;
      second_q <= !elementwise ? $signed({1'b0, scale_i}) : (swap ? first_d : second_d);
      shift_q  <= shift_i;
    end
  end
endmodule
