// SPDX-License-Identifier: Apache-2.0
/// Types of the table.
package table_pkg;
  typedef struct packed {
    logic [7:0] high;
    logic [7:0] low;
  } pair_t;
  typedef enum logic [1:0] {
    Read,
    Write,
    Clear
  } mode_e;
endpackage
