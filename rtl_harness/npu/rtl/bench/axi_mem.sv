// SPDX-License-Identifier: Apache-2.0
/// Memory behind an AXI4 port, for simulation benches: latency, bandwidth, transactions on their way, bounds.
///
/// Takes INCR bursts of whole beats. At most `MaxReads` reads and `MaxWrites` writes are on their way, from
/// their address to their last beat or answer. Reads are answered in order, `ReadLatency` cycles after their
/// address at the earliest, a beat every `BeatInterval` cycles; writes `WriteLatency` cycles after their last
/// beat. A beat outside the memory, or written to a read-only memory, and a burst of another kind make the
/// answer SLVERR; they read zero and change nothing. With `HostPort` the host writes 32 bits at a time beside
/// it, in one cycle.
///
/// How large the memory is, is said when the simulation starts: +PlusArg_words=N words, a power of two, of the `Words`
/// that were built; all of them if nothing is said. So one build serves every network.
module axi_mem
  import axi_pkg::*;
#(
  parameter int unsigned Words        = 1024,  // of 64 bits, a power of two
  parameter logic [31:0] Base         = '0,
  parameter bit          Writable     = 1'b1,
  parameter int unsigned ReadLatency  = 32,
  parameter int unsigned WriteLatency = 32,
  parameter int unsigned BeatInterval = 1,
  parameter int unsigned MaxReads     = 4,
  parameter int unsigned MaxWrites    = 4,
  parameter bit          HostPort     = 1'b0,
  parameter              PlusArg      = "mem"  // +PlusArg=FILE names the initial contents, $readmemh
) (
  input  logic    clk_i,
  input  logic    rst_ni,
  input  logic    ar_valid_i,
  output logic    ar_ready_o,
  input  axi_ar_t ar_i,
  output logic    r_valid_o,
  input  logic    r_ready_i,
  output axi_r_t  r_o,
  input  logic    aw_valid_i,
  output logic    aw_ready_o,
  input  axi_aw_t aw_i,
  input  logic    w_valid_i,
  output logic    w_ready_o,
  input  axi_w_t  w_i,
  output logic    b_valid_o,
  input  logic    b_ready_i,
  output axi_b_t  b_o,

  input logic        host_valid_i,
  input logic [31:0] host_addr_i,
  input logic [31:0] host_data_i
);
  localparam int unsigned IndexW = $clog2(Words);
  localparam int unsigned QueueW = $clog2(MaxReads);
  localparam int unsigned WaitW = $clog2(ReadLatency + 1);
  localparam int unsigned WriteW = $clog2(MaxWrites + 1);
  localparam int unsigned PaceW = $clog2(BeatInterval + 1);

  logic [63:0] mem_q [Words];

  // The bits of a word's number that are zero in all words of the memory. Nothing writes them after the start.
  logic [28:0] beyond_q;

