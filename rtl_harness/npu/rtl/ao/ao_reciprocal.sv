// SPDX-License-Identifier: Apache-2.0
/// Scale and shift of an average over a number of pixels, in the cycle after that number.
module ao_reciprocal (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  logic        valid_i,
  input  logic [6:0]  count_i,
  output logic [32:0] factor_o,
  output logic [5:0]  shift_o
);
  // 2^(31+k) / n, rounded up as the compiler does for whole kernels; k bits hold n - 1.
  function automatic logic [64:0][38:0] reciprocals();
    for (int unsigned n = 0; n <= 64; n++) begin
      longint unsigned k;
      k = 0;
      while (n > 1 && (64'd1 << k) < 64'(n)) k++;
      reciprocals[n] = n == 0 ? 39'd0
                       : {6'(31 + k), 33'(((64'd1 << (31 + k)) + (64'd1 << k)) / 64'(n))};
    end
  endfunction
  localparam logic [64:0][38:0] Reciprocal = reciprocals();

  logic [6:0] count_q;
  assign {shift_o, factor_o} = Reciprocal[count_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else if (en_i && valid_i) count_q <= count_i;
  end
endmodule
