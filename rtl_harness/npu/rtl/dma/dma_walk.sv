// SPDX-License-Identifier: Apache-2.0
/// Walks through a piece of a feature map and gives its segments: where each lies, and where it goes.
///
/// Row by row; in a row brick by brick, each along its pixels, so that what is neighbours in memory follows one
/// another. Pixels outside the map (padding) are skipped.
module dma_walk
  import npu_pkg::*;
#(
  parameter int unsigned UblkW = 1,
  parameter int unsigned UblkH = 1
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  input  logic     en_i,
  input  region_t  region_i,
  input  fmap_t    fmap_i,
  input  piece_t   piece_i,
  input  logic     start_i,
  output logic     busy_o,
  output logic     valid_o,
  input  logic     ready_i,
  output segment_t segment_o,
  output logic [6:0] words_o  // of a pixel
);
  localparam logic [9:0] ShortSegment = 10'd16;  // bytes, in bricks of 8-bit elements
  localparam logic [9:0] LongSegment  = 10'd32;
  localparam logic [9:0] BrickDepth   = 10'd16;  // channels

  typedef enum logic [1:0] {
    Idle,
    Locate,
    Walk
  } state_e;

  state_e state_q;
  logic [9:0] total_q;         // bytes of a pixel
  logic [6:0] words_q;         // words of a pixel
  logic [7:0] x_q, y_q;
  logic [9:0] before_q;        // bytes of the pixel in bricks before this one
  logic [9:0] brick_q;         // bytes of the pixel in this brick; of NHWC, all of them
  logic [9:0] left_q;          // of these, from this segment on
  logic [31:0] channel_q;      // offset of the brick from the pixel's channel 0
  logic [11:0] row_q, word_q;  // words of the row's first pixel, and of this one

  logic located, next, again, wrap;
  logic [31:0] offset, first_channel;
  dma_position u_position (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .fmap_i         (fmap_i),
    .start_i        (start_i),
    .x_i            (piece_i.x0 < 0 ? '0 : piece_i.x0[15:0]),
    .y_i            (piece_i.y0 < 0 ? '0 : piece_i.y0[15:0]),
    .z_i            (piece_i.z0),
    .ready_o        (located),
    .next_i         (next),
    .again_i        (again),
    .wrap_i         (wrap),
    .offset_o       (offset),
    .first_channel_o(first_channel)
  );

  logic signed [18:0] x, y;
  logic in_x, in_y, in_map;
  assign x      = piece_i.x0 + 19'(x_q);
  assign y      = piece_i.y0 + 19'(y_q);
  assign in_x   = x >= 0 && x < $signed({1'b0, piece_i.limit_x});
  assign in_y   = y >= 0 && y < $signed({1'b0, piece_i.limit_y});
  assign in_map = in_x && in_y;

  // The bytes of the brick at hand, and of the first and the next one
  logic [9:0] total, longest, span, rest, first_bytes, next_bytes;
  logic last_segment, last_brick;
  assign total        = 10'(piece_i.c) << fmap_i.log2_bytes;
  assign longest      = fmap_i.brick && fmap_i.log2_bytes == '0 ? ShortSegment : LongSegment;
  assign span         = BrickDepth << fmap_i.log2_bytes;
  assign rest         = total_q - before_q - brick_q;
  assign first_bytes  = fmap_i.brick && span < total_q ? span : total_q;
  assign next_bytes   = span < rest ? span : rest;
  assign last_segment = left_q <= longest;
  assign last_brick   = rest == '0;

  // Steps
  logic go, step, last_x, last_y, pixel_ends, row_ends;
  assign step       = state_q == Walk && go;
  assign last_x     = x_q == piece_i.w - 8'd1;
  assign last_y     = y_q == piece_i.h - 8'd1;
  assign pixel_ends = step && (!in_map || last_segment);
  assign row_ends   = pixel_ends && last_x && (last_brick || !in_y);
  assign next       = pixel_ends && in_map && !last_x;
  assign again      = pixel_ends && last_x && !row_ends;
  assign wrap       = row_ends && in_y;

  // Where pixels go: words of a lane follow one another along its rows of pixels.
  logic lane_moves_x, lane_moves_y;
  logic [11:0] next_word;
  assign lane_moves_x = !piece_i.spread || ifm_lanes_end(x_q[1:0], piece_i.one_row, UblkW);
  assign lane_moves_y = !piece_i.spread || UblkH == 1 || y_q[0];
  assign next_word    = word_q + 12'(words_q);
  assign words_o      = words_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      total_q   <= '0;
      words_q   <= '0;
      x_q       <= '0;
      y_q       <= '0;
      before_q  <= '0;
      brick_q   <= '0;
      left_q    <= '0;
      channel_q <= '0;
      row_q     <= '0;
      word_q    <= '0;
    end else if (en_i) begin
      unique case (state_q)
        Idle: begin
          if (start_i) begin
            state_q <= Locate;
            total_q <= total;
            words_q <= 7'((total + 10'd7) >> 3);
            x_q     <= '0;
            y_q     <= '0;
            row_q   <= '0;
            word_q  <= '0;
          end
        end
        Locate: begin
          before_q  <= '0;
          brick_q   <= first_bytes;
          left_q    <= first_bytes;
          channel_q <= first_channel;
          if (located) state_q <= Walk;
        end
        Walk: begin
          if (row_ends) begin
            before_q  <= '0;
            brick_q   <= first_bytes;
            left_q    <= first_bytes;
            channel_q <= first_channel;
            x_q       <= '0;
            y_q       <= y_q + 8'd1;
            word_q    <= lane_moves_y ? next_word : row_q;
            if (lane_moves_y) row_q <= next_word;
            if (last_y) state_q <= Idle;
          end else if (again) begin
            before_q  <= before_q + brick_q;
            brick_q   <= next_bytes;
            left_q    <= next_bytes;
            channel_q <= channel_q + fmap_i.stride_c;
            x_q       <= '0;
            word_q    <= row_q;
          end else if (pixel_ends) begin
            left_q <= brick_q;
            x_q    <= x_q + 8'd1;
            if (lane_moves_x) word_q <= next_word;
          end else if (step) begin
            left_q <= left_q - longest;
          end
        end
        default: state_q <= Idle;
      endcase
    end
  end

  // The segment's offset in its region; then its address, and whether it leaves the region
  logic at_valid_q, at_go;
  logic [31:0] at_q;
  logic [5:0] at_bytes_q;
  logic [2:0] at_x_q;
  logic [1:0] at_y_q;
  logic [11:0] at_word_q;
  logic valid_q;
  segment_t segment_q;
  assign at_go     = !valid_q || ready_i;
  assign go        = !at_valid_q || at_go;
  assign busy_o    = state_q != Idle || at_valid_q || valid_q;
  assign valid_o   = valid_q;
  assign segment_o = segment_q;

  logic [9:0] inside_brick;
  assign inside_brick = brick_q - left_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_valid_q <= 1'b0;
      at_q       <= '0;
      at_bytes_q <= '0;
      at_x_q     <= '0;
      at_y_q     <= '0;
      at_word_q  <= '0;
      valid_q    <= 1'b0;
      segment_q  <= '0;
    end else if (en_i) begin
      if (go) begin
        at_valid_q <= state_q == Walk && in_map;
        at_q       <= offset + channel_q + 32'(inside_brick);
        at_bytes_q <= last_segment ? left_q[5:0] : longest[5:0];
        at_x_q     <= x_q[2:0];
        at_y_q     <= y_q[1:0];
        at_word_q  <= word_q + 12'(before_q >> 3) + 12'(inside_brick >> 3);
      end
      if (at_go) begin
        valid_q <= at_valid_q;
        if (at_valid_q) begin
          segment_q <= '{
              leaves: leaves_region(region_i, at_q, 32'(at_bytes_q)),
              addr: region_i.base + at_q,
              bytes: at_bytes_q,
              x: at_x_q,
              y: at_y_q,
              word: at_word_q
          };
        end
      end
    end
  end
endmodule
