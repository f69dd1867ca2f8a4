// SPDX-License-Identifier: Apache-2.0
/// Drives a pin where it is switched on.
module tally_pad (
  input  logic value_i,
  input  logic on_i,
  inout  wire  pad_io,
  output logic seen_o
);
  assign pad_io = on_i ? value_i : 1'bz;
  assign seen_o = pad_io;
endmodule

/// Adds up what it finds on a bus that both sides drive, and drives the sum when it was asked; holds a line
/// down while the sum is large, as others may.
module tally (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       ask_i,
  input  logic       take_i,
  inout  wire  [7:0] bus_io,
  inout  wire        hold_io,
  output logic       odd_o
);
  logic [7:0] sum_q;
  logic [3:0] held_q;
  logic       drives_q, high_q, free;

  assign bus_io = drives_q ? sum_q : 'z;
  assign odd_o  = ^held_q;

  tally_pad u_hold (
    .value_i(1'b0),
    .on_i   (high_q),
    .pad_io (hold_io),
    .seen_o (free)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q    <= '0;
      held_q   <= '0;
      drives_q <= 1'b0;
      high_q   <= 1'b0;
    end else begin
      if (take_i && !drives_q) sum_q <= sum_q + bus_io;
      if (!free) held_q <= held_q + 4'd1;
      drives_q <= ask_i;
      high_q   <= &sum_q[7:6];
    end
  end
endmodule
