// SPDX-License-Identifier: Apache-2.0
/// The words behind a bus: reads at once, writes at the clock edge. What lies outside reads zero and is not written.
/// `mem_q` starts as the file that +PlusArg=FILE names, read with $readmemh, and zero elsewhere.
module resil_word_mem #(
  parameter int unsigned Width   = 32,     // whole bytes
  parameter int unsigned Words   = 1024,
  parameter              PlusArg = "mem"
) (
  input  logic               clk_i,
  input  logic        [63:0] index_i,
  input  logic               we_i,
  input  logic [Width/8-1:0] strb_i,
  input  logic   [Width-1:0] data_i,
  output logic   [Width-1:0] data_o,
  output logic               hit_o     // the word is there
);
  localparam int unsigned IndexW = Words > 1 ? $clog2(Words) : 1;

  logic [Width-1:0] mem_q [Words];

  string file;
  initial begin
    for (int i = 0; i < int'(Words); i++) mem_q[i] = '0;
    if ($value$plusargs({PlusArg, "=%s"}, file)) $readmemh(file, mem_q);
  end

  assign hit_o  = index_i < 64'(Words);
  assign data_o = hit_o ? mem_q[IndexW'(index_i)] : '0;

  always_ff @(posedge clk_i) begin
    if (we_i && hit_o) begin
      for (int unsigned i = 0; i < Width / 8; i++) begin
        if (strb_i[i]) mem_q[IndexW'(index_i)][8*i+:8] <= data_i[8*i+:8];
      end
    end
  end
endmodule
