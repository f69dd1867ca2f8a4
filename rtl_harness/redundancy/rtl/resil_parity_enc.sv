// SPDX-License-Identifier: Apache-2.0
/// Parity bits of a word, as the bits above it: bit i lies under bit i % Ways of its word, the parity bits too.
// SEC_CM: parity on a memory
(* keep_hierarchy *)
module resil_parity_enc #(
  parameter int unsigned Width = 32,
  parameter int unsigned Ways  = 1
) (
  input  logic [Width-1:0] data_i,
  output logic  [Ways-1:0] check_o
);

  /// The bits of the word under one parity bit: of Ways neighbours, with those above, no two lie under one.
  function automatic logic [Width-1:0] way(int unsigned number);
    way = '0;
    for (int unsigned i = (Width + number) % Ways; i < Width; i += Ways) way[i] = 1'b1;
  endfunction

  for (genvar i = 0; i < Ways; i++) begin : gen_check
    assign check_o[i] = ^(data_i & way(i));
  end

endmodule
