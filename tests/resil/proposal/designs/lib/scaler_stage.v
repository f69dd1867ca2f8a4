// SPDX-License-Identifier: Apache-2.0
// One register of the pipeline, in the style of 2001.
`include "scaler_defs.vh"
module scaler_stage (i_clk, i_rst, i_go, i_data, o_data);
  input                      i_clk, i_rst, i_go;
  input  [`SCALER_W-1:0]     i_data;
  output reg [`SCALER_W-1:0] o_data;

  always @(posedge i_clk)
    if (i_rst) o_data <= 0;
    else if (i_go) o_data <= i_data;
endmodule
