// SPDX-License-Identifier: Apache-2.0
/// A register twice, with compare: err_o reports that the copies differ. q_o is the first of them.
// SEC_CM: duplication with compare
(* keep_hierarchy *)
module resil_flop_dup #(
  parameter int unsigned      Width        = 1,
  parameter logic [Width-1:0] ResetValue   = '0,
  parameter logic [Width-1:0] InitialValue = '0,
  parameter bit               FallingEdge  = 1'b0,
  parameter bit               HasReset     = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o,
  output logic             err_o
);

  logic [Width-1:0] a, b;

  resil_flop #(
    .Width       (Width),
    .ResetValue  (ResetValue),
    .InitialValue(InitialValue),
    .FallingEdge (FallingEdge),
    .HasReset    (HasReset)
  ) u_copy_a (
    .clk_i (clk_i),
    .rst_ni(rst_ni),
    .d_i   (d_i),
    .q_o   (a)
  );

  resil_flop #(
    .Width       (Width),
    .ResetValue  (ResetValue),
    .InitialValue(InitialValue),
    .FallingEdge (FallingEdge),
    .HasReset    (HasReset)
  ) u_copy_b (
    .clk_i (clk_i),
    .rst_ni(rst_ni),
    .d_i   (d_i),
    .q_o   (b)
  );

  assign q_o   = a;
  assign err_o = a != b;

endmodule
