// SPDX-License-Identifier: Apache-2.0
/// differ_o reports that what a block and its copy give out is not the same, in any bit.
// SEC_CM: lockstep with compared outputs
(* keep_hierarchy *)
module resil_compare #(
  parameter int unsigned Width = 1
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic             differ_o
);

  assign differ_o = a_i != b_i;

endmodule
