/// Eight by UblkD multipliers for one pixel: dot products of eight IFM channels with each OFM channel's weights.
module mac_array #(
  parameter int unsigned UblkD = 4
) (
  input  logic [63:0]              ifm_i,
  input  logic [7:0]               channels_i,   // that exist
  input  logic                     signed_i,
  input  logic signed [8:0]        zero_point_i,
  input  logic [UblkD*8*9-1:0]     weights_i,    // of OFM channel c and IFM channel z at 8 c + z
  output logic [UblkD-1:0][21:0]   dot_o
);
  logic signed [7:0][9:0] value;
  always_comb begin
    for (int unsigned z = 0; z < 8; z++) begin
      value[z] = channels_i[z]
                 ? {{2{signed_i && ifm_i[8*z+7]}}, ifm_i[8*z+:8]} - {zero_point_i[8], zero_point_i}
                 : '0;
    end
  end

  for (genvar c = 0; c < UblkD; c++) begin : gen_channel
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
