// SPDX-License-Identifier: Apache-2.0
module bench (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o
);
  logic [15:0] sum;
  logic we;
  logic [3:0] at;
  logic [15:0] out_q [16];

  core u_dut (.clk_i, .rst_ni, .done_o, .sum_o(sum), .we_o(we), .at_o(at));
  always_ff @(posedge clk_i) if (we) out_q[at] <= sum;
endmodule
