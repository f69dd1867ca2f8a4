// SPDX-License-Identifier: Apache-2.0
/// Keeps the characters that a design writes, a byte each: `mem_q` of u_words is what it has printed. The character
/// `End` sets done_o and is kept too. Characters beyond the memory are counted and lost, which overflow_o says.
module resil_console #(
  parameter int unsigned Characters = 1024,
  parameter logic [7:0]  End        = 8'h04,
  parameter              PlusArg    = "console"
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  input  logic  [7:0] char_i,
  output logic [31:0] count_o,
  output logic        done_o,
  output logic        overflow_o
);
  logic [31:0] count_q;
  logic [7:0] unused;
  logic hit, done_q, overflow_q;

  assign count_o    = count_q;
  assign done_o     = done_q;
  assign overflow_o = overflow_q;

  resil_word_mem #(
    .Width  (8),
    .Words  (Characters),
    .PlusArg(PlusArg)
  ) u_words (
    .clk_i,
    .index_i(64'(count_q)),
    .we_i   (valid_i),
    .strb_i (1'b1),
    .data_i (char_i),
    .data_o (unused),
    .hit_o  (hit)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q    <= '0;
      done_q     <= 1'b0;
      overflow_q <= 1'b0;
    end else if (valid_i) begin
      count_q    <= count_q + 32'd1;
      done_q     <= done_q || char_i == End;
      overflow_q <= overflow_q || !hit;
    end
  end
endmodule
