// SPDX-License-Identifier: Apache-2.0
/// A register three times, with vote: q_o is right if one copy is wrong in any bit, and err_o reports it.
// SEC_CM: triplication with vote
(* keep_hierarchy *)
module resil_flop_tmr #(
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

  logic [Width-1:0] a, b, c;

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

  resil_flop #(
    .Width       (Width),
    .ResetValue  (ResetValue),
    .InitialValue(InitialValue),
    .FallingEdge (FallingEdge),
    .HasReset    (HasReset)
  ) u_copy_c (
    .clk_i (clk_i),
    .rst_ni(rst_ni),
    .d_i   (d_i),
    .q_o   (c)
  );

  resil_voter #(
    .Width(Width)
  ) u_voter (
    .a_i             (a),
    .b_i             (b),
    .c_i             (c),
    .majority_o      (q_o),
    .fault_detected_o(err_o)
  );

endmodule
