// SPDX-License-Identifier: Apache-2.0
// Twelve operations of eight additions each. A state that is none stands still for ever; an upset of `round_q` lets
// operations go on. The closed bench is as that of examples/awkward, whose memory it takes.
module stepper (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic  [5:0] source_address_o,
  input  logic [31:0] source_data_i,
  output logic        sink_we_o,
  output logic  [5:0] sink_address_o,
  output logic [63:0] sink_data_o,
  output logic        done_o,
  output logic [31:0] status_o,
  output logic  [7:0] ops_done_o
);
  logic  [2:0] state_q;  // adds, writes, has ended
  logic  [2:0] count_q;
  logic  [4:0] round_q;
  logic [31:0] sum_q;
  logic  [7:0] ops_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= 3'b001;
      count_q <= '0;
      round_q <= '0;
      sum_q   <= '0;
      ops_q   <= '0;
    end else if (state_q == 3'b001) begin
      sum_q   <= sum_q + source_data_i;
      count_q <= count_q + 3'd1;
      if (count_q == 3'd7) state_q <= 3'b010;
    end else if (state_q == 3'b010) begin
      ops_q   <= ops_q + 8'd1;
      round_q <= round_q + 5'd1;
      state_q <= round_q == 5'd11 ? 3'b100 : 3'b001;
    end
  end

  assign source_address_o = {round_q[2:0], count_q};
  assign sink_we_o        = state_q == 3'b010;
  assign sink_address_o   = {1'b0, round_q};
  assign sink_data_o      = {32'd0, sum_q};
  assign done_o           = state_q[2];
  assign status_o         = {27'd0, round_q};
  assign ops_done_o       = ops_q;
endmodule

module stepper_bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic [31:0] status_o,
  output logic  [7:0] ops_done_o
);
  logic  [5:0] source_address, sink_address;
  logic [31:0] source_data;
  logic [63:0] sink_data, unused_sink;
  logic sink_we;
  stepper u_dut (
    .clk_i,
    .rst_ni,
    .source_address_o(source_address),
    .source_data_i   (source_data),
    .sink_we_o       (sink_we),
    .sink_address_o  (sink_address),
    .sink_data_o     (sink_data),
    .done_o,
    .status_o,
    .ops_done_o
  );
  memory #(.Words(64), .Width(32), .Plusarg("source")) u_source (
    .clk_i, .we_i(1'b0), .address_i(source_address), .data_i('0), .data_o(source_data)
  );
  memory #(.Words(64), .Width(64), .Plusarg("sink")) u_sink (
    .clk_i, .we_i(sink_we), .address_i(sink_address), .data_i(sink_data), .data_o(unused_sink)
  );
endmodule
