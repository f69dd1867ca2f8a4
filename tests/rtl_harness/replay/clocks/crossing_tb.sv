// SPDX-License-Identifier: Apache-2.0
/// Two clocks without a ratio, inputs at times of their own.
module crossing_tb;
  timeunit 1ns; timeprecision 10ps;
  logic clk_a = 1'b0, clk_b = 1'b0, rst_n = 1'b0, step = 1'b0, late;
  logic [3:0] a, b;
  always #5ns clk_a = ~clk_a;
  always #7ns clk_b = ~clk_b;
  crossing u_dut (clk_a, clk_b, rst_n, step, a, b, late);
  initial begin
    $dumpfile("crossing.vcd");
    $dumpvars(0, crossing_tb);
    #23.05ns rst_n = 1'b1;
    repeat (120) begin
      #9.3ns step = 1'($urandom);
    end
    $finish;
  end
endmodule
