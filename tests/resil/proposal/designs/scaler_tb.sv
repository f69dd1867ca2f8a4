// SPDX-License-Identifier: Apache-2.0
/// Drives the scaler with numbers at random.
module scaler_tb;
  logic clk = 1'b0, rst = 1'b1;
  logic [7:0] data = '0, out;
  logic valid = 1'b0, ready, out_valid, out_ready = 1'b0, last;
  always #2ns clk = ~clk;
  scaler dut (clk, rst, data, valid, ready, out, out_valid, out_ready, last);
  initial begin
    $dumpfile("scaler.vcd");
    $dumpvars(0, scaler_tb);
    repeat (3) @(negedge clk);
    rst = 1'b0;
    repeat (200) begin
      @(negedge clk);
      data      = 8'($urandom);
      valid     = 1'($urandom);
      out_ready = 1'($urandom);
    end
    $finish;
  end
endmodule
