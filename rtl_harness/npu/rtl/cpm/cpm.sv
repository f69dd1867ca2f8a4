// SPDX-License-Identifier: Apache-2.0
/// Clock and power: reset of the NPU, clocks and clock enables of the blocks, quiescence.
///
/// A block is awake from the cycle of its wake request until a few cycles after its end. With ClockGates its clock
/// stands still otherwise and its enable is constant; without, its clock runs on and its enable falls. In a scan test
/// the reset input alone resets the blocks, and all clocks run.
module cpm #(
  parameter int unsigned Domains    = 5,
  parameter bit          ClockGates = 1'b0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               scan_mode_i,  // constant while the NPU works
  input  logic               soft_reset_i,
  output logic               rst_no,       // reset of all other blocks
  input  logic [Domains-1:0] wake_i,
  output logic [Domains-1:0] clk_o,
  output logic [Domains-1:0] enable_o,
  output logic               quiescent_o
);
  localparam logic [2:0] IdleCycles = 3'd7;

  // Reset is asserted at once and released in step with the clock.
  logic settle_q, release_q;
  logic [1:0] soft_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      settle_q  <= 1'b0;
      release_q <= 1'b0;
      soft_q    <= '0;
    end else begin
      settle_q  <= soft_q == '0;
      release_q <= settle_q && soft_q == '0;
      soft_q    <= soft_reset_i ? 2'd3 : (soft_q == '0 ? '0 : soft_q - 2'd1);
    end
  end
  assign rst_no = scan_mode_i ? rst_ni : release_q;

  logic [Domains-1:0] awake;
  logic [Domains-1:0][2:0] idle_q;
  for (genvar d = 0; d < Domains; d++) begin : gen_domain
    assign awake[d] = wake_i[d] || idle_q[d] != IdleCycles;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) idle_q[d] <= '0;
      else if (wake_i[d]) idle_q[d] <= '0;
      else if (idle_q[d] != IdleCycles) idle_q[d] <= idle_q[d] + 3'd1;
    end

    if (ClockGates) begin : gen_gate
      clock_gate u_gate (
        .clk_i    (clk_i),
        .en_i     (awake[d]),
        .test_en_i(scan_mode_i),
        .clk_o    (clk_o[d])
      );
      assign enable_o[d] = 1'b1;
    end else begin : gen_enable
      assign clk_o[d]    = clk_i;
      assign enable_o[d] = awake[d];
    end
  end

  logic quiescent_q;
  assign quiescent_o = quiescent_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) quiescent_q <= 1'b0;
    else quiescent_q <= awake == '0;
  end
endmodule
