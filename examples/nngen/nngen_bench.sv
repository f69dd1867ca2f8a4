// SPDX-License-Identifier: Apache-2.0
/// Closes the accelerator that nngen generates: a memory behind its AXI4 master, a host at its AXI4-Lite slave.
module nngen_bench #(
  parameter int unsigned MemoryWords  = 2048,  // of 32 bits
  parameter int unsigned ReadLatency  = 16,
  parameter int unsigned WriteLatency = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic        error_o,
  output logic [31:0] status_o
);
  logic irq;
  logic [31:0] araddr, awaddr, wdata, rdata;
  logic [7:0] arlen, awlen;
  logic [2:0] arsize, awsize;
  logic [1:0] arburst, awburst, rresp, bresp;
  logic [3:0] wstrb;
  logic arvalid, arready, rvalid, rready, rlast, awvalid, awready, wvalid, wready, wlast, bvalid, bready;

  logic [31:0] s_awaddr, s_wdata, s_araddr, s_rdata;
  logic [3:0] s_wstrb;
  logic [1:0] s_bresp, s_rresp;
  logic s_awvalid, s_awready, s_wvalid, s_wready, s_bvalid, s_bready, s_arvalid, s_arready, s_rvalid, s_rready;

  logic req_valid, req_write, rsp_valid, rsp_error;
  logic [31:0] req_addr, req_data, rsp_data;

  resil_boot #(
    .Words(16)
  ) u_boot (
    .clk_i,
    .rst_ni,
    .irq_i       ({31'd0, irq}),
    .req_valid_o (req_valid),
    .req_write_o (req_write),
    .req_addr_o  (req_addr),
    .req_data_o  (req_data),
    .rsp_valid_i (rsp_valid),
    .rsp_data_i  (rsp_data),
    .rsp_error_i (rsp_error),
    .done_o,
    .error_o,
    .status_o,
    .operations_o()
  );

  resil_axil_master u_host (
    .clk_i,
    .rst_ni,
    .req_valid_i(req_valid),
    .req_write_i(req_write),
    .req_addr_i (req_addr),
    .req_data_i (req_data),
    .rsp_valid_o(rsp_valid),
    .rsp_data_o (rsp_data),
    .rsp_error_o(rsp_error),
    .awvalid_o  (s_awvalid),
    .awready_i  (s_awready),
    .awaddr_o   (s_awaddr),
    .wvalid_o   (s_wvalid),
    .wready_i   (s_wready),
    .wdata_o    (s_wdata),
    .wstrb_o    (s_wstrb),
    .bvalid_i   (s_bvalid),
    .bready_o   (s_bready),
    .bresp_i    (s_bresp),
    .arvalid_o  (s_arvalid),
    .arready_i  (s_arready),
    .araddr_o   (s_araddr),
    .rvalid_i   (s_rvalid),
    .rready_o   (s_rready),
    .rdata_i    (s_rdata),
    .rresp_i    (s_rresp)
  );

  nngen_cnn u_dut (
    .CLK         (clk_i),
    .RESETN      (rst_ni),
    .irq         (irq),
    .maxi_awaddr (awaddr),
    .maxi_awlen  (awlen),
    .maxi_awsize (awsize),
    .maxi_awburst(awburst),
    .maxi_awlock (),
    .maxi_awcache(),
    .maxi_awprot (),
    .maxi_awqos  (),
    .maxi_awuser (),
    .maxi_awvalid(awvalid),
    .maxi_awready(awready),
    .maxi_wdata  (wdata),
    .maxi_wstrb  (wstrb),
    .maxi_wlast  (wlast),
    .maxi_wvalid (wvalid),
    .maxi_wready (wready),
    .maxi_bresp  (bresp),
    .maxi_bvalid (bvalid),
    .maxi_bready (bready),
    .maxi_araddr (araddr),
    .maxi_arlen  (arlen),
    .maxi_arsize (arsize),
    .maxi_arburst(arburst),
    .maxi_arlock (),
    .maxi_arcache(),
    .maxi_arprot (),
    .maxi_arqos  (),
    .maxi_aruser (),
    .maxi_arvalid(arvalid),
    .maxi_arready(arready),
    .maxi_rdata  (rdata),
    .maxi_rresp  (rresp),
    .maxi_rlast  (rlast),
    .maxi_rvalid (rvalid),
    .maxi_rready (rready),
    .saxi_awaddr (s_awaddr),
    .saxi_awcache('0),
    .saxi_awprot ('0),
    .saxi_awvalid(s_awvalid),
    .saxi_awready(s_awready),
    .saxi_wdata  (s_wdata),
    .saxi_wstrb  (s_wstrb),
    .saxi_wvalid (s_wvalid),
    .saxi_wready (s_wready),
    .saxi_bresp  (s_bresp),
    .saxi_bvalid (s_bvalid),
    .saxi_bready (s_bready),
    .saxi_araddr (s_araddr),
    .saxi_arcache('0),
    .saxi_arprot ('0),
    .saxi_arvalid(s_arvalid),
    .saxi_arready(s_arready),
    .saxi_rdata  (s_rdata),
    .saxi_rresp  (s_rresp),
    .saxi_rvalid (s_rvalid),
    .saxi_rready (s_rready)
  );

  resil_axi_mem #(
    .DataWidth   (32),
    .Words       (MemoryWords),
    .ReadLatency (ReadLatency),
    .WriteLatency(WriteLatency),
    .PlusArg     ("dram")
  ) u_dram (
    .clk_i,
    .rst_ni,
    .arvalid_i(arvalid),
    .arready_o(arready),
    .arid_i   ('0),
    .araddr_i (araddr),
    .arlen_i  (arlen),
    .arsize_i (arsize),
    .arburst_i(arburst),
    .rvalid_o (rvalid),
    .rready_i (rready),
    .rid_o    (),
    .rdata_o  (rdata),
    .rresp_o  (rresp),
    .rlast_o  (rlast),
    .awvalid_i(awvalid),
    .awready_o(awready),
    .awid_i   ('0),
    .awaddr_i (awaddr),
    .awlen_i  (awlen),
    .awsize_i (awsize),
    .awburst_i(awburst),
    .wvalid_i (wvalid),
    .wready_o (wready),
    .wdata_i  (wdata),
    .wstrb_i  (wstrb),
    .wlast_i  (wlast),
    .bvalid_o (bvalid),
    .bready_i (bready),
    .bid_o    (),
    .bresp_o  (bresp)
  );
endmodule
