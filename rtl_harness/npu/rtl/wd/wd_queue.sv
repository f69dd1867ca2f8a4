// SPDX-License-Identifier: Apache-2.0
/// First-in first-out queue that takes up to `Push` items and gives up to `Pop` items per cycle.
module wd_queue #(
  parameter int unsigned Width = 9,
  parameter int unsigned Depth = 20,
  parameter int unsigned Push  = 4,
  parameter int unsigned Pop   = 4,
  localparam int unsigned CountW = $clog2(Depth + 1),
  localparam int unsigned PushW  = $clog2(Push + 1),
  localparam int unsigned PopW   = $clog2(Pop + 1)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       en_i,
  input  logic                       clear_i,
  input  logic [PushW-1:0]           push_i,   // at most Depth - count_o
  input  logic [Push-1:0][Width-1:0] items_i,
  input  logic [PopW-1:0]            pop_i,    // at most count_o; comes late in the cycle
  output logic [Pop-1:0][Width-1:0]  items_o,  // oldest first
  output logic [CountW-1:0]          count_o
);
  logic [Depth-1:0][Width-1:0] items_d, items_q;
  logic [CountW-1:0] count_q;

  assign items_o = items_q[Pop-1:0];
  assign count_o = count_q;

  always_comb begin
    items_d = items_q;
    for (int unsigned k = 0; k < Push; k++) begin
      if (PushW'(k) < push_i) items_d[count_q+CountW'(k)] = items_i[k];
    end
    for (int unsigned b = 0; b < PopW; b++) begin
      if (pop_i[b]) items_d = items_d >> ((1 << b) * Width);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      items_q <= '0;
      count_q <= '0;
    end else if (en_i && clear_i) begin
      count_q <= '0;
    end else if (en_i) begin
      if (push_i != '0 || pop_i != '0) items_q <= items_d;
      count_q <= (count_q + CountW'(push_i)) - CountW'(pop_i);
    end
  end
endmodule
