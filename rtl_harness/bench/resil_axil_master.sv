// SPDX-License-Identifier: Apache-2.0
/// Makes an AXI4-Lite access of each request of resil_boot, one at a time.
module resil_axil_master (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        req_valid_i,
  input  logic        req_write_i,
  input  logic [31:0] req_addr_i,
  input  logic [31:0] req_data_i,
  output logic        rsp_valid_o,
  output logic [31:0] rsp_data_o,
  output logic        rsp_error_o,
  output logic        awvalid_o,
  input  logic        awready_i,
  output logic [31:0] awaddr_o,
  output logic        wvalid_o,
  input  logic        wready_i,
  output logic [31:0] wdata_o,
  output logic  [3:0] wstrb_o,
  input  logic        bvalid_i,
  output logic        bready_o,
  input  logic  [1:0] bresp_i,
  output logic        arvalid_o,
  input  logic        arready_i,
  output logic [31:0] araddr_o,
  input  logic        rvalid_i,
  output logic        rready_o,
  input  logic [31:0] rdata_i,
  input  logic  [1:0] rresp_i
);
  logic write, read, address_sent_q, data_sent_q;
  assign write = req_valid_i && req_write_i;
  assign read  = req_valid_i && !req_write_i;

  assign awvalid_o = write && !address_sent_q;
  assign awaddr_o  = req_addr_i;
  assign wvalid_o  = write && !data_sent_q;
  assign wdata_o   = req_data_i;
  assign wstrb_o   = '1;
  assign bready_o  = write && address_sent_q && data_sent_q;
  assign arvalid_o = read && !address_sent_q;
  assign araddr_o  = req_addr_i;
  assign rready_o  = read && address_sent_q;

  assign rsp_valid_o = (bready_o && bvalid_i) || (rready_o && rvalid_i);
  assign rsp_data_o  = rdata_i;
  assign rsp_error_o = write ? bresp_i[1] : rresp_i[1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      address_sent_q <= 1'b0;
      data_sent_q    <= 1'b0;
    end else if (rsp_valid_o) begin
      address_sent_q <= 1'b0;
      data_sent_q    <= 1'b0;
    end else begin
      if ((awvalid_o && awready_i) || (arvalid_o && arready_i)) address_sent_q <= 1'b1;
      if (wvalid_o && wready_i) data_sent_q <= 1'b1;
    end
  end
endmodule
