// SPDX-License-Identifier: Apache-2.0
/// Sends a memory as an AXI4-Stream. A word of `mem_q` is {there, tlast, tkeep, tdata}, in whole bytes; the first that
/// is not there ends the stream and sets done_o. Between two words tvalid_o is low for `Gap` cycles.
module resil_axis_source #(
  parameter int unsigned DataWidth = 32,
  parameter int unsigned Words     = 1024,
  parameter int unsigned Gap       = 0,
  parameter              PlusArg   = "source"
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  output logic                   tvalid_o,
  input  logic                   tready_i,
  output logic   [DataWidth-1:0] tdata_o,
  output logic [DataWidth/8-1:0] tkeep_o,
  output logic                   tlast_o,
  output logic                   done_o
);
  localparam int unsigned Keep = DataWidth / 8;
  localparam int unsigned Width = 8 * ((DataWidth + Keep + 9) / 8);
  localparam int unsigned GapW = Gap > 0 ? $clog2(Gap + 1) : 1;

  logic [63:0] index_q;
  logic [GapW-1:0] gap_q;
  logic [Width-1:0] word;
  logic hit, there, step;

  resil_word_mem #(
    .Width  (Width),
    .Words  (Words),
    .PlusArg(PlusArg)
  ) u_words (
    .clk_i,
    .index_i(index_q),
    .we_i   (1'b0),
    .strb_i ('0),
    .data_i ('0),
    .data_o (word),
    .hit_o  (hit)
  );

  assign there    = hit && word[DataWidth+Keep+1];
  assign tvalid_o = there && gap_q == '0;
  assign tlast_o  = tvalid_o && word[DataWidth+Keep];
  assign tkeep_o  = tvalid_o ? word[DataWidth+:Keep] : '0;
  assign tdata_o  = tvalid_o ? word[DataWidth-1:0] : '0;
  assign step     = tvalid_o && tready_i;
  assign done_o   = !there;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      index_q <= '0;
      gap_q   <= '0;
    end else begin
      if (step) index_q <= index_q + 64'd1;
      if (step) gap_q <= GapW'(Gap);
      else if (gap_q != '0) gap_q <= gap_q - GapW'(1);
    end
  end
endmodule
