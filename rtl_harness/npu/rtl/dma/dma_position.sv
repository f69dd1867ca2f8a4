// SPDX-License-Identifier: Apache-2.0
/// Offset of a pixel in a tiled feature map, kept up as a walk goes along rows.
///
/// The four tiles meet at column `width0` and, left and right of it, at rows `height0` and `height1`. The
/// products of the first position with the strides are formed bit by bit, before `ready_o`.
module dma_position
  import npu_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  fmap_t       fmap_i,
  input  logic        start_i,
  input  logic [15:0] x_i,       // first position
  input  logic [15:0] y_i,
  input  logic [15:0] z_i,       // first channel
  output logic        ready_o,
  input  logic        next_i,    // to the next column
  input  logic        again_i,   // back to the row's first column
  input  logic        wrap_i,    // to the first column of the next row
  output logic [31:0] offset_o,  // of the pixel's channel 0
  output logic [31:0] first_channel_o  // offset of the first channel from there
);
  logic [31:0] step_x;
  assign step_x = pixel_step(fmap_i);

  logic busy_q;
  logic [3:0] bit_q;
  logic [15:0] x_q, y_q, first_x_q;
  logic [15:0] todo_x_q, todo_l_q, todo_r_q;
  logic [11:0] todo_z_q;
  logic [31:0] column_q, first_column_q, row_l_q, row_r_q, channel_q;

  logic right, bottom;
  assign right    = x_q > fmap_i.width0_m1;
  assign bottom   = y_q > (right ? fmap_i.height1_m1 : fmap_i.height0_m1);
  assign first_channel_o = channel_q;
  assign offset_o = fmap_i.base[{bottom, right}] + column_q + (right ? row_r_q : row_l_q);

  logic done;
  assign done    = (todo_x_q | todo_l_q | todo_r_q) == '0 && todo_z_q == '0;
  assign ready_o = busy_q && done;

  function automatic logic [15:0] in_tile(logic [15:0] at, logic [15:0] last);
    return at > last ? at - last - 16'd1 : at;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q         <= 1'b0;
      bit_q          <= '0;
      x_q            <= '0;
      y_q            <= '0;
      first_x_q      <= '0;
      todo_x_q       <= '0;
      todo_l_q       <= '0;
      todo_r_q       <= '0;
      todo_z_q       <= '0;
      channel_q      <= '0;
      column_q       <= '0;
      first_column_q <= '0;
      row_l_q        <= '0;
      row_r_q        <= '0;
    end else if (en_i) begin
      if (start_i) begin
        busy_q    <= 1'b1;
        bit_q     <= '0;
        x_q       <= x_i;
        y_q       <= y_i;
        first_x_q <= x_i;
        todo_x_q  <= in_tile(x_i, fmap_i.width0_m1);
        todo_l_q  <= in_tile(y_i, fmap_i.height0_m1);
        todo_r_q  <= in_tile(y_i, fmap_i.height1_m1);
        todo_z_q  <= fmap_i.brick ? z_i[15:4] : '0;
        channel_q <= (fmap_i.brick ? 32'(z_i[3:0]) : 32'(z_i)) << fmap_i.log2_bytes;
        column_q  <= '0;
        row_l_q   <= '0;
        row_r_q   <= '0;
      end else if (busy_q && !done) begin
        bit_q    <= bit_q + 4'd1;
        todo_x_q <= todo_x_q >> 1;
        todo_l_q <= todo_l_q >> 1;
        todo_r_q <= todo_r_q >> 1;
        todo_z_q <= todo_z_q >> 1;
        if (todo_z_q[0]) channel_q <= channel_q + (fmap_i.stride_c << bit_q);
        if (todo_x_q[0]) column_q <= column_q + (step_x << bit_q);
        if (todo_l_q[0]) row_l_q <= row_l_q + (fmap_i.stride_y << bit_q);
        if (todo_r_q[0]) row_r_q <= row_r_q + (fmap_i.stride_y << bit_q);
      end else if (busy_q) begin
        busy_q         <= 1'b0;
        first_column_q <= column_q;
      end else if (wrap_i) begin
        x_q      <= first_x_q;
        y_q      <= y_q + 16'd1;
        column_q <= first_column_q;
        row_l_q  <= y_q == fmap_i.height0_m1 ? '0 : row_l_q + fmap_i.stride_y;
        row_r_q  <= y_q == fmap_i.height1_m1 ? '0 : row_r_q + fmap_i.stride_y;
      end else if (again_i) begin
        x_q      <= first_x_q;
        column_q <= first_column_q;
      end else if (next_i) begin
        x_q      <= x_q + 16'd1;
        column_q <= x_q == fmap_i.width0_m1 ? '0 : column_q + step_x;
      end
    end
  end
endmodule
