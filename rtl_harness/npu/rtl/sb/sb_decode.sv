// SPDX-License-Identifier: Apache-2.0
/// Words of the shared buffer as they were written, as far as their code goes, and what it found.
///
/// SECDED mends a wrong bit of each word and finds two; parity finds an odd number of them. Of three wrong bits or more
/// SECDED may take a word for one with a single wrong bit, and mend another.
module sb_decode
  import sb_code_pkg::*;
#(
  parameter  int unsigned Code   = None,
  parameter  int unsigned Words  = 1,
  localparam int unsigned CodedW = 32 + check_bits(Code)
) (
  input  logic [Words-1:0][CodedW-1:0] coded_i,
  output logic [Words-1:0][31:0]       data_o,
  output logic                         corrected_o,  // some word had a wrong bit, which is mended
  output logic                         error_o       // some word has wrong bits, and is given as it is
);
  if (Code == Secded) begin : gen_secded
    logic [Words-1:0] single, other;
    for (genvar w = 0; w < Words; w++) begin : gen_word
      logic [SecdedBits-1:0] syndrome;
      logic [31:0] wrong;
      logic check_wrong;
      for (genvar b = 0; b < SecdedBits; b++) begin : gen_syndrome
        assign syndrome[b] = ^(coded_i[w][31:0] & Rows[b]) ^ coded_i[w][32+b];
      end
      for (genvar d = 0; d < 32; d++) begin : gen_bit
        localparam logic [SecdedBits-1:0] Column = column(d);
        assign wrong[d] = syndrome == Column;
      end
      assign check_wrong = $onehot(syndrome);
      assign data_o[w]   = coded_i[w][31:0] ^ wrong;
      assign single[w]   = |wrong || check_wrong;
      assign other[w]    = syndrome != '0 && !single[w];
    end
    assign corrected_o = |single;
    assign error_o     = |other;
  end else if (Code == Parity) begin : gen_parity
    logic [Words-1:0] odd;
    always_comb begin
      for (int unsigned w = 0; w < Words; w++) begin
        data_o[w] = coded_i[w][31:0];
        odd[w]    = ^coded_i[w];
      end
    end
    assign corrected_o = 1'b0;
    assign error_o     = |odd;
  end else begin : gen_none
    assign data_o      = coded_i;
    assign corrected_o = 1'b0;
    assign error_o     = 1'b0;
  end
endmodule
