// SPDX-License-Identifier: Apache-2.0
/// First-in first-out queue in flip-flops; the oldest entry is visible on `data_o`.
module fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             en_i,
  input  logic             clear_i,
  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  input  logic             pop_i,
  output logic [Width-1:0] data_o,
  output logic             empty_o,
  output logic             full_o
);
  localparam int unsigned PtrW = $clog2(Depth);
  localparam logic [PtrW-1:0] Last = PtrW'(Depth - 1);

  logic [Depth-1:0][Width-1:0] entry_q;
  logic [PtrW-1:0] head_q, tail_q;
  logic [PtrW:0] level_q;

  assign data_o  = entry_q[head_q];
  assign empty_o = level_q == '0;
  assign full_o  = level_q >= (PtrW + 1)'(Depth);

  logic push, pop;
  assign push = push_i && !full_o;
  assign pop  = pop_i && !empty_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      entry_q <= '0;
      head_q  <= '0;
      tail_q  <= '0;
      level_q <= '0;
    end else if (en_i) begin
      if (clear_i) begin
        head_q  <= '0;
        tail_q  <= '0;
        level_q <= '0;
      end else begin
        if (push) begin
          entry_q[tail_q] <= data_i;
          tail_q          <= tail_q == Last ? '0 : tail_q + 1'b1;
        end
        if (pop) head_q <= head_q == Last ? '0 : head_q + 1'b1;
        level_q <= level_q + (PtrW + 1)'(push) - (PtrW + 1)'(pop);
      end
    end
  end
endmodule
