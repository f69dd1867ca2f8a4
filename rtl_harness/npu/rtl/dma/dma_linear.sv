// SPDX-License-Identifier: Apache-2.0
/// Reads a byte stream from memory in bursts and queues its 64-bit beats.
///
/// A new start, or a stop, drops what is queued and what is still on its way.
module dma_linear
  import npu_pkg::*;
#(
  parameter int unsigned Depth    = 16,
  parameter int unsigned MaxBurst = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  logic        start_i,
  input  logic        stop_i,
  input  linear_req_t req_i,
  output logic        idle_o,
  // Address requests
  output logic        ar_valid_o,
  input  logic        ar_ready_i,
  output logic        ar_port_o,
  output burst_t      ar_o,
  // Beats
  input  logic        r_valid_i,
  input  logic [63:0] r_data_i,
  // Stream
  output logic        valid_o,
  input  logic        ready_i,
  output logic [63:0] data_o,
  output logic        last_o,
  output logic [29:0] left_o  // beats that are not handed on
);

  localparam int unsigned CountW = $clog2(Depth + 1);  // holds a burst's length, too
  localparam int unsigned BlockBeats = 16;  // a burst stays inside a block of them

  logic port_q;
  logic ask_valid_q;        // a burst is asked for
  logic [3:0] ask_len_q;
  logic [28:0] addr_q;      // next beat to ask for
  logic [29:0] to_ask_q;    // beats not yet asked for
  logic [29:0] to_give_q;   // beats not yet handed on
  logic [CountW-1:0] on_way_q, room_q;
  logic drop_q;

  logic [4:0] want;  // beats of the next burst
  logic [4:0] to_boundary;
  assign to_boundary = 5'(BlockBeats) - 5'(addr_q[3:0]);
  always_comb begin
    want = 5'(MaxBurst);
    if (to_boundary < want) want = to_boundary;
    if (to_ask_q < 30'(want)) want = to_ask_q[4:0];
  end

  logic ask, asked, receive, give;
  assign ask        = !ask_valid_q && to_ask_q != '0 && !drop_q && CountW'(want) <= room_q;
  assign ar_valid_o = ask_valid_q;
  assign ar_port_o  = port_q;
  assign ar_o       = '{word: addr_q, len: 5'(ask_len_q)};
  assign asked      = ask_valid_q && ar_ready_i;
  assign receive    = r_valid_i;
  assign give       = valid_o && ready_i;
  assign left_o     = to_give_q;

  logic empty, full;
  fifo #(
    .Width(64),
    .Depth(Depth)
  ) u_fifo (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (en_i),
    .clear_i(start_i || stop_i),
    .push_i (receive && !drop_q),
    .data_i (r_data_i),
    .pop_i  (give),
    .data_o (data_o),
    .empty_o(empty),
    .full_o (full)
  );
  assign valid_o = !empty;
  assign last_o  = to_give_q == 30'd1;
  assign idle_o  = to_ask_q == '0 && on_way_q == '0 && !ask_valid_q && empty;

  logic [CountW-1:0] on_way_d;
  assign on_way_d = on_way_q + (asked ? CountW'(ask_len_q) + CountW'(1) : '0) - CountW'(receive);

  logic unused_full;
  assign unused_full = full;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      port_q      <= 1'b0;
      ask_valid_q <= 1'b0;
      ask_len_q   <= '0;
      addr_q    <= '0;
      to_ask_q  <= '0;
      to_give_q <= '0;
      on_way_q  <= '0;
      room_q    <= CountW'(Depth);
      drop_q    <= 1'b0;
    end else if (en_i) begin
      on_way_q <= on_way_d;
      if (start_i || stop_i) begin
        if (start_i) begin
          port_q    <= req_i.port;
          addr_q    <= req_i.addr[31:3];
          to_ask_q  <= 30'((33'(req_i.length) + 33'd7) >> 3);
          to_give_q <= 30'((33'(req_i.length) + 33'd7) >> 3);
        end else begin
          to_ask_q  <= '0;
          to_give_q <= '0;
        end
        room_q <= CountW'(Depth);
        drop_q <= on_way_d != '0;
        ask_valid_q <= 1'b0;
      end else begin
        if (ask) begin
          ask_valid_q <= 1'b1;
          ask_len_q   <= 4'(want - 5'd1);
          to_ask_q    <= to_ask_q - 30'(want);
        end else if (asked) begin
          ask_valid_q <= 1'b0;
          addr_q      <= addr_q + 29'(ask_len_q) + 29'd1;
        end
        if (give) to_give_q <= to_give_q - 30'd1;
        room_q <= room_q - (ask ? CountW'(want) : '0) + CountW'(give);
        if (drop_q && on_way_d == '0) drop_q <= 1'b0;
      end
    end
  end
endmodule
