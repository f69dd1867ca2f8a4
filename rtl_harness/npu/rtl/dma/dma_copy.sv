// SPDX-License-Identifier: Apache-2.0
/// Copies a byte stream from memory to another place of memory in bursts, or to the shared buffer beat by beat.
module dma_copy
  import npu_pkg::*;
#(
  parameter int unsigned Depth    = 24,  // of the stream's queue
  parameter int unsigned MaxBurst = 8    // beats, a power of two: a burst stays inside a block of them
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  logic        start_i,
  input  copy_req_t   req_i,
  output logic        busy_o,
  // Source stream
  input  logic        src_idle_i,
  input  logic        src_valid_i,
  output logic        src_ready_o,
  input  logic        src_push_i,    // a beat comes into the stream's queue
  input  logic [29:0] src_left_i,    // beats of the stream that are not taken
  // Write bursts
  output logic        burst_valid_o,
  input  logic        burst_take_i,
  output burst_t      burst_o,
  input  logic        beat_pop_i,
  input  logic        wr_idle_i,
  // Shared buffer
  output logic        word_valid_o,
  input  logic        word_ready_i,
  output logic [5:0]  word_bank_o,
  output logic [6:0]  word_addr_o
);
  localparam int unsigned CountW = $clog2(Depth + 1);
  localparam int unsigned IndexW = $clog2(MaxBurst);

  logic busy_q, begun_q, internal_q;
  logic [28:0] addr_q;
  logic [CountW-1:0] level_q;  // beats in the stream's queue
  logic valid_q;     // a burst is offered, then its beats are taken
  logic moving_q;
  logic [3:0] len_q;

  logic [3:0] want;  // beats of the next burst
  logic enough;
  always_comb begin
    want = 4'(MaxBurst) - 4'(addr_q[IndexW-1:0]);
    if (src_left_i < 30'(want)) want = src_left_i[3:0];
  end
  assign enough = want != '0 && 32'(level_q) >= 32'(want);

  assign busy_o        = busy_q;
  assign burst_valid_o = valid_q;
  assign burst_o       = '{word: addr_q, len: 5'(len_q)};
  assign src_ready_o   = internal_q ? busy_q && word_ready_i : beat_pop_i;

  assign word_valid_o = busy_q && src_valid_i && internal_q;
  assign word_bank_o  = addr_q[12:7];
  assign word_addr_o  = addr_q[6:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q     <= 1'b0;
      begun_q    <= 1'b0;
      addr_q     <= '0;
      level_q    <= '0;
      internal_q <= 1'b0;
      valid_q    <= 1'b0;
      moving_q   <= 1'b0;
      len_q      <= '0;
    end else if (en_i) begin
      if (start_i) begin
        busy_q     <= 1'b1;
        begun_q    <= 1'b0;
        addr_q     <= req_i.dst[31:3];
        internal_q <= req_i.internal;
        level_q    <= '0;
      end else if (busy_q) begin
        begun_q <= 1'b1;
        level_q <= level_q + CountW'(src_push_i) - CountW'(src_valid_i && src_ready_o);
        if (src_valid_i && src_ready_o) addr_q <= addr_q + 29'd1;
        if (begun_q && src_idle_i && wr_idle_i) busy_q <= 1'b0;
      end
      if (burst_take_i) begin
        valid_q  <= 1'b0;
        moving_q <= 1'b1;
      end else if (moving_q) begin
        if (beat_pop_i) len_q <= len_q - 4'd1;
        if (beat_pop_i && len_q == '0) moving_q <= 1'b0;
      end else if (!valid_q && busy_q && !internal_q && enough) begin
        valid_q <= 1'b1;
        len_q   <= want - 4'd1;
      end
    end
  end
endmodule
