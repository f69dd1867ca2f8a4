// SPDX-License-Identifier: Apache-2.0
// All bench modules at once: three memories under traffic, two hosts.
module bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic        error_o,
  output logic [63:0] status_o,
  output logic [31:0] operations_o
);
  logic [4:0] done;
  logic [1:0] error;

  traffic #(.DataWidth(32), .Words(64), .Name("a")) u_a (.clk_i, .rst_ni, .done_o(done[0]));
  traffic #(.DataWidth(512), .Words(48), .ReadLatency(3), .WriteLatency(1), .Name("b")) u_b (
    .clk_i, .rst_ni, .done_o(done[1])
  );
  traffic #(.DataWidth(64), .Words(128), .ReadLatency(20), .WriteLatency(7), .BeatInterval(4), .Stall(1'b0), .Name("c"))
  u_c (.clk_i, .rst_ni, .done_o(done[2]));

  axil_host u_axil (
    .clk_i, .rst_ni, .done_o(done[3]), .error_o(error[0]), .status_o(status_o[31:0]),
    .operations_o(operations_o[15:0])
  );
  apb_host u_apb (
    .clk_i, .rst_ni, .done_o(done[4]), .error_o(error[1]), .status_o(status_o[63:32]),
    .operations_o(operations_o[31:16])
  );
  assign done_o  = &done;
  assign error_o = |error;
endmodule
