// SPDX-License-Identifier: Apache-2.0
/// Check bits of a word (Hsiao's code).
// SEC_CM: error correcting code on a memory
(* keep_hierarchy *)
module resil_secded_enc #(
  parameter  int unsigned Width = 32,
  localparam int unsigned Check = resil_code_pkg::check_bits(Width)
) (
  input  logic [Width-1:0] data_i,
  output logic [Check-1:0] check_o
);

  for (genvar b = 0; b < Check; b++) begin : gen_check
    localparam logic [63:0] Row = resil_code_pkg::row(Width, b);
    assign check_o[b] = ^(data_i & Row[Width-1:0]);
  end

endmodule
