/// Reads the unary part of a chunk: its codes, how many values they end, and what is left open.
module wd_unary
  import wd_pkg::*;
(
  input  logic [HeaderBits-1:0] bits_i,
  input  slice_t                slice_i,
  input  logic                  long_index_i,  // uncompressed indices of more than 5 bits
  input  logic [15:0]           weights_left_i,
  input  logic [15:0]           runs_left_i,
  input  logic [4:0]            carry_i,
  output logic [5:0]            length_o,
  output logic                  overlong_o,    // a quotient above 31: reserved
  output weight_chunk_t         weights_o,
  output run_chunk_t            runs_o,
  output logic [15:0]           weights_left_o,
  output logic [15:0]           runs_left_o,
  output logic [4:0]            carry_o
);
  logic uncompressed, short_runs, has_weights, has_weight_codes, has_runs;
  logic signed [16:0] lead;  // weights ahead of zero runs

  assign uncompressed = slice_i.wdiv == WdivUncompressed;
  assign short_runs   = slice_i.zdiv == 3'd3;

  always_comb begin
    lead = '0;
    if (slice_i.zdiv != ZdivOff) begin
      lead = $signed({1'b0, runs_left_i}) - $signed({1'b0, weights_left_i})
           - $signed({16'd0, slice_i.newpal});
    end
  end
  assign has_weights      = weights_left_i != '0 && lead < 17'sd8;
  assign has_weight_codes = has_weights && !uncompressed;
  assign has_runs         = runs_left_i != '0 && lead >= 17'sd0;

  // The fields one after another: which weight codes are above 0, run codes, which weight codes
  // are 2.
  logic [HeaderBits-1:0] after_some;
  logic [ChunkCodes-1:0] some, ones, after_ones, more;
  logic [3:0] some_count, run_codes;

  assign some       = has_weight_codes ? bits_i[ChunkCodes-1:0] : '0;
  assign after_some = has_weight_codes ? bits_i >> ChunkCodes : bits_i;
  assign run_codes  = !has_runs ? 4'd0 : short_runs ? 4'd8 : 4'd12;
  assign ones       = after_some[ChunkCodes-1:0] & ~({ChunkCodes{1'b1}} << run_codes);
  assign after_ones = ChunkCodes'(after_some >> run_codes);

  always_comb begin
    logic [ChunkCodes-1:0] rest;
    rest       = after_ones;
    more       = '0;
    some_count = '0;
    for (int unsigned i = 0; i < ChunkCodes; i++) begin
      if (some[i]) begin
        more[i]    = rest[0];
        rest       = rest >> 1;
        some_count = some_count + 4'd1;
      end
    end
  end

  assign length_o = (has_weight_codes ? 6'd12 : 6'd0) + 6'(run_codes) + 6'(some_count);

  logic [3:0] codes, weight_ends, new_weights;
  logic [5:0] quotient;
  assign codes = !has_weights ? 4'd0 : long_index_i ? 4'd8 : 4'd12;

  always_comb begin
    quotient    = {1'b0, carry_i};
    weight_ends = '0;
    overlong_o  = 1'b0;
    for (int unsigned i = 0; i < ChunkCodes; i++) begin
      if (4'(i) < codes) begin
        quotient   = quotient + 6'(some[i]) + 6'(more[i]);
        overlong_o = overlong_o || quotient[5];
        if (slice_i.wtrunc || !more[i]) begin
          quotient    = '0;
          weight_ends = weight_ends + 4'd1;
        end
      end
    end
  end
  assign new_weights = 16'(weight_ends) < weights_left_i ? weight_ends : weights_left_i[3:0];

  assign weights_o      = '{some: some, more: more, carry: carry_i, left: new_weights};
  assign weights_left_o = weights_left_i - 16'(new_weights);
  assign carry_o        = quotient[4:0];

  logic [3:0] run_ends, new_runs;
  logic open;

  always_comb begin
    run_ends = run_codes;
    for (int unsigned i = 0; i < ChunkCodes; i++) run_ends = run_ends - 4'(ones[i]);
  end
  assign new_runs    = 16'(run_ends) < runs_left_i ? run_ends : runs_left_i[3:0];
  assign runs_left_o = runs_left_i - 16'(new_runs);
  assign open        = runs_left_o != '0 && (short_runs ? ones[7] : ones[ChunkCodes-1]);
  assign runs_o      = '{ones: ones, open: open, left: new_runs + 4'(open)};
endmodule
