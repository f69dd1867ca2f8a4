// SPDX-License-Identifier: Apache-2.0
/// Scale and shift of averages that leave the padding out: counts the pixels under the kernel.
///
/// The window's place is kept up with the walk; scale and shift follow three cycles later.
module ao_window
  import npu_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  op_t         op_i,
  input  logic        start_i,
  input  logic [15:0] ox0_i,     // first pixel of the block
  input  logic [15:0] oy0_i,
  input  logic        take_i,
  input  logic        next_i,    // to the next pixel
  input  logic        last_x_i,
  input  logic        last_y_i,
  input  logic [1:0]  taken_i,   // one cycle after `take_i`, and two
  output logic [32:0] factor_o,
  output logic [5:0]  shift_o
);
  // Position in the IFM, with upscaling, of the kernel's first tap; negative in the padding
  function automatic logic signed [18:0] first_tap(logic [15:0] at, logic [1:0] stride, logic [6:0] pad);
    return (stride[0] ? 19'(at) : '0) + (stride[1] ? 19'({at, 1'b0}) : '0) - 19'(pad);
  endfunction

  function automatic logic [6:0] under(logic signed [18:0] first, logic [6:0] last_tap, logic [17:0] limit);
    logic signed [18:0] from, to;
    from = first < 0 ? '0 : first;
    to   = first + 19'(last_tap) + 19'sd1;
    if (to > $signed({1'b0, limit})) to = $signed({1'b0, limit});
    return to > from ? 7'(to - from) : '0;
  endfunction

  logic signed [18:0] x_q, y_q, start_x, start_y;
  logic [6:0] under_x_q, under_y_q, count_q;
  assign start_x = first_tap(ox0_i, op_i.stride_x, op_i.pad_left);
  assign start_y = first_tap(oy0_i, op_i.stride_y, op_i.pad_top);

  logic used;
  assign used = op_i.kind == AveragePool;

  ao_reciprocal u_reciprocal (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .en_i    (en_i),
    .valid_i (taken_i[1] && used),
    .count_i (count_q),
    .factor_o(factor_o),
    .shift_o (shift_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      x_q       <= '0;
      y_q       <= '0;
      under_x_q <= '0;
      under_y_q <= '0;
      count_q   <= '0;
    end else if (en_i && used) begin
      if (start_i) begin
        x_q <= start_x;
        y_q <= start_y;
      end else if (next_i) begin
        x_q <= last_x_i ? start_x : x_q + 19'(op_i.stride_x);
        if (last_x_i) y_q <= last_y_i ? start_y : y_q + 19'(op_i.stride_y);
      end
      if (take_i) begin
        under_x_q <= under(x_q, op_i.taps_x_m1, op_i.ifm_w);
        under_y_q <= under(y_q, op_i.taps_y_m1, op_i.ifm_h);
      end
      if (taken_i[0]) count_q <= under_x_q * under_y_q;
    end
  end
endmodule
