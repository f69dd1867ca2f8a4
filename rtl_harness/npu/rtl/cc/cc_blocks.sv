// SPDX-License-Identifier: Apache-2.0
/// Walks an operation's blocks, depth innermost; the block at hand is in registers.
///
/// Several of these run side by side, for IFM fetch, MAC unit, output unit and OFM writer; only buffers
/// couple them.
module cc_blocks
  import npu_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  logic   start_i,       // the operation is known: go to its first block
  input  op_t    op_i,
  input  logic   skip_depth_i,  // visit only the first block of a spatial position
  output logic   valid_o,
  output block_t block_o,
  output logic   last_z_o,      // the last block of its spatial position
  input  logic   next_i
);
  logic valid_q, last_x_q, last_y_q, last_z_q;
  logic [15:0] ox_q, oy_q, oz_q, ox_d, oy_d, oz_d;
  logic [6:0] bw_q, bh_q;
  logic [7:0] bd_q;
  assign valid_o  = valid_q;
  assign block_o  = '{ox0: ox_q, oy0: oy_q, oz0: oz_q, bw: bw_q, bh: bh_q, bd: bd_q};
  assign last_z_o = last_z_q;

  // What remains from the position on, minus one
  logic [15:0] left_x, left_y, left_z;
  logic last_x, last_y, last_z;
  assign left_x = op_i.ofm_w_m1 - ox_d;
  assign left_y = op_i.ofm_h_m1 - oy_d;
  assign left_z = op_i.ofm_d_m1 - oz_d;
  assign last_x = left_x <= 16'(op_i.blk_w_m1);
  assign last_y = left_y <= 16'(op_i.blk_h_m1);
  assign last_z = left_z <= 16'(op_i.blk_d_m1);

  always_comb begin
    {ox_d, oy_d, oz_d} = '0;
    if (!start_i) begin
      ox_d = ox_q;
      oy_d = oy_q;
      oz_d = last_z_q ? '0 : oz_q + 16'(op_i.blk_d_m1) + 16'd1;
      if (last_z_q) ox_d = last_x_q ? '0 : ox_q + 16'(op_i.blk_w_m1) + 16'd1;
      if (last_z_q && last_x_q) oy_d = oy_q + 16'(op_i.blk_h_m1) + 16'd1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      last_x_q <= 1'b0;
      last_y_q <= 1'b0;
      last_z_q <= 1'b0;
      {ox_q, oy_q, oz_q} <= '0;
      {bw_q, bh_q, bd_q} <= '0;
    end else if (start_i || (valid_q && next_i)) begin
      valid_q  <= start_i || !(last_x_q && last_y_q && last_z_q);
      last_x_q <= last_x;
      last_y_q <= last_y;
      last_z_q <= last_z || skip_depth_i;
      ox_q     <= ox_d;
      oy_q     <= oy_d;
      oz_q     <= oz_d;
      bw_q     <= 7'(last_x ? left_x[5:0] : op_i.blk_w_m1) + 7'd1;
      bh_q     <= 7'(last_y ? left_y[5:0] : op_i.blk_h_m1) + 7'd1;
      bd_q     <= 8'(last_z ? left_z[6:0] : op_i.blk_d_m1) + 8'd1;
    end
  end
endmodule
