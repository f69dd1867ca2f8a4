/// Cuts the next bits of the stream into `Rate` fields of equal width, 0..9 bits, and tells which
/// of them are there completely.
module wd_fields #(
  parameter int unsigned Rate   = 4,
  parameter int unsigned Size = 128,
  localparam int unsigned CountW = $clog2(Size + 1)
) (
  input  logic [Size-1:0]                       bits_i,
  input  logic [CountW-1:0]                     count_i,
  input  logic [3:0]                            width_i,
  output logic [Rate-1:0][wd_pkg::IndexBits-1:0] fields_o,
  output logic [Rate-1:0]                       complete_o
);
  logic [wd_pkg::IndexBits-1:0] mask;
  assign mask = wd_pkg::IndexBits'((10'd1 << width_i) - 10'd1);

  for (genvar k = 0; k < Rate; k++) begin : gen_field
    logic [CountW-1:0] first, stop;
    assign first = CountW'(k) * CountW'(width_i);
    assign stop  = first + CountW'(width_i);
    assign complete_o[k] = stop <= count_i;
    assign fields_o[k]   = wd_pkg::IndexBits'(bits_i >> first) & mask;
  end
endmodule
