// SPDX-License-Identifier: Apache-2.0
/// Walks along a list in a memory, adds up what it finds, and writes every fourth sum. A request stays until it
/// is taken, or answered at once.
module roamer (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        step_i,
  output logic        want_o,
  output logic        we_o,
  output logic  [5:0] addr_o,
  output logic [31:0] data_o,
  input  logic        taken_i,
  input  logic        done_i,
  input  logic [31:0] data_i,
  output logic [15:0] sum_o
);
  logic [5:0]  addr_q;
  logic [15:0] sum_q;
  logic [1:0]  turn_q;
  logic        want_q, wait_q;

  assign want_o = want_q;
  assign we_o   = &turn_q;
  assign addr_o = addr_q;
  assign data_o = {16'd0, sum_q};
  assign sum_o  = sum_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      addr_q <= '0;
      sum_q  <= '0;
      turn_q <= '0;
      want_q <= 1'b0;
      wait_q <= 1'b0;
    end else if (done_i && (want_q || wait_q)) begin
      want_q <= 1'b0;
      wait_q <= 1'b0;
      turn_q <= turn_q + 2'd1;
      addr_q <= we_o ? addr_q + 6'd1 : data_i[21:16];
      if (!we_o) sum_q <= sum_q + data_i[15:0];
    end else if (taken_i && want_q) begin
      want_q <= 1'b0;
      wait_q <= 1'b1;
    end else if (step_i && !wait_q) begin
      want_q <= 1'b1;
    end
  end
endmodule

/// A roamer behind each kind of bus. `slow_i` makes the SRAM port wait another cycle for its data.
module roamers (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        step_i,
  input  logic        slow_i,
  // AXI4: reads are bursts of two words that wrap.
  output logic        full_arvalid_o,
  input  logic        full_arready_i,
  output logic  [1:0] full_arid_o,
  output logic  [7:0] full_araddr_o,
  output logic  [7:0] full_arlen_o,
  output logic  [2:0] full_arsize_o,
  output logic  [1:0] full_arburst_o,
  input  logic        full_rvalid_i,
  output logic        full_rready_o,
  input  logic  [1:0] full_rid_i,
  input  logic [31:0] full_rdata_i,
  input  logic  [1:0] full_rresp_i,
  input  logic        full_rlast_i,
  output logic        full_awvalid_o,
  input  logic        full_awready_i,
  output logic  [2:0] full_awid_o,
  output logic  [7:0] full_awaddr_o,
  output logic  [7:0] full_awlen_o,
  output logic        full_wvalid_o,
  input  logic        full_wready_i,
  output logic [31:0] full_wdata_o,
  output logic  [3:0] full_wstrb_o,
  output logic        full_wlast_o,
  input  logic        full_bvalid_i,
  output logic        full_bready_o,
  input  logic  [2:0] full_bid_i,
  input  logic  [1:0] full_bresp_i,
  output logic [15:0] full_sum_o,
  // AXI4-Lite
  output logic        lite_arvalid_o,
  input  logic        lite_arready_i,
  output logic  [7:0] lite_araddr_o,
  input  logic        lite_rvalid_i,
  output logic        lite_rready_o,
  input  logic [31:0] lite_rdata_i,
  input  logic  [1:0] lite_rresp_i,
  output logic        lite_awvalid_o,
  input  logic        lite_awready_i,
  output logic  [7:0] lite_awaddr_o,
  output logic        lite_wvalid_o,
  input  logic        lite_wready_i,
  output logic [31:0] lite_wdata_o,
  output logic  [3:0] lite_wstrb_o,
  input  logic        lite_bvalid_i,
  output logic        lite_bready_o,
  input  logic  [1:0] lite_bresp_i,
  output logic [15:0] lite_sum_o,
  // AHB-Lite
  output logic  [7:0] ahb_haddr_o,
  output logic  [1:0] ahb_htrans_o,
  output logic        ahb_hwrite_o,
  output logic  [2:0] ahb_hsize_o,
  output logic [31:0] ahb_hwdata_o,
  input  logic        ahb_hready_i,
  input  logic        ahb_hresp_i,
  input  logic [31:0] ahb_hrdata_i,
  output logic [15:0] ahb_sum_o,
  // OBI
  output logic        obi_req_o,
  input  logic        obi_gnt_i,
  output logic  [7:0] obi_addr_o,
  output logic        obi_we_o,
  output logic  [3:0] obi_be_o,
  output logic [31:0] obi_wdata_o,
  input  logic        obi_rvalid_i,
  input  logic        obi_err_i,
  input  logic [31:0] obi_rdata_i,
  output logic [15:0] obi_sum_o,
  // TileLink-UL
  output logic        tl_a_valid_o,
  input  logic        tl_a_ready_i,
  output logic  [2:0] tl_a_opcode_o,
  output logic  [1:0] tl_a_size_o,
  output logic        tl_a_source_o,
  output logic  [7:0] tl_a_address_o,
  output logic  [3:0] tl_a_mask_o,
  output logic [31:0] tl_a_data_o,
  input  logic        tl_d_valid_i,
  output logic        tl_d_ready_o,
  input  logic  [2:0] tl_d_opcode_i,
  input  logic        tl_d_source_i,
  input  logic        tl_d_sink_i,
  input  logic        tl_d_error_i,
  input  logic [31:0] tl_d_data_i,
  output logic [15:0] tl_sum_o,
  // Wishbone, classic
  output logic        wb_cyc_o,
  output logic        wb_stb_o,
  output logic        wb_we_o,
  output logic  [7:0] wb_adr_o,
  output logic  [3:0] wb_sel_o,
  output logic [31:0] wb_dat_o,
  input  logic [31:0] wb_dat_i,
  input  logic        wb_ack_i,
  output logic [15:0] wb_sum_o,
  // Wishbone, pipelined
  output logic        wbp_cyc_o,
  output logic        wbp_stb_o,
  output logic        wbp_we_o,
  output logic  [7:0] wbp_adr_o,
  output logic  [3:0] wbp_sel_o,
  output logic [31:0] wbp_dat_o,
  input  logic [31:0] wbp_dat_i,
  input  logic        wbp_ack_i,
  input  logic        wbp_err_i,
  input  logic        wbp_stall_i,
  output logic [15:0] wbp_sum_o,
  // SRAM port
  output logic        ram_req_o,
  output logic        ram_we_o,
  output logic  [5:0] ram_addr_o,
  output logic [31:0] ram_wdata_o,
  input  logic [31:0] ram_rdata_i,
  output logic [15:0] ram_sum_o
);
  localparam int unsigned Full = 0, Lite = 1, Ahb = 2, Obi = 3, Tl = 4, Wb = 5, Wbp = 6, Ram = 7, Kinds = 8;

  logic [Kinds-1:0] want, we, taken, done;
  logic [Kinds-1:0][5:0] addr;
  logic [Kinds-1:0][31:0] wdata, rdata;
  logic [Kinds-1:0][15:0] sum;

  // Each under the name of its bus.
`define ROAMER(Name, Kind) \
  roamer u_``Name ( \
    .clk_i, .rst_ni, .step_i, .want_o(want[Kind]), .we_o(we[Kind]), .addr_o(addr[Kind]), \
    .data_o(wdata[Kind]), .taken_i(taken[Kind]), .done_i(done[Kind]), .data_i(rdata[Kind]), \
    .sum_o(Name``_sum_o) \
  );
  `ROAMER(full, Full)
  `ROAMER(lite, Lite)
  `ROAMER(ahb, Ahb)
  `ROAMER(obi, Obi)
  `ROAMER(tl, Tl)
  `ROAMER(wb, Wb)
  `ROAMER(wbp, Wbp)
  `ROAMER(ram, Ram)

  // What was sent of an access to AXI.
  logic full_ar_q, full_aw_q, full_w_q, lite_ar_q, lite_aw_q, lite_w_q;
  logic [15:0] full_first_q;
  assign full_arvalid_o = want[Full] && !we[Full] && !full_ar_q;
  assign full_arid_o    = 2'd2;
  assign full_araddr_o  = {addr[Full], 2'd0};
  assign full_arlen_o   = 8'd1;
  assign full_arsize_o  = 3'd2;
  assign full_arburst_o = 2'd2;
  assign full_rready_o  = 1'b1;
  assign full_awvalid_o = want[Full] && we[Full] && !full_aw_q;
  assign full_awid_o    = 3'd5;
  assign full_awaddr_o  = {addr[Full], 2'd0};
  assign full_awlen_o   = 8'd0;
  assign full_wvalid_o  = want[Full] && we[Full] && !full_w_q;
  assign full_wdata_o   = wdata[Full];
  assign full_wstrb_o   = '1;
  assign full_wlast_o   = 1'b1;
  assign full_bready_o  = 1'b1;
  assign taken[Full]    = 1'b0;
  assign done[Full]     = (full_rvalid_i && full_rlast_i) || full_bvalid_i;
  assign rdata[Full]    = full_rdata_i ^ {16'd0, full_first_q};

  assign lite_arvalid_o = want[Lite] && !we[Lite] && !lite_ar_q;
  assign lite_araddr_o  = {addr[Lite], 2'd0};
  assign lite_rready_o  = 1'b1;
  assign lite_awvalid_o = want[Lite] && we[Lite] && !lite_aw_q;
  assign lite_awaddr_o  = {addr[Lite], 2'd0};
  assign lite_wvalid_o  = want[Lite] && we[Lite] && !lite_w_q;
  assign lite_wdata_o   = wdata[Lite];
  assign lite_wstrb_o   = '1;
  assign lite_bready_o  = 1'b1;
  assign taken[Lite]    = 1'b0;
  assign done[Lite]     = lite_rvalid_i || lite_bvalid_i;
  assign rdata[Lite]    = lite_rdata_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {full_ar_q, full_aw_q, full_w_q, lite_ar_q, lite_aw_q, lite_w_q} <= '0;
      full_first_q <= '0;
    end else begin
      full_ar_q <= (full_ar_q || (full_arvalid_o && full_arready_i)) && !done[Full];
      full_aw_q <= (full_aw_q || (full_awvalid_o && full_awready_i)) && !done[Full];
      full_w_q  <= (full_w_q || (full_wvalid_o && full_wready_i)) && !done[Full];
      lite_ar_q <= (lite_ar_q || (lite_arvalid_o && lite_arready_i)) && !done[Lite];
      lite_aw_q <= (lite_aw_q || (lite_awvalid_o && lite_awready_i)) && !done[Lite];
      lite_w_q  <= (lite_w_q || (lite_wvalid_o && lite_wready_i)) && !done[Lite];
      if (full_rvalid_i) full_first_q <= full_rlast_i ? '0 : full_rdata_i[15:0];
    end
  end

  logic ahb_data_q, ram_read_q, ram_late_q;
  assign ahb_haddr_o  = {addr[Ahb], 2'd0};
  assign ahb_htrans_o = {want[Ahb], 1'b0};
  assign ahb_hwrite_o = we[Ahb] && want[Ahb];
  assign ahb_hsize_o  = 3'd2;
  assign ahb_hwdata_o = wdata[Ahb];
  assign taken[Ahb]   = ahb_hready_i;
  assign done[Ahb]    = ahb_data_q && ahb_hready_i;
  assign rdata[Ahb]   = ahb_hrdata_i;

  // Whether it is a write is seen with the request alone; writes of the SRAM port are done at once.
  assign obi_req_o   = want[Obi];
  assign obi_addr_o  = {addr[Obi], 2'd0};
  assign obi_we_o    = we[Obi] && want[Obi];
  assign obi_be_o    = '1;
  assign obi_wdata_o = wdata[Obi];
  assign taken[Obi]  = obi_gnt_i;
  assign done[Obi]   = obi_rvalid_i;
  assign rdata[Obi]  = obi_rdata_i;

  assign tl_a_valid_o   = want[Tl];
  assign tl_a_opcode_o  = {!(we[Tl] && want[Tl]), 2'd0};
  assign tl_a_size_o    = 2'd2;
  assign tl_a_source_o  = 1'b1;
  assign tl_a_address_o = {addr[Tl], 2'd0};
  assign tl_a_mask_o    = '1;
  assign tl_a_data_o    = wdata[Tl];
  assign tl_d_ready_o   = 1'b1;
  assign taken[Tl]      = tl_a_ready_i;
  assign done[Tl]       = tl_d_valid_i;
  assign rdata[Tl]      = tl_d_data_i;

  assign wb_cyc_o  = want[Wb];
  assign wb_stb_o  = want[Wb];
  assign wb_we_o   = we[Wb];
  assign wb_adr_o  = {addr[Wb], 2'd0};
  assign wb_sel_o  = '1;
  assign wb_dat_o  = wdata[Wb];
  assign taken[Wb] = 1'b0;
  assign done[Wb]  = wb_ack_i;
  assign rdata[Wb] = wb_dat_i;

  logic wbp_open_q;
  assign wbp_cyc_o  = want[Wbp] || wbp_open_q;
  assign wbp_stb_o  = want[Wbp];
  assign wbp_we_o   = we[Wbp] && want[Wbp];
  assign wbp_adr_o  = {addr[Wbp], 2'd0};
  assign wbp_sel_o  = '1;
  assign wbp_dat_o  = wdata[Wbp];
  assign taken[Wbp] = !wbp_stall_i;
  assign done[Wbp]  = wbp_ack_i || wbp_err_i;
  assign rdata[Wbp] = wbp_dat_i;

  assign ram_req_o   = want[Ram];
  assign ram_we_o    = we[Ram] && want[Ram];
  assign ram_addr_o  = addr[Ram];
  assign ram_wdata_o = wdata[Ram];
  assign taken[Ram]  = 1'b1;
  assign done[Ram]   = ram_we_o || (slow_i ? ram_late_q : ram_read_q);
  assign rdata[Ram]  = ram_rdata_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ahb_data_q, ram_read_q, ram_late_q, wbp_open_q} <= '0;
    end else begin
      if (ahb_hready_i) ahb_data_q <= want[Ahb];
      ram_read_q <= want[Ram] && !we[Ram];
      ram_late_q <= ram_read_q;
      wbp_open_q <= (want[Wbp] && !wbp_stall_i) || (wbp_open_q && !done[Wbp]);
    end
  end
endmodule
