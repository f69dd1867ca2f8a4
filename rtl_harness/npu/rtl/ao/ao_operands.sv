/// First half of the arithmetic of one element: from accumulator or operands to the value that is scaled.
///
/// Two stages. Accumulators get their bias, padded averages their count's reciprocal; elementwise operations
/// scale and combine their operands.
module ao_operands
  import npu_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  op_t                op_i,
  input  logic               valid_i,
  input  logic signed [31:0] acc_i,     // accumulator, or first operand without its zero point
  input  logic signed [39:0] bias_i,
  input  logic signed [32:0] a_i,
  input  logic signed [32:0] b_i,
  input  logic [31:0]        scale_i,   // of the channel
  input  logic [5:0]         shift_i,
  input  logic [6:0]         count_i,   // pixels under the kernel
  output logic               valid_o,
  output logic signed [35:0] value_o,
  output logic signed [32:0] factor_o,
  output logic [5:0]         shift_o
);
  // 2^(31+k) / n, rounded up as the compiler does for whole kernels; k bits hold n - 1.
  function automatic logic [64:0][38:0] reciprocals();
    for (int unsigned n = 0; n <= 64; n++) begin
      longint unsigned k;
      k = 0;
      while (n > 1 && (64'd1 << k) < 64'(n)) k++;
      reciprocals[n] = n == 0 ? 39'd0
                       : {6'(31 + k), 33'(((64'd1 << (31 + k)) + (64'd1 << k)) / 64'(n))};
    end
  endfunction
  localparam logic [64:0][38:0] Reciprocal = reciprocals();

  function automatic logic signed [31:0] sat32(logic signed [67:0] v);
    if (v > 68'sh0_7FFF_FFFF) return 32'sh7FFF_FFFF;
    if (v < -68'sh0_8000_0000) return 32'sh8000_0000;
    return v[31:0];
  endfunction

  function automatic logic signed [67:0] round_shift(logic signed [67:0] v, logic [5:0] shift);
    return (v + ((68'sd1 <<< shift) >>> 1)) >>> shift;
  endfunction

  function automatic logic signed [31:0] shifted_left(logic signed [33:0] v, logic [5:0] by);
    if (v == 0) return '0;
    if (by > 6'd31) return v < 0 ? 32'sh8000_0000 : 32'sh7FFF_FFFF;
    return sat32(68'(v) <<< by);
  endfunction

  logic wide, add_sub, elementwise;
  assign wide        = op_i.ifm.log2_bytes == 2'd2;
  assign elementwise = op_i.kind == Elementwise;
  assign add_sub     = op_i.elementwise == EwAdd || op_i.elementwise == EwSub;

  // Stage 1: scale the operands of an addition, multiply narrow ones.
  logic [4:0] headroom;  // left shift of the operand that is not scaled
  logic signed [67:0] a_by, b_by;
  logic signed [33:0] first_d, second_d, first_q, second_q;
  assign headroom = op_i.ifm.log2_bytes == '0 ? 5'd19 : 5'd14;
  assign a_by     = 68'(a_i) * 68'($signed({1'b0, op_i.opa_scale}));
  assign b_by     = 68'(b_i) * 68'($signed({1'b0, op_i.operand_to_scale == 2'd2 ? op_i.opa_scale
                                                                              : op_i.opb_scale}));
  always_comb begin
    first_d  = 34'(a_i);
    second_d = 34'(b_i);
    if (!elementwise) begin
      first_d = 34'(sat32(68'(acc_i) + 68'(bias_i)));
    end else if (add_sub && !wide) begin
      unique case (op_i.operand_to_scale)
        2'd1: begin
          first_d  = 34'(sat32(round_shift(a_by, op_i.opa_shift)));
          second_d = 34'(sat32(68'(b_i) <<< headroom));
        end
        2'd2: begin
          first_d  = 34'(sat32(68'(a_i) <<< headroom));
          second_d = 34'(sat32(round_shift(b_by, op_i.opa_shift)));
        end
        default: begin
          first_d  = 34'(sat32(a_by));
          second_d = 34'(sat32(b_by));
        end
      endcase
    end
  end

  // Stage 2: combine.
  logic stage_q, value_valid_q;
  logic [31:0] scale_q;
  logic [5:0] shift_q, places;
  logic [6:0] count_q;
  logic signed [35:0] value_d, value_q;
  logic signed [32:0] factor_d, factor_q;
  logic [5:0] out_shift_d, out_shift_q;
  logic [5:0] zeros;
  assign places = second_q[5:0];
  always_comb begin
    zeros = 6'd32;
    for (int unsigned i = 0; i < 32; i++) begin
      if (first_q[i]) zeros = 6'(31 - i);
    end
  end
  always_comb begin
    value_d     = 36'(first_q);
    factor_d    = 33'sd1;
    out_shift_d = '0;
    if (op_i.global_scale) begin
      factor_d    = wide ? 33'sd1 : $signed({1'b0, op_i.ofm_scale});
      out_shift_d = op_i.ofm_shift;
    end
    unique case (op_i.kind)
      Conv, Depthwise: begin
        factor_d    = $signed({1'b0, scale_q});
        out_shift_d = shift_q;
      end
      AveragePool: begin
        if (!op_i.global_scale || op_i.padded) begin
          factor_d    = $signed(Reciprocal[count_q][32:0]);
          out_shift_d = Reciprocal[count_q][38:33];
        end
      end
      Elementwise: begin
        unique case (op_i.elementwise)
          EwAdd: value_d = 36'(first_q) + 36'(second_q);
          EwSub: value_d = 36'(first_q) - 36'(second_q);
          EwMul: begin
            if (wide) factor_d = second_q[32:0];
            else value_d = 36'(first_q) * 36'(second_q);
          end
          EwMin: value_d = 36'(first_q < second_q ? first_q : second_q);
          EwMax: value_d = 36'(first_q > second_q ? first_q : second_q);
          EwAbs: value_d = first_q < 0 ? -36'(first_q) : 36'(first_q);
          EwLrelu: begin
            if (first_q >= 0) begin
              factor_d    = 33'sd1;
              out_shift_d = '0;
            end
          end
          EwClz: value_d = 36'(zeros);
          EwShl: value_d = 36'(shifted_left(first_q, places));
          default: begin  // EwShr
            value_d = op_i.rounding == 2'd2 ? 36'(round_shift(68'(first_q), places))
                                            : 36'(first_q >>> places);
          end
        endcase
      end
      default: ;
    endcase
  end

  assign valid_o  = value_valid_q;
  assign value_o  = value_q;
  assign factor_o = factor_q;
  assign shift_o  = out_shift_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_q       <= 1'b0;
      first_q       <= '0;
      second_q      <= '0;
      scale_q       <= '0;
      shift_q       <= '0;
      count_q       <= '0;
      value_valid_q <= 1'b0;
      value_q       <= '0;
      factor_q      <= '0;
      out_shift_q   <= '0;
    end else if (en_i) begin
      stage_q       <= valid_i;
      value_valid_q <= stage_q;
      if (valid_i) begin
        first_q  <= first_d;
        second_q <= second_d;
        scale_q  <= scale_i;
        shift_q  <= shift_i;
        count_q  <= count_i;
      end
      if (stage_q) begin
        value_q     <= value_d;
        factor_q    <= factor_d;
        out_shift_q <= out_shift_d;
      end
    end
  end
endmodule
