// SPDX-License-Identifier: Apache-2.0
// A design that adds up words of a memory and writes the sums back; its address register has bits for more words than the
// memory has.

module sized_dut (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] data_i,
  output logic [7:0] address_o,
  output logic       write_o,
  output logic [7:0] data_o,
  output logic       done_o
);
  logic [7:0] address_q, sum_q;
  logic [4:0] step_q;
  logic write_q;

  assign address_o = address_q;
  assign data_o    = sum_q;
  assign write_o   = write_q && !done_o;
  assign done_o    = step_q == 5'd24;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      address_q <= '0;
      sum_q     <= '0;
      step_q    <= '0;
      write_q   <= 1'b0;
    end else if (!done_o) begin
      step_q  <= step_q + 5'd1;
      write_q <= ~write_q;
      if (write_q) address_q <= address_q + 8'd1;
      else sum_q <= {sum_q[6:0], sum_q[7]} + data_i;
    end
  end
endmodule

module sized #(
  parameter int unsigned Words   = 64,
  parameter bit          Bounded = 1'b1  // 0 for a bench that believes every address
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o
);
  logic [7:0] mem_q [Words];
  logic [7:0] beyond_q;

  initial begin
    string file;
    int unsigned words;
    for (int i = 0; i < int'(Words); i++) mem_q[i] = '0;
    if ($value$plusargs("mem=%s", file)) $readmemh(file, mem_q);
    words = Words;
    void'($value$plusargs("mem_words=%d", words));
    beyond_q = ~8'(words - 1);
  end
  always_ff @(posedge clk_i) beyond_q <= beyond_q;

  logic [7:0] address, data;
  logic write, present;
  assign present = !Bounded || (address & beyond_q) == '0;
  always_ff @(posedge clk_i) if (write && present) mem_q[address[$clog2(Words)-1:0]] <= data;

  sized_dut u_dut (
    .clk_i,
    .rst_ni,
    .data_i   (present ? mem_q[address[$clog2(Words)-1:0]] : '0),
    .address_o(address),
    .write_o  (write),
    .data_o   (data),
    .done_o
  );
endmodule
