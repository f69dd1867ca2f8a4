// SPDX-License-Identifier: Apache-2.0
/// Byte address of an elementwise operand in the shared buffer, kept up as the walk goes along.
///
/// The operand lies pixel after pixel, each in whole words of 64 bits. Where it is broadcast it has one column,
/// row or channel.
module ao_operand_address (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  logic        start_i,
  input  logic [5:0]  bank_i,         // first of the buffer
  input  logic [7:0]  depth_i,        // channels of the block
  input  logic [1:0]  log2_bytes_i,   // of an element
  input  logic        broadcast_w_i,
  input  logic        broadcast_h_i,
  input  logic        broadcast_c_i,
  input  logic        next_i,
  input  logic [3:0]  channel_i,
  input  logic [1:0]  log2_rate_i,
  input  logic        last_channel_i,
  input  logic        last_x_i,
  input  logic        last_y_i,
  output logic [15:0] at_o
);
  localparam logic [15:0] Group = 16'd16;  // channels

  logic [15:0] at_q;
  logic [15:0] group_q;   // first pixel, first channel of the group
  assign at_o = at_q;

  logic [7:0] depth;
  logic [6:0] words;      // of a pixel
  assign depth = broadcast_c_i ? 8'd1 : depth_i;
  assign words = 7'(((10'(depth) << log2_bytes_i) + 10'd7) >> 3);

  // Distances: between the elements of two cycles, from the first channel, to the next pixel and group
  logic [5:0] to_next, from_first;
  logic [9:0] to_pixel;
  logic [15:0] next_group;
  assign to_next    = broadcast_c_i ? '0 : (6'd1 << log2_rate_i) << log2_bytes_i;
  assign from_first = broadcast_c_i ? '0 : 6'(channel_i) << log2_bytes_i;
  assign to_pixel   = last_x_i || !broadcast_w_i ? {words, 3'd0} : '0;
  assign next_group = group_q + (broadcast_c_i ? '0 : Group << log2_bytes_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q    <= '0;
      group_q <= '0;
    end else if (en_i) begin
      if (start_i) begin
        at_q    <= {bank_i, 10'd0};
        group_q <= {bank_i, 10'd0};
      end else if (next_i) begin
        if (!last_channel_i) begin
          at_q <= at_q + 16'(to_next);
        end else if (last_x_i && last_y_i) begin
          at_q    <= next_group;
          group_q <= next_group;
        end else if (last_x_i && broadcast_h_i) begin
          at_q <= group_q;
        end else begin
          at_q <= at_q + 16'(to_pixel) - 16'(from_first);
        end
      end
    end
  end
endmodule
