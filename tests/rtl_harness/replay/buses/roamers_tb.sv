// SPDX-License-Identifier: Apache-2.0
/// The design with a memory at each bus, whose answers come `Late` cycles later. What is not valid is what no memory
/// has. Addresses of a kind are moved by what stands in `moved_i`.
module rig #(
  parameter int Late = 0
) (
  input logic clk_i,
  input logic rst_ni,
  input logic step_i,
  input logic [7:0][7:0] moved_i
);
  localparam logic [31:0] Junk = 32'h00DE_ADAD;
  logic full_arvalid, full_arready, full_rvalid, full_rready, full_rlast, full_awvalid, full_awready;
  logic full_wvalid, full_wready, full_wlast, full_bvalid, full_bready;
  logic [2:0] full_awid, full_bid, full_rid, full_arsize;
  logic [1:0] full_arid, full_arburst, full_rresp, full_bresp;
  logic [7:0] full_araddr, full_arlen, full_awaddr, full_awlen;
  logic [31:0] full_rdata, full_wdata;
  logic [3:0] full_wstrb;
  logic lite_arvalid, lite_arready, lite_rvalid, lite_rready, lite_awvalid, lite_awready;
  logic lite_wvalid, lite_wready, lite_bvalid, lite_bready;
  logic [1:0] lite_rresp, lite_bresp;
  logic [7:0] lite_araddr, lite_awaddr;
  logic [31:0] lite_rdata, lite_wdata;
  logic [3:0] lite_wstrb;
  logic [7:0] ahb_haddr;
  logic [1:0] ahb_htrans;
  logic [2:0] ahb_hsize;
  logic ahb_hwrite, ahb_hready, ahb_hresp;
  logic [31:0] ahb_hwdata, ahb_hrdata;
  logic obi_req, obi_gnt, obi_we, obi_rvalid, obi_err;
  logic [7:0] obi_addr;
  logic [3:0] obi_be;
  logic [31:0] obi_wdata, obi_rdata;
  logic tl_a_valid, tl_a_ready, tl_a_source, tl_d_valid, tl_d_ready, tl_d_source, tl_d_error;
  logic [2:0] tl_a_opcode, tl_d_opcode;
  logic [1:0] tl_a_size;
  logic [7:0] tl_a_address;
  logic [3:0] tl_a_mask;
  logic [31:0] tl_a_data, tl_d_data;
  logic wb_cyc, wb_stb, wb_we, wb_ack, wbp_cyc, wbp_stb, wbp_we, wbp_ack, wbp_err, wbp_stall;
  logic [7:0] wb_adr, wbp_adr;
  logic [3:0] wb_sel, wbp_sel;
  logic [31:0] wb_wdata, wb_rdata, wbp_wdata, wbp_rdata, ram_wdata, ram_rdata;
  logic ram_req, ram_we, ram_rvalid;
  logic [5:0] ram_addr;
  logic [7:0] ram_bytes;
  logic ahb_read_q, obi_read_q, tl_read_q, wbp_read_q;

  always_ff @(posedge clk_i) begin
    if (ahb_hready) ahb_read_q <= ahb_htrans[1] && !ahb_hwrite;
    if (obi_req && obi_gnt) obi_read_q <= !obi_we;
    if (tl_a_valid && tl_a_ready) tl_read_q <= tl_a_opcode[2];
    if (wbp_stb && !wbp_stall) wbp_read_q <= !wbp_we;
  end

  roamers u_dut (
    .clk_i, .rst_ni, .step_i, .slow_i(Late != 0),
    .full_arvalid_o(full_arvalid), .full_arready_i(full_arready), .full_arid_o(full_arid),
    .full_araddr_o(full_araddr), .full_arlen_o(full_arlen), .full_arsize_o(full_arsize),
    .full_arburst_o(full_arburst), .full_rvalid_i(full_rvalid), .full_rready_o(full_rready),
    .full_rid_i(full_rvalid ? full_rid[1:0] : '1), .full_rdata_i(full_rvalid ? full_rdata : Junk),
    .full_rresp_i(full_rvalid ? full_rresp : '1), .full_rlast_i(full_rvalid ? full_rlast : 1'b1),
    .full_awvalid_o(full_awvalid), .full_awready_i(full_awready && full_awvalid), .full_awid_o(full_awid),
    .full_awaddr_o(full_awaddr), .full_awlen_o(full_awlen), .full_wvalid_o(full_wvalid),
    .full_wready_i(full_wready && full_wvalid), .full_wdata_o(full_wdata), .full_wstrb_o(full_wstrb),
    .full_wlast_o(full_wlast), .full_bvalid_i(full_bvalid), .full_bready_o(full_bready),
    .full_bid_i(full_bvalid ? full_bid : '1), .full_bresp_i(full_bvalid ? full_bresp : '1), .full_sum_o(),
    .lite_arvalid_o(lite_arvalid), .lite_arready_i(lite_arready && lite_arvalid),
    .lite_araddr_o(lite_araddr), .lite_rvalid_i(lite_rvalid), .lite_rready_o(lite_rready),
    .lite_rdata_i(lite_rvalid ? lite_rdata : Junk), .lite_rresp_i(lite_rvalid ? lite_rresp : '1),
    .lite_awvalid_o(lite_awvalid), .lite_awready_i(lite_awready), .lite_awaddr_o(lite_awaddr),
    .lite_wvalid_o(lite_wvalid), .lite_wready_i(lite_wready), .lite_wdata_o(lite_wdata),
    .lite_wstrb_o(lite_wstrb), .lite_bvalid_i(lite_bvalid), .lite_bready_o(lite_bready),
    .lite_bresp_i(lite_bvalid ? lite_bresp : '1), .lite_sum_o(),
    .ahb_haddr_o(ahb_haddr), .ahb_htrans_o(ahb_htrans), .ahb_hwrite_o(ahb_hwrite), .ahb_hsize_o(ahb_hsize),
    .ahb_hwdata_o(ahb_hwdata), .ahb_hready_i(ahb_hready), .ahb_hresp_i(ahb_hresp),
    .ahb_hrdata_i(ahb_hready && ahb_read_q ? ahb_hrdata : Junk), .ahb_sum_o(),
    .obi_req_o(obi_req), .obi_gnt_i(obi_gnt && obi_req), .obi_addr_o(obi_addr), .obi_we_o(obi_we),
    .obi_be_o(obi_be), .obi_wdata_o(obi_wdata), .obi_rvalid_i(obi_rvalid),
    .obi_err_i(obi_rvalid ? obi_err : 1'b1), .obi_rdata_i(obi_rvalid && obi_read_q ? obi_rdata : Junk),
    .obi_sum_o(),
    .tl_a_valid_o(tl_a_valid), .tl_a_ready_i(tl_a_ready && tl_a_valid), .tl_a_opcode_o(tl_a_opcode),
    .tl_a_size_o(tl_a_size), .tl_a_source_o(tl_a_source), .tl_a_address_o(tl_a_address),
    .tl_a_mask_o(tl_a_mask), .tl_a_data_o(tl_a_data), .tl_d_valid_i(tl_d_valid),
    .tl_d_ready_o(tl_d_ready), .tl_d_opcode_i(tl_d_valid ? tl_d_opcode : '1),
    .tl_d_source_i(tl_d_source), .tl_d_sink_i(1'b1), .tl_d_error_i(tl_d_valid ? tl_d_error : 1'b1),
    .tl_d_data_i(tl_d_valid && tl_read_q ? tl_d_data : Junk), .tl_sum_o(),
    .wb_cyc_o(wb_cyc), .wb_stb_o(wb_stb), .wb_we_o(wb_we), .wb_adr_o(wb_adr), .wb_sel_o(wb_sel),
    .wb_dat_o(wb_wdata), .wb_dat_i(wb_ack && !wb_we ? wb_rdata : Junk), .wb_ack_i(wb_ack), .wb_sum_o(),
    .wbp_cyc_o(wbp_cyc), .wbp_stb_o(wbp_stb), .wbp_we_o(wbp_we), .wbp_adr_o(wbp_adr), .wbp_sel_o(wbp_sel),
    .wbp_dat_o(wbp_wdata), .wbp_dat_i(wbp_ack && wbp_read_q ? wbp_rdata : Junk), .wbp_ack_i(wbp_ack),
    .wbp_err_i(wbp_err), .wbp_stall_i(wbp_stall || !wbp_stb), .wbp_sum_o(),
    .ram_req_o(ram_req), .ram_we_o(ram_we), .ram_addr_o(ram_addr), .ram_wdata_o(ram_wdata),
    .ram_rdata_i(ram_rvalid ? ram_rdata : Junk), .ram_sum_o()
  );

  resil_axi_mem #(
    .DataWidth(32), .AddrWidth(8), .IdWidth(3), .Words(64), .ReadLatency(3 + Late), .WriteLatency(1),
    .PlusArg("words")
  ) u_full (
    .clk_i, .rst_ni, .arvalid_i(full_arvalid), .arready_o(full_arready), .arid_i({1'b0, full_arid}),
    .araddr_i(full_araddr + moved_i[0]), .arlen_i(full_arlen), .arsize_i(full_arsize),
    .arburst_i(full_arburst), .rvalid_o(full_rvalid), .rready_i(full_rready), .rid_o(full_rid),
    .rdata_o(full_rdata), .rresp_o(full_rresp), .rlast_o(full_rlast), .awvalid_i(full_awvalid),
    .awready_o(full_awready), .awid_i(full_awid), .awaddr_i(full_awaddr + moved_i[0]),
    .awlen_i(full_awlen), .awsize_i(3'd2), .awburst_i(2'd1), .wvalid_i(full_wvalid),
    .wready_o(full_wready), .wdata_i(full_wdata), .wstrb_i(full_wstrb), .wlast_i(full_wlast),
    .bvalid_o(full_bvalid), .bready_i(full_bready), .bid_o(full_bid), .bresp_o(full_bresp)
  );
  resil_axi_mem #(
    .DataWidth(32), .AddrWidth(8), .Words(64), .ReadLatency(3), .WriteLatency(1 + Late),
    .PlusArg("words")
  ) u_lite (
    .clk_i, .rst_ni, .arvalid_i(lite_arvalid), .arready_o(lite_arready), .arid_i('0),
    .araddr_i(lite_araddr + moved_i[1]), .arlen_i('0), .arsize_i(3'd2), .arburst_i(2'd1),
    .rvalid_o(lite_rvalid), .rready_i(lite_rready), .rid_o(), .rdata_o(lite_rdata), .rresp_o(lite_rresp),
    .rlast_o(), .awvalid_i(lite_awvalid), .awready_o(lite_awready), .awid_i('0),
    .awaddr_i(lite_awaddr + moved_i[1]), .awlen_i('0), .awsize_i(3'd2), .awburst_i(2'd1),
    .wvalid_i(lite_wvalid), .wready_o(lite_wready), .wdata_i(lite_wdata), .wstrb_i(lite_wstrb),
    .wlast_i(1'b1), .bvalid_o(lite_bvalid), .bready_i(lite_bready), .bid_o(), .bresp_o(lite_bresp)
  );
  resil_ahb_mem #(
    .AddrWidth(8), .Words(64), .WaitStates(Late), .PlusArg("words")
  ) u_ahb (
    .clk_i, .rst_ni, .hsel_i(1'b1), .haddr_i(ahb_haddr + moved_i[2]), .htrans_i(ahb_htrans),
    .hwrite_i(ahb_hwrite), .hsize_i(ahb_hsize), .hwdata_i(ahb_hwdata), .hready_i(ahb_hready),
    .hready_o(ahb_hready), .hresp_o(ahb_hresp), .hrdata_o(ahb_hrdata)
  );
  resil_obi_mem #(
    .AddrWidth(8), .Words(64), .Latency(1 + Late), .PlusArg("words")
  ) u_obi (
    .clk_i, .rst_ni, .req_i(obi_req), .gnt_o(obi_gnt), .addr_i(obi_addr + moved_i[3]), .we_i(obi_we),
    .be_i(obi_be), .wdata_i(obi_wdata), .aid_i('0), .rvalid_o(obi_rvalid), .rready_i(1'b1),
    .rdata_o(obi_rdata), .err_o(obi_err), .rid_o()
  );
  resil_tilelink_mem #(
    .AddrWidth(8), .Words(64), .Latency(1 + Late), .PlusArg("words")
  ) u_tl (
    .clk_i, .rst_ni, .a_valid_i(tl_a_valid), .a_ready_o(tl_a_ready), .a_opcode_i(tl_a_opcode),
    .a_size_i(tl_a_size), .a_source_i(tl_a_source), .a_address_i(tl_a_address + moved_i[4]),
    .a_mask_i(tl_a_mask), .a_data_i(tl_a_data), .d_valid_o(tl_d_valid), .d_ready_i(tl_d_ready),
    .d_opcode_o(tl_d_opcode), .d_size_o(), .d_source_o(tl_d_source), .d_data_o(tl_d_data),
    .d_denied_o(tl_d_error), .d_corrupt_o()
  );
  resil_wishbone_mem #(
    .AddrWidth(8), .Words(64), .Latency(1 + Late), .PlusArg("words")
  ) u_wb (
    .clk_i, .rst_ni, .cyc_i(wb_cyc), .stb_i(wb_stb), .we_i(wb_we), .adr_i(wb_adr + moved_i[5]),
    .sel_i(wb_sel), .dat_i(wb_wdata), .dat_o(wb_rdata), .ack_o(wb_ack), .err_o(), .stall_o()
  );
  resil_wishbone_mem #(
    .AddrWidth(8), .Words(64), .Pipelined(1'b1), .Latency(1 + Late), .PlusArg("words")
  ) u_wbp (
    .clk_i, .rst_ni, .cyc_i(wbp_cyc), .stb_i(wbp_stb), .we_i(wbp_we), .adr_i(wbp_adr + moved_i[6]),
    .sel_i(wbp_sel), .dat_i(wbp_wdata), .dat_o(wbp_rdata), .ack_o(wbp_ack), .err_o(wbp_err),
    .stall_o(wbp_stall)
  );
  assign ram_bytes = {ram_addr, 2'd0} + moved_i[7];
  resil_sram #(
    .AddrWidth(6), .Words(64), .Latency(1 + Late), .PlusArg("words")
  ) u_ram (
    .clk_i, .rst_ni, .req_i(ram_req), .we_i(ram_we), .be_i('1), .addr_i(ram_bytes[7:2]),
    .wdata_i(ram_wdata), .rdata_o(ram_rdata), .rvalid_o(ram_rvalid)
  );
endmodule

module roamers_tb;
  logic clk = 1'b0, rst_n = 1'b0, step = 1'b0;
  logic [7:0][7:0] moved = '0;
  int kind;
  always #5 clk = !clk;
  rig #(.Late(0)) u_rig (.clk_i(clk), .rst_ni(rst_n), .step_i(step), .moved_i(moved));
  rig #(.Late(1)) u_late (.clk_i(clk), .rst_ni(rst_n), .step_i(step), .moved_i(moved));

  initial begin
    if ($value$plusargs("moved=%d", kind)) moved[kind] = 8'd16;
    $dumpfile("roamers.vcd");
    $dumpvars;
    for (int k = 0; k < 400; k++) begin
      @(negedge clk);
      rst_n = k > 1 && k != 150;
      step = $urandom_range(3) != 0;
    end
    $finish;
  end
endmodule
