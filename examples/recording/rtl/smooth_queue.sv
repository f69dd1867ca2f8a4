// SPDX-License-Identifier: Apache-2.0
/// A queue of four words.
module smooth_queue (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       push_i,
  input  logic [9:0] data_i,
  output logic       full_o,
  output logic       valid_o,
  input  logic       pop_i,
  output logic [9:0] data_o
);

  logic [3:0][9:0] word_q;
  logic [2:0] write_q, read_q;

  assign full_o  = write_q == {~read_q[2], read_q[1:0]};
  assign valid_o = write_q != read_q;
  assign data_o  = word_q[read_q[1:0]];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
    end else begin
      if (push_i && !full_o) write_q <= write_q + 3'd1;
      if (pop_i && valid_o) read_q <= read_q + 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i && !full_o) word_q[write_q[1:0]] <= data_i;
  end

endmodule
