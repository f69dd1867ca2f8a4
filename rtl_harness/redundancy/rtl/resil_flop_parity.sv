// SPDX-License-Identifier: Apache-2.0
/// A register with a parity bit: err_o reports an odd number of wrong bits.
// SEC_CM: parity
(* keep_hierarchy *)
module resil_flop_parity #(
  parameter int unsigned      Width       = 1,
  parameter logic [Width-1:0] ResetValue  = '0,
  parameter bit               FallingEdge = 1'b0,
  parameter bit               HasReset    = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o,
  output logic             err_o
);

  logic parity;

  resil_flop #(
    .Width      (Width),
    .ResetValue (ResetValue),
    .FallingEdge(FallingEdge),
    .HasReset   (HasReset)
  ) u_data (
    .clk_i (clk_i),
    .rst_ni(rst_ni),
    .d_i   (d_i),
    .q_o   (q_o)
  );

  resil_flop #(
    .Width      (1),
    .ResetValue (^ResetValue),
    .FallingEdge(FallingEdge),
    .HasReset   (HasReset)
  ) u_parity (
    .clk_i (clk_i),
    .rst_ni(rst_ni),
    .d_i   (^d_i),
    .q_o   (parity)
  );

  assign err_o = (^q_o) != parity;

endmodule
