// SPDX-License-Identifier: Apache-2.0
/// Types of the awkward example.
package awkward_pkg;

  typedef enum logic [2:0] {
    StIdle   = 3'd0,
    StCoef   = 3'd1,
    StLoad   = 3'd2,
    StWork   = 3'd3,
    StFlush  = 3'd4,
    StDone   = 3'd5,
    StFailed = 3'd6
  } state_e;

  typedef struct packed {
    logic        seen;
    logic [4:0]  count;
    logic [25:0] sum;
  } lane_t;

endpackage
