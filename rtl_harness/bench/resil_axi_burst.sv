// SPDX-License-Identifier: Apache-2.0
/// Steps through the beats of an AXI4 burst: fixed, incrementing or wrapping, of any size up to the bus width.
module resil_axi_burst #(
  parameter int unsigned AddrWidth = 32,
  parameter int unsigned IdWidth   = 1,
  parameter int unsigned MaxSize   = 3   // log2 of the bytes of the bus
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic   [IdWidth-1:0] id_i,
  input  logic [AddrWidth-1:0] addr_i,
  input  logic           [7:0] len_i,
  input  logic           [2:0] size_i,
  input  logic           [1:0] burst_i,
  output logic                 valid_o,
  input  logic                 step_i,   // the present beat is done
  output logic   [IdWidth-1:0] id_o,
  output logic [AddrWidth-1:0] addr_o,
  output logic                 last_o,
  output logic                 bad_o     // size or kind that AXI4 does not have on this bus
);
  localparam logic [1:0] Fixed = 2'd0;
  localparam logic [1:0] Wrap = 2'd2;
  localparam logic [1:0] Reserved = 2'd3;

  logic valid_q;
  logic [IdWidth-1:0] id_q;
  logic [AddrWidth-1:0] addr_q, step, start, next, span;
  logic [7:0] len_q, left_q;
  logic [2:0] size_q;
  logic [1:0] burst_q;

  assign step   = AddrWidth'(1) << size_q;
  assign start  = addr_q & ~(step - AddrWidth'(1));
  assign span  = burst_q == Wrap ? ((AddrWidth'(len_q) + AddrWidth'(1)) << size_q) - AddrWidth'(1) : '1;
  assign next   = burst_q == Fixed ? addr_q : (addr_q & ~span) | ((start + step) & span);

  assign valid_o = valid_q;
  assign id_o    = id_q;
  assign addr_o  = addr_q;
  assign last_o  = left_q == '0;
  assign bad_o   = 32'(size_q) > MaxSize || burst_q == Reserved;
  assign ready_o = !valid_q || (step_i && last_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      id_q    <= '0;
      addr_q  <= '0;
      len_q   <= '0;
      left_q  <= '0;
      size_q  <= '0;
      burst_q <= '0;
    end else if (ready_o) begin
      valid_q <= valid_i;
      id_q    <= valid_i ? id_i : '0;
      addr_q  <= valid_i ? addr_i : '0;
      len_q   <= valid_i ? len_i : '0;
      left_q  <= valid_i ? len_i : '0;
      size_q  <= valid_i ? size_i : '0;
      burst_q <= valid_i ? burst_i : '0;
    end else if (step_i) begin
      addr_q <= next;
      left_q <= left_q - 8'd1;
    end
  end
endmodule
