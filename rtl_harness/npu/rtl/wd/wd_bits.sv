// SPDX-License-Identifier: Apache-2.0
/// Bit buffer: takes 64-bit beats, shows the next bits of the stream (zeros after them), and drops
/// the bits that are taken. Beats after the last one are accepted and dropped.
module wd_bits
  import wd_pkg::*;
#(
  parameter int unsigned Size = 128,
  localparam int unsigned CountW = $clog2(Size + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                en_i,
  input  logic                clear_i,
  input  logic                drop_i,  // no more bits are wanted: drop the beats, too
  input  logic                in_valid_i,
  output logic                in_ready_o,
  input  logic [BeatBits-1:0] in_data_i,
  input  logic                in_last_i,
  output logic [Size-1:0]     bits_o,
  output logic [CountW-1:0]   count_o,
  output logic                last_o,       // no more bits follow those counted
  input  logic                take_i,
  input  logic [CountW-1:0]   take_bits_i,  // with the next at most count_o
  input  logic [3:0]          take_more_i   // comes late in the cycle
);
  logic [Size-1:0] bits_d, bits_q, filled;
  logic [CountW-1:0] count_d, count_q, count_filled;
  logic last_q, push;

  assign in_ready_o = drop_i || last_q || count_q <= CountW'(Size - BeatBits);
  assign push = in_valid_i && in_ready_o && !drop_i && !last_q;

  assign bits_o  = bits_q;
  assign count_o = count_q;
  assign last_o  = last_q;

  always_comb begin
    filled       = bits_q;
    count_filled = count_q;
    if (push) begin
      filled       = bits_q | (Size'(in_data_i) << count_q);
      count_filled = count_q + CountW'(BeatBits);
    end
    bits_d  = filled;
    count_d = count_filled;
    if (take_i) begin
      bits_d  = (filled >> take_bits_i) >> take_more_i;
      count_d = (count_filled - take_bits_i) - CountW'(take_more_i);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bits_q  <= '0;
      count_q <= '0;
      last_q  <= 1'b0;
    end else if (en_i && clear_i) begin
      bits_q  <= '0;
      count_q <= '0;
      last_q  <= 1'b0;
    end else if (en_i) begin
      bits_q  <= bits_d;
      count_q <= count_d;
      if (push) last_q <= in_last_i;
    end
  end
endmodule
