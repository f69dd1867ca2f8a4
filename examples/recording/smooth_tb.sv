// SPDX-License-Identifier: Apache-2.0
/// A testbench as anybody writes one: it cannot be closed, for it draws numbers and waits for times.
module smooth_tb;

  logic clk = 1'b0, rst_n = 1'b0;
  logic gain_we = 1'b0, in_valid = 1'b0, out_ready = 1'b0;
  logic [1:0] gain = '0;
  logic [7:0] in_data = '0;
  logic in_ready, out_valid, parity_error;
  logic [9:0] out_data;

  always #5ns clk = ~clk;

  smooth u_dut (
    .clk_i         (clk),
    .rst_ni        (rst_n),
    .gain_we_i     (gain_we),
    .gain_i        (gain),
    .in_valid_i    (in_valid),
    .in_ready_o    (in_ready),
    .in_data_i     (in_data),
    .out_valid_o   (out_valid),
    .out_ready_i   (out_ready),
    .out_data_o    (out_data),
    .parity_error_o(parity_error)
  );

  int seed = 1;

  initial begin
    if ($value$plusargs("seed=%d", seed)) void'($urandom(seed));
    $dumpfile("smooth.vcd");
    $dumpvars(0, smooth_tb);
    #32ns rst_n = 1'b1;
    @(negedge clk) begin
      gain_we = 1'b1;
      gain    = 2'($urandom_range(2));
    end
    repeat (300) begin
      @(negedge clk);
      gain_we   = 1'b0;
      in_valid  = $urandom_range(3) != 0;
      in_data   = 8'($urandom);
      out_ready = $urandom_range(2) != 0;
    end
    @(negedge clk) in_valid = 1'b0;
    out_ready = 1'b1;
    #200ns $finish;
  end

endmodule
