// SPDX-License-Identifier: Apache-2.0
// Flip-flops of the falling edge between those of the rising one, with and without enable and reset; what they
// give feeds memory, alarm and a clock gate.
module falling #(
  parameter bit Early = 1'b0
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o,
  output logic error_o
);

  logic [7:0] in_q[16];
  logic [7:0] out_q[16];
  logic [3:0] address;
  logic [7:0] data;

  falling_core #(.Early(Early)) u_core (
    .clk_i, .rst_ni, .data_i(in_q[address]), .address_o(address), .data_o(data), .done_o, .error_o
  );

  always_ff @(posedge clk_i) out_q[address] <= data;

endmodule

module falling_core #(
  parameter bit Early = 1'b0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] data_i,
  output logic [3:0] address_o,
  output logic [7:0] data_o,
  output logic       done_o,
  output logic       error_o
);

  logic [5:0] step_q;
  logic [4:0] half_q, kept_q;
  logic [7:0] sum_q, wide_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= '0;
      sum_q <= 8'h5a;
      wide_q <= '0;
    end else begin
      step_q <= step_q + 6'd1;
      sum_q <= {sum_q[6:0], sum_q[7]} + {3'b0, half_q};
      // A clock gate, whose enable changes with the falling edge.
      if (kept_q[1]) wide_q <= sum_q ^ {3'b0, half_q};
    end
  end

  always_ff @(negedge clk_i or negedge rst_ni) begin
    if (!rst_ni) half_q <= '0;
    else half_q <= step_q[4:0] ^ {4'b0, Early};
  end
  always_ff @(negedge clk_i) begin
    if (!rst_ni) kept_q <= '0;
    else if (step_q[1]) kept_q <= sum_q[4:0] + data_i[4:0];
  end

  assign address_o = step_q[3:0] ^ half_q[3:0];
  assign data_o = wide_q + {3'b0, kept_q};
  assign done_o = step_q == 6'd62;
  assign error_o = &{step_q[4], half_q[0], kept_q[3:2]};

endmodule
