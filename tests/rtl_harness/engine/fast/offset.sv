// SPDX-License-Identifier: Apache-2.0
// A design that writes words behind an offset. Only the address of its write port looks at the offset, through an adder.

module offset_core (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] word_i,
  input  logic [7:0] back_i,
  output logic [3:0] index_o,
  output logic [5:0] address_o,
  output logic [7:0] data_o,
  output logic       write_o,
  output logic       done_o
);
  logic [5:0] offset_q;
  logic [6:0] count_q;

  assign index_o   = count_q[4:1];
  assign address_o = offset_q + count_q[6:1];
  assign data_o    = (word_i ^ {1'b1, count_q}) + back_i;
  assign write_o   = count_q[0] && !done_o;
  assign done_o    = count_q == 7'd90;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      offset_q <= '0;
      count_q  <= '0;
    end else if (!done_o) begin
      if (count_q == '0) offset_q <= word_i[5:0];
      count_q <= count_q + 7'd1;
    end
  end
endmodule

module offset (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o
);
  logic [7:0] in_q [16];
  logic [7:0] out_q [64];
  string file;
  initial begin
    for (int i = 0; i < 16; i++) in_q[i] = '0;
    for (int i = 0; i < 64; i++) out_q[i] = '0;
    if ($value$plusargs("input=%s", file)) $readmemh(file, in_q);
    if ($value$plusargs("output=%s", file)) $readmemh(file, out_q);
  end

  logic [3:0] index;
  logic [5:0] address;
  logic [7:0] data;
  logic write;
  always_ff @(posedge clk_i) if (write) out_q[address] <= data;

  offset_core u_core (
    .clk_i,
    .rst_ni,
    .word_i   (in_q[index]),
    .back_i   (out_q[{2'b11, index}]),
    .index_o  (index),
    .address_o(address),
    .data_o   (data),
    .write_o  (write),
    .done_o
  );
endmodule
