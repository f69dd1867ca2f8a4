// SPDX-License-Identifier: Apache-2.0
/// Memory behind an OBI port. A request is granted every `GrantInterval` cycles at most, and answered `Latency`
/// cycles after its grant at the earliest, in order. What lies outside, and a write to a memory that is not `Writable`,
/// is answered with err_o; it reads zero and writes nothing. Without rready_i in the design connect 1.
module resil_obi_mem #(
  parameter int unsigned          DataWidth     = 32,
  parameter int unsigned          AddrWidth     = 32,
  parameter int unsigned          IdWidth       = 1,
  parameter int unsigned          Words         = 1024,  // of DataWidth bits
  parameter logic [AddrWidth-1:0] Base          = '0,
  parameter bit                   Writable      = 1'b1,
  parameter int unsigned          Latency       = 1,     // at least 1
  parameter int unsigned          GrantInterval = 1,     // at least 1
  parameter int unsigned          Outstanding   = 4,
  parameter                       PlusArg       = "mem"
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   req_i,
  output logic                   gnt_o,
  input  logic   [AddrWidth-1:0] addr_i,
  input  logic                   we_i,
  input  logic [DataWidth/8-1:0] be_i,
  input  logic   [DataWidth-1:0] wdata_i,
  input  logic     [IdWidth-1:0] aid_i,
  output logic                   rvalid_o,
  input  logic                   rready_i,
  output logic   [DataWidth-1:0] rdata_o,
  output logic                   err_o,
  output logic     [IdWidth-1:0] rid_o
);
  localparam int unsigned ByteW = $clog2(DataWidth / 8);
  localparam int unsigned PaceW = GrantInterval > 1 ? $clog2(GrantInterval) : 1;

  logic [PaceW-1:0] pace_q;
  logic [AddrWidth-1:0] offset;
  logic [DataWidth-1:0] data, rdata;
  logic [IdWidth-1:0] id;
  logic take, hit, bad, free, err;

  assign offset = addr_i - Base;
  assign gnt_o  = free && pace_q == '0;
  assign take   = req_i && gnt_o;
  assign bad    = !hit || (we_i && !Writable);

  resil_word_mem #(
    .Width  (DataWidth),
    .Words  (Words),
    .PlusArg(PlusArg)
  ) u_words (
    .clk_i,
    .index_i(64'(offset >> ByteW)),
    .we_i   (take && we_i && Writable),
    .strb_i (be_i),
    .data_i (wdata_i),
    .data_o (data),
    .hit_o  (hit)
  );

  resil_delay_queue #(
    .Width(IdWidth + 1 + DataWidth),
    .Depth(Outstanding),
    .Delay(Latency - 1)
  ) u_answers (
    .clk_i,
    .rst_ni,
    .valid_i(take),
    .ready_o(free),
    .data_i ({aid_i, bad, we_i || bad ? DataWidth'(0) : data}),
    .valid_o(rvalid_o),
    .ready_i(rready_i),
    .data_o ({id, err, rdata})
  );
  assign rid_o   = rvalid_o ? id : '0;
  assign err_o   = rvalid_o && err;
  assign rdata_o = rvalid_o ? rdata : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pace_q <= '0;
    else if (take) pace_q <= PaceW'(GrantInterval - 1);
    else if (pace_q != '0) pace_q <= pace_q - PaceW'(1);
  end
endmodule
