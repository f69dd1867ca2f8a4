// SPDX-License-Identifier: Apache-2.0
// A closed design for tests of upsets of neighbours: two words with a parity bit each, and one without.

module placed_core (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic  [3:0] count_o,
  output logic [11:0] words_o,
  output logic        parity_error_o
);
  logic [3:0] count_q;
  (* keep *) logic [4:0] a_q;
  (* keep *) logic [4:0] b_q;
  (* keep *) logic [3:0] c_q;

  // b is loaded again in the middle of the run: what was flipped there before is gone.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      a_q <= 5'b1_0111;
      b_q <= 5'b0_1010;
      c_q <= 4'd6;
    end else begin
      count_q <= count_q + 4'd1;
      if (count_q == 4'd4) b_q <= 5'b0_0101;
      // After the end of the run: no bit is constant.
      if (count_q == 4'd13) b_q <= 5'b1_1111;
      if (count_q == 4'd12) a_q <= 5'b0_1000;
      if (count_q == 4'd12) c_q <= 4'b1001;
    end
  end

  assign count_o = count_q;
  assign words_o = {c_q, b_q[3:0], a_q[3:0]};
  assign parity_error_o = ^a_q || ^b_q;
endmodule

module placed (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o,
  output logic parity_error_o
);
  logic [3:0] count;
  logic [11:0] words;
  logic [15:0] out_q [1];

  placed_core u_core (
    .clk_i, .rst_ni, .count_o(count), .words_o(words), .parity_error_o
  );

  string file;
  initial if ($value$plusargs("output=%s", file)) $readmemh(file, out_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) done_o <= 1'b0;
    else if (count == 4'd8) done_o <= 1'b1;
  end
  always_ff @(posedge clk_i) if (count == 4'd8) out_q[0] <= {4'd0, words};
endmodule
