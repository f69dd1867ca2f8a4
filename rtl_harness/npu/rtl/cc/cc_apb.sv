// SPDX-License-Identifier: Apache-2.0
/// APB slave: start, status, command stream location and regions (see the programming interface in README.md).
module cc_apb
  import npu_pkg::*;
  import cc_pkg::*;
#(
  parameter bit RegionCheck = 1'b1  // regions have a size that is checked
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // APB
  input  logic        psel_i,
  input  logic        penable_i,
  input  logic        pwrite_i,
  input  logic [11:0] paddr_i,
  input  logic [31:0] pwdata_i,
  output logic        pready_o,
  output logic [31:0] prdata_o,
  // Towards the command processor
  output logic        start_o,
  output logic        clear_irq_o,
  output logic        soft_reset_o,
  output linear_req_t stream_o,
  output region_t [NumRegions-1:0] regions_o,
  input  logic [31:0] status_i,
  input  logic [31:0] qread_i,
  // Performance monitor
  output logic        wr_o,
  input  logic [31:0] pmu_data_i
);
  // Product, architecture version 1.0.6 as Vela's streams announce it.
  localparam logic [31:0] Id = 32'h1006_0000;

  logic [31:0] qbase_q, qsize_q;
  logic qconfig_q;
  logic [NumRegions-1:0] port_q;
  logic [NumRegions-1:0][31:0] base_q, size_q;

  // An access that comes while the NPU is still held in reset waits.
  logic ready_q;
  logic wr;
  assign wr       = psel_i && penable_i && pwrite_i && ready_q;
  assign pready_o = ready_q;
  assign wr_o     = wr;

  logic is_base, is_size;
  assign is_base = paddr_i[11:6] == RegBasep[11:6] && paddr_i[2:0] == 3'h0;
  assign is_size = paddr_i[11:5] == RegRsize[11:5] && paddr_i[1:0] == 2'h0;

  assign start_o      = wr && paddr_i == RegCmd && pwdata_i[0];
  assign clear_irq_o  = wr && paddr_i == RegCmd && pwdata_i[1];
  assign soft_reset_o = wr && paddr_i == RegReset;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      qbase_q   <= '0;
      qsize_q   <= '0;
      qconfig_q <= 1'b0;
      port_q    <= '0;
      base_q    <= '0;
      size_q    <= '0;
      ready_q   <= 1'b0;
    end else begin
      ready_q <= 1'b1;
      if (wr) begin
        if (paddr_i == RegQbase) qbase_q <= pwdata_i;
        if (paddr_i == RegQconfig) qconfig_q <= pwdata_i[0];
        if (paddr_i == RegQsize) qsize_q <= pwdata_i;
        if (paddr_i == RegRegionCfg) port_q <= pwdata_i[NumRegions-1:0];
        if (is_base) base_q[paddr_i[5:3]] <= {pwdata_i[31:4], 4'd0};
        if (is_size && RegionCheck) size_q[paddr_i[4:2]] <= pwdata_i;
      end
    end
  end

  assign stream_o = '{port: qconfig_q, addr: qbase_q, length: qsize_q};
  for (genvar i = 0; i < NumRegions; i++) begin : gen_region
    assign regions_o[i] = '{port: port_q[i], checked: RegionCheck, base: base_q[i], size: size_q[i]};
  end

  always_comb begin
    prdata_o = '0;
    unique case (paddr_i)
      RegId: prdata_o = Id;
      RegStatus: prdata_o = status_i;
      RegQbase: prdata_o = qbase_q;
      RegQread: prdata_o = qread_i;
      RegQconfig: prdata_o = {31'd0, qconfig_q};
      RegQsize: prdata_o = qsize_q;
      RegRegionCfg: prdata_o = {24'd0, port_q};
      default: begin
        prdata_o = pmu_data_i;
        if (is_base) prdata_o = base_q[paddr_i[5:3]];
        else if (is_size) prdata_o = size_q[paddr_i[4:2]];
      end
    endcase
  end
endmodule
