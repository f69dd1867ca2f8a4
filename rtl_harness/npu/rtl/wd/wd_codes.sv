// SPDX-License-Identifier: Apache-2.0
/// The quotients that the codes of a chunk make up.
module wd_codes
  import wd_pkg::*;
(
  input  codes_t                                   codes_i,
  input  logic                                     truncated_i,
  input  logic [QuotientBits-1:0]                  carry_i,  // left open by the chunk before
  output logic                                     reserved_o,  // a quotient above 31
  output logic [QuotientBits-1:0]                  carry_o,
  output logic [ChunkCodes-1:0][QuotientBits-1:0]  weights_o,
  output logic [ChunkCodes-1:0][CodeCountBits-1:0] runs_o
);
  // Which weight codes are 2
  logic [ChunkCodes-1:0] twos;
  always_comb begin
    logic [ChunkCodes-1:0] at;  // in the second part, one-hot
    at   = ChunkCodes'(1);
    twos = '0;
    for (int unsigned i = 0; i < ChunkCodes; i++) begin
      twos[i] = codes_i.first[i] && (at & codes_i.second) != '0;
      at      = codes_i.first[i] ? at << 1 : at;
    end
  end

  logic [ChunkCodes:0] weight_ends, run_ends;
  assign weight_ends = {1'b0, truncated_i ? {ChunkCodes{1'b1}} : ~twos};
  assign run_ends    = {1'b1, ~codes_i.runs};

  logic [ChunkCodes-1:0][QuotientBits-1:0] weights, runs;
  logic [CodeCountBits-1:0] open, unused_open;

  wd_scan u_weights (
    .ends_i      (weight_ends),
    .ones_i      (codes_i.first & ~twos),
    .twos_i      (truncated_i ? twos : '0),
    .quotients_o (weights),
    .open_o      (open)
  );

  wd_scan u_runs (
    .ends_i      (run_ends),
    .ones_i      ('0),
    .twos_i      ('0),
    .quotients_o (runs),
    .open_o      (unused_open)
  );

  // Only the first quotient can be reserved: it goes on with what the chunk before left open.
  logic [QuotientBits-1:0] first;
  logic all_open;
  logic [QuotientBits:0] first_sum;
  always_comb begin
    first    = '0;
    all_open = 1'b1;
    for (int unsigned i = 0; i < ChunkCodes; i++) begin
      first    = first | (all_open && weight_ends[i] ? {4'(i), codes_i.first[i]} : '0);
      all_open = all_open && !weight_ends[i];
    end
    if (all_open) first = {CodeCountBits'(ChunkCodes), 1'b0};
    if (truncated_i && twos[0]) first = QuotientBits'(2);
  end
  assign first_sum  = {1'b0, carry_i} + {1'b0, first};
  assign reserved_o = codes_i.weights && first_sum[QuotientBits];

  always_comb begin
    weights_o    = weights;
    weights_o[0] = first_sum[QuotientBits-1:0];
    carry_o      = all_open ? first_sum[QuotientBits-1:0] : {open, 1'b0};
    if (!codes_i.weights) carry_o = carry_i;
    if (!codes_i.weights) weights_o[0] = '0;
    for (int unsigned i = 0; i < ChunkCodes; i++) begin
      runs_o[i] = runs[i][QuotientBits-1:1];
    end
  end
endmodule
