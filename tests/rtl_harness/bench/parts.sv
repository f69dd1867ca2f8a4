// SPDX-License-Identifier: Apache-2.0
// The bench parts side by side, each with its ports outside, for verification components of others.
module parts (
  input  logic        clk,
  input  logic        rst_n,
  input  logic  [3:0] p0_arid, p1_arid, p0_awid, p1_awid,
  input  logic [31:0] p0_araddr, p1_araddr, p0_awaddr, p1_awaddr,
  input  logic  [7:0] p0_arlen, p1_arlen, p0_awlen, p1_awlen,
  input  logic  [2:0] p0_arsize, p1_arsize, p0_awsize, p1_awsize,
  input  logic  [1:0] p0_arburst, p1_arburst, p0_awburst, p1_awburst,
  input  logic        p0_arvalid, p1_arvalid, p0_awvalid, p1_awvalid,
  output logic        p0_arready, p1_arready, p0_awready, p1_awready,
  output logic  [3:0] p0_rid, p1_rid, p0_bid, p1_bid,
  output logic [63:0] p0_rdata, p1_rdata,
  output logic  [1:0] p0_rresp, p1_rresp, p0_bresp, p1_bresp,
  output logic        p0_rlast, p1_rlast, p0_rvalid, p1_rvalid, p0_bvalid, p1_bvalid,
  input  logic        p0_rready, p1_rready, p0_bready, p1_bready,
  input  logic [63:0] p0_wdata, p1_wdata,
  input  logic  [7:0] p0_wstrb, p1_wstrb,
  input  logic        p0_wlast, p1_wlast, p0_wvalid, p1_wvalid,
  output logic        p0_wready, p1_wready,

  output logic [31:0] src_tdata,
  output logic  [3:0] src_tkeep,
  output logic        src_tvalid, src_tlast, src_done,
  input  logic        src_tready,
  input  logic [31:0] snk_tdata,
  input  logic  [3:0] snk_tkeep,
  input  logic        snk_tvalid, snk_tlast,
  output logic        snk_tready, snk_overflow,
  output logic [31:0] snk_words, snk_packets,

  input  logic [31:0] ahb_haddr, ahb_hwdata,
  input  logic  [2:0] ahb_hsize,
  input  logic  [1:0] ahb_htrans,
  input  logic        ahb_hwrite,
  output logic [31:0] ahb_hrdata,
  output logic        ahb_hready, ahb_hresp,

  input  logic        obi_req, obi_we, obi_rready,
  input  logic [31:0] obi_addr, obi_wdata,
  input  logic  [3:0] obi_be,
  input  logic  [1:0] obi_aid,
  output logic        obi_gnt, obi_rvalid, obi_err,
  output logic [31:0] obi_rdata,
  output logic  [1:0] obi_rid,

  input  logic        wb_cyc, wb_stb, wb_we, wp_cyc, wp_stb, wp_we,
  input  logic [31:0] wb_adr, wb_datwr, wp_adr, wp_datwr,
  input  logic  [3:0] wb_sel, wp_sel,
  output logic [31:0] wb_datrd, wp_datrd,
  output logic        wb_ack, wb_err, wp_ack, wp_err, wp_stall,

  input  logic        tl_a_valid, tl_d_ready,
  input  logic  [2:0] tl_a_opcode,
  input  logic  [1:0] tl_a_size,
  input  logic  [2:0] tl_a_source,
  input  logic [31:0] tl_a_address, tl_a_data,
  input  logic  [3:0] tl_a_mask,
  output logic        tl_a_ready, tl_d_valid, tl_d_denied, tl_d_corrupt,
  output logic  [2:0] tl_d_opcode, tl_d_source,
  output logic  [1:0] tl_d_size,
  output logic [31:0] tl_d_data,

  input  logic        ram_req, ram_we,
  input  logic  [3:0] ram_be,
  input  logic  [7:0] ram_addr,
  input  logic [31:0] ram_wdata,
  output logic [31:0] ram_rdata,
  output logic        ram_rvalid,

  input  logic        con_valid,
  input  logic  [7:0] con_char,
  output logic [31:0] con_count,
  output logic        con_done, con_overflow
);
  localparam logic [31:0] Base = 32'h1000;

  logic m_arvalid, m_arready, m_rvalid, m_rready, m_rlast, m_awvalid, m_awready, m_wvalid, m_wready, m_wlast;
  logic m_bvalid, m_bready;
  logic [4:0] m_arid, m_rid, m_awid, m_bid;
  logic [31:0] m_araddr, m_awaddr;
  logic [7:0] m_arlen, m_awlen, m_wstrb;
  logic [2:0] m_arsize, m_awsize;
  logic [1:0] m_arburst, m_awburst, m_rresp, m_bresp;
  logic [63:0] m_rdata, m_wdata;

  resil_axi_join #(.Ports(2), .DataWidth(64), .AddrWidth(32), .IdWidth(4)) u_join (
    .clk_i(clk), .rst_ni(rst_n),
    .arvalid_i({p1_arvalid, p0_arvalid}), .arready_o({p1_arready, p0_arready}), .arid_i({p1_arid, p0_arid}),
    .araddr_i({p1_araddr, p0_araddr}), .arlen_i({p1_arlen, p0_arlen}), .arsize_i({p1_arsize, p0_arsize}),
    .arburst_i({p1_arburst, p0_arburst}), .rvalid_o({p1_rvalid, p0_rvalid}), .rready_i({p1_rready, p0_rready}),
    .rid_o({p1_rid, p0_rid}), .rdata_o({p1_rdata, p0_rdata}), .rresp_o({p1_rresp, p0_rresp}),
    .rlast_o({p1_rlast, p0_rlast}), .awvalid_i({p1_awvalid, p0_awvalid}), .awready_o({p1_awready, p0_awready}),
    .awid_i({p1_awid, p0_awid}), .awaddr_i({p1_awaddr, p0_awaddr}), .awlen_i({p1_awlen, p0_awlen}),
    .awsize_i({p1_awsize, p0_awsize}), .awburst_i({p1_awburst, p0_awburst}), .wvalid_i({p1_wvalid, p0_wvalid}),
    .wready_o({p1_wready, p0_wready}), .wdata_i({p1_wdata, p0_wdata}), .wstrb_i({p1_wstrb, p0_wstrb}),
    .wlast_i({p1_wlast, p0_wlast}), .bvalid_o({p1_bvalid, p0_bvalid}), .bready_i({p1_bready, p0_bready}),
    .bid_o({p1_bid, p0_bid}), .bresp_o({p1_bresp, p0_bresp}),
    .mem_arvalid_o(m_arvalid), .mem_arready_i(m_arready), .mem_arid_o(m_arid), .mem_araddr_o(m_araddr),
    .mem_arlen_o(m_arlen), .mem_arsize_o(m_arsize), .mem_arburst_o(m_arburst), .mem_rvalid_i(m_rvalid),
    .mem_rready_o(m_rready), .mem_rid_i(m_rid), .mem_rdata_i(m_rdata), .mem_rresp_i(m_rresp), .mem_rlast_i(m_rlast),
    .mem_awvalid_o(m_awvalid), .mem_awready_i(m_awready), .mem_awid_o(m_awid), .mem_awaddr_o(m_awaddr),
    .mem_awlen_o(m_awlen), .mem_awsize_o(m_awsize), .mem_awburst_o(m_awburst), .mem_wvalid_o(m_wvalid),
    .mem_wready_i(m_wready), .mem_wdata_o(m_wdata), .mem_wstrb_o(m_wstrb), .mem_wlast_o(m_wlast),
    .mem_bvalid_i(m_bvalid), .mem_bready_o(m_bready), .mem_bid_i(m_bid), .mem_bresp_i(m_bresp)
  );
  resil_axi_mem #(
    .DataWidth(64), .AddrWidth(32), .IdWidth(5), .Words(256), .Base(Base), .ReadLatency(5), .WriteLatency(3)
  ) u_axi (
    .clk_i(clk), .rst_ni(rst_n), .arvalid_i(m_arvalid), .arready_o(m_arready), .arid_i(m_arid), .araddr_i(m_araddr),
    .arlen_i(m_arlen), .arsize_i(m_arsize), .arburst_i(m_arburst), .rvalid_o(m_rvalid), .rready_i(m_rready),
    .rid_o(m_rid), .rdata_o(m_rdata), .rresp_o(m_rresp), .rlast_o(m_rlast), .awvalid_i(m_awvalid),
    .awready_o(m_awready), .awid_i(m_awid), .awaddr_i(m_awaddr), .awlen_i(m_awlen), .awsize_i(m_awsize),
    .awburst_i(m_awburst), .wvalid_i(m_wvalid), .wready_o(m_wready), .wdata_i(m_wdata), .wstrb_i(m_wstrb),
    .wlast_i(m_wlast), .bvalid_o(m_bvalid), .bready_i(m_bready), .bid_o(m_bid), .bresp_o(m_bresp)
  );

  resil_axis_source #(.DataWidth(32), .Words(64), .Gap(2), .PlusArg("source")) u_source (
    .clk_i(clk), .rst_ni(rst_n), .tvalid_o(src_tvalid), .tready_i(src_tready), .tdata_o(src_tdata),
    .tkeep_o(src_tkeep), .tlast_o(src_tlast), .done_o(src_done)
  );
  resil_axis_sink #(.DataWidth(32), .Words(32), .Gap(1)) u_sink (
    .clk_i(clk), .rst_ni(rst_n), .tvalid_i(snk_tvalid), .tready_o(snk_tready), .tdata_i(snk_tdata),
    .tkeep_i(snk_tkeep), .tlast_i(snk_tlast), .words_o(snk_words), .packets_o(snk_packets),
    .overflow_o(snk_overflow)
  );

  resil_ahb_mem #(.Words(64), .Base(Base), .WaitStates(2)) u_ahb (
    .clk_i(clk), .rst_ni(rst_n), .hsel_i(1'b1), .haddr_i(ahb_haddr), .htrans_i(ahb_htrans), .hwrite_i(ahb_hwrite),
    .hsize_i(ahb_hsize), .hwdata_i(ahb_hwdata), .hready_i(ahb_hready), .hready_o(ahb_hready), .hresp_o(ahb_hresp),
    .hrdata_o(ahb_hrdata)
  );

  resil_obi_mem #(.IdWidth(2), .Words(64), .Base(Base), .Latency(3), .GrantInterval(2)) u_obi (
    .clk_i(clk), .rst_ni(rst_n), .req_i(obi_req), .gnt_o(obi_gnt), .addr_i(obi_addr), .we_i(obi_we), .be_i(obi_be),
    .wdata_i(obi_wdata), .aid_i(obi_aid), .rvalid_o(obi_rvalid), .rready_i(obi_rready), .rdata_o(obi_rdata),
    .err_o(obi_err), .rid_o(obi_rid)
  );

  resil_wishbone_mem #(.Words(64), .Base(Base), .Latency(2)) u_wb (
    .clk_i(clk), .rst_ni(rst_n), .cyc_i(wb_cyc), .stb_i(wb_stb), .we_i(wb_we), .adr_i(wb_adr), .sel_i(wb_sel),
    .dat_i(wb_datwr), .dat_o(wb_datrd), .ack_o(wb_ack), .err_o(wb_err), .stall_o()
  );
  resil_wishbone_mem #(.Words(64), .Base(Base), .Latency(3), .Pipelined(1'b1)) u_wp (
    .clk_i(clk), .rst_ni(rst_n), .cyc_i(wp_cyc), .stb_i(wp_stb), .we_i(wp_we), .adr_i(wp_adr), .sel_i(wp_sel),
    .dat_i(wp_datwr), .dat_o(wp_datrd), .ack_o(wp_ack), .err_o(wp_err), .stall_o(wp_stall)
  );

  resil_tilelink_mem #(.SourceWidth(3), .Words(64), .Base(Base), .Latency(2)) u_tl (
    .clk_i(clk), .rst_ni(rst_n), .a_valid_i(tl_a_valid), .a_ready_o(tl_a_ready), .a_opcode_i(tl_a_opcode),
    .a_size_i(tl_a_size), .a_source_i(tl_a_source), .a_address_i(tl_a_address), .a_mask_i(tl_a_mask),
    .a_data_i(tl_a_data), .d_valid_o(tl_d_valid), .d_ready_i(tl_d_ready), .d_opcode_o(tl_d_opcode),
    .d_size_o(tl_d_size), .d_source_o(tl_d_source), .d_data_o(tl_d_data), .d_denied_o(tl_d_denied),
    .d_corrupt_o(tl_d_corrupt)
  );

  resil_sram #(.AddrWidth(8), .Words(64), .Latency(2)) u_ram (
    .clk_i(clk), .rst_ni(rst_n), .req_i(ram_req), .we_i(ram_we), .be_i(ram_be), .addr_i(ram_addr),
    .wdata_i(ram_wdata), .rdata_o(ram_rdata), .rvalid_o(ram_rvalid)
  );

  resil_console #(.Characters(8)) u_console (
    .clk_i(clk), .rst_ni(rst_n), .valid_i(con_valid), .char_i(con_char), .count_o(con_count), .done_o(con_done),
    .overflow_o(con_overflow)
  );
endmodule
