// SPDX-License-Identifier: Apache-2.0
/// Memory behind an AHB-Lite port, with `WaitStates` cycles in which each data phase waits. What lies outside, a size
/// wider than the bus, an address that is not aligned to its size, and a write to a memory that is not `Writable` get
/// the ERROR response of two cycles; they read zero and write nothing. Bursts are taken beat by beat, as they come.
module resil_ahb_mem #(
  parameter int unsigned          DataWidth  = 32,
  parameter int unsigned          AddrWidth  = 32,
  parameter int unsigned          Words      = 1024,  // of DataWidth bits
  parameter logic [AddrWidth-1:0] Base       = '0,
  parameter bit                   Writable   = 1'b1,
  parameter int unsigned          WaitStates = 0,
  parameter                       PlusArg    = "mem"
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 hsel_i,
  input  logic [AddrWidth-1:0] haddr_i,
  input  logic           [1:0] htrans_i,
  input  logic                 hwrite_i,
  input  logic           [2:0] hsize_i,
  input  logic [DataWidth-1:0] hwdata_i,
  input  logic                 hready_i,    // of the bus; hready_o where there is one memory alone
  output logic                 hready_o,
  output logic                 hresp_o,
  output logic [DataWidth-1:0] hrdata_o
);
  localparam int unsigned Bytes = DataWidth / 8;
  localparam int unsigned ByteW = $clog2(Bytes);
  localparam int unsigned WaitW = WaitStates > 0 ? $clog2(WaitStates + 1) : 1;

  logic active_q, write_q, second_q;
  logic [AddrWidth-1:0] addr_q, offset, span;
  logic [2:0] size_q;
  logic [WaitW-1:0] wait_q;
  logic [Bytes-1:0] strb;
  logic [DataWidth-1:0] data;
  logic hit, bad, settled;

  assign offset  = addr_q - Base;
  assign span    = (AddrWidth'(1) << size_q) - AddrWidth'(1);
  assign bad     = !hit || 32'(size_q) > ByteW || (addr_q & span) != '0 || (write_q && !Writable);
  assign settled = wait_q == '0;
  assign hready_o = !active_q || (settled && (!bad || second_q));
  assign hresp_o  = active_q && settled && bad;
  assign hrdata_o = active_q && hready_o && !write_q && !bad ? data : '0;

  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++) begin
      strb[i] = AddrWidth'(i) >= (addr_q & AddrWidth'(Bytes - 1)) &&
                AddrWidth'(i) <= ((addr_q & AddrWidth'(Bytes - 1)) | span);
    end
  end

  resil_word_mem #(
    .Width  (DataWidth),
    .Words  (Words),
    .PlusArg(PlusArg)
  ) u_words (
    .clk_i,
    .index_i(64'(offset >> ByteW)),
    .we_i   (active_q && write_q && hready_o && !bad),
    .strb_i (strb),
    .data_i (hwdata_i),
    .data_o (data),
    .hit_o  (hit)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      write_q  <= 1'b0;
      second_q <= 1'b0;
      addr_q   <= '0;
      size_q   <= '0;
      wait_q   <= '0;
    end else begin
      if (!settled) wait_q <= wait_q - WaitW'(1);
      second_q <= active_q && settled && bad && !second_q;
      if (hready_i) begin
        active_q <= hsel_i && htrans_i[1];
        write_q  <= hsel_i && htrans_i[1] && hwrite_i;
        addr_q   <= hsel_i && htrans_i[1] ? haddr_i : '0;
        size_q   <= hsel_i && htrans_i[1] ? hsize_i : '0;
        wait_q   <= hsel_i && htrans_i[1] ? WaitW'(WaitStates) : '0;
      end
    end
  end
endmodule
