// SPDX-License-Identifier: Apache-2.0
/// Takes orders by an interface, and what they are about from arrays; all kinds of ports that are no vector.
package gather_pkg;
  typedef enum logic [1:0] {
    Add,
    Take,
    Mix
  } order_e;
  typedef struct packed {
    logic [2:0] high;
    logic       low;
  } pair_t;
  typedef union packed {
    pair_t      pair;
    logic [3:0] bits;
  } either_u;
endpackage

interface gather_if #(
  parameter int unsigned Width = 8
) (
  input logic clk
);
  logic               valid;
  logic               ready;
  gather_pkg::order_e order;
  logic [Width-1:0]   data;
  enum logic {Keep, Turn} mood;
  logic [3:0]         more[2];
  modport taker(input clk, valid, order, data, mood, more, output ready);
  modport giver(output valid, order, data, mood, more, input ready);
endinterface

module gather (
  input  logic                clk_i,
  input  logic                rst_ni,
  gather_if.taker             bus,
  input  logic          [7:0] table_i[1:3][2],
  input  gather_pkg::order_e  orders_i[2],
  input  gather_pkg::either_u either_i,
  output gather_pkg::pair_t   pairs_o[2],
  output logic          [7:0] sum_o
);
  logic [7:0] sum_q, sum_d;
  logic [1:0] count_q;
  gather_pkg::order_e order;

  assign order     = count_q[1] ? orders_i[count_q[0]] : bus.order;
  assign bus.ready = count_q != 2'd3;

  always_comb begin
    unique case (order)
      gather_pkg::Add:  sum_d = sum_q + bus.data + table_i[1][count_q[0]];
      gather_pkg::Take: sum_d = sum_q - table_i[2][count_q[0]];
      default:          sum_d = sum_q ^ {bus.more[1], bus.more[0]} ^ table_i[3][0];
    endcase
  end

  always_ff @(posedge bus.clk or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q   <= '0;
      pairs_o <= '{default: '0};
    end else if (bus.valid && bus.ready) begin
      sum_q      <= sum_d;
      pairs_o[0] <= sum_q[3:0] ^ {4{bus.mood}};
      pairs_o[1] <= '{high: sum_q[6:4], low: either_i.pair.low};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + 2'd1;
  end
  assign sum_o = sum_q;
endmodule
