// SPDX-License-Identifier: Apache-2.0
/// Walks along a list in a memory behind OBI, adds up what it finds, and writes every fourth sum back.
module walker (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        step_i,
  output logic        mem_req_o,
  input  logic        mem_gnt_i,
  output logic  [7:0] mem_addr_o,
  output logic        mem_we_o,
  output logic  [3:0] mem_be_o,
  output logic [31:0] mem_wdata_o,
  input  logic        mem_rvalid_i,
  input  logic [31:0] mem_rdata_i,
  output logic [15:0] sum_o
);
  logic [5:0]  addr_q;
  logic [15:0] sum_q;
  logic [1:0]  turn_q;
  logic        wait_q, wrote_q;

  assign mem_req_o   = step_i && !wait_q;
  assign mem_we_o    = &turn_q;
  assign mem_addr_o  = {addr_q, 2'b00};
  assign mem_be_o    = '1;
  assign mem_wdata_o = {16'd0, sum_q};
  assign sum_o       = sum_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      addr_q  <= '0;
      sum_q   <= '0;
      turn_q  <= '0;
      wait_q  <= 1'b0;
      wrote_q <= 1'b0;
    end else if (mem_req_o && mem_gnt_i) begin
      wait_q  <= 1'b1;
      wrote_q <= mem_we_o;
      turn_q  <= turn_q + 2'd1;
    end else if (mem_rvalid_i) begin
      wait_q <= 1'b0;
      addr_q <= wrote_q ? addr_q + 6'd1 : mem_rdata_i[21:16];
      if (!wrote_q) sum_q <= sum_q + mem_rdata_i[15:0];
    end
  end
endmodule
