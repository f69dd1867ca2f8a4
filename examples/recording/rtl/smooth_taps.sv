// SPDX-License-Identifier: Apache-2.0
/// The last four samples and their sum; a parity bit beside each sample tells of an upset in it.
module smooth_taps (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       shift_i,
  input  logic [7:0] sample_i,
  output logic [9:0] sum_o,
  output logic       error_o
);

  logic [3:0][7:0] tap_q;
  logic [3:0]      parity_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tap_q    <= '0;
      parity_q <= '0;
    end else if (shift_i) begin
      tap_q    <= {tap_q[2:0], sample_i};
      parity_q <= {parity_q[2:0], ^sample_i};
    end
  end

  assign sum_o = {2'b0, tap_q[0]} + {2'b0, tap_q[1]} + {2'b0, tap_q[2]} + {2'b0, tap_q[3]};

  always_comb begin
    error_o = 1'b0;
    for (int i = 0; i < 4; i++) error_o |= ^tap_q[i] != parity_q[i];
  end

endmodule
