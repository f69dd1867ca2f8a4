/// Types and constants of the weight decoder.
package wd_pkg;

  localparam int unsigned BeatBits   = 64;
  localparam int unsigned ChunkCodes = 12;

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
    logic       newpal;
    logic       wtrunc;
    logic [2:0] wdiv;
    logic [2:0] zdiv;
  } slice_t;

  // Weight codes of a chunk: 0, 1 (some) or 2 (some and more) each.
  typedef struct packed {
    logic [ChunkCodes-1:0] some;
    logic [ChunkCodes-1:0] more;
    logic [4:0]            carry;  // quotient left open by the chunk before
    logic [3:0]            left;   // weights whose remainders are still to be read
  } weight_chunk_t;

  // Run codes of a chunk.
  typedef struct packed {
    logic [ChunkCodes-1:0] ones;
    logic                  open;  // the last piece is a run that goes on in the next chunk
    logic [3:0]            left;  // pieces still to be passed on
  } run_chunk_t;

  // A piece of a zero run; open: the run goes on in the next piece.
  typedef struct packed {
    logic       open;
    logic [6:0] zeros;
  } run_t;

  localparam int unsigned IndexBits = 9;

  // Indices can be 19 ahead of their zero runs, and runs 13 pieces ahead of their weights.
  localparam int unsigned IndexDepth = 20;
  localparam int unsigned RunDepth   = 14;

endpackage
