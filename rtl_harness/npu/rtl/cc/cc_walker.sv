/// Walks an operation's blocks, depth innermost, and within a block its IFM pieces and subkernels.
///
/// Three of these run side by side, for IFM fetch, MAC unit and output unit; only buffers couple them.
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
  logic [12:0] ox_q, oy_q, oz_q, iz_q;
  logic [6:0] kx_q, ky_q;

  logic [3:0] sub_x, sub_y;
  assign sub_x = (op_i.small_subkernel ? 4'd4 : 4'd8) >> op_i.dilate_x;
  assign sub_y = (op_i.small_subkernel ? 4'd4 : 4'd8) >> op_i.dilate_y;

  // What remains beyond the current position, minus one.
  logic [12:0] left_x, left_y, left_z, left_iz;
  logic [6:0] left_kx, left_ky;
  assign left_x  = op_i.ofm_w_m1 - ox_q;
  assign left_y  = op_i.ofm_h_m1 - oy_q;
  assign left_z  = op_i.ofm_d_m1 - oz_q;
  assign left_iz = op_i.ifm_d_m1 - iz_q;
  assign left_kx = op_i.taps_x_m1 - kx_q;
  assign left_ky = op_i.taps_y_m1 - ky_q;

  logic [12:0] piece_m1;
  assign piece_m1 = op_i.part_kernel ? 13'd15 : 13'd31;

  logic last_x, last_y, last_z, last_iz, last_kx, last_ky;
  assign last_x  = left_x <= 13'(op_i.blk_w_m1);
  assign last_y  = left_y <= 13'(op_i.blk_h_m1);
  assign last_z  = left_z <= 13'(op_i.blk_d_m1) || skip_depth_i;
  assign last_iz = !Inner || left_iz <= piece_m1;
  assign last_kx = !Inner || left_kx < 7'(sub_x);
  assign last_ky = !Inner || left_ky < 7'(sub_y);

  logic [5:0] bw_m1, bh_m1;
  logic [6:0] bd_m1;
  logic [3:0] tw_m1, th_m1;
  assign bw_m1 = left_x <= 13'(op_i.blk_w_m1) ? left_x[5:0] : op_i.blk_w_m1;
  assign bh_m1 = left_y <= 13'(op_i.blk_h_m1) ? left_y[5:0] : op_i.blk_h_m1;
  assign bd_m1 = left_z <= 13'(op_i.blk_d_m1) ? left_z[6:0] : op_i.blk_d_m1;
  assign tw_m1 = left_kx < 7'(sub_x) ? left_kx[3:0] : sub_x - 4'd1;
  assign th_m1 = left_ky < 7'(sub_y) ? left_ky[3:0] : sub_y - 4'd1;

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
    step_o.iz0       = iz_q;
    step_o.zc        = left_iz <= piece_m1 ? 6'(left_iz[4:0]) + 6'd1 : 6'(piece_m1[4:0]) + 6'd1;
    step_o.tw        = tw_m1 + 4'd1;
    step_o.th        = th_m1 + 4'd1;
    step_o.ix0       = 17'(17'(ox_q) * 17'(op_i.stride_x)) + (17'(kx_q) << op_i.dilate_x)
                       - 17'(op_i.pad_left);
    step_o.iy0       = 17'(17'(oy_q) * 17'(op_i.stride_y)) + (17'(ky_q) << op_i.dilate_y)
                       - 17'(op_i.pad_top);
    step_o.iw        = 8'(8'(bw_m1) * 8'(op_i.stride_x)) + (8'(tw_m1) << op_i.dilate_x) + 8'd1;
    step_o.ih        = 8'(8'(bh_m1) * 8'(op_i.stride_y)) + (8'(th_m1) << op_i.dilate_y) + 8'd1;
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
      // Innermost first: subkernel column, subkernel row, IFM piece, OFM depth, column, row.
      kx_q <= last_kx ? '0 : kx_q + 7'(sub_x);
      if (last_kx) ky_q <= last_ky ? '0 : ky_q + 7'(sub_y);
      if (last_kx && last_ky) iz_q <= last_iz ? '0 : iz_q + piece_m1 + 13'd1;
      if (inner_last) begin
        oz_q <= last_z ? '0 : oz_q + 13'(op_i.blk_d_m1) + 13'd1;
        if (last_z) begin
          ox_q <= last_x ? '0 : ox_q + 13'(op_i.blk_w_m1) + 13'd1;
          if (last_x) begin
            oy_q    <= last_y ? '0 : oy_q + 13'(op_i.blk_h_m1) + 13'd1;
            valid_q <= !last_y;
          end
        end
      end
    end
  end
endmodule