`ifndef SYNTHESIS
  string file;
  int unsigned words;
  initial begin
    for (int i = 0; i < int'(Words); i++) mem_q[i] = '0;
    if ($value$plusargs({PlusArg, "=%s"}, file)) $readmemh(file, mem_q);
    words = Words;
    if ($value$plusargs({PlusArg, "_words=%d"}, words) && words > Words) begin
      $fatal(1, "%s_words: expected at most %0d, found %0d", PlusArg, Words, words);
    end
    if ($countones(words) != 1) begin
      $fatal(1, "%s_words: expected a power of two, found %0d", PlusArg, words);
    end
    beyond_q = ~29'(words - 1);
  end
`endif
  always_ff @(posedge clk_i) beyond_q <= beyond_q;

  function automatic logic inside_memory(logic [28:0] word, logic [28:0] beyond);
    return (word & beyond) == Base[31:3];
  endfunction

  // A burst that this memory serves; of another kind no beat is inside it.
  function automatic logic whole_beats(logic [2:0] size, logic [1:0] burst);
    return size == AxiSize8 && burst == AxiIncr;
  endfunction

  // Reads: the oldest is entry 0, the others move up, and what is empty is zero. So memories that have the
  // same reads before them are in the same state, however many they have answered.
  logic [MaxReads-1:0][2:0] id_q;
  logic [MaxReads-1:0][28:0] word_q;
  logic [MaxReads-1:0][7:0] beats_q;  // still to give, minus one
  logic [MaxReads-1:0] kind_bad_q;
  logic [MaxReads-1:0][WaitW-1:0] wait_q;
  logic [QueueW:0] level_q;
  logic [PaceW-1:0] pace_q;

  function automatic logic [WaitW-1:0] waited(logic [WaitW-1:0] cycles);
    return cycles == '0 ? '0 : cycles - WaitW'(1);
  endfunction

  logic [28:0] word;
  logic push, pop, beat, last, hit;
  logic [QueueW:0] left;
  assign word       = word_q[0];
  assign hit        = inside_memory(word, beyond_q) && !kind_bad_q[0];
  assign last       = beats_q[0] == '0;
  assign ar_ready_o = level_q != (QueueW + 1)'(MaxReads);
  assign push       = ar_valid_i && ar_ready_o;
  assign r_valid_o  = level_q != '0 && wait_q[0] == '0 && pace_q == '0;
  assign beat       = r_valid_o && r_ready_i;
  assign pop        = beat && last;
  assign left       = level_q - (QueueW + 1)'(pop);
  assign r_o        = '{
          id: id_q[0],
          data: hit ? mem_q[word[IndexW-1:0]] : '0,
          resp: hit ? AxiOkay : AxiSlvErr,
          last: last
      };

  // Writes: the burst whose beats are taken, then its answer on its way. No burst is all zeros.
  logic w_active_q, w_bad_q, w_kind_bad_q;
  logic [2:0] w_id_q;
  logic [28:0] w_word_q;
  logic [7:0] w_beats_q;  // still to take, minus one
  logic [WriteW-1:0] writes_q;
  logic [WriteLatency-1:0] due_q;
  logic [WriteLatency-1:0][2:0] due_id_q;
  logic [WriteLatency-1:0] due_bad_q;
  logic moves, aw_take, write, write_last, write_ok, answer;
  assign moves      = !b_valid_o || b_ready_i;  // an answer that waits holds up all
  assign w_ready_o  = w_active_q && moves;
  assign write      = w_ready_o && w_valid_i;
  assign write_last = write && w_beats_q == '0;
  assign write_ok   = Writable && !w_kind_bad_q && inside_memory(w_word_q, beyond_q)
                      && w_i.last == (w_beats_q == '0);
  assign aw_ready_o = writes_q != WriteW'(MaxWrites) && (!w_active_q || write_last);
  assign aw_take    = aw_valid_i && aw_ready_o;
  assign b_valid_o  = due_q[WriteLatency-1];
  assign answer     = b_valid_o && b_ready_i;
  assign b_o        = '{
          id: due_id_q[WriteLatency-1],
          resp: due_bad_q[WriteLatency-1] ? AxiSlvErr : AxiOkay
      };

  logic host;
  assign host = HostPort && host_valid_i && inside_memory(host_addr_i[31:3], beyond_q);

  always_ff @(posedge clk_i) begin
    if (write && write_ok) begin
      for (int unsigned i = 0; i < 8; i++) begin
        if (w_i.strb[i]) mem_q[w_word_q[IndexW-1:0]][8*i+:8] <= w_i.data[8*i+:8];
      end
    end
    if (host) mem_q[host_addr_i[IndexW+2:3]][32*host_addr_i[2]+:32] <= host_data_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      id_q      <= '0;
      word_q    <= '0;
      beats_q   <= '0;
      wait_q    <= '0;
      level_q   <= '0;
      pace_q    <= '0;
      kind_bad_q <= '0;
      w_active_q   <= 1'b0;
      w_bad_q      <= 1'b0;
      w_kind_bad_q <= 1'b0;
      w_id_q       <= '0;
      w_word_q     <= '0;
      w_beats_q    <= '0;
      writes_q     <= '0;
      due_q        <= '0;
      due_id_q     <= '0;
      due_bad_q    <= '0;
    end else begin
      if (level_q != '0) begin
        for (int unsigned i = 0; i < MaxReads; i++) begin
          wait_q[i] <= waited(wait_q[i]);
        end
      end
      if (pop) begin
        id_q    <= id_q >> 3;
        word_q  <= word_q >> 29;
        beats_q <= beats_q >> 8;
        kind_bad_q <= kind_bad_q >> 1;
        for (int unsigned i = 0; i < MaxReads; i++) begin
          wait_q[i] <= i + 1 == MaxReads ? '0 : waited(wait_q[(i+1)%MaxReads]);
        end
      end else if (beat) begin
        word_q[0]  <= word + 29'd1;
        beats_q[0] <= beats_q[0] - 8'd1;
      end
      if (push) begin
        id_q[QueueW'(left)]    <= ar_i.id;
        word_q[QueueW'(left)]  <= ar_i.addr[31:3];
        beats_q[QueueW'(left)] <= ar_i.len;
        wait_q[QueueW'(left)]  <= WaitW'(ReadLatency);
        kind_bad_q[QueueW'(left)] <= !whole_beats(ar_i.size, ar_i.burst);
      end
      if (beat) pace_q <= PaceW'(BeatInterval - 1);
      else if (pace_q != '0) pace_q <= pace_q - PaceW'(1);
      level_q <= left + (QueueW + 1)'(push);

      if (aw_take) begin
        w_active_q   <= 1'b1;
        w_id_q       <= aw_i.id;
        w_word_q     <= aw_i.addr[31:3];
        w_beats_q    <= aw_i.len;
        w_kind_bad_q <= !whole_beats(aw_i.size, aw_i.burst);
        w_bad_q      <= 1'b0;
      end else if (write_last) begin
        w_active_q   <= 1'b0;
        w_id_q       <= '0;
        w_word_q     <= '0;
        w_kind_bad_q <= 1'b0;
        w_bad_q      <= 1'b0;
      end else if (write) begin
        w_word_q  <= w_word_q + 29'd1;
        w_beats_q <= w_beats_q - 8'd1;
        w_bad_q   <= w_bad_q || !write_ok;
      end
      writes_q <= writes_q + WriteW'(aw_take) - WriteW'(answer);

      // The write's answer travels down a line as long as the latency.
      if (moves) begin
        due_q     <= {due_q[WriteLatency-2:0], write_last};
        due_id_q  <= {due_id_q[WriteLatency-2:0], write_last ? w_id_q : 3'd0};
        due_bad_q <= {due_bad_q[WriteLatency-2:0], write_last && (w_bad_q || !write_ok)};
      end
    end
  end
endmodule
