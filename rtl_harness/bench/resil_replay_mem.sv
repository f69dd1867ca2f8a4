// SPDX-License-Identifier: Apache-2.0
/// A memory of a replay: reads at once, writes at the clock edge, filled from the file of a plusarg.
module resil_replay_mem #(
  parameter int unsigned Words   = 4,
  parameter int unsigned Width   = 32,
  parameter              PlusArg = "memory"
) (
  input  logic                     clk_i,
  input  logic                     we_i,
  input  logic [$clog2(Words)-1:0] address_i,
  input  logic         [Width-1:0] data_i,
  output logic         [Width-1:0] data_o
);

  logic [Width-1:0] mem_q[Words];

  initial begin : load
    string file;
    if ($value$plusargs({PlusArg, "=%s"}, file)) $readmemh(file, mem_q);
  end

  always_ff @(posedge clk_i) begin
    if (we_i) mem_q[address_i] <= data_i;
  end

  assign data_o = mem_q[address_i];

endmodule
