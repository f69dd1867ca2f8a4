// SPDX-License-Identifier: Apache-2.0
/// A counter in one clock domain, seen in another, with a flip-flop on a falling edge.
module crossing (
  input  logic       clk_a_i,
  input  logic       clk_b_i,
  input  logic       rst_ni,
  input  logic       step_i,
  output logic [3:0] a_o,
  output logic [3:0] b_o,
  output logic       late_o
);

  logic [3:0] count_q, gray_q, first_q, second_q;
  logic       late_q;

  always_ff @(posedge clk_a_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      gray_q  <= '0;
    end else begin
      if (step_i) count_q <= count_q + 4'd1;
      gray_q <= count_q ^ (count_q >> 1);
    end
  end

  always_ff @(negedge clk_a_i or negedge rst_ni) begin
    if (!rst_ni) late_q <= 1'b0;
    else late_q <= step_i ^ count_q[0];
  end

  always_ff @(posedge clk_b_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q  <= '0;
      second_q <= '0;
    end else begin
      first_q  <= gray_q;
      second_q <= first_q;
    end
  end

  assign a_o    = count_q;
  assign b_o    = second_q;
  assign late_o = late_q;

endmodule
