// SPDX-License-Identifier: Apache-2.0
/// The weights that the array multiplies by: a vector of the stream, or what stands for one.
///
/// Operations that take each OFM channel from one IFM channel use the diagonal of the array only: depthwise
/// with a weight a channel, pooling with ones. The sum over depth has ones for the first OFM channel. Elements of
/// 16 bits have two factors each, see mac_operands.
module mac_weights
  import npu_pkg::*;
#(
  parameter int unsigned UblkD = 4
) (
  input  kind_e                kind_i,
  input  logic                 half_i,
  input  logic                 two_bytes_i,
  input  logic [UblkD*8*9-1:0] vec_i,
  output logic [UblkD*8*9-1:0] weights_o
);
  localparam logic [17:0] TwoBytes = {-9'sd256, 9'd1};
  localparam int unsigned Elements = 4;  // of two bytes in a word

  always_comb begin
    weights_o = '0;
    unique case (kind_i)
      Conv: weights_o = vec_i;
      ReduceSum: begin
        for (int unsigned z = 0; z < 8; z++) weights_o[9*z+:9] = 9'd1;
        if (two_bytes_i) weights_o[8*9-1:0] = {Elements{TwoBytes}};
      end
      default: begin
        for (int unsigned c = 0; c < UblkD; c++) begin
          if (two_bytes_i) begin
            if (half_i == (c >= Elements)) weights_o[9*(8*c+2*(c%Elements))+:18] = TwoBytes;
          end else weights_o[9*(8*c+(c+(half_i?4:0))%8)+:9] = kind_i == Depthwise ? vec_i[9*c+:9] : 9'd1;
        end
      end
    endcase
  end
endmodule
