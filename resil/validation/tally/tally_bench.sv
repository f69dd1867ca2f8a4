// SPDX-License-Identifier: Apache-2.0
/// The closed bench of the validation's design: inputs are clock and reset.
module tally_bench (
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic       done_o,
  output logic       error_o,
  output logic       mended_o,
  output logic [7:0] status_o
);

  logic  [3:0] source_address;
  logic        sink_we;
  logic  [1:0] sink_address;
  logic [15:0] source_data, sink_data, unused_sink;

  tally u_dut (
    .clk_i,
    .rst_ni,
    .source_address_o(source_address),
    .source_data_i   (source_data),
    .sink_we_o       (sink_we),
    .sink_address_o  (sink_address),
    .sink_data_o     (sink_data),
    .done_o,
    .error_o,
    .mended_o,
    .status_o
  );

  tally_memory #(
    .Words  (16),
    .Width  (16),
    .Plusarg("source")
  ) u_source (
    .clk_i,
    .we_i     (1'b0),
    .address_i(source_address),
    .data_i   ('0),
    .data_o   (source_data)
  );

  tally_memory #(
    .Words  (4),
    .Width  (16),
    .Plusarg("sink")
  ) u_sink (
    .clk_i,
    .we_i     (sink_we),
    .address_i(sink_address),
    .data_i   (sink_data),
    .data_o   (unused_sink)
  );

endmodule
