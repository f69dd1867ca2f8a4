// SPDX-License-Identifier: Apache-2.0
/// A memory of the bench: reads at once, writes at the clock edge, filled from the file of a plusarg.
module tally_memory #(
  parameter int unsigned Words   = 16,
  parameter int unsigned Width   = 8,
  parameter              Plusarg = "memory"
) (
  input  logic                     clk_i,
  input  logic                     we_i,
  input  logic [$clog2(Words)-1:0] address_i,
  input  logic         [Width-1:0] data_i,
  output logic         [Width-1:0] data_o
);

  logic [Width-1:0] mem_q [Words];

  initial begin : load
    string file;
    if ($value$plusargs({Plusarg, "=%s"}, file)) $readmemh(file, mem_q);
  end

  always_ff @(posedge clk_i) begin
    if (we_i) mem_q[address_i] <= data_i;
  end

  assign data_o = mem_q[address_i];

endmodule
