// SPDX-License-Identifier: Apache-2.0
/// Parity bit of a word.
// SEC_CM: parity on a memory
(* keep_hierarchy *)
module resil_parity_enc #(
  parameter int unsigned Width = 32
) (
  input  logic [Width-1:0] data_i,
  output logic             check_o
);

  assign check_o = ^data_i;

endmodule
