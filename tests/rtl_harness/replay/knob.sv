// SPDX-License-Identifier: Apache-2.0
/// Has parameters of all kinds, and as many registers as they say.
module knob #(
  parameter int         Width = 4,
  parameter             Mode  = "slow",
  parameter             Mask  = 4'hf,
  parameter real        Gain  = 0.5,
  parameter string      Style = "plain",
  parameter signed [3:0] Step = -4'sd2,
  parameter type        data_t = logic [3:0],
  localparam int        Extra = $rtoi(Gain * 10)
) (
  input  logic             clk_i,
  input  data_t            data_i,
  output logic [Width-1:0] sum_o
);
  logic [Width-1:0] sum_q;
  assign sum_o = sum_q;
  always_ff @(posedge clk_i) sum_q <= Width'(data_i & Mask) + Width'(Step);
  if (Mode == "fast") begin : gen_fast
    logic [Extra-1:0] fast_q;
    always_ff @(posedge clk_i) fast_q <= Extra'(data_i);
  end
  if (Style == "fine") begin : gen_fine
    logic [$bits(Mask)-1:0] fine_q;
    always_ff @(posedge clk_i) fine_q <= Mask;
  end
endmodule
