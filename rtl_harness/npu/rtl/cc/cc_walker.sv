/// Walks an operation's blocks, depth innermost, and within a block its IFM pieces and subkernels.
///
/// Several of these run side by side, for IFM fetch, MAC unit, output unit and OFM writer; only buffers
/// couple them.
module cc_walker
  import npu_pkg::*;
#(
  parameter bit Inner = 1'b1  // walk IFM pieces and subkernels too, else blocks only
) (
  input  logic  clk_i,
  input  logic  rst_ni,
  input  logic  start_i,
  input  op_t   op_i,
  input  logic  skip_depth_i,  // visit only the first block of a spatial position
  output logic  valid_o,
  output step_t step_o,
  input  logic  next_i
);
  logic valid_q;
  logic [15:0] ox_q, oy_q, oz_q, iz_q;
  logic [6:0] kx_q, ky_q;

  logic [3:0] sub_x, sub_y;
  assign sub_x = (op_i.small_subkernel ? 4'd4 : 4'd8) >> op_i.dilate_x;
  assign sub_y = (op_i.small_subkernel ? 4'd4 : 4'd8) >> op_i.dilate_y;

  // What remains beyond the current position, minus one
  logic [15:0] left_x, left_y, left_z, left_iz;
  logic [6:0] left_kx, left_ky;
  assign left_x  = op_i.ofm_w_m1 - ox_q;
  assign left_y  = op_i.ofm_h_m1 - oy_q;
  assign left_z  = op_i.ofm_d_m1 - oz_q;
  assign left_iz = op_i.ifm_d_m1 - iz_q;
  assign left_kx = op_i.taps_x_m1 - kx_q;
  assign left_ky = op_i.taps_y_m1 - ky_q;

  // Convolutions and sums over depth take the IFM in pieces of channels; elsewhere a block's IFM has
  // the block's channels.
  logic pieces;
  logic [15:0] piece_m1;
  assign pieces = op_i.kind == Conv || op_i.kind == ReduceSum;
  always_comb begin
    piece_m1 = 16'd31;
    if (op_i.part_kernel) piece_m1 = 16'd15;
    if (op_i.ifm.log2_bytes != '0) piece_m1 = op_i.ifm.log2_bytes[1] ? 16'd7 : 16'd15;
  end

  logic last_x, last_y, last_z, last_iz, last_kx, last_ky;
  assign last_x  = left_x <= 16'(op_i.blk_w_m1);
  assign last_y  = left_y <= 16'(op_i.blk_h_m1);
  assign last_z  = left_z <= 16'(op_i.blk_d_m1) || skip_depth_i;
  assign last_iz = !Inner || !pieces || left_iz <= piece_m1;
  assign last_kx = !Inner || left_kx < 7'(sub_x);
  assign last_ky = !Inner || left_ky < 7'(sub_y);

  logic [5:0] bw_m1, bh_m1;
  logic [6:0] bd_m1, zc_m1;
  logic [3:0] tw_m1, th_m1;
  assign bw_m1 = left_x <= 16'(op_i.blk_w_m1) ? left_x[5:0] : op_i.blk_w_m1;
  assign bh_m1 = left_y <= 16'(op_i.blk_h_m1) ? left_y[5:0] : op_i.blk_h_m1;
  assign bd_m1 = left_z <= 16'(op_i.blk_d_m1) ? left_z[6:0] : op_i.blk_d_m1;
  assign zc_m1 = !pieces ? bd_m1 : (left_iz <= piece_m1 ? left_iz[6:0] : piece_m1[6:0]);
  assign tw_m1 = left_kx < 7'(sub_x) ? left_kx[3:0] : sub_x - 4'd1;
  assign th_m1 = left_ky < 7'(sub_y) ? left_ky[3:0] : sub_y - 4'd1;

  // First and last position of the piece in the IFM
  logic signed [18:0] ix0, iy0, ix1, iy1;
  assign ix0 = 19'(19'(ox_q) * 19'(op_i.stride_x)) + (19'(kx_q) << op_i.dilate_x)
               - 19'(op_i.pad_left);
  assign iy0 = 19'(19'(oy_q) * 19'(op_i.stride_y)) + (19'(ky_q) << op_i.dilate_y)
               - 19'(op_i.pad_top);
  assign ix1 = ix0 + 19'(9'(bw_m1) * 9'(op_i.stride_x)) + (19'(tw_m1) << op_i.dilate_x);
  assign iy1 = iy0 + 19'(9'(bh_m1) * 9'(op_i.stride_y)) + (19'(th_m1) << op_i.dilate_y);

  function automatic logic [7:0] extent(logic signed [18:0] first, logic signed [18:0] last);
    logic signed [18:0] from, to;
    from = ifm_origin(op_i, first);
    to   = last >>> op_i.upscale;
    return to < from ? 8'd1 : 8'(to - from) + 8'd1;
  endfunction

  logic inner_last;
  assign inner_last = last_kx && last_ky && last_iz;

  always_comb begin
    step_o           = '0;
    step_o.ox0       = ox_q;
    step_o.oy0       = oy_q;
    step_o.oz0       = oz_q;
    step_o.bw        = 7'(bw_m1) + 7'd1;
    step_o.bh        = 7'(bh_m1) + 7'd1;
    step_o.bd        = 8'(bd_m1) + 8'd1;
    step_o.iz0       = pieces ? iz_q : oz_q;
    step_o.zc        = 8'(zc_m1) + 8'd1;
    step_o.tw        = tw_m1 + 4'd1;
    step_o.th        = th_m1 + 4'd1;
    step_o.ix0       = ix0;
    step_o.iy0       = iy0;
    step_o.iw        = extent(ix0, ix1);
    step_o.ih        = extent(iy0, iy1);
    step_o.first     = kx_q == '0 && ky_q == '0 && iz_q == '0;
    step_o.last      = inner_last;
    step_o.row_first = step_o.first && oz_q == '0;
    step_o.row_last  = inner_last && last_z;
  end

  assign valid_o = valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      {ox_q, oy_q, oz_q, iz_q} <= '0;
      {kx_q, ky_q} <= '0;
    end else if (start_i) begin
      valid_q <= 1'b1;
      {ox_q, oy_q, oz_q, iz_q} <= '0;
      {kx_q, ky_q} <= '0;
    end else if (valid_q && next_i) begin
      // Innermost first: subkernel column, subkernel row, IFM piece, OFM depth, column, row
      kx_q <= last_kx ? '0 : kx_q + 7'(sub_x);
      if (last_kx) ky_q <= last_ky ? '0 : ky_q + 7'(sub_y);
      if (last_kx && last_ky) iz_q <= last_iz ? '0 : iz_q + piece_m1 + 16'd1;
      if (inner_last) begin
        oz_q <= last_z ? '0 : oz_q + 16'(op_i.blk_d_m1) + 16'd1;
        if (last_z) begin
          ox_q <= last_x ? '0 : ox_q + 16'(op_i.blk_w_m1) + 16'd1;
          if (last_x) begin
            oy_q    <= last_y ? '0 : oy_q + 16'(op_i.blk_h_m1) + 16'd1;
            valid_q <= !last_y;
          end
        end
      end
    end
  end
endmodule
