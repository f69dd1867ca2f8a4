// SPDX-License-Identifier: Apache-2.0
/// Majority of three, bit by bit, and whether any of them differs.
(* keep_hierarchy *)
module resil_voter #(
  parameter int unsigned Width = 1
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  input  logic [Width-1:0] c_i,
  output logic [Width-1:0] majority_o,
  output logic             fault_detected_o
);

  assign majority_o       = (a_i & b_i) | (a_i & c_i) | (b_i & c_i);
  assign fault_detected_o = |((a_i ^ b_i) | (b_i ^ c_i));

endmodule
