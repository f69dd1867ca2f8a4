// SPDX-License-Identifier: Apache-2.0
/// Joins AXI4 managers into one port of resil_axi_mem: `Ports` ports share its memory and its bandwidth. Addresses are
/// taken in turns. The number of the port stands above the ID and comes back with the answer. Data of writes follow
/// in the order of their addresses; how many beats a write has is said by its length, so that a port that ends a burst
/// early or never harms no other one's data.
module resil_axi_join #(
  parameter int unsigned Ports     = 2,
  parameter int unsigned DataWidth = 64,
  parameter int unsigned AddrWidth = 32,
  parameter int unsigned IdWidth   = 1,
  parameter int unsigned MaxWrites = 4,
  parameter int unsigned PortWidth = Ports > 1 ? $clog2(Ports) : 1  // do not change
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic [Ports-1:0]                  arvalid_i,
  output logic [Ports-1:0]                  arready_o,
  input  logic [Ports-1:0][IdWidth-1:0]     arid_i,
  input  logic [Ports-1:0][AddrWidth-1:0]   araddr_i,
  input  logic [Ports-1:0][7:0]             arlen_i,
  input  logic [Ports-1:0][2:0]             arsize_i,
  input  logic [Ports-1:0][1:0]             arburst_i,
  output logic [Ports-1:0]                  rvalid_o,
  input  logic [Ports-1:0]                  rready_i,
  output logic [Ports-1:0][IdWidth-1:0]     rid_o,
  output logic [Ports-1:0][DataWidth-1:0]   rdata_o,
  output logic [Ports-1:0][1:0]             rresp_o,
  output logic [Ports-1:0]                  rlast_o,
  input  logic [Ports-1:0]                  awvalid_i,
  output logic [Ports-1:0]                  awready_o,
  input  logic [Ports-1:0][IdWidth-1:0]     awid_i,
  input  logic [Ports-1:0][AddrWidth-1:0]   awaddr_i,
  input  logic [Ports-1:0][7:0]             awlen_i,
  input  logic [Ports-1:0][2:0]             awsize_i,
  input  logic [Ports-1:0][1:0]             awburst_i,
  input  logic [Ports-1:0]                  wvalid_i,
  output logic [Ports-1:0]                  wready_o,
  input  logic [Ports-1:0][DataWidth-1:0]   wdata_i,
  input  logic [Ports-1:0][DataWidth/8-1:0] wstrb_i,
  input  logic [Ports-1:0]                  wlast_i,
  output logic [Ports-1:0]                  bvalid_o,
  input  logic [Ports-1:0]                  bready_i,
  output logic [Ports-1:0][IdWidth-1:0]     bid_o,
  output logic [Ports-1:0][1:0]             bresp_o,
  // To the memory, whose IDs are PortWidth wider.
  output logic                              mem_arvalid_o,
  input  logic                              mem_arready_i,
  output logic [PortWidth+IdWidth-1:0]      mem_arid_o,
  output logic [AddrWidth-1:0]              mem_araddr_o,
  output logic [7:0]                        mem_arlen_o,
  output logic [2:0]                        mem_arsize_o,
  output logic [1:0]                        mem_arburst_o,
  input  logic                              mem_rvalid_i,
  output logic                              mem_rready_o,
  input  logic [PortWidth+IdWidth-1:0]      mem_rid_i,
  input  logic [DataWidth-1:0]              mem_rdata_i,
  input  logic [1:0]                        mem_rresp_i,
  input  logic                              mem_rlast_i,
  output logic                              mem_awvalid_o,
  input  logic                              mem_awready_i,
  output logic [PortWidth+IdWidth-1:0]      mem_awid_o,
  output logic [AddrWidth-1:0]              mem_awaddr_o,
  output logic [7:0]                        mem_awlen_o,
  output logic [2:0]                        mem_awsize_o,
  output logic [1:0]                        mem_awburst_o,
  output logic                              mem_wvalid_o,
  input  logic                              mem_wready_i,
  output logic [DataWidth-1:0]              mem_wdata_o,
  output logic [DataWidth/8-1:0]            mem_wstrb_o,
  output logic                              mem_wlast_o,
  input  logic                              mem_bvalid_i,
  output logic                              mem_bready_o,
  input  logic [PortWidth+IdWidth-1:0]      mem_bid_i,
  input  logic [1:0]                        mem_bresp_i
);
  typedef logic [PortWidth-1:0] port_t;

  // The first port with a request behind the one that was served last.
  function automatic port_t next_port(input logic [Ports-1:0] valid, input port_t last);
    next_port = last;
    for (int unsigned i = Ports; i > 0; i--) begin
      if (valid[(32'(last) + i) % Ports]) next_port = port_t'((32'(last) + i) % Ports);
    end
  endfunction

  port_t ar_last_q, ar_port, aw_last_q, aw_port, w_port, r_port, b_port;
  logic w_active, w_free, w_end;
  logic [7:0] w_len, w_beat_q;

  assign ar_port       = next_port(arvalid_i, ar_last_q);
  assign mem_arvalid_o = arvalid_i[ar_port];
  assign mem_arid_o    = {ar_port, arid_i[ar_port]};
  assign mem_araddr_o  = araddr_i[ar_port];
  assign mem_arlen_o   = arlen_i[ar_port];
  assign mem_arsize_o  = arsize_i[ar_port];
  assign mem_arburst_o = arburst_i[ar_port];

  assign aw_port       = next_port(awvalid_i, aw_last_q);
  assign mem_awvalid_o = awvalid_i[aw_port] && w_free;
  assign mem_awid_o    = {aw_port, awid_i[aw_port]};
  assign mem_awaddr_o  = awaddr_i[aw_port];
  assign mem_awlen_o   = awlen_i[aw_port];
  assign mem_awsize_o  = awsize_i[aw_port];
  assign mem_awburst_o = awburst_i[aw_port];

  // Whose data come next, and how many beats.
  resil_delay_queue #(
    .Width(PortWidth + 8),
    .Depth(MaxWrites)
  ) u_order (
    .clk_i,
    .rst_ni,
    .valid_i(mem_awvalid_o && mem_awready_i),
    .ready_o(w_free),
    .data_i ({aw_port, awlen_i[aw_port]}),
    .valid_o(w_active),
    .ready_i(w_end),
    .data_o ({w_port, w_len})
  );
  assign mem_wvalid_o = w_active && wvalid_i[w_port];
  assign mem_wdata_o  = wdata_i[w_port];
  assign mem_wstrb_o  = wstrb_i[w_port];
  assign mem_wlast_o  = wlast_i[w_port];
  assign w_end        = mem_wvalid_o && mem_wready_i && w_beat_q == w_len;

  assign r_port       = mem_rid_i[IdWidth+:PortWidth];
  assign b_port       = mem_bid_i[IdWidth+:PortWidth];
  assign mem_rready_o = rready_i[r_port];
  assign mem_bready_o = bready_i[b_port];

  for (genvar i = 0; i < Ports; i++) begin : g_port
    assign arready_o[i] = mem_arready_i && arvalid_i[i] && ar_port == port_t'(i);
    assign awready_o[i] = mem_awready_i && w_free && awvalid_i[i] && aw_port == port_t'(i);
    assign wready_o[i]  = mem_wready_i && w_active && w_port == port_t'(i);
    assign rvalid_o[i]  = mem_rvalid_i && r_port == port_t'(i);
    assign rid_o[i]     = rvalid_o[i] ? mem_rid_i[IdWidth-1:0] : '0;
    assign rdata_o[i]   = rvalid_o[i] ? mem_rdata_i : '0;
    assign rresp_o[i]   = rvalid_o[i] ? mem_rresp_i : '0;
    assign rlast_o[i]   = rvalid_o[i] && mem_rlast_i;
    assign bvalid_o[i]  = mem_bvalid_i && b_port == port_t'(i);
    assign bid_o[i]     = bvalid_o[i] ? mem_bid_i[IdWidth-1:0] : '0;
    assign bresp_o[i]   = bvalid_o[i] ? mem_bresp_i : '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_last_q <= '0;
      aw_last_q <= '0;
      w_beat_q  <= '0;
    end else begin
      if (mem_arvalid_o && mem_arready_i) ar_last_q <= ar_port;
      if (mem_awvalid_o && mem_awready_i) aw_last_q <= aw_port;
      if (w_end) w_beat_q <= '0;
      else if (mem_wvalid_o && mem_wready_i) w_beat_q <= w_beat_q + 8'd1;
    end
  end
endmodule
