// SPDX-License-Identifier: Apache-2.0
/// Words as the shared buffer's banks keep them: each with its check bits above it.
module sb_encode
  import sb_code_pkg::*;
#(
  parameter  int unsigned Code   = None,
  parameter  int unsigned Words  = 1,
  localparam int unsigned CodedW = 32 + check_bits(Code)
) (
  input  logic [Words-1:0][31:0]       data_i,
  output logic [Words-1:0][CodedW-1:0] coded_o
);
  if (Code == Secded) begin : gen_secded
    always_comb begin
      for (int unsigned w = 0; w < Words; w++) begin
        coded_o[w][31:0] = data_i[w];
        for (int unsigned b = 0; b < SecdedBits; b++) coded_o[w][32+b] = ^(data_i[w] & Rows[b]);
      end
    end
  end else if (Code == Parity) begin : gen_parity
    always_comb begin
      for (int unsigned w = 0; w < Words; w++) coded_o[w] = {^data_i[w], data_i[w]};
    end
  end else begin : gen_none
    assign coded_o = data_i;
  end
endmodule
