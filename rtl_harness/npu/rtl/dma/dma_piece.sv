// SPDX-License-Identifier: Apache-2.0
/// Fetches one piece of a feature map into the shared buffer.
///
/// Segments outside the region deliver zeros and set the error.
module dma_piece
  import npu_pkg::*;
  import dma_pkg::*;
#(
  parameter int unsigned UblkW = 1,
  parameter int unsigned UblkH = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  region_t     region_i,
  input  fmap_t       fmap_i,
  input  logic        valid_i,
  input  piece_t      piece_i,
  output logic        done_o,
  output logic        address_error_o,
  // Address requests
  output logic        ar_valid_o,
  input  logic        ar_ready_i,
  output burst_t      ar_o,
  // Beats
  input  logic        r_valid_i,
  output logic        r_ready_o,
  input  logic [63:0] r_data_i,
  // Shared buffer
  output logic        wr_o,
  output logic [5:0]  wr_bank_o,
  output logic [6:0]  wr_addr_o,
  output logic [63:0] wr_data_o
);
  typedef enum logic [1:0] {
    Idle,
    Fetch,
    Done
  } state_e;

  state_e state_q;
  logic start, walking, growing, asking, none_asked, none;
  logic valid, ready, push, full;
  logic [1:0] advance;
  logic [6:0] words;
  logic [31:0] step;
  segment_t segment;
  arrival_t arrival;
  pitch_t pitch;
  assign step    = pixel_step(fmap_i);
  assign pitch   = '{dense: step[31:6] == '0, step: step[5:0], words: words, spread: piece_i.spread,
                   one_row: piece_i.one_row};
  assign arrival = '{zero: segment.leaves, advance: advance, shift: segment.addr[2:0], bytes: segment.bytes,
                     x: segment.x, y: segment.y, word: segment.word};
  assign start  = state_q == Idle && valid_i;
  assign done_o = state_q == Done;

  dma_walk #(
    .UblkW(UblkW),
    .UblkH(UblkH)
  ) u_walk (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .en_i     (en_i),
    .region_i (region_i),
    .fmap_i   (fmap_i),
    .piece_i  (piece_i),
    .start_i  (start),
    .busy_o   (walking),
    .valid_o  (valid),
    .ready_i  (ready),
    .segment_o(segment),
    .words_o  (words)
  );
  dma_bursts u_bursts (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .en_i      (en_i),
    .clear_i   (start),
    .flush_i   (!walking),
    .open_o    (growing),
    .busy_o    (asking),
    .valid_i   (valid),
    .ready_o   (ready),
    .segment_i (segment),
    .push_o    (push),
    .advance_o (advance),
    .full_i    (full),
    .ar_valid_o(ar_valid_o),
    .ar_ready_i(ar_ready_i),
    .ar_o      (ar_o)
  );
  logic run_valid, run_pop;
  run_t run;
  dma_runs #(
    .Depth(8),
    .UblkW(UblkW)
  ) u_runs (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .en_i     (en_i),
    .pitch_i  (pitch),
    .push_i   (push),
    .segment_i(arrival),
    .end_i    (!growing),
    .full_o   (full),
    .none_o   (none_asked),
    .valid_o  (run_valid),
    .pop_i    (run_pop),
    .run_o    (run)
  );
  dma_receive #(
    .UblkW(UblkW),
    .UblkH(UblkH)
  ) u_receive (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .en_i     (en_i),
    .piece_i  (piece_i),
    .pitch_i  (pitch),
    .valid_i  (run_valid),
    .pop_o    (run_pop),
    .run_i    (run),
    .none_o   (none),
    .r_valid_i(r_valid_i),
    .r_ready_o(r_ready_o),
    .r_data_i (r_data_i),
    .wr_o     (wr_o),
    .wr_bank_o(wr_bank_o),
    .wr_addr_o(wr_addr_o),
    .wr_data_o(wr_data_o)
  );

  logic error_q;
  assign address_error_o = error_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      error_q <= 1'b0;
    end else if (en_i) begin
      error_q <= push && segment.leaves;
      unique case (state_q)
        Idle: if (valid_i) state_q <= Fetch;
        Fetch: if (!walking && !asking && none_asked && none) state_q <= Done;
        Done: state_q <= Idle;
        default: state_q <= Idle;
      endcase
    end
  end
endmodule
