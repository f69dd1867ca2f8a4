// SPDX-License-Identifier: Apache-2.0
// A sum in four operations that can fall behind, get stuck, or go round in circles, with its counter of operations moving or
// not. With `Rounds` it is made so often, one inference after the other.
module timed #(
  parameter int unsigned Rounds = 1
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic       done_o,
  output logic [7:0] operations_o,
  output logic [7:0] both_o,
  output logic [7:0] inferences_o
);

  logic [7:0] in_q[16];
  logic [7:0] out_q[64];
  logic [7:0] inferences_q;
  logic last;

  initial begin
    string file;
    if ($value$plusargs("input=%s", file)) $readmemh(file, in_q);
  end

  timed_core u_core (
    .clk_i,
    .rst_ni,
    .data_i(in_q[u_core.step_q[3:0]]),
    .found_i(out_q[63]),
    .we_o(),
    .last_o(last),
    .operations_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) inferences_q <= '0;
    else if (last && !done_o) inferences_q <= inferences_q + 8'd1;
  end
  always_ff @(posedge clk_i) begin
    if (u_core.spin_q) out_q[63] <= out_q[63] + 8'd1;
    if (u_core.we_o) out_q[u_core.step_q[5:0]] <= u_core.sum_q[7:0];
  end

  assign inferences_o = inferences_q;
  assign done_o = inferences_q == 8'(Rounds);
  // Not made of flip-flops alone.
  assign both_o = operations_o & {8{!u_core.lag_q[7]}};

endmodule

module timed_core (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] data_i,
  input  logic [7:0] found_i,
  output logic       we_o,
  output logic       last_o,
  output logic [7:0] operations_o
);

  logic [9:0] step_q;
  logic [7:0] wait_q, lag_q, operations_q;
  logic [15:0] sum_q;
  logic [2:0] phase_q;
  logic spin_q, turn_q, beat_q, stuck, ends;

  // The last word is for spinning alone.
  assign we_o = wait_q == 0 && !spin_q && step_q[5:0] != 6'd63;
  assign stuck = (operations_q[7] && step_q == 10'd190) || (found_i == 8'hee && step_q == 10'd230);
  assign ends = step_q == 10'd19 || step_q == 10'd219 || step_q == 10'd249;
  assign last_o = step_q == 10'd300;
  assign operations_o = operations_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= '0;
      wait_q <= 8'd3;
      lag_q <= '0;
      sum_q <= '0;
      phase_q <= '0;
      spin_q <= 1'b0;
      turn_q <= 1'b0;
      beat_q <= 1'b0;
      operations_q <= '0;
    end else if (turn_q || beat_q) begin
      phase_q <= phase_q + 3'd1;
      if (beat_q && phase_q == 3'd0) operations_q[0] <= ~operations_q[0];
      // In no run with one fault: else these would be no flip-flops.
      if (&sum_q[15:12]) begin
        turn_q <= 1'b0;
        beat_q <= 1'b0;
      end
    end else if (spin_q) begin
      if (&found_i) spin_q <= 1'b0;
    end else if (|lag_q) begin
      lag_q <= lag_q - 8'd1;
    end else if (|wait_q) begin
      wait_q <= wait_q - 8'd1;
    end else if (last_o) begin
      step_q <= '0;
      wait_q <= 8'd3;
      sum_q <= '0;
    end else if (!stuck) begin
      wait_q <= step_q == 10'd299 ? 8'd0 : 8'd3;
      step_q <= step_q + 10'd1;
      sum_q <= {4'd0, sum_q[11:0]} + 16'(data_i);
      if (ends) operations_q <= operations_q + 8'd1;
    end
  end

endmodule
