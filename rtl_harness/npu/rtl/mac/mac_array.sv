// SPDX-License-Identifier: Apache-2.0
/// Eight by UblkD multipliers for one pixel, and a cycle later the dot products of eight factors with each OFM
/// channel's weights.
///
/// A 32-bit sum that takes the place of the factors goes through the first two product registers.
module mac_array #(
  parameter int unsigned UblkD = 4
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   multiply_i,
  input  logic                   wide_i,      // the factors are a sum
  input  logic [7:0][9:0]        factors_i,
  input  logic [UblkD*8*9-1:0]   weights_i,   // of OFM channel c and factor z at 8 c + z
  output logic [UblkD-1:0][31:0] dot_o
);
  localparam int unsigned ProductW = 19;
  localparam int unsigned DotW     = ProductW + 3;
  localparam int unsigned SumW     = 32;

  logic [SumW-1:0] sum;
  assign sum = SumW'(factors_i);

  for (genvar c = 0; c < UblkD; c++) begin : gen_channel
    logic [7:0][ProductW-1:0] product;
    for (genvar z = 0; z < 8; z++) begin : gen_multiplier
      logic signed [8:0] weight;
      logic signed [9:0] factor;
      logic [ProductW-1:0] product_d, product_q;
      assign weight = weights_i[9*(8*c+z)+:9];
      assign factor = factors_i[z];
      always_comb begin
        product_d = ProductW'(factor * weight);
        if (wide_i && c == 0 && z == 0) product_d = sum[ProductW-1:0];
        if (wide_i && c == 0 && z == 1) product_d = ProductW'(sum[SumW-1:ProductW]);
      end
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) product_q <= '0;
        else if (multiply_i) product_q <= product_d;
      end
      assign product[z] = product_q;
    end

    logic [DotW-1:0] dot;
    always_comb begin
      dot = '0;
      for (int unsigned z = 0; z < 8; z++) dot = dot + DotW'($signed(product[z]));
      dot_o[c] = 32'($signed(dot));
      if (wide_i && c == 0) dot_o[c] = SumW'({product[1], product[0]});
    end
  end
endmodule
