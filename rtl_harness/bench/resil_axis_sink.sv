// SPDX-License-Identifier: Apache-2.0
/// Takes an AXI4-Stream into a memory, words of {there, tlast, tkeep, tdata} as resil_axis_source sends them. It is
/// ready again `Gap` cycles after each word. Words beyond the memory are counted and lost, which overflow_o says.
module resil_axis_sink #(
  parameter int unsigned DataWidth = 32,
  parameter int unsigned Words     = 1024,
  parameter int unsigned Gap       = 0,
  parameter              PlusArg   = "sink"
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   tvalid_i,
  output logic                   tready_o,
  input  logic   [DataWidth-1:0] tdata_i,
  input  logic [DataWidth/8-1:0] tkeep_i,
  input  logic                   tlast_i,
  output logic            [31:0] words_o,
  output logic            [31:0] packets_o,
  output logic                   overflow_o
);
  localparam int unsigned Keep = DataWidth / 8;
  localparam int unsigned Width = 8 * ((DataWidth + Keep + 9) / 8);
  localparam int unsigned GapW = Gap > 0 ? $clog2(Gap + 1) : 1;

  logic [31:0] words_q, packets_q;
  logic [GapW-1:0] gap_q;
  logic [Width-1:0] unused;
  logic take, hit, overflow_q;

  assign tready_o   = gap_q == '0;
  assign take       = tvalid_i && tready_o;
  assign words_o    = words_q;
  assign packets_o  = packets_q;
  assign overflow_o = overflow_q;

  resil_word_mem #(
    .Width  (Width),
    .Words  (Words),
    .PlusArg(PlusArg)
  ) u_words (
    .clk_i,
    .index_i(64'(words_q)),
    .we_i   (take),
    .strb_i ('1),
    .data_i (Width'({1'b1, tlast_i, tkeep_i, tdata_i})),
    .data_o (unused),
    .hit_o  (hit)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      words_q    <= '0;
      packets_q  <= '0;
      overflow_q <= 1'b0;
      gap_q      <= '0;
    end else begin
      if (take) begin
        words_q    <= words_q + 32'd1;
        packets_q  <= packets_q + 32'(tlast_i);
        overflow_q <= overflow_q || !hit;
        gap_q      <= GapW'(Gap);
      end else if (gap_q != '0) begin
        gap_q <= gap_q - GapW'(1);
      end
    end
  end
endmodule
