// SPDX-License-Identifier: Apache-2.0
/// First in, first out; an entry comes out `Delay` cycles after it could have at the earliest.
///
/// Entries move up and what is empty is zero, so that queues which hold the same are in the same state: a
/// fault that only delayed something leaves nothing behind here.
module resil_delay_queue #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4,
  parameter int unsigned Delay = 0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  localparam int unsigned WaitW = Delay > 0 ? $clog2(Delay + 1) : 1;

  logic [Depth-1:0] used_q, used_d;
  logic [Depth-1:0][Width-1:0] data_q, data_d;
  logic [Depth-1:0][WaitW-1:0] wait_q, wait_d;
  logic push, pop;

  assign ready_o = !used_q[Depth-1];
  assign valid_o = used_q[0] && wait_q[0] == '0;
  assign data_o  = data_q[0];
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;

  always_comb begin
    used_d = used_q;
    data_d = data_q;
    for (int unsigned i = 0; i < Depth; i++) wait_d[i] = wait_q[i] == '0 ? '0 : wait_q[i] - WaitW'(1);
    if (pop) begin
      used_d = used_q >> 1;
      data_d = data_q >> Width;
      wait_d = wait_d >> WaitW;
    end
    if (push) begin
      for (int unsigned i = 0; i < Depth; i++) begin
        if (!used_d[i] && (i == 0 || used_d[i-1])) begin
          used_d[i] = 1'b1;
          data_d[i] = data_i;
          wait_d[i] = WaitW'(Delay);
          break;
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q <= '0;
      data_q <= '0;
      wait_q <= '0;
    end else begin
      used_q <= used_d;
      data_q <= data_d;
      wait_q <= wait_d;
    end
  end
endmodule
