// SPDX-License-Identifier: Apache-2.0
/// Gathers the quotients of a chunk in order. A quotient is twice the number of codes that go on
/// before the code that ends it, and what that one adds.
module wd_scan
  import wd_pkg::*;
(
  input  logic [ChunkCodes:0]                     ends_i,  // codes that end a quotient
  input  logic [ChunkCodes-1:0]                   ones_i,  // what codes that end one add
  input  logic [ChunkCodes-1:0]                   twos_i,  // only if all codes end one
  output logic [ChunkCodes-1:0][QuotientBits-1:0] quotients_o,
  output logic [CodeCountBits-1:0]                open_o   // codes behind the last end
);
  always_comb begin
    logic [ChunkCodes:0] rank, gap;  // of the next end, one-hot: codes that go on before it
    logic [QuotientBits-1:0] quotient;
    rank        = (ChunkCodes + 1)'(1);
    gap         = (ChunkCodes + 1)'(1);
    quotients_o = '0;
    open_o      = '0;
    for (int unsigned i = 0; i <= ChunkCodes; i++) begin
      open_o = '0;
      for (int unsigned n = 1; n <= i; n++) begin
        open_o = open_o | (gap[n] ? CodeCountBits'(n) : '0);
      end
      quotient = {open_o, 1'b0};
      if (i < ChunkCodes) quotient = quotient | QuotientBits'({twos_i[i], ones_i[i]});
      for (int unsigned k = 0; k <= i && k < ChunkCodes; k++) begin
        quotients_o[k] = quotients_o[k] | (ends_i[i] && rank[k] ? quotient : '0);
      end
      rank = ends_i[i] ? rank << 1 : rank;
      gap  = ends_i[i] ? (ChunkCodes + 1)'(1) : gap << 1;
    end
  end
endmodule
