// SPDX-License-Identifier: Apache-2.0
/// Writes and reads the table.
module table_tb;
  import table_pkg::*;
  logic clk = 1'b1, rst_n = 1'b0, sel = 1'b0, enable = 1'b0, write = 1'b0, ready, minor, busy;
  logic [7:0] address = '0;
  logic [31:0] wdata = '0, rdata;
  mode_e mode = Read;
  pair_t pair;
  always #5ns clk = ~clk;
  table_top i_table (clk, rst_n, sel, enable, address, write, wdata, rdata, ready, mode, pair, minor, busy);
  initial begin
    $dumpfile("table.vcd");
    $dumpvars(0, table_tb);
    #33ns rst_n = 1'b1;
    for (int i = 0; i < 60; i++) begin
      @(negedge clk);
      sel     = 1'b1;
      enable  = 1'b0;
      write   = i < 20 || i % 7 == 0;
      address = 8'(4 * (i % 20));
      wdata   = $urandom;
      mode    = i % 9 == 8 ? Write : Read;
      @(negedge clk) enable = 1'b1;
    end
    #20ns $finish;
  end
endmodule
