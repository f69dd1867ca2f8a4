// SPDX-License-Identifier: Apache-2.0
// A design whose logic drives all that a pulse can reach: registers, a gated clock, an asynchronous reset, memories on both
// sides of the boundary, an alarm, and the end of the run.
module pulsed (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o,
  output logic error_o
);

  logic [7:0] in_q[16];
  logic [7:0] out_q[16];
  logic [3:0] read_address, write_address;
  logic [7:0] data;
  logic write;

  pulsed_core u_core (
    .clk_i,
    .rst_ni,
    .data_i(in_q[read_address]),
    .read_address_o(read_address),
    .write_address_o(write_address),
    .data_o(data),
    .write_o(write),
    .done_o,
    .error_o
  );

  always_ff @(posedge clk_i) if (write) out_q[write_address] <= data ^ out_q[~write_address];

endmodule

module pulsed_gate (
  input  logic clk_i,
  input  logic en_i,
  output logic clk_o
);
  logic en_latch;
  always_latch if (!clk_i) en_latch = en_i;
  assign clk_o = clk_i & en_latch;
endmodule

module pulsed_core (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] data_i,
  output logic [3:0] read_address_o,
  output logic [3:0] write_address_o,
  output logic [7:0] data_o,
  output logic       write_o,
  output logic       done_o,
  output logic       error_o
);

  // The twin is inverted: synthesis would make one register of two equal ones, and the alarm a constant.
  logic [5:0] step_q, twin_q;
  logic [7:0] sum_q, part_q;
  logic [7:0] kept_q[128];
  logic clear_q, gclk, local_n;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q  <= '0;
      twin_q  <= '1;
      clear_q <= 1'b0;
    end else begin
      step_q  <= step_q + 6'd1;
      twin_q  <= ~(step_q + 6'd1);
      clear_q <= step_q[3:0] == 4'd9 && sum_q[0];
    end
  end

  // Every other step, unless the sum says otherwise.
  pulsed_gate u_gate (.clk_i, .en_i(step_q[0] ^ (sum_q[7] & part_q[2])), .clk_o(gclk));
  always_ff @(posedge gclk or negedge rst_ni) begin
    if (!rst_ni) sum_q <= 8'h5a;
    else sum_q <= {sum_q[6:0], sum_q[7]} + data_i;
  end

  // A reset that the design makes itself.
  assign local_n = rst_ni & ~clear_q;
  always_ff @(posedge clk_i or negedge local_n) begin
    if (!local_n) part_q <= 8'h81;
    else part_q <= part_q ^ {kept_q[{1'b0, step_q ^ {5'd0, sum_q[3] & step_q[4]}}][6:0], 1'b1} ^ data_i;
  end

  always_ff @(posedge clk_i) if (step_q[1]) kept_q[{sum_q[0], step_q}] <= sum_q ^ {part_q[3:0], part_q[7:4]};

  // Addresses of reads come through gates, inside and at the boundary.
  assign read_address_o = step_q[3:0] ^ {3'd0, part_q[0]};
  assign write_address_o = step_q[4:1];
  assign data_o = sum_q - part_q;
  assign write_o = step_q[5] & ~step_q[0];
  assign done_o = step_q == 6'd62;
  assign error_o = {step_q[2:0], step_q[5:3]} != ~{twin_q[2:0], twin_q[5:3]};

endmodule
