// SPDX-License-Identifier: Apache-2.0
/// A register with parity bits: err_o reports an odd number of wrong bits under any of them.
///
/// Bit i lies under parity bit i % Ways: of up to Ways neighbours no two lie under one, so that a cluster of so many
/// wrong bits is reported, in the register as in its parity bits.
// SEC_CM: parity
(* keep_hierarchy *)
module resil_flop_parity #(
  parameter int unsigned      Width        = 1,
  parameter logic [Width-1:0] ResetValue   = '0,
  parameter logic [Width-1:0] InitialValue = '0,
  parameter bit               FallingEdge  = 1'b0,
  parameter bit               HasReset     = 1'b1,
  parameter int unsigned      Ways         = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o,
  output logic             err_o
);

  /// The bits under one parity bit.
  function automatic logic [Width-1:0] way(int unsigned number);
    way = '0;
    for (int unsigned i = number; i < Width; i += Ways) way[i] = 1'b1;
  endfunction

  function automatic logic [Ways-1:0] parity_of(logic [Width-1:0] word);
    for (int unsigned i = 0; i < Ways; i++) parity_of[i] = ^(word & way(i));
  endfunction

  logic [Ways-1:0] parity;

  resil_flop #(
    .Width       (Width),
    .ResetValue  (ResetValue),
    .InitialValue(InitialValue),
    .FallingEdge (FallingEdge),
    .HasReset    (HasReset)
  ) u_data (
    .clk_i (clk_i),
    .rst_ni(rst_ni),
    .d_i   (d_i),
    .q_o   (q_o)
  );

  resil_flop #(
    .Width       (Ways),
    .ResetValue  (parity_of(ResetValue)),
    .InitialValue(parity_of(InitialValue)),
    .FallingEdge (FallingEdge),
    .HasReset    (HasReset)
  ) u_parity (
    .clk_i (clk_i),
    .rst_ni(rst_ni),
    .d_i   (parity_of(d_i)),
    .q_o   (parity)
  );

  assign err_o = parity_of(q_o) != parity;

endmodule
