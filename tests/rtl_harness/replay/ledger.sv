// SPDX-License-Identifier: Apache-2.0
/// Adds what comes in, and sends every fourth sum; small enough to be modelled in a few lines of Python.
package ledger_pkg;
  typedef enum logic [1:0] {
    Keep,
    Add,
    Take,
    Clear
  } op_e;
endpackage

module ledger #(
  parameter int unsigned Width = 8
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  ledger_pkg::op_e         op_i,
  input  logic        [Width-1:0] value_i,
  input  logic                    ready_i,
  output logic                    valid_o,
  output logic signed [Width-1:0] sum_o,
  output logic                    odd_o,
  output logic                    alarm_o
);

  logic [Width-1:0] sum_d, sum_q, copy_q;
  logic [1:0]       count_q;
  logic             parity_q;

  always_comb begin
    unique case (op_i)
      ledger_pkg::Add: sum_d = sum_q + value_i;
      ledger_pkg::Take: sum_d = sum_q - value_i;
      ledger_pkg::Clear: sum_d = '0;
      default: sum_d = sum_q;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q    <= '0;
      copy_q   <= '0;
      count_q  <= '0;
      parity_q <= 1'b0;
    end else begin
      sum_q    <= sum_d;
      parity_q <= ^sum_d;
      copy_q   <= sum_q;
      if (!valid_o || ready_i) count_q <= count_q + 2'd1;
    end
  end

  assign valid_o = count_q == 2'd3;
  assign sum_o   = sum_q;
  assign odd_o   = ^sum_q;
  assign alarm_o = parity_q != ^sum_q;

endmodule
