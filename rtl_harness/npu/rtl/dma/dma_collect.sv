// SPDX-License-Identifier: Apache-2.0
/// Collects beats to write bursts: a burst is offered when all its beats are here.
///
/// Where one beat lies between two, it joins them, with no byte to write: pixels of a brick that has few channels
/// are so apart. It takes no room in the queue. A burst crosses no 4 KiB border.
module dma_collect
  import npu_pkg::*;
#(
  parameter int unsigned Depth = 12,    // beats with bytes to write
  parameter int unsigned MaxBurst = 16  // beats, `Depth` at least
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  // Beats
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [28:0] word_i,
  input  logic [63:0] data_i,
  input  logic [7:0]  strb_i,
  input  logic        flush_i,   // no beat comes for now
  output logic        open_o,    // a burst is not yet offered
  output logic        empty_o,
  // Bursts
  output logic        burst_valid_o,
  input  logic        burst_take_i,
  output burst_t      burst_o,
  input  logic        beat_pop_i,
  output logic [63:0] beat_data_o,
  output logic [7:0]  beat_strb_o
);
  localparam int unsigned PageWordW = 9;  // of a beat in its 4 KiB
  localparam int unsigned StoredW = $clog2(Depth + 1);
  localparam logic [4:0] LastLen = 5'(MaxBurst - 1);

  logic open_q;
  logic [28:0] last_q;  // last beat of the open burst
  logic [4:0] len_q;    // its beats, minus one
  logic [StoredW-1:0] stored_q;  // those in the queue
  logic valid_q;
  burst_t burst_q;

  // Where the next beat lies: behind the last one, or with one between them. It joins the burst, or closes it.
  logic [28:0] ahead;
  logic follows, skips, crosses, whole, joins, close;
  assign ahead   = word_i - last_q;
  assign follows = ahead == 29'd1;
  assign skips   = ahead == 29'd2;
  assign crosses = word_i[PageWordW-1:1] == '0 && (skips || !word_i[0]);
  assign whole   = len_q == LastLen || stored_q == StoredW'(Depth);
  assign joins   = open_q && (follows || (skips && len_q != LastLen - 5'd1)) && !crosses && !whole;

  logic none, full, push;
  assign ready_o = !full && (!open_q || joins);
  assign push    = valid_i && ready_o;
  assign close   = open_q && !valid_q && !push && (valid_i || flush_i || whole);

  // The queue, and the beats between its beats
  logic skipped, passed_q, gap;
  logic [7:0] strb;
  assign gap         = skipped && !passed_q;
  assign beat_strb_o = gap ? '0 : strb;
  fifo #(
    .Width(73),
    .Depth(Depth)
  ) u_beats (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (en_i),
    .clear_i(1'b0),
    .push_i (push),
    .data_i ({open_q && skips, strb_i, data_i}),
    .pop_i  (beat_pop_i && !gap),
    .data_o ({skipped, strb, beat_data_o}),
    .empty_o(none),
    .full_o (full)
  );

  assign open_o        = open_q;
  assign empty_o       = none && !open_q && !valid_q;
  assign burst_valid_o = valid_q;
  assign burst_o       = burst_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q   <= 1'b0;
      last_q   <= '0;
      len_q    <= '0;
      stored_q <= '0;
      valid_q  <= 1'b0;
      burst_q  <= '0;
      passed_q <= 1'b0;
    end else if (en_i) begin
      if (beat_pop_i) passed_q <= gap;
      if (push) begin
        open_q   <= 1'b1;
        last_q   <= word_i;
        len_q    <= open_q ? len_q + (skips ? 5'd2 : 5'd1) : '0;
        stored_q <= open_q ? stored_q + StoredW'(1) : StoredW'(1);
      end else if (close) begin
        open_q <= 1'b0;
      end
      if (close) begin
        valid_q <= 1'b1;
        burst_q <= '{
            word: last_q - 29'(len_q),
            len: len_q
        };
      end else if (burst_take_i) begin
        valid_q <= 1'b0;
      end
    end
  end
endmodule
