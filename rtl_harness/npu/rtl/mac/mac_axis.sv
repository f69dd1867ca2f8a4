// SPDX-License-Identifier: Apache-2.0
/// The walk's position along one axis of an IFM piece: where the pixels of a group lie in their lanes, and which
/// of them are padding. Kept up by additions.
///
/// The coordinate counts upscaled positions, from 0 where the first pixel in memory begins; it is -1 where only a
/// zero between pixels lies before that. A lane holds every `Ublk`th pixel; in a one-row operation, all `RowUblk`
/// lanes lie along this axis.
module mac_axis
  import mac_pkg::*;
#(
  parameter int unsigned Ublk    = 1,    // pixels of a group along the axis, 1 or 2
  parameter int unsigned RowUblk = Ublk  // in a one-row operation, 1, 2 or 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  // The operation
  input  logic        upscale_i,
  input  logic        zeros_i,      // between upscaled pixels
  input  logic [1:0]  stride_i,
  input  logic        dilate_i,
  input  logic [17:0] size_i,       // of the IFM, upscaled
  input  logic        one_row_i,
  // The step, and a move
  input  logic        start_i,
  input  logic signed [18:0] first_i,  // upscaled IFM position of the first tap of the first pixel
  input  logic        next_i,
  input  axis_move_e  move_i,
  input  logic        half_i,       // one-row operation: the group has two pixels
  input  logic [11:0] pitch_i,      // words from a lane's pixel to its next
  // The group's pixels
  output logic [RowUblk-1:0][11:0] at_o,    // word, in the lane
  output logic [RowUblk-1:0][2:0]  pixel_o, // its low bits
  output logic [RowUblk-1:0]       absent_o
);
  localparam int unsigned LaneShift = $clog2(Ublk);
  localparam int unsigned RowShift  = $clog2(RowUblk);
  localparam logic signed [8:0] Lowest  = -9'sd1;   // of the coordinate
  localparam logic signed [8:0] Highest = 9'sd255;  // beyond the coordinate

  logic odd_q;                         // the first position, upscaled, is an odd one
  logic signed [8:0] coord_q, tap_coord_q;
  logic [11:0] at_q, tap_at_q;
  logic signed [8:0] begin_q, end_q;   // coordinates of the IFM

  function automatic logic signed [8:0] first_coord(logic odd, logic upscale, logic zeros);
    if (!odd || !upscale) return '0;
    return zeros ? -9'sd1 : 9'sd1;
  endfunction

  function automatic logic signed [8:0] clip(logic signed [20:0] value);
    if (value < 21'(Lowest)) return Lowest;
    return value > 21'(Highest) ? Highest : value[8:0];
  endfunction

  // Pixels of a lane that are passed on the way from a coordinate
  function automatic logic [1:0] passed(logic signed [8:0] coord, logic [3:0] distance, logic upscale,
                                        logic one_row);
    logic [1:0] shift;
    logic signed [4:0] low;
    shift = (one_row ? 2'(RowShift) : 2'(LaneShift)) + 2'(upscale);
    low   = 5'(coord[2:0] & 3'((4'd1 << shift) - 4'd1));
    if (coord[8]) low = '1;
    return 2'((low + 5'(distance)) >>> shift);
  endfunction

  function automatic logic [11:0] moved(logic [11:0] at, logic [1:0] pixels, logic [11:0] pitch);
    return at + (pixels[0] ? pitch : '0) + (pixels[1] ? pitch << 1 : '0);
  endfunction

  for (genvar l = 0; l < RowUblk; l++) begin : gen_pixel
    logic [3:0] offset;
    logic signed [8:0] coord;
    assign offset      = 4'(stride_i) * 4'(l);
    assign coord       = coord_q + 9'(offset);
    assign at_o[l]     = moved(at_q, passed(coord_q, offset, upscale_i, one_row_i), pitch_i);
    assign pixel_o[l]  = 3'(coord >>> upscale_i);
    assign absent_o[l] = coord < begin_q || coord >= end_q || (upscale_i && zeros_i && coord[0]);
  end

  logic [3:0] group_distance, tap_distance;
  assign group_distance = one_row_i && !half_i ? 4'(stride_i) << RowShift : 4'(stride_i) << LaneShift;
  assign tap_distance   = dilate_i ? 4'd2 : 4'd1;

  logic signed [8:0] start, tap_coord;
  logic [11:0] tap_at;
  assign start     = first_coord(first_i[0], upscale_i, zeros_i);
  assign tap_coord = tap_coord_q + 9'(tap_distance);
  assign tap_at    = moved(tap_at_q, passed(tap_coord_q, tap_distance, upscale_i, one_row_i), pitch_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      odd_q       <= 1'b0;
      coord_q     <= '0;
      tap_coord_q <= '0;
      at_q        <= '0;
      tap_at_q    <= '0;
      begin_q     <= '0;
      end_q       <= '0;
    end else if (en_i) begin
      if (start_i) begin
        odd_q       <= first_i[0];
        coord_q     <= start;
        tap_coord_q <= start;
        at_q        <= '0;
        tap_at_q    <= '0;
        begin_q     <= clip(21'(start) - 21'(first_i));
        end_q       <= clip(21'(start) - 21'(first_i) + 21'({1'b0, size_i}));
      end else if (next_i) begin
        unique case (move_i)
          NextGroup: begin
            coord_q <= coord_q + 9'(group_distance);
            at_q    <= moved(at_q, passed(coord_q, group_distance, upscale_i, one_row_i), pitch_i);
          end

          FirstGroup: begin
            coord_q <= tap_coord_q;
            at_q    <= tap_at_q;
          end

          NextTap: begin
            coord_q     <= tap_coord;
            tap_coord_q <= tap_coord;
            at_q        <= tap_at;
            tap_at_q    <= tap_at;
          end

          FirstTap: begin
            coord_q     <= first_coord(odd_q, upscale_i, zeros_i);
            tap_coord_q <= first_coord(odd_q, upscale_i, zeros_i);
            at_q        <= '0;
            tap_at_q    <= '0;
          end

          default: ;
        endcase
      end
    end
  end
endmodule
