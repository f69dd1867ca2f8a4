// SPDX-License-Identifier: Apache-2.0
// A sum over its inputs that takes some cycles a step, and can fall behind in two ways: by its wait counter, and by spinning,
// which counts in a memory while no register changes.
module stall #(
  parameter int unsigned Steps = 300
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o,
  output logic error_o
);

  logic [7:0] in_q[16];
  logic [7:0] out_q[64];

  stall_core #(.Steps(Steps)) u_core (
    .clk_i,
    .rst_ni,
    .data_i(in_q[u_core.step_q[3:0]]),
    .found_i(out_q[63]),
    .we_o(),
    .done_o,
    .error_o
  );

  always_ff @(posedge clk_i) begin
    if (u_core.spin_q) out_q[63] <= out_q[63] + 8'd1;
    if (u_core.we_o) out_q[u_core.step_q[5:0]] <= u_core.sum_q[7:0];
  end

endmodule

module stall_core #(
  parameter int unsigned Steps = 300
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] data_i,
  input  logic [7:0] found_i,
  output logic       we_o,
  output logic       done_o,
  output logic       error_o
);

  logic [9:0] step_q;
  logic [7:0] wait_q, lag_q;
  logic [15:0] sum_q;
  logic spin_q;

  // The last word is for spinning alone.
  assign we_o = wait_q == 0 && !spin_q && step_q[5:0] != 6'd63;
  assign done_o = step_q >= 10'(Steps);
  assign error_o = step_q[9:4] == 6'd15 && ^sum_q[15:12];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= '0;
      wait_q <= 8'd3;
      lag_q <= '0;
      sum_q <= '0;
      spin_q <= 1'b0;
    end else if (spin_q) begin
      if (&found_i) spin_q <= 1'b0;
    end else if (|lag_q) begin
      lag_q <= lag_q - 8'd1;
    end else if (|wait_q) begin
      wait_q <= wait_q - 8'd1;
    end else begin
      wait_q <= 8'd3;
      step_q <= step_q + 10'd1;
      sum_q <= {4'd0, sum_q[11:0]} + 16'(data_i);
    end
  end

endmodule
