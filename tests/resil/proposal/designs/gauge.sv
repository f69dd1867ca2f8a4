// SPDX-License-Identifier: Apache-2.0
// Counts what passes a limit. Only what its checks read reaches into an instance.
module gauge_count (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       up_i,
  output logic [7:0] count_o
);
  logic [7:0] count_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else if (up_i) count_q <= count_q + 8'd1;
  end
  assign count_o = count_q;
endmodule

module gauge (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] level_i,
  output logic [7:0] count_o
);
  logic over_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) over_q <= 1'b0;
    else over_q <= level_i > 8'd100;
  end
  gauge_count u_count (
    .clk_i,
    .rst_ni,
    .up_i(over_q),
    .count_o
  );
`ifndef SYNTHESIS
  logic full;
  assign full = &u_count.count_q;
  always_ff @(posedge clk_i) if (full) $display("full");
`endif
endmodule
