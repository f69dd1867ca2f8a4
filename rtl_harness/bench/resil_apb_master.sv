// SPDX-License-Identifier: Apache-2.0
/// Makes an APB access of each request of resil_boot, one at a time.
module resil_apb_master (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        req_valid_i,
  input  logic        req_write_i,
  input  logic [31:0] req_addr_i,
  input  logic [31:0] req_data_i,
  output logic        rsp_valid_o,
  output logic [31:0] rsp_data_o,
  output logic        rsp_error_o,
  output logic        psel_o,
  output logic        penable_o,
  output logic        pwrite_o,
  output logic [31:0] paddr_o,
  output logic [31:0] pwdata_o,
  output logic  [3:0] pstrb_o,
  input  logic        pready_i,
  input  logic [31:0] prdata_i,
  input  logic        pslverr_i
);
  logic enable_q;

  assign psel_o    = req_valid_i;
  assign penable_o = enable_q;
  assign pwrite_o  = req_write_i;
  assign paddr_o   = req_addr_i;
  assign pwdata_o  = req_data_i;
  assign pstrb_o   = {4{req_write_i}};

  assign rsp_valid_o = psel_o && enable_q && pready_i;
  assign rsp_data_o  = prdata_i;
  assign rsp_error_o = pslverr_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) enable_q <= 1'b0;
    else enable_q <= psel_o && !rsp_valid_o;
  end
endmodule
