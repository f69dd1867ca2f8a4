// SPDX-License-Identifier: Apache-2.0
/// multi_error_o reports an odd number of wrong bits under any parity bit: the word is not right, and stays so.
// SEC_CM: parity on a memory
(* keep_hierarchy *)
module resil_parity_dec #(
  parameter int unsigned Width = 32,
  parameter int unsigned Ways  = 1
) (
  input  logic [Width-1:0] data_i,
  input  logic  [Ways-1:0] check_i,
  output logic [Width-1:0] data_o,
  output logic             multi_error_o
);

  logic [Ways-1:0] expected;

  resil_parity_enc #(
    .Width(Width),
    .Ways (Ways)
  ) u_expected (
    .data_i (data_i),
    .check_o(expected)
  );

  assign data_o        = data_i;
  assign multi_error_o = expected != check_i;

endmodule
