// SPDX-License-Identifier: Apache-2.0
/// The eight factors that an IFM word gives: elements less the zero point, zero for channels that do not exist.
///
/// Sums over depth may have 32-bit elements, two a word. Their sum takes the place of the factors.
module mac_operands (
  input  logic [63:0]       word_i,
  input  logic              absent_i,
  input  logic [2:0]        channels_m1_i,  // that exist
  input  logic              signed_i,
  input  logic              wide_i,
  input  logic signed [8:0] zero_point_i,
  output logic [7:0][9:0]   factors_o
);
  logic [31:0] sum;
  assign sum = word_i[31:0] + (channels_m1_i != '0 ? word_i[63:32] : '0);

  always_comb begin
    factors_o = '0;
    if (!absent_i && wide_i) begin
      factors_o = 80'(sum);
    end else if (!absent_i) begin
      for (int unsigned z = 0; z < 8; z++) begin
        if (3'(z) <= channels_m1_i) begin
          factors_o[z] = {{2{signed_i && word_i[8*z+7]}}, word_i[8*z+:8]}
                         - {zero_point_i[8], zero_point_i};
        end
      end
    end
  end
endmodule
