/// Bit buffer: takes 64-bit beats, shows the next bits of the stream (zeros after them), and drops
/// the bits that are taken. Beats after the last one are accepted and dropped.
module wd_bits #(
  parameter int unsigned Size = 128,
  localparam int unsigned CountW = $clog2(Size + 1)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        en_i,
  input  logic                        clear_i,
  input  logic                        drop_i,  // no more bits are wanted: drop the beats, too
  input  logic                        in_valid_i,
  output logic                        in_ready_o,
  input  logic [wd_pkg::BeatBits-1:0] in_data_i,
  input  logic                        in_last_i,
  output logic [Size-1:0]             bits_o,
  output logic [CountW-1:0]           count_o,
  output logic                        last_o,  // no more bits follow those counted
  input  logic [CountW-1:0]           take_i   // at most count_o
);
  logic [Size-1:0] bits_d, bits_q;
  logic [CountW-1:0] count_d, count_q;
  logic last_d, last_q;
  logic push;

  assign in_ready_o = drop_i || last_q || count_q <= CountW'(Size - wd_pkg::BeatBits);
  assign push = in_valid_i && in_ready_o && !drop_i && !last_q;

  assign bits_o  = bits_q;
  assign count_o = count_q;
  assign last_o  = last_q;

  always_comb begin
    bits_d  = bits_q >> take_i;
    count_d = count_q - take_i;
    last_d  = last_q;
    if (push) begin
      bits_d  = bits_d | (Size'(in_data_i) << count_d);
      count_d = count_d + CountW'(wd_pkg::BeatBits);
      last_d  = in_last_i;
    end
    if (clear_i) begin
      bits_d  = '0;
      count_d = '0;
      last_d  = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bits_q  <= '0;
      count_q <= '0;
      last_q  <= 1'b0;
    end else if (en_i) begin
      bits_q  <= bits_d;
      count_q <= count_d;
      last_q  <= last_d;
    end
  end
endmodule
