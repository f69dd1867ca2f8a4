// SPDX-License-Identifier: Apache-2.0
/// Four multiply-accumulate lanes with coefficients in an unpacked register array.
module lanes
  import awkward_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              coef_we_i,
  input  logic              load_i,
  input  logic              work_i,
  input  logic        [1:0] index_i,
  input  logic        [3:0] step_i,
  input  logic       [31:0] data_i,
  output logic [3:0] [31:0] lane_o
);
  /* verilator no_inline_module */

  logic [7:0] coef_q [2:5];
  logic [3:0][7:0] operand_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int i = 2; i <= 5; i++) coef_q[i] <= '0;
    end else if (coef_we_i) begin
      for (int i = 2; i <= 5; i++) begin
        if (index_i == 2'(i - 2)) coef_q[i] <= data_i[7:0];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) operand_q[index_i] <= data_i[7:0] ^ data_i[15:8];
  end

  for (genvar i = 0; i < 4; i++) begin : g_lane
    lane_t lane_q;
    logic [15:0] product;
    assign product = coef_q[i+2] * (operand_q[i] + 8'(step_i));

    if (i % 2 == 0) begin : g_even
      logic [4:8] delayed_q;
      always_ff @(posedge clk_i) delayed_q <= product[4:0];
      assign lane_o[i] = {lane_q.sum, lane_q.count, ^delayed_q};
    end else begin : g_odd
      assign lane_o[i] = {lane_q.sum, lane_q.count, lane_q.seen};
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        lane_q.seen  <= 1'b0;
        lane_q.count <= '0;
      end else if (work_i) begin
        lane_q.seen  <= 1'b1;
        lane_q.count <= lane_q.count + 5'd1;
      end
    end

    always_ff @(posedge clk_i) begin
      if (load_i) lane_q.sum <= '0;
      else if (work_i) lane_q.sum <= lane_q.sum + 26'(product);
    end
  end

endmodule
