// SPDX-License-Identifier: Apache-2.0
/// Types that the modules of the MAC unit share.
package mac_pkg;

  // Where the walk goes along one axis of the IFM
  typedef enum logic [2:0] {
    Stay,
    NextGroup,   // of pixels
    FirstGroup,  // of the same tap
    NextTap,     // and its first group
    FirstTap
  } axis_move_e;

  // A group of pixels that meets a weight vector, on its way through the pipeline
  typedef struct packed {
    logic        multiply;     // else the vector has no effect and is only taken
    logic        new_vector;   // the group is the vector's first
    logic        clear;        // accumulators start anew
    logic        keep;         // but for those of the lower half of the lanes, which are of other channels
    logic        half;         // depthwise with four channels: the word's upper half; 16-bit elements: that of eight
    logic [2:0]  channels_m1;  // IFM channels of the word that exist
    logic [11:0] acc;          // accumulator row
    logic        step_end;     // last group of a step,
    logic        row_end;      // that is the last of a spatial position,
    logic        block_end;    // that is the last of a block
  } group_t;

endpackage
