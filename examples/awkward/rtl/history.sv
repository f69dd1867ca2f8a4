// SPDX-License-Identifier: Apache-2.0
/// A wide running checksum and a memory of its past values, wider than a machine word.
module history (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        push_i,
  input  logic  [3:0] index_i,
  input  logic [31:0] data_i,
  output logic [71:0] past_o,
  output logic        mismatch_o
);

  logic [99:0] wide_q;
  logic [71:0] past_q [16];
  logic [16:1] guard_q;
  logic        pushed_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wide_q[49:0] <= '0;
    else if (push_i) wide_q[49:0] <= {wide_q[48:0], wide_q[99]} ^ 50'(data_i);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wide_q[99:50] <= 50'h1;
    else if (push_i) wide_q[99:50] <= wide_q[98:49] + 50'(data_i[31:16]);
  end

  always_ff @(posedge clk_i) begin
    if (push_i) past_q[index_i] <= wide_q[86:15];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) guard_q <= '0;
    else if (push_i) guard_q <= guard_q ^ {16{^data_i}} ^ data_i[15:0] ^ data_i[15:0];
  end

  always_ff @(posedge clk_i) pushed_q <= push_i;

  assign past_o     = past_q[index_i];
  assign mismatch_o = pushed_q && guard_q != '0 && guard_q != '1;

endmodule
