// SPDX-License-Identifier: Apache-2.0
// A sum over its inputs whose counters a register of the design resets, at once: by a flip, or when it is asked to.
module restart #(
  parameter int unsigned Steps = 40
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o,
  output logic error_o
);

  logic [7:0] in_q[16];
  logic [7:0] out_q[16];

  restart_core #(.Steps(Steps)) u_core (
    .clk_i,
    .rst_ni,
    .data_i(in_q[u_core.step_q[3:0]]),
    .we_o(),
    .done_o,
    .error_o
  );

  always_ff @(posedge clk_i) begin
    if (u_core.we_o) out_q[u_core.step_q[3:0]] <= u_core.sum_q ^ out_q[~u_core.step_q[3:0]];
  end

endmodule

module restart_core #(
  parameter int unsigned Steps = 40
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] data_i,
  output logic       we_o,
  output logic       done_o,
  output logic       error_o
);

  logic [6:0] time_q;
  logic [5:0] step_q;
  logic [7:0] sum_q;
  logic run_nq, ask_q;
  logic rst_core_n;

  assign rst_core_n = rst_ni & ~run_nq;
  assign done_o = time_q == 7'(Steps + 8);
  assign we_o = time_q > 7'd4;
  assign error_o = 1'b0;

  // Asked for in its third cycle, the reset lasts one.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      time_q <= '0;
      ask_q <= 1'b0;
      run_nq <= 1'b0;
    end else begin
      time_q <= time_q + 7'd1;
      ask_q <= time_q == 7'd3;
      run_nq <= ask_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_core_n) begin
    if (!rst_core_n) begin
      step_q <= '0;
      sum_q <= 8'h5a;
    end else begin
      step_q <= step_q + 6'd1;
      sum_q <= sum_q + {step_q[4:0], 3'd1} + data_i;
    end
  end

endmodule
