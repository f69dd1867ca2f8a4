// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream in and out, synchronous reset, active high.
`include "scaler_defs.vh"
module scaler (i_clk, i_rst, s_axis_tdata, s_axis_tvalid, s_axis_tready, m_axis_tdata, m_axis_tvalid, m_axis_tready,
               m_axis_tlast);
  input                    i_clk, i_rst;
  input  [`SCALER_W-1:0]   s_axis_tdata;
  input                    s_axis_tvalid, m_axis_tready;
  output                   s_axis_tready, m_axis_tvalid, m_axis_tlast;
  output [`SCALER_W-1:0]   m_axis_tdata;

  wire                   go;
  wire [`SCALER_W-1:0]   first;
  reg  [1:0]             full;
  reg  [2:0]             count;

  assign go            = !full[1] || m_axis_tready;
  assign s_axis_tready = go;
  assign m_axis_tvalid = full[1];
  assign m_axis_tlast  = &count;

  always @(posedge i_clk)
    if (i_rst) begin
      full  <= 2'b00;
      count <= 3'd0;
    end else if (go) begin
      full <= {full[0], s_axis_tvalid};
      if (full[1]) count <= count + 3'd1;
    end

  scaler_stage first_stage (.i_clk(i_clk), .i_rst(i_rst), .i_go(go), .i_data(s_axis_tdata + 8'd3), .o_data(first));
  scaler_stage second_stage (.i_clk(i_clk), .i_rst(i_rst), .i_go(go), .i_data(first ^ (first << 1)),
                             .o_data(m_axis_tdata));
endmodule
