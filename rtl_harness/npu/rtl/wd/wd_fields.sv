// SPDX-License-Identifier: Apache-2.0
/// Cuts bits of the stream into `Rate` fields of equal width, 0..9 bits.
module wd_fields
  import wd_pkg::*;
#(
  parameter int unsigned Rate = 4
) (
  input  logic [Rate*IndexBits-1:0]      bits_i,
  input  logic [3:0]                     width_i,
  output logic [Rate-1:0][IndexBits-1:0] fields_o
);
  always_comb begin
    fields_o = '0;
    for (int unsigned width = 1; width <= IndexBits; width++) begin
      if (width_i == 4'(width)) begin
        for (int unsigned k = 0; k < Rate; k++) begin
          fields_o[k] = IndexBits'(bits_i >> (k * width)) & IndexBits'((1 << width) - 1);
        end
      end
    end
  end
endmodule
