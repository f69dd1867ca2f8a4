// SPDX-License-Identifier: Apache-2.0
// Adds words of one SRAM to those of a register file, and writes sums into both. The source of its macros is not there.
module core (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic [15:0] sum_o,
  output logic        we_o,
  output logic  [3:0] at_o
);
  logic pll_clk, locked;
  logic  [6:0] count_q;
  logic [15:0] sum_q;
  logic [31:0] a;
  logic [15:0] b;

  PLL u_pll (.REF(clk_i), .EN(rst_ni), .OUT(pll_clk), .LOCK(locked), .VERSION());
  RAM16X32 u_a (
    .CLK(pll_clk), .A(count_q[3:0]), .CEN(~locked), .WEN(count_q[6:4] != 3'd2), .BWN({~count_q[1:0], 2'b0}),
    .D({sum_q, 9'd0, count_q}), .Q(a), .EMA(3'd2)
  );
  RF8X16 u_b (.WCK(pll_clk), .WA(count_q[2:0]), .WE(count_q[0]), .D(sum_q), .RA(count_q[3:1]), .Q(b));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      sum_q   <= '0;
    end else if (!done_o) begin
      count_q <= count_q + 7'd1;
      sum_q   <= sum_q + a[15:0] + (a[31:16] ^ b);
    end
  end
  assign done_o = count_q == 7'd100;
  assign sum_o  = sum_q;
  assign we_o   = count_q[2];
  assign at_o   = count_q[6:3];
endmodule
