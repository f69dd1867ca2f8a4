// SPDX-License-Identifier: Apache-2.0
/// Types that the modules of the DMA controller share.
package dma_pkg;

  // A segment whose beats are asked for, as its receiver needs it.
  typedef struct packed {
    logic        zero;     // it leaves its region: no beats
    logic [1:0]  advance;  // from the beat at hand to its first one
    logic [2:0]  shift;    // of its first byte in that beat
    logic [5:0]  bytes;
    logic [2:0]  x;        // low bits of its pixel's place in the piece
    logic [1:0]  y;
    logic [11:0] word;     // of the shared buffer's lane
  } arrival_t;

  // Segments of which each follows from the one before it.
  typedef struct packed {
    logic [3:0] more;  // behind the first
    arrival_t   first;
  } run_t;

  // How the segments of pixels that are neighbours in a row follow from each other.
  typedef struct packed {
    logic       dense;   // a pixel begins fewer than 64 bytes behind the one before it:
    logic [5:0] step;    // so many
    logic [6:0] words;   // of a pixel in the shared buffer
    logic       spread;  // over the lanes,
    logic       one_row; // of which all four are side by side
  } pitch_t;

endpackage
