// SPDX-License-Identifier: Apache-2.0
module gather_tb;
  logic clk = 1'b0, rst_n = 1'b0;
  always #5 clk = !clk;
  gather_if link (.clk(clk));
  logic [7:0] words[1:3][2];
  gather_pkg::order_e orders[2];
  gather_pkg::either_u either;
  gather_pkg::pair_t pairs[2];
  logic [7:0] sum;
  gather u_dut (
    .clk_i(clk), .rst_ni(rst_n), .bus(link), .table_i(words), .orders_i(orders), .either_i(either),
    .pairs_o(pairs), .sum_o(sum)
  );

  initial begin
    $dumpfile("gather.vcd");
    $dumpvars;
    for (int k = 0; k < 120; k++) begin
      @(negedge clk);
      rst_n = k > 1;
      link.valid = $urandom_range(3) != 0;
      link.order = gather_pkg::order_e'($urandom_range(2));
      if ($urandom_range(1) != 0) link.mood = link.Turn;
      else link.mood = link.Keep;
      link.data = 8'($urandom);
      link.more[k%2] = 4'($urandom);
      words[1+k%3][k%2] = 8'($urandom);
      orders[k%2] = gather_pkg::order_e'($urandom_range(2));
      either.bits = 4'($urandom);
    end
    $finish;
  end
endmodule
