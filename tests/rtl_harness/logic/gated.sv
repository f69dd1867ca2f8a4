// SPDX-License-Identifier: Apache-2.0
// Words that are written once in a while and read now and then, each with a clock gate of its own: at the end
// some hold what nobody has read.
module gated (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o,
  output logic error_o
);

  logic [7:0] in_q[16];
  logic [7:0] out_q[16];
  logic [3:0] address;
  logic [7:0] data;
  logic write;

  gated_core u_core (.clk_i, .rst_ni, .data_i(in_q[address]), .address_o(address), .data_o(data), .write_o(write), .done_o);

  always_ff @(posedge clk_i) if (write) out_q[address] <= data;
  assign error_o = 1'b0;

endmodule

module gated_core (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] data_i,
  output logic [3:0] address_o,
  output logic [7:0] data_o,
  output logic       write_o,
  output logic       done_o
);

  logic [5:0] step_q;
  logic [7:0] word_q[4];
  logic [1:0] few_q;  // too few for a clock gate

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= '0;
      word_q <= '{default: '0};
      few_q <= '0;
    end else begin
      step_q <= step_q + 6'd1;
      if (step_q[2:0] == 3'd6) few_q <= step_q[4:3];
      if (step_q[2:0] == 3'd5) word_q[step_q[4:3]] <= data_i ^ {2'b0, step_q};
    end
  end

  // What a word holds in the end is not read.
  assign address_o = step_q[3:0];
  assign data_o = {2'b0, few_q & {2{step_q[3:0] == 4'd9}}, word_q[step_q[4:3]][3:0]};
  assign write_o = step_q < 6'd48;
  assign done_o = step_q == 6'd62;

endmodule
