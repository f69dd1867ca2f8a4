// SPDX-License-Identifier: Apache-2.0
/// Shared-buffer addresses of one element's sources: accumulator or first operand, and second operand.
module ao_fetch
  import npu_pkg::*;
#(
  parameter int unsigned UblkW  = 1,
  parameter int unsigned UblkH  = 1,
  parameter int unsigned UblkD  = 4,
  parameter int unsigned Usable = 16
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       en_i,
  input  op_t        op_i,
  input  logic       start_i,
  input  logic [7:0] depth_i,         // channels of the block
  input  logic       acc_buffer_i,
  input  logic       ifm_buffer_i,
  // Where the walk is, and whether it goes on
  input  logic       next_i,
  input  logic [3:0] channel_i,
  input  logic [1:0] log2_rate_i,
  input  logic [5:0] bw_m1_i,
  input  logic [5:0] bh_m1_i,
  input  logic       odd_x_i,
  input  logic       odd_y_i,
  input  logic       last_channel_i,
  input  logic       last_x_i,
  input  logic       last_y_i,
  output logic [1:0][5:0] bank_o,
  output logic [1:0][5:0] row_o,
  output logic [1:0][3:0] byte_o      // of the element in the row
);
  localparam int unsigned AccBanks = UblkW * UblkH * UblkD / 4;

  logic elementwise;
  assign elementwise = op_i.kind == Elementwise;

  logic [5:0] acc_bank, acc_row;
  ao_acc_address #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Usable(Usable)
  ) u_acc (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .en_i          (en_i),
    .start_i       (start_i && !elementwise),
    .one_row_i     (UblkH > 1 && op_i.one_row),
    .group_i       (acc_buffer_group(op_i, Usable, AccBanks, acc_buffer_i)),
    .bw_m1_i       (bw_m1_i),
    .bh_m1_i       (bh_m1_i),
    .next_i        (next_i && !elementwise),
    .channel_i     (channel_i),
    .log2_rate_i   (log2_rate_i),
    .odd_x_i       (odd_x_i),
    .odd_y_i       (odd_y_i),
    .last_channel_i(last_channel_i),
    .last_x_i      (last_x_i),
    .last_y_i      (last_y_i),
    .bank_o        (acc_bank),
    .row_o         (acc_row)
  );

  logic [1:0][15:0] at;
  ao_operand_address u_first (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .en_i          (en_i),
    .start_i       (start_i && elementwise),
    .bank_i        (operand_bank(op_i, 1'b0, ifm_buffer_i)),
    .depth_i       (depth_i),
    .log2_bytes_i  (op_i.ifm.log2_bytes),
    .broadcast_w_i (1'b0),
    .broadcast_h_i (1'b0),
    .broadcast_c_i (1'b0),
    .next_i        (next_i && elementwise),
    .channel_i     (channel_i),
    .log2_rate_i   (log2_rate_i),
    .last_channel_i(last_channel_i),
    .last_x_i      (last_x_i),
    .last_y_i      (last_y_i),
    .at_o          (at[0])
  );
  ao_operand_address u_second (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .en_i          (en_i),
    .start_i       (start_i && op_i.ifm2_used),
    .bank_i        (operand_bank(op_i, 1'b1, ifm_buffer_i)),
    .depth_i       (depth_i),
    .log2_bytes_i  (op_i.ifm2.log2_bytes),
    .broadcast_w_i (op_i.broadcast_w),
    .broadcast_h_i (op_i.broadcast_h),
    .broadcast_c_i (op_i.broadcast_c),
    .next_i        (next_i && op_i.ifm2_used),
    .channel_i     (channel_i),
    .log2_rate_i   (log2_rate_i),
    .last_channel_i(last_channel_i),
    .last_x_i      (last_x_i),
    .last_y_i      (last_y_i),
    .at_o          (at[1])
  );

  always_comb begin
    for (int unsigned i = 0; i < 2; i++) {bank_o[i], row_o[i], byte_o[i]} = at[i];
    if (!elementwise) {bank_o[0], row_o[0], byte_o[0]} = {acc_bank, acc_row, channel_i[1:0], 2'd0};
  end
endmodule
