// SPDX-License-Identifier: Apache-2.0
/// A word as it was written, if one bit of it or of its check bits is wrong, which single_error_o reports;
/// multi_error_o reports two wrong bits, and of what else is no word with one wrong bit: then data_o is not right.
// SEC_CM: error correcting code on a memory
(* keep_hierarchy *)
module resil_secded_dec #(
  parameter  int unsigned Width = 32,
  localparam int unsigned Check = resil_code_pkg::check_bits(Width)
) (
  input  logic [Width-1:0] data_i,
  input  logic [Check-1:0] check_i,
  output logic [Width-1:0] data_o,
  output logic             single_error_o,
  output logic             multi_error_o
);

  logic [Check-1:0] expected, syndrome;
  logic [Width-1:0] wrong;
  logic check_wrong;

  resil_secded_enc #(
    .Width(Width)
  ) u_enc (
    .data_i (data_i),
    .check_o(expected)
  );
  assign syndrome = expected ^ check_i;

  logic [Check-1:0][Width-1:0] rows;
  for (genvar b = 0; b < Check; b++) begin : gen_row
    localparam logic [63:0] Row = resil_code_pkg::row(Width, b);
    assign rows[b] = Row[Width-1:0];
  end
  for (genvar d = 0; d < Width; d++) begin : gen_bit
    logic [Check-1:0] column;
    for (genvar b = 0; b < Check; b++) begin : gen_column
      assign column[b] = rows[b][d];
    end
    assign wrong[d] = syndrome == column;
  end

  // Of one wrong check bit the syndrome has one bit.
  assign check_wrong    = syndrome != '0 && (syndrome & (syndrome - 1'b1)) == '0;
  assign data_o         = data_i ^ wrong;
  assign single_error_o = |wrong || check_wrong;
  assign multi_error_o  = syndrome != '0 && !single_error_o;

endmodule
