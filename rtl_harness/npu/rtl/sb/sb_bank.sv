// SPDX-License-Identifier: Apache-2.0
/// One bank of the shared buffer: 1 KiB as 64 rows of 128 bits, and check bits if it has a code; one read and one
/// write port.
module sb_bank #(
  parameter int unsigned Rows  = 64,
  parameter int unsigned Width = 128
) (
  input  logic                    clk_i,
  input  logic                    rd_i,
  input  logic [$clog2(Rows)-1:0] rd_row_i,
  output logic [Width-1:0]        rd_data_o,
  input  logic [1:0]              wr_i,       // low and high half
  input  logic [$clog2(Rows)-1:0] wr_row_i,
  input  logic [Width-1:0]        wr_data_i
);
  logic [Width-1:0] mem_q [Rows];

  // The SRAM's output latch: it has no reset, as a macro has none.
  logic [Width-1:0] rd_data_q;
  assign rd_data_o = rd_data_q;

  always_ff @(posedge clk_i) begin
    if (rd_i) rd_data_q <= mem_q[rd_row_i];
    if (wr_i[0]) mem_q[wr_row_i][Width/2-1:0] <= wr_data_i[Width/2-1:0];
    if (wr_i[1]) mem_q[wr_row_i][Width-1:Width/2] <= wr_data_i[Width-1:Width/2];
  end
endmodule
