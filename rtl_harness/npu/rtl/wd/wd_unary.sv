// SPDX-License-Identifier: Apache-2.0
/// Reads the unary part of a chunk: its length, its codes, and how many values they end.
module wd_unary
  import wd_pkg::*;
(
  input  logic [HeaderBits-1:0]      bits_i,
  input  slice_t                     slice_i,
  input  logic                       long_index_i,  // uncompressed indices of more than 5 bits
  input  logic [15:0]                weights_left_i,
  input  logic [15:0]                runs_left_i,
  input  logic signed [LeadBits-1:0] lead_i,
  output logic [4:0]                 length_o,  // without the second part of the weight codes
  output logic [3:0]                 second_length_o,
  output codes_t                     codes_o,
  output values_t                    values_o,
  output logic [15:0]                weights_left_o,
  output logic [15:0]                runs_left_o,
  output logic signed [LeadBits-1:0] lead_o
);
  logic uncompressed, short_runs, has_weights, has_codes, has_runs;
  assign uncompressed = slice_i.wdiv == WdivUncompressed;
  assign short_runs   = slice_i.zdiv == ZdivShort;
  assign has_weights  = weights_left_i != '0 && lead_i < LeadLimit;
  assign has_codes    = has_weights && !uncompressed;
  assign has_runs     = runs_left_i != '0 && !lead_i[LeadBits-1];

  // The fields one after another: which weight codes are above 0, run codes, which weight codes
  // are 2.
  logic [ChunkCodes-1:0] first, runs, second;
  logic [3:0] run_codes, first_count;
  always_comb begin
    run_codes = '0;
    if (has_runs) run_codes = short_runs ? 4'(ShortCodes) : 4'(ChunkCodes);

    first = bits_i[ChunkCodes-1:0];
    runs  = has_codes ? bits_i[ChunkCodes+:ChunkCodes] : first;
    if (!has_runs) runs = '0;
    if (short_runs) runs[ChunkCodes-1:ShortCodes] = '0;

    second = bits_i[2*ChunkCodes+:ChunkCodes];
    if (short_runs) second = bits_i[ChunkCodes+ShortCodes+:ChunkCodes];
    if (!has_runs) second = bits_i[ChunkCodes+:ChunkCodes];
  end
  assign first_count = ones(first);

  assign length_o        = (has_codes ? 5'(ChunkCodes) : 5'd0) + 5'(run_codes);
  assign second_length_o = has_codes ? first_count : 4'd0;
  assign codes_o         = '{weights: has_codes,
                             first:   has_codes ? first : '0,
                             second:  second,
                             runs:    runs};

  // Codes that are 2 do not end a quotient, unless quotients are truncated.
  logic [ChunkCodes-1:0] ending;
  logic [3:0] weight_ends, run_ends;
  taken_t weights, pieces;
  assign ending = ~second | ({ChunkCodes{1'b1}} << first_count);
  always_comb begin
    weight_ends = slice_i.wtrunc ? 4'(ChunkCodes) : ones(ending);
    if (uncompressed) weight_ends = long_index_i ? 4'(ShortCodes) : 4'(ChunkCodes);
    if (!has_weights) weight_ends = '0;
  end
  assign weights = take_few(weights_left_i, weight_ends);

  // Zeros end a run. They are counted at both places where the run codes may lie.
  logic [ChunkCodes-1:0] code_mask;
  assign code_mask = short_runs ? ChunkCodes'((1 << ShortCodes) - 1) : '1;
  assign run_ends  = !has_runs ? '0
                   : has_codes ? ones(~bits_i[ChunkCodes+:ChunkCodes] & code_mask)
                               : ones(~bits_i[ChunkCodes-1:0] & code_mask);
  assign pieces    = take_few(runs_left_i, run_ends);

  logic open;
  assign open = (runs_left_i[15:4] != '0 || runs_left_i[3:0] > run_ends)
             && (short_runs ? runs[ShortCodes-1] : runs[ChunkCodes-1]);

  assign values_o.weights = weights.taken;
  assign values_o.runs    = open ? run_ends + 4'd1 : pieces.taken;
  assign values_o.open    = open;
  assign weights_left_o = weights.left;
  assign runs_left_o    = pieces.left;

  // Ends behind the slice's last index or run are counted, too: they cannot matter, for what has
  // ended is in no later chunk, and the other kind is in all of them.
  logic signed [LeadBits-1:0] lead_less_runs;
  assign lead_less_runs = lead_i - LeadBits'(run_ends);
  assign lead_o = slice_i.zdiv == ZdivOff ? '0 : lead_less_runs + LeadBits'(weight_ends);
endmodule
