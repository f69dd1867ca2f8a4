// SPDX-License-Identifier: Apache-2.0
/// Walks an operation's blocks, and within a block its IFM pieces and subkernels.
///
/// The step that is shown follows from the position within a few dozen gates; whoever takes it has a register.
module cc_steps
  import npu_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_ni,
  input  logic  start_i,       // the operation is known: go to its first step
  input  op_t   op_i,
  input  logic  skip_depth_i,  // visit only the first block of a spatial position
  output logic  valid_o,
  output step_t step_o,
  input  logic  next_i
);
  logic [15:0] iz_q;
  logic [6:0] kx_q, ky_q;

  logic inner_last, last_z;
  block_t block;
  cc_blocks u_blocks (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (start_i),
    .op_i        (op_i),
    .skip_depth_i(skip_depth_i),
    .valid_o     (valid_o),
    .block_o     (block),
    .last_z_o    (last_z),
    .next_i      (next_i && inner_last)
  );

  logic [3:0] sub_x, sub_y;
  assign sub_x = (op_i.small_subkernel ? 4'd4 : 4'd8) >> op_i.dilate_x;
  assign sub_y = (op_i.small_subkernel ? 4'd4 : 4'd8) >> op_i.dilate_y;

  // Convolutions and sums over depth take the IFM in pieces of channels; elsewhere a block's IFM has
  // the block's channels.
  logic pieces;
  logic [5:0] piece;
  assign pieces = op_i.kind == Conv || op_i.kind == ReduceSum;
  always_comb begin
    piece = 6'd32;
    if (op_i.part_kernel) piece = 6'd16;
    if (op_i.ifm.log2_bytes != '0) piece = op_i.ifm.log2_bytes[1] ? 6'd8 : 6'd16;
  end

  // What remains from the position on, minus one
  logic [15:0] left_iz;
  logic [6:0] left_kx, left_ky;
  logic last_iz, last_kx, last_ky;
  assign left_iz    = op_i.ifm_d_m1 - iz_q;
  assign left_kx    = op_i.taps_x_m1 - kx_q;
  assign left_ky    = op_i.taps_y_m1 - ky_q;
  assign last_iz    = !pieces || left_iz < 16'(piece);
  assign last_kx    = left_kx < 7'(sub_x);
  assign last_ky    = left_ky < 7'(sub_y);
  assign inner_last = last_kx && last_ky && last_iz;

  logic [3:0] tw_m1, th_m1;
  assign tw_m1 = last_kx ? left_kx[3:0] : sub_x - 4'd1;
  assign th_m1 = last_ky ? left_ky[3:0] : sub_y - 4'd1;

  // First position of the piece in the IFM, and how far it is from there to the last
  logic signed [18:0] ix0, iy0;
  logic [8:0] reach_x, reach_y;
  assign ix0     = 19'(19'(block.ox0) * 19'(op_i.stride_x)) + (19'(kx_q) << op_i.dilate_x)
                   - 19'(op_i.pad_left);
  assign iy0     = 19'(19'(block.oy0) * 19'(op_i.stride_y)) + (19'(ky_q) << op_i.dilate_y)
                   - 19'(op_i.pad_top);
  assign reach_x = 9'(9'(block.bw) * 9'(op_i.stride_x)) - 9'(op_i.stride_x) + (9'(tw_m1) << op_i.dilate_x);
  assign reach_y = 9'(9'(block.bh) * 9'(op_i.stride_y)) - 9'(op_i.stride_y) + (9'(th_m1) << op_i.dilate_y);

  // Pixels of memory that it takes, one at least; `odd`: it begins between two of them if upscaled
  function automatic logic [7:0] extent(logic [8:0] reach, logic odd);
    logic signed [9:0] span;
    span = 10'(reach);
    if (op_i.upscale && odd) span = op_i.upscale_zeros ? span - 10'sd1 : span + 10'sd1;
    return span < 0 ? 8'd1 : 8'(span >>> op_i.upscale) + 8'd1;
  endfunction

  always_comb begin
    step_o           = '0;
    step_o.bw        = block.bw;
    step_o.bh        = block.bh;
    step_o.bd        = block.bd;
    step_o.iz0       = pieces ? iz_q : block.oz0;
    step_o.zc        = !pieces ? block.bd : (last_iz ? left_iz[7:0] + 8'd1 : 8'(piece));
    step_o.tw        = tw_m1 + 4'd1;
    step_o.th        = th_m1 + 4'd1;
    step_o.ix0       = ix0;
    step_o.iy0       = iy0;
    step_o.iw        = extent(reach_x, ix0[0]);
    step_o.ih        = extent(reach_y, iy0[0]);
    step_o.first     = kx_q == '0 && ky_q == '0 && iz_q == '0;
    step_o.last      = inner_last;
    step_o.row_first = step_o.first && block.oz0 == '0;
    step_o.row_last  = inner_last && last_z;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {iz_q, kx_q, ky_q} <= '0;
    end else if (start_i) begin
      {iz_q, kx_q, ky_q} <= '0;
    end else if (valid_o && next_i) begin
      // Innermost first: subkernel column, subkernel row, IFM piece
      kx_q <= last_kx ? '0 : kx_q + 7'(sub_x);
      if (last_kx) ky_q <= last_ky ? '0 : ky_q + 7'(sub_y);
      if (last_kx && last_ky) iz_q <= last_iz ? '0 : iz_q + 16'(piece);
    end
  end
endmodule
