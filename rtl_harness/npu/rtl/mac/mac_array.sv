/// Eight by OfmUblock multipliers: dot products of eight IFM channels with the weights of each OFM channel.
module mac_array #(
  parameter int unsigned OfmUblock = 4
) (
  input  logic [63:0]                   ifm_i,
  input  logic [7:0]                    lanes_i,
  input  logic                          signed_i,
  input  logic signed [8:0]             zero_point_i,
  input  logic [OfmUblock*8*9-1:0]      weights_i,  // weight of OFM channel c, IFM channel z at 8 c + z
  output logic [OfmUblock-1:0][21:0]    dot_o
);
  logic signed [7:0][9:0] value;
  always_comb begin
    for (int unsigned z = 0; z < 8; z++) begin
      value[z] = lanes_i[z]
                 ? {{2{signed_i && ifm_i[8*z+7]}}, ifm_i[8*z+:8]} - {zero_point_i[8], zero_point_i}
                 : '0;
    end
  end

  for (genvar c = 0; c < OfmUblock; c++) begin : gen_channel
    logic signed [7:0][18:0] product;
    for (genvar z = 0; z < 8; z++) begin : gen_multiplier
      logic signed [8:0] weight;
      assign weight     = weights_i[9*(8*c+z)+:9];
      assign product[z] = 19'($signed(value[z]) * weight);
    end
    always_comb begin
      dot_o[c] = '0;
      for (int unsigned z = 0; z < 8; z++) dot_o[c] = dot_o[c] + 22'($signed(product[z]));
    end
  end
endmodule
