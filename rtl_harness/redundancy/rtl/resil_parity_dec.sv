// SPDX-License-Identifier: Apache-2.0
/// multi_error_o reports an odd number of wrong bits in a word and its parity bit: the word is not right, and stays so.
// SEC_CM: parity on a memory
(* keep_hierarchy *)
module resil_parity_dec #(
  parameter int unsigned Width = 32
) (
  input  logic [Width-1:0] data_i,
  input  logic             check_i,
  output logic [Width-1:0] data_o,
  output logic             multi_error_o
);

  assign data_o        = data_i;
  assign multi_error_o = (^data_i) != check_i;

endmodule
