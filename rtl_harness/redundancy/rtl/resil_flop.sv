// SPDX-License-Identifier: Apache-2.0
/// Flip-flops that synthesis must neither merge with others, nor take apart, nor remove: one copy of a register.
///
/// They take d_i at the rising edge, or with FallingEdge at the falling one. Without HasReset they ignore rst_ni: as
/// all copies take the same d_i, they are equal from the first edge of the clock on. They begin with InitialValue, in
/// simulation and where the technology can.
(* keep_hierarchy *)
module resil_flop #(
  parameter int unsigned      Width        = 1,
  parameter logic [Width-1:0] ResetValue   = '0,
  parameter logic [Width-1:0] InitialValue = '0,
  parameter bit               FallingEdge  = 1'b0,
  parameter bit               HasReset     = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);

  (* keep *) logic [Width-1:0] q_q = InitialValue;

  if (HasReset && FallingEdge) begin : gen_falling_reset
    always_ff @(negedge clk_i or negedge rst_ni) begin
      if (!rst_ni) q_q <= ResetValue;
      else q_q <= d_i;
    end
  end else if (HasReset) begin : gen_reset
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) q_q <= ResetValue;
      else q_q <= d_i;
    end
  end else if (FallingEdge) begin : gen_falling
    always_ff @(negedge clk_i) q_q <= d_i;
  end else begin : gen_plain
    always_ff @(posedge clk_i) q_q <= d_i;
  end

  assign q_o = q_q;

endmodule
