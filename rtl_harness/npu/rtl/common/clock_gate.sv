// SPDX-License-Identifier: Apache-2.0
/// Clock gate: `clk_o` is `clk_i` in the cycles whose rising edge finds an enable, else low.
///
/// This is what simulation runs. Synthesis takes an integrated clock-gating cell for it: the latch, open while the
/// clock is low, keeps an enable that changes in the other half of the cycle from cutting a pulse.
module clock_gate (
  input  logic clk_i,
  input  logic en_i,
  input  logic test_en_i,  // lets the clock through whatever the enable says
  output logic clk_o
);
  logic en_latch;
  always_latch begin
    if (!clk_i) en_latch = en_i || test_en_i;
  end
  assign clk_o = clk_i && en_latch;
endmodule
