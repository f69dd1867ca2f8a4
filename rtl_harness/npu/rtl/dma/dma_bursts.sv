// SPDX-License-Identifier: Apache-2.0
/// Joins segments that are close to each other in memory to read bursts.
///
/// A burst stays inside a block of 32 beats, so that it crosses no 4 KiB border, and grows for 16 cycles at most:
/// what is read while the next one grows has to last as long as it does. With each segment goes how far
/// its first beat lies behind the last beat that was asked for: 0 if it is that beat, more than 1 if the burst
/// has beats between them that no segment needs.
module dma_bursts
  import npu_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       en_i,
  input  logic       clear_i,    // a piece begins
  input  logic       flush_i,    // no segment is on its way
  output logic       open_o,     // a burst grows,
  output logic       busy_o,     // or is not yet asked for
  input  logic       valid_i,
  output logic       ready_o,
  input  segment_t   segment_i,
  // Segments whose beats are asked for
  output logic       push_o,
  output logic [1:0] advance_o,
  input  logic       full_i,
  // Address requests
  output logic       ar_valid_o,
  input  logic       ar_ready_i,
  output burst_t     ar_o
);
  localparam logic [4:0] BlockEnd = 5'd31;
  localparam logic [4:0] MaxAdvance = 5'd3;
  localparam logic [3:0] MaxAge = 4'd15;   // cycles, minus one

  logic open_q;          // a burst grows
  logic [3:0] age_q;     // since so many cycles,
  logic closed_q;        // or is complete
  logic [4:0] first_q;   // its first beat in the block
  logic known_q;
  logic [28:0] last_q;   // last beat that was asked for
  logic split_q;         // the segment's beats up to the block's end are asked for

  assign ar_valid_o = closed_q;
  assign ar_o       = '{word: {last_q[28:5], first_q}, len: last_q[4:0] - first_q};
  assign open_o     = open_q;
  assign busy_o     = open_q || closed_q;

  // The segment's beats, and those of them to ask for now: from `from` to `upto` of one block
  logic [28:0] first, final_beat;
  logic [2:0] beats;
  logic share, fresh, at_start, crosses, near, joins;
  logic [4:0] from, upto, ahead;
  logic [23:0] block;
  assign first      = segment_i.addr[31:3];
  assign beats      = 3'((7'(segment_i.bytes) + 7'(segment_i.addr[2:0]) + 7'd7) >> 3);
  assign final_beat = first + 29'(beats) - 29'd1;
  assign share      = known_q && first == last_q && !split_q;
  assign fresh      = !segment_i.leaves && !(share && beats == 3'd1);
  assign at_start   = split_q || (share && first[4:0] == BlockEnd);
  assign from       = at_start ? '0 : first[4:0] + 5'(share);
  assign crosses    = !at_start && final_beat[5] != first[5];
  assign upto       = crosses ? BlockEnd : final_beat[4:0];
  assign block      = crosses ? first[28:5] : final_beat[28:5];
  assign ahead      = from - last_q[4:0];
  assign near       = ahead <= MaxAdvance && from > last_q[4:0];
  assign joins      = open_q && !at_start && first[28:5] == last_q[28:5] && near;

  logic old, blocked, accept, asks;
  assign old       = age_q == MaxAge;
  assign blocked   = fresh && (closed_q || (open_q && (!joins || old)));
  assign accept    = valid_i && !blocked && (split_q || !full_i);
  assign asks      = accept && fresh;
  assign ready_o   = accept && !(fresh && crosses);
  assign push_o    = accept && !split_q;
  assign advance_o = share ? 2'd0 : (joins ? ahead[1:0] : 2'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q   <= 1'b0;
      age_q    <= '0;
      closed_q <= 1'b0;
      first_q  <= '0;
      known_q  <= 1'b0;
      last_q   <= '0;
      split_q  <= 1'b0;
    end else if (en_i) begin
      if (clear_i) known_q <= 1'b0;
      if (!open_q) age_q <= '0;
      else if (!old) age_q <= age_q + 4'd1;
      if (asks) begin
        open_q   <= upto != BlockEnd;
        closed_q <= upto == BlockEnd;
        known_q  <= 1'b1;
        last_q   <= {block, upto};
        split_q  <= crosses;
        if (!open_q) first_q <= from;
      end else if (open_q && (flush_i || old || (valid_i && !accept))) begin
        open_q   <= 1'b0;
        closed_q <= 1'b1;
      end else if (ar_ready_i) begin
        closed_q <= 1'b0;
      end
    end
  end
endmodule
