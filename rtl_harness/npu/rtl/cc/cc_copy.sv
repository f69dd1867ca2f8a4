// SPDX-License-Identifier: Apache-2.0
/// Checks a copy and works out its addresses; bit 8 of the destination's region means the shared buffer.
module cc_copy
  import npu_pkg::*;
  import cc_cmd_pkg::*;
  import cc_pkg::*;
#(
  parameter int unsigned Banks = 16
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  input  logic      start_i,
  input  cmd_regs_t regs_i,
  input  region_t [NumRegions-1:0] regions_i,
  output logic      bad_o,     // from the cycle after the start on
  output logic      leaves_o,  // a region, or the shared buffer
  output copy_req_t copy_o
);
  logic internal;
  region_t src, dst, space;
  assign internal = regs_i.dma0_dst_region[8];
  assign src      = regions_i[regs_i.dma0_src_region[2:0]];
  assign dst      = regions_i[regs_i.dma0_dst_region[2:0]];
  always_comb begin
    space = dst;
    if (internal) begin
      space.checked = 1'b1;
      space.size    = 32'(Banks * BankBytes);
    end
  end

  logic bad, leaves;
  assign bad = regs_i.dma0_src_region > RegionMax || (regs_i.dma0_dst_region & DmaDstRegionZero) != '0
               || (dst.port && !internal)
               || (regs_i.dma0_src[3:0] | regs_i.dma0_dst[3:0] | regs_i.dma0_len[3:0]) != '0;
  assign leaves = leaves_region(src, regs_i.dma0_src, regs_i.dma0_len)
                  || leaves_region(space, regs_i.dma0_dst, regs_i.dma0_len);
  assign copy_o = '{
          src: '{port: src.port, addr: src.base + regs_i.dma0_src, length: regs_i.dma0_len},
          internal: internal,
          dst: internal ? regs_i.dma0_dst : dst.base + regs_i.dma0_dst
      };

  logic bad_q, leaves_q;
  assign bad_o    = bad_q;
  assign leaves_o = leaves_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bad_q    <= 1'b0;
      leaves_q <= 1'b0;
    end else if (start_i) begin
      bad_q    <= bad;
      leaves_q <= leaves;
    end
  end

  logic unused_space;
  assign unused_space = ^{space.port, space.base};
endmodule
