// SPDX-License-Identifier: Apache-2.0
// Three operations, of 64 steps of four cycles, on bytes of a memory, with storage that waits: for another operation, for its turn in this one, or for ever.
// What it does when does not depend on data, unless Hasty is set.
module idle #(
  parameter bit Hasty = 1'b0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic       done_o,
  output logic [1:0] operation_o
);

  logic [7:0] data_q[32];

  idle_core #(.Hasty(Hasty)) u_core (
    .clk_i,
    .rst_ni,
    .data_i(data_q[u_core.step_q[4:0]]),
    .write_o(),
    .data_o(),
    .done_o,
    .operation_o
  );

  always_ff @(posedge clk_i) begin
    if (u_core.write_o) data_q[u_core.step_q[4:0]] <= u_core.data_o;
  end

endmodule

module idle_core #(
  parameter bit Hasty = 1'b0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] data_i,
  output logic       write_o,
  output logic [7:0] data_o,
  output logic       done_o,
  output logic [1:0] operation_o
);

  logic [1:0] tick_q;
  logic [5:0] step_q;
  logic [1:0] operation_q;
  logic [7:0] byte_q, own_q, late_q, scale_q, first_q, second_q, rare_q, sum_q, spare_q;
  logic [7:0] rows_q[8];    // a row is written before it is read in each operation, but for row 7
  logic [7:0] spill_q[4];   // written where the data say
  logic [15:0] halves_q[4]; // the upper halves are written in each operation, the lower ones in the first

  // Both bits of the scale are known; which of them is taken is not, but always the same in the run without a fault.
  logic pick, last, next;
  assign next = &tick_q;
  assign pick = byte_q[7] ? scale_q[1] : scale_q[2];
  assign last = &step_q || (Hasty && step_q[5] && data_i[7]);
  assign done_o = operation_q == 2'd3;
  assign operation_o = operation_q;
  assign write_o = step_q[5] && next && !done_o;

  always_comb begin
    unique case (operation_q)
      2'd0: data_o = byte_q + rows_q[step_q[2:0]] + (step_q == 6'd40 ? rows_q[7] : 8'd0);
      2'd1: data_o = (byte_q[0] ? first_q : second_q) ^ own_q ^ (pick ? rare_q : 8'd0);
      2'd2: data_o = late_q + spill_q[byte_q[1:0]] + sum_q;
      default: data_o = 8'd0;
    endcase
    if (step_q[4:0] == 5'd9) data_o = halves_q[step_q[1:0]][15:8] + halves_q[step_q[1:0]][7:0] + scale_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tick_q <= '0;
      step_q <= '0;
      operation_q <= '0;
      byte_q <= '0;
      own_q <= '0;
      late_q <= 8'd11;
      scale_q <= '0;
      first_q <= '0;
      second_q <= '0;
      rare_q <= '0;
      sum_q <= '0;
      spare_q <= '0;
    end else if (!next) begin
      tick_q <= tick_q + 2'd1;
    end else if (!done_o) begin
      tick_q <= '0;
      step_q <= last ? '0 : step_q + 6'd1;
      if (last) operation_q <= operation_q + 2'd1;
      byte_q <= data_i;
      // Made anew early in each operation.
      if (step_q == 6'd2) scale_q <= {operation_q, step_q};
      if (step_q == 6'd3) own_q <= byte_q;
      if (step_q == 6'd4) first_q <= byte_q ^ own_q;
      if (step_q == 6'd5) second_q <= own_q + 8'd1;
      // Wait from the first operation for the second, which seldom uses it, and for the last.
      if (operation_q == 2'd0 && step_q == 6'd8) rare_q <= byte_q;
      if (operation_q == 2'd0 && step_q == 6'd6) late_q <= byte_q;
      sum_q <= step_q == 6'd7 ? 8'd0 : sum_q + byte_q;
      // Nobody looks at it.
      spare_q <= spare_q + byte_q;
    end
  end

  always_ff @(posedge clk_i) if (next) begin
    if (step_q < 6'd7) rows_q[step_q[2:0]] <= byte_q;
    if (operation_q == 2'd0 && step_q == 6'd7) rows_q[7] <= byte_q;
    if (operation_q == 2'd1 && step_q < 6'd8) spill_q[byte_q[1:0]] <= byte_q;
    if (step_q < 6'd4) halves_q[step_q[1:0]][15:8] <= byte_q;
    if (operation_q == 2'd0 && step_q < 6'd4) halves_q[step_q[1:0]][7:0] <= byte_q;
  end

endmodule
