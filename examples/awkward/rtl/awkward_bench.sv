// SPDX-License-Identifier: Apache-2.0
/// The closed bench: the design, its input memory and its output memory; inputs are clock and reset.
module awkward_bench #(
  parameter int unsigned SourceWords = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic        error_o,
  output logic [31:0] status_o,
  output logic [15:0] ops_done_o
);

  logic  [5:0] source_address;
  logic [31:0] source_data;
  logic        sink_we;
  logic  [5:0] sink_address;
  logic [63:0] sink_data;

  awkward u_dut (
    .clk_i,
    .rst_ni,
    .source_address_o(source_address),
    .source_data_i   (source_data),
    .sink_we_o       (sink_we),
    .sink_address_o  (sink_address),
    .sink_data_o     (sink_data),
    .done_o,
    .error_o,
    .status_o,
    .ops_done_o
  );

  memory #(
    .Words  (SourceWords),
    .Width  (32),
    .Plusarg("source")
  ) u_source (
    .clk_i,
    .we_i     (1'b0),
    .address_i($clog2(SourceWords)'(source_address)),
    .data_i   ('0),
    .data_o   (source_data)
  );

  logic [63:0] unused_sink;
  memory #(
    .Words  (64),
    .Width  (64),
    .Plusarg("sink")
  ) u_sink (
    .clk_i,
    .we_i     (sink_we),
    .address_i(sink_address),
    .data_i   (sink_data),
    .data_o   (unused_sink)
  );

endmodule
