// SPDX-License-Identifier: Apache-2.0
/// A memory behind APB, with a second port of structures and an enumeration; listed before its package.
module table_top
  import table_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        psel_i,
  input  logic        penable_i,
  input  logic [7:0]  paddr_i,
  input  logic        pwrite_i,
  input  logic [31:0] pwdata_i,
  output logic [31:0] prdata_o,
  output logic        pready_o,
  input  mode_e       mode_i,
  output pair_t       pair_o,
  output logic        alert_minor_o,
  output logic        busy_error_o
);

  logic [31:0] table_q[64];
  logic [31:0] read_q;
  logic [5:0]  count_q;

  assign pready_o = 1'b1;
  assign prdata_o = read_q;
  assign pair_o   = read_q[31:16];

  always_ff @(posedge clk_i) begin
    if (psel_i && penable_i && pwrite_i) table_q[paddr_i[7:2]] <= pwdata_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q  <= '0;
      count_q <= '0;
    end else begin
      if (psel_i && !pwrite_i) read_q <= table_q[paddr_i[7:2]];
      if (mode_i == Clear) count_q <= '0;
      else if (psel_i && penable_i) count_q <= count_q + 6'd1;
    end
  end

  assign alert_minor_o = count_q == 6'd63 && mode_i == Clear;
  assign busy_error_o  = psel_i && mode_i != Read;

endmodule
