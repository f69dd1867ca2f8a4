// SPDX-License-Identifier: Apache-2.0
/// Types and constants of the weight decoder.
package wd_pkg;

  localparam int unsigned BeatBits   = 64;
  localparam int unsigned ChunkCodes = 12;
  localparam int unsigned CodeCountBits = $clog2(ChunkCodes + 1);
  localparam int unsigned ShortCodes = 8;   // run codes of slices with ZDIV = 3, wide indices

  localparam logic [2:0] ZdivShort        = 3'd3;  // chunks have fewer run codes
  localparam logic [2:0] ZdivOff          = 3'd6;
  localparam logic [2:0] ZdivEnd          = 3'd7;
  localparam logic [2:0] WdivReserved     = 3'd6;
  localparam logic [2:0] WdivUncompressed = 3'd7;

  // Slice header as it lies in the stream, ZDIV first.
  typedef struct packed {
    logic [2:0]  palbits_m2;
    logic [4:0]  palsize_m1;  // 0: no entries
    logic [4:0]  dirofs;
    logic        newpal;
    logic        wtrunc;
    logic [2:0]  wdiv;
    logic [14:0] length_m1;
    logic [2:0]  zdiv;
  } header_t;

  localparam int unsigned HeaderBits       = $bits(header_t);
  localparam int unsigned PlainHeaderBits  = 23;  // without a palette
  localparam int unsigned ZdivBits         = 3;

  // What is kept of a header while its slice is decoded.
  typedef struct packed {
    logic       wtrunc;
    logic [2:0] wdiv;
    logic [2:0] zdiv;
  } slice_t;

  // The unary part of a chunk.
  typedef struct packed {
    logic                  weights;  // it has weight codes
    logic [ChunkCodes-1:0] first;    // first part of the weight codes
    logic [ChunkCodes-1:0] second;   // second part, one bit for each 1 of the first
    logic [ChunkCodes-1:0] runs;     // run codes
  } codes_t;

  // Values of a chunk whose remainders are still to be read.
  typedef struct packed {
    logic [3:0] weights;
    logic [3:0] runs;  // pieces of zero runs
    logic       open;  // the last piece is a run that goes on in the next chunk
  } values_t;

  typedef enum logic [1:0] {
    Entries = 2'd0,  // of the palette
    Weights = 2'd1,
    Runs    = 2'd2
  } kind_e;

  // Values of one kind that follow one another in the stream, up to `Rate` of them.
  typedef struct packed {
    kind_e      kind;
    logic [3:0] count;
    logic [3:0] width;  // bits of a remainder, or of an entry
    logic       open;   // the last of them is an open run and has no remainder
    logic       last;   // the last ones of their chunk
  } piece_t;

  // A piece of a zero run; open: the run goes on in the next piece.
  typedef struct packed {
    logic       open;
    logic [6:0] zeros;
  } run_t;

  localparam int unsigned IndexBits    = 9;
  localparam int unsigned QuotientBits = 5;

  // Indices can be 19 ahead of their zero runs, and runs 13 pieces ahead of their weights.
  localparam int unsigned IndexDepth = 20;
  localparam int unsigned RunDepth   = 14;

  // How many weights are ahead of zero runs in the chunks so far: -12 .. 19. Chunks have indices
  // below `LeadLimit` and runs from 0.
  localparam int unsigned LeadBits = 6;
  localparam logic signed [LeadBits-1:0] LeadLimit = 6'sd8;

  localparam int unsigned MostZeros = 64;  // of a piece of a zero run

  // Number of ones, by carry-save adders.
  function automatic logic [3:0] ones(logic [ChunkCodes-1:0] codes);
    logic [3:0][1:0] threes;
    for (int unsigned i = 0; i < 4; i++) begin
      threes[i][0] = codes[3*i] ^ codes[3*i+1] ^ codes[3*i+2];
      threes[i][1] = (codes[3*i] ^ codes[3*i+1]) ? codes[3*i+2] : codes[3*i];
    end
    return (4'(threes[0]) + 4'(threes[1])) + (4'(threes[2]) + 4'(threes[3]));
  endfunction

  // What is left of a number, and what was taken, when a few are wanted. The upper digits do not
  // wait for the borrow.
  typedef struct packed {
    logic [15:0] left;
    logic [3:0]  taken;
  } taken_t;

  function automatic taken_t take_few(logic [15:0] number, logic [3:0] few);
    logic [4:0] low;
    logic [11:0] high;
    low  = {1'b0, number[3:0]} - {1'b0, few};
    high = number[15:4] - 12'd1;
    if (!low[4])              return '{left: {number[15:4], low[3:0]}, taken: few};
    if (number[15:4] != '0)   return '{left: {high, low[3:0]}, taken: few};
    return '{left: '0, taken: number[3:0]};
  endfunction

  // Multiples 0 .. 8 of the width of a field, without a multiplier.
  function automatic logic [8:0][6:0] multiples(logic [3:0] width);
    logic [8:0][6:0] of;
    of[0] = '0;
    of[1] = 7'(width);
    of[2] = 7'(width) << 1;
    of[3] = of[2] + of[1];
    of[4] = 7'(width) << 2;
    of[5] = of[4] + of[1];
    of[6] = of[3] << 1;
    of[8] = 7'(width) << 3;
    of[7] = of[8] - of[1];
    return of;
  endfunction

endpackage
