// SPDX-License-Identifier: Apache-2.0
/// The segment of a pixel from that of the pixel before it in the row.
module dma_follow
  import npu_pkg::*;
  import dma_pkg::*;
#(
  parameter int unsigned UblkW = 1
) (
  input  pitch_t   pitch_i,
  input  arrival_t segment_i,
  output logic     exists_o,  // its first beat is at most three behind the other's last one
  output arrival_t next_o
);
  logic [6:0] next_at;  // bytes from the beginning of the segment's first beat
  logic [3:0] last;     // its last beat
  logic [3:0] beats;
  logic moves;
  assign last     = 4'((7'(segment_i.shift) + 7'(segment_i.bytes) - 7'd1) >> 3);
  assign next_at  = 7'(segment_i.shift) + 7'(pitch_i.step);
  assign beats    = next_at[6:3] - last;
  assign moves    = !pitch_i.spread || ifm_lanes_end(segment_i.x[1:0], pitch_i.one_row, UblkW);
  assign exists_o = pitch_i.dense && beats[3:2] == '0;

  always_comb begin
    next_o         = segment_i;
    next_o.advance = beats[1:0];
    next_o.shift   = next_at[2:0];
    next_o.x       = segment_i.x + 3'd1;
    next_o.word    = segment_i.word + (moves ? 12'(pitch_i.words) : '0);
  end
endmodule
