// SPDX-License-Identifier: Apache-2.0
/// Sequences the work: coefficients, then rounds of load, work and flush, then the check.
module control
  import awkward_pkg::*;
#(
  parameter int unsigned Rounds = 12
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       mismatch_i,
  output state_e     state_o,
  output logic [3:0] step_o,
  output logic [5:0] address_o,
  output logic [7:0] round_o
);
  /* verilator no_inline_module */

  state_e     state_d, state_q;
  logic [3:0] step_d, step_q;
  logic [5:0] address_d, address_q;
  logic [7:0] round_d, round_q;
  logic [3:0] twin_q;
  logic [1:0] stuck_q;
  logic [2:0] _unread_q;

  always_comb begin
    state_d   = state_q;
    step_d    = step_q;
    address_d = address_q;
    round_d   = round_q;
    unique case (state_q)
      StIdle: state_d = StCoef;
      StCoef: begin
        address_d = address_q + 6'd1;
        step_d    = step_q + 4'd1;
        if (step_q == 4'd3) begin
          state_d = StLoad;
          step_d  = '0;
        end
      end
      StLoad: begin
        address_d = address_q + 6'd1;
        step_d    = step_q + 4'd1;
        if (step_q == 4'd3) begin
          state_d = StWork;
          step_d  = '0;
        end
      end
      StWork: begin
        step_d = step_q + 4'd1;
        if (step_q == 4'd15) begin
          state_d = StFlush;
          step_d  = '0;
        end
      end
      StFlush: begin
        step_d = step_q + 4'd1;
        if (step_q == 4'd3) begin
          step_d  = '0;
          round_d = round_q + 8'd1;
          state_d = StLoad;
          if (round_q == 8'(Rounds - 1)) state_d = StDone;
          if (mismatch_i || twin_q != 4'd3) state_d = StFailed;
        end
      end
      StDone, StFailed: state_d = state_q;
      default: state_d = StFailed;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      step_q    <= '0;
      twin_q    <= '0;
      address_q <= '0;
      round_q   <= '0;
      stuck_q   <= '0;
    end else begin
      state_q   <= state_d;
      step_q    <= step_d;
      twin_q    <= step_d;
      address_q <= address_d;
      round_q   <= round_d;
      stuck_q   <= stuck_q & 2'b01;
    end
  end

  always_ff @(posedge clk_i) _unread_q <= {_unread_q[1:0], mismatch_i};

  assign state_o   = state_q;
  assign step_o    = step_q;
  assign address_o = stuck_q == '0 ? address_q : '0;
  assign round_o   = round_q;

endmodule
