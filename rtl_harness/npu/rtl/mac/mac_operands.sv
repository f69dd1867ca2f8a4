// SPDX-License-Identifier: Apache-2.0
/// The eight factors that an IFM word gives: elements less the zero point, zero for channels that do not exist.
///
/// Of pools with 16-bit elements, four a word, each element gives two factors: its low byte, and what is above it
/// with the other sign, which a weight of -256 turns. Sums over depth may have 32-bit elements, two a word. Their
/// sum takes the place of the factors.
module mac_operands (
  input  logic [63:0]       word_i,
  input  logic              absent_i,
  input  logic [2:0]        channels_m1_i,  // that exist
  input  logic              signed_i,
  input  logic              two_bytes_i,
  input  logic              wide_i,
  input  logic signed [8:0] zero_point_i,
  output logic [7:0][9:0]   factors_o
);
  logic [31:0] sum;
  assign sum = word_i[31:0] + (channels_m1_i != '0 ? word_i[63:32] : '0);

  logic [3:0][17:0] element;  // of two bytes
  always_comb begin
    factors_o = '0;
    for (int unsigned e = 0; e < 4; e++) begin
      element[e] = {{2{signed_i && word_i[16*e+15]}}, word_i[16*e+:16]} - 18'($signed(zero_point_i));
    end
    if (!absent_i && wide_i) begin
      factors_o = 80'(sum);
    end else if (!absent_i && two_bytes_i) begin
      for (int unsigned e = 0; e < 4; e++) begin
        if (3'(e) <= channels_m1_i) begin
          factors_o[2*e]   = {2'd0, element[e][7:0]};
          factors_o[2*e+1] = -element[e][17:8];
        end
      end
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
