// SPDX-License-Identifier: Apache-2.0
/// Queue of segments whose beats are asked for: neighbours in a row are one entry.
///
/// What the queue gives of a run is its first segment and how many follow; the receiver goes on from there. A run ends
/// with the burst that brings it, so that no burst waits for one that has to be asked for.
module dma_runs
  import dma_pkg::*;
#(
  parameter int unsigned Depth = 8,  // runs
  parameter int unsigned UblkW = 1
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  input  logic     en_i,
  input  pitch_t   pitch_i,
  // Segments
  input  logic     push_i,
  input  arrival_t segment_i,
  input  logic     end_i,    // no burst grows
  output logic     full_o,
  output logic     none_o,
  // Runs
  output logic     valid_o,
  input  logic     pop_i,
  output run_t     run_o
);
  logic open_q;       // a run grows:
  run_t run_q;        // what it is,
  logic [2:0] shift_q, x_q;  // where its last segment differs from its first
  logic [11:0] word_q;

  arrival_t last, expected;
  logic exists, fits;
  always_comb begin
    last       = run_q.first;
    last.shift = shift_q;
    last.x     = x_q;
    last.word  = word_q;
  end
  dma_follow #(
    .UblkW(UblkW)
  ) u_follow (
    .pitch_i  (pitch_i),
    .segment_i(last),
    .exists_o (exists),
    .next_o   (expected)
  );
  assign fits = open_q && exists && segment_i == expected && run_q.more != '1;

  logic put, empty, full;
  assign put     = open_q && !full && (push_i ? !fits : end_i);
  assign full_o  = open_q && full;
  assign none_o  = !open_q && empty;
  assign valid_o = !empty;
  fifo #(
    .Width($bits(run_t)),
    .Depth(Depth)
  ) u_queue (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (en_i),
    .clear_i(1'b0),
    .push_i (put),
    .data_i (run_q),
    .pop_i  (pop_i),
    .data_o (run_o),
    .empty_o(empty),
    .full_o (full)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q  <= 1'b0;
      run_q   <= '0;
      shift_q <= '0;
      x_q     <= '0;
      word_q  <= '0;
    end else if (en_i) begin
      if (push_i) begin
        open_q  <= 1'b1;
        shift_q <= segment_i.shift;
        x_q     <= segment_i.x;
        word_q  <= segment_i.word;
        if (fits) run_q.more <= run_q.more + 4'd1;
        else run_q <= '{more: '0, first: segment_i};
      end else if (put) begin
        open_q <= 1'b0;
      end
    end
  end
endmodule
