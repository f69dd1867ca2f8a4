/// Memory behind an AXI4 port, for simulation benches: latency, bandwidth, bounds.
///
/// Reads are answered in order, `ReadLatency` cycles after their address at the earliest, a beat every
/// `BeatInterval` cycles; writes (single beats) after `WriteLatency`. An access outside the memory, or a
/// write to a read-only memory, is answered SLVERR and changes nothing. With `HostPort` the host writes 32 bits at a
/// time beside it, in one cycle.
///
/// How large the memory is, is said when the simulation starts: +PlusArg_words=N words, a power of two, of the `Words`
/// that were built; all of them if nothing is said. So one build serves every network.
module axi_mem
  import npu_pkg::*;
#(
  parameter int unsigned Words        = 1024,  // of 64 bits, a power of two
  parameter logic [31:0] Base         = '0,
  parameter bit          Writable     = 1'b1,
  parameter int unsigned ReadLatency  = 32,
  parameter int unsigned WriteLatency = 32,
  parameter int unsigned BeatInterval = 1,
  parameter int unsigned MaxReads     = 16,
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

  // Reads: the oldest is entry 0, the others move up, and what is empty is zero. So memories that have the
  // same reads before them are in the same state, however many they have answered.
  logic [MaxReads-1:0][2:0] id_q;
  logic [MaxReads-1:0][28:0] word_q;
  logic [MaxReads-1:0][7:0] beats_q;  // still to give, minus one
  logic [MaxReads-1:0][WaitW-1:0] wait_q;
  logic [QueueW:0] level_q;
  logic [PaceW-1:0] pace_q;

  function automatic logic [WaitW-1:0] waited(logic [WaitW-1:0] cycles);
    return cycles == '0 ? '0 : cycles - WaitW'(1);
  endfunction

  logic [28:0] word;
  logic push, pop, beat, last;
  logic [QueueW:0] left;
  assign word       = word_q[0];
  assign last       = beats_q[0] == '0;
  assign ar_ready_o = level_q != (QueueW + 1)'(MaxReads);
  assign push       = ar_valid_i && ar_ready_o;
  assign r_valid_o  = level_q != '0 && wait_q[0] == '0 && pace_q == '0;
  assign beat       = r_valid_o && r_ready_i;
  assign pop        = beat && last;
  assign left       = level_q - (QueueW + 1)'(pop);
  assign r_o        = '{
          id: id_q[0],
          data: inside_memory(word, beyond_q) ? mem_q[word[IndexW-1:0]] : '0,
          resp: inside_memory(word, beyond_q) ? 2'b00 : 2'b10,
          last: last
      };

  // Writes
  logic write, write_ok;
  logic [WriteLatency-1:0] due_q;
  logic [WriteLatency-1:0][2:0] due_id_q;
  logic [WriteLatency-1:0] due_bad_q;
  assign write      = aw_valid_i && w_valid_i && !(b_valid_o && !b_ready_i);
  assign write_ok   = Writable && aw_i.len == '0 && w_i.last && inside_memory(aw_i.addr[31:3], beyond_q);
  assign aw_ready_o = write;
  assign w_ready_o  = write;
  assign b_valid_o  = due_q[WriteLatency-1];
  assign b_o        = '{
          id: due_id_q[WriteLatency-1],
          resp: due_bad_q[WriteLatency-1] ? 2'b10 : 2'b00
      };

  logic host;
  assign host = HostPort && host_valid_i && inside_memory(host_addr_i[31:3], beyond_q);

  always_ff @(posedge clk_i) begin
    if (write && write_ok) begin
      for (int unsigned i = 0; i < 8; i++) begin
        if (w_i.strb[i]) mem_q[aw_i.addr[IndexW+2:3]][8*i+:8] <= w_i.data[8*i+:8];
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
      due_q     <= '0;
      due_id_q  <= '0;
      due_bad_q <= '0;
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
      end
      if (beat) pace_q <= PaceW'(BeatInterval - 1);
      else if (pace_q != '0) pace_q <= pace_q - PaceW'(1);
      level_q <= left + (QueueW + 1)'(push);

      // The write's answer travels down a line as long as the latency; an answer that waits holds up all.
      if (!b_valid_o || b_ready_i) begin
        due_q     <= {due_q[WriteLatency-2:0], write};
        due_id_q  <= {due_id_q[WriteLatency-2:0], write ? aw_i.id : 3'd0};
        due_bad_q <= {due_bad_q[WriteLatency-2:0], write && !write_ok};
      end
    end
  end
endmodule
