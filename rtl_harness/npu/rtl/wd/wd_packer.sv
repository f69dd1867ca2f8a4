// SPDX-License-Identifier: Apache-2.0
/// Lays groups of weights and zero runs out as vectors. When the stream has ended, completes the
/// vector in hand with zeros and goes on with vectors of zeros.
module wd_packer
  import wd_pkg::*;
#(
  parameter int unsigned VecWeights = 32,   // a power of two
  parameter int unsigned ShortWeights = 4,  // a power of two
  parameter int unsigned Rate = 4,
  localparam int unsigned PlaceW = $clog2(Rate * (MostZeros + 1) + 1)
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            en_i,
  input  logic                            clear_i,
  input  logic                            short_i,  // vectors of `ShortWeights`
  input  logic                            end_i,    // no more groups will come

  input  logic                            valid_i,
  output logic                            ready_o,
  input  logic [Rate-1:0]                 has_weight_i,
  input  logic [Rate-1:0][IndexBits-1:0]  weights_i,
  input  logic [Rate-1:0][PlaceW-1:0]     places_i,
  input  logic [PlaceW-1:0]               length_i,
  input  logic                            weight_last_i,

  output logic                            vec_valid_o,
  input  logic                            vec_ready_i,
  output logic [VecWeights*IndexBits-1:0] vec_o,
  output logic                            error_o
);
  localparam int unsigned SlotW  = $clog2(VecWeights);
  localparam int unsigned ShortW = $clog2(ShortWeights);
  localparam int unsigned AtW    = PlaceW + 2;  // signed

  logic [VecWeights-1:0][IndexBits-1:0] next_d, next_q, vec_d, vec_q, later;
  // Where the group begins in `next_q`, negative while a group goes over several vectors
  logic signed [AtW-1:0] first_d, first_q;
  logic vec_valid_q, vec_incomplete_q, error_q;

  // Vector, counted from the one in hand, and slot in it, of each weight and of the group's end
  logic signed [Rate-1:0][AtW-1:0] at;
  logic signed [AtW-1:0] stop;
  logic [Rate-1:0][SlotW-1:0] slot;
  logic [Rate-1:0] in_this, in_next;
  logic this_ends, next_ends;
  function automatic logic signed [AtW-1:0] vector_of(logic signed [AtW-1:0] at_slot, logic short);
    return short ? at_slot >>> ShortW : at_slot >>> SlotW;
  endfunction
  always_comb begin
    stop      = first_q + $signed({2'b00, length_i}) + $signed(AtW'(weight_last_i));
    this_ends = vector_of(stop, short_i) != '0;
    next_ends = vector_of(stop, short_i) > AtW'(1);
    for (int unsigned i = 0; i < Rate; i++) begin
      at[i]   = first_q + $signed({2'b00, places_i[i]});
      slot[i] = short_i ? SlotW'(at[i][ShortW-1:0]) : at[i][SlotW-1:0];
      in_this[i] = has_weight_i[i] && vector_of(at[i], short_i) == '0;
      in_next[i] = has_weight_i[i] && vector_of(at[i], short_i) == AtW'(1);
    end
  end

  logic free, fill, move;
  assign free    = !vec_valid_q || vec_ready_i;
  assign fill    = end_i && !valid_i;
  assign move    = free && (fill || (valid_i && this_ends));
  assign ready_o = !valid_i || !this_ends || (free && !next_ends);

  always_comb begin
    vec_d = next_q;
    later = '0;
    for (int unsigned i = 0; i < Rate; i++) begin
      if (valid_i && in_this[i]) vec_d[slot[i]] = weights_i[i];
      if (valid_i && in_next[i]) later[slot[i]] = weights_i[i];
    end
    next_d = this_ends || fill ? later : vec_d;

    // The rest of a group begins before the next vector.
    first_d = stop;
    if (fill)           first_d = '0;
    else if (next_ends) first_d = first_q - (short_i ? AtW'(ShortWeights) : AtW'(VecWeights));
    else if (this_ends) first_d = stop - (short_i ? AtW'(ShortWeights) : AtW'(VecWeights));
  end

  assign vec_valid_o = vec_valid_q;
  assign vec_o       = vec_q;
  assign error_o     = error_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_q           <= '0;
      first_q          <= '0;
      vec_q            <= '0;
      vec_valid_q      <= 1'b0;
      vec_incomplete_q <= 1'b0;
      error_q          <= 1'b0;
    end else if (en_i && clear_i) begin
      next_q           <= '0;
      first_q          <= '0;
      vec_valid_q      <= 1'b0;
      vec_incomplete_q <= 1'b0;
      error_q          <= 1'b0;
    end else if (en_i) begin
      if (move || (valid_i && !this_ends)) begin
        next_q  <= next_d;
        first_q <= first_d;
      end
      if (move) begin
        vec_q            <= vec_d;
        vec_valid_q      <= 1'b1;
        vec_incomplete_q <= fill;
      end else if (vec_ready_i) begin
        vec_valid_q <= 1'b0;
      end
      if (vec_valid_q && vec_ready_i && vec_incomplete_q) error_q <= 1'b1;
    end
  end
endmodule
