// SPDX-License-Identifier: Apache-2.0
// A closed design for tests with a memory of 2 MiB, of which a run reads and writes a few words here and there.

module far_core #(
  parameter int Round = 32,  // cycles after which it comes to the same places again
  parameter int Every = 4    // cycles between two writes
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] data_i,
  output logic [17:0] read_o,
  output logic [17:0] write_o,
  output logic        valid_o,
  output logic [63:0] data_o,
  output logic        done_o
);
  localparam logic [9:0] Last = 10'd400;

  logic [9:0] count_q;
  logic [17:0] at_q;
  logic [63:0] sum_q;
  logic back;

  assign back = int'(count_q) % Round == Round - 2;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      at_q    <= 18'h00200;
      sum_q   <= '0;
    end else begin
      count_q <= count_q + 10'd1;
      // Over all of the memory and back to the same places, so that an error is overwritten unless its place was wrong.
      at_q  <= back ? 18'h00200 : at_q + 18'h01fff;
      sum_q <= count_q[4:0] == 5'd30 ? '0 : {sum_q[31:0], sum_q[63:32]} ^ data_i;
    end
  end

  assign read_o  = at_q;
  assign write_o = {at_q[17:1], !at_q[0]};
  assign valid_o = int'(count_q) % Every == 0;
  assign data_o  = sum_q + 64'(count_q[9:5]);
  assign done_o  = count_q >= Last;
endmodule

module far #(
  parameter int Round = 32,
  parameter int Every = 4
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o
);
  logic [63:0] mem_q [262144];
  logic [17:0] read_at, write_at;
  logic [63:0] data;
  logic valid;

  initial begin
    string file;
    if ($value$plusargs("memory=%s", file)) $readmemh(file, mem_q);
  end

  far_core #(
    .Round(Round),
    .Every(Every)
  ) u_core (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .data_i (mem_q[read_at]),
    .read_o (read_at),
    .write_o(write_at),
    .valid_o(valid),
    .data_o (data),
    .done_o (done_o)
  );

  always_ff @(posedge clk_i) begin
    if (valid) mem_q[write_at] <= data;
  end
endmodule
