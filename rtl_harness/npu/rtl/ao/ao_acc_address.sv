// SPDX-License-Identifier: Apache-2.0
/// Place of accumulators in the shared buffer, kept up as the walk goes along.
///
/// A row of a group of banks holds a micro-block: `UblkW` x `UblkH` pixels, `UblkD` channels. Rows follow one
/// another across, then down, then by channels. In a one-row operation halves of rows, two pixels each, do so.
module ao_acc_address #(
  parameter int unsigned UblkW  = 1,
  parameter int unsigned UblkH  = 1,
  parameter int unsigned UblkD  = 4,
  parameter int unsigned Usable = 16
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       en_i,
  input  logic       start_i,
  input  logic       one_row_i,
  input  logic [5:0] group_i,        // of banks' rows, the buffer's first
  input  logic [5:0] bw_m1_i,        // of the block
  input  logic [5:0] bh_m1_i,
  input  logic       next_i,
  input  logic [3:0] channel_i,
  input  logic [1:0] log2_rate_i,
  input  logic       odd_x_i,
  input  logic       odd_y_i,
  input  logic       last_channel_i,
  input  logic       last_x_i,
  input  logic       last_y_i,
  output logic [5:0] bank_o,
  output logic [5:0] row_o
);
  localparam int unsigned AccBanks = UblkW * UblkH * UblkD / 4;
  localparam int unsigned AccOffset = Usable % AccBanks;
  localparam int unsigned Planes = 16 / UblkD;  // micro-blocks in a group of channels
  localparam int unsigned RowW = UblkH > 1 ? 13 : 12;  // of a number of rows, or of halves

  logic [6:0] across, down;
  logic [11:0] area_q;       // micro-blocks of a plane
  logic [RowW-1:0] pixel_q;  // row of the pixel's first channels in the group
  logic [RowW-1:0] row_q;    // row of the channels at hand
  assign across = 7'(bw_m1_i >> $clog2(UblkW)) + 7'd1;
  assign down   = 7'(bh_m1_i >> $clog2(UblkH)) + 7'd1;

  logic plane_ends;
  assign plane_ends = (channel_i[$clog2(UblkD)-1:0] >> log2_rate_i)
                      == ($clog2(UblkD))'((UblkD - 1) >> log2_rate_i);

  logic [RowW-1:0] to_pixel, first;
  assign first = RowW'({group_i, 6'd0}) << one_row_i;
  always_comb begin
    to_pixel = RowW'(1);
    if (last_x_i && last_y_i) to_pixel = RowW'(1) + RowW'(12'(Planes - 1) * area_q);
    else if (last_x_i && UblkH > 1 && !odd_y_i) to_pixel = RowW'(1) - RowW'(across);
    else if (!last_x_i && UblkW > 1 && !odd_x_i) to_pixel = '0;
  end

  logic [5:0] lane;
  logic [11:0] whole_row;
  logic lane_y;
  assign whole_row = 12'(row_q >> one_row_i);
  assign lane_y    = one_row_i ? row_q[0] : odd_y_i;
  assign lane   = ((6'(lane_y) % 6'(UblkH)) * 6'(UblkW) + 6'(odd_x_i) % 6'(UblkW)) * 6'(UblkD / 4)
                  + (6'(channel_i) % 6'(UblkD)) / 6'd4;
  assign bank_o = whole_row[11:6] * 6'(AccBanks) + 6'(AccOffset) + lane;
  assign row_o  = whole_row[5:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      area_q  <= '0;
      pixel_q <= '0;
      row_q   <= '0;
    end else if (en_i) begin
      area_q <= 12'(across) * 12'(down);
      if (start_i) begin
        pixel_q <= first;
        row_q   <= first;
      end else if (next_i) begin
        if (last_channel_i) begin
          pixel_q <= pixel_q + to_pixel;
          row_q   <= pixel_q + to_pixel;
        end else if (plane_ends) begin
          row_q <= row_q + RowW'(area_q);
        end
      end
    end
  end
endmodule
