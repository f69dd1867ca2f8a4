// SPDX-License-Identifier: Apache-2.0
/// Memory behind a TileLink-UL port: Get, PutFullData and PutPartialData of up to one word. A request that TileLink-UL
/// does not have, one that is not aligned or lies outside, and a write to a memory that is not `Writable` are denied;
/// they write nothing. Answers come in order, `Latency` cycles after the request at the earliest.
module resil_tilelink_mem #(
  parameter int unsigned          DataWidth   = 32,
  parameter int unsigned          AddrWidth   = 32,
  parameter int unsigned          SourceWidth = 1,
  parameter int unsigned          SizeWidth   = 2,
  parameter int unsigned          Words       = 1024,  // of DataWidth bits
  parameter logic [AddrWidth-1:0] Base        = '0,
  parameter bit                   Writable    = 1'b1,
  parameter int unsigned          Latency     = 1,     // at least 1
  parameter int unsigned          Outstanding = 4,
  parameter                       PlusArg     = "mem"
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   a_valid_i,
  output logic                   a_ready_o,
  input  logic             [2:0] a_opcode_i,
  input  logic   [SizeWidth-1:0] a_size_i,
  input  logic [SourceWidth-1:0] a_source_i,
  input  logic   [AddrWidth-1:0] a_address_i,
  input  logic [DataWidth/8-1:0] a_mask_i,
  input  logic   [DataWidth-1:0] a_data_i,
  output logic                   d_valid_o,
  input  logic                   d_ready_i,
  output logic             [2:0] d_opcode_o,
  output logic   [SizeWidth-1:0] d_size_o,
  output logic [SourceWidth-1:0] d_source_o,
  output logic   [DataWidth-1:0] d_data_o,
  output logic                   d_denied_o,
  output logic                   d_corrupt_o  // of data that is denied, as TileLink wants it
);
  localparam int unsigned ByteW = $clog2(DataWidth / 8);
  localparam logic [2:0] PutFull = 3'd0;
  localparam logic [2:0] PutPartial = 3'd1;
  localparam logic [2:0] Get = 3'd4;
  localparam logic [2:0] AccessAck = 3'd0;
  localparam logic [2:0] AccessAckData = 3'd1;

  logic [AddrWidth-1:0] offset, span;
  logic [DataWidth-1:0] data, found;
  logic take, hit, get, put, denied, is_data, was_denied;
  logic [SizeWidth-1:0] size;
  logic [SourceWidth-1:0] source;

  assign offset = a_address_i - Base;
  assign span   = (AddrWidth'(1) << a_size_i) - AddrWidth'(1);
  assign get    = a_opcode_i == Get;
  assign put    = a_opcode_i == PutFull || a_opcode_i == PutPartial;
  assign denied = !(get || (put && Writable)) || !hit || 32'(a_size_i) > ByteW || (a_address_i & span) != '0;
  assign take   = a_valid_i && a_ready_o;

  resil_word_mem #(
    .Width  (DataWidth),
    .Words  (Words),
    .PlusArg(PlusArg)
  ) u_words (
    .clk_i,
    .index_i(64'(offset >> ByteW)),
    .we_i   (take && put && !denied),
    .strb_i (a_mask_i),
    .data_i (a_data_i),
    .data_o (data),
    .hit_o  (hit)
  );

  resil_delay_queue #(
    .Width(SourceWidth + SizeWidth + 2 + DataWidth),
    .Depth(Outstanding),
    .Delay(Latency - 1)
  ) u_answers (
    .clk_i,
    .rst_ni,
    .valid_i(take),
    .ready_o(a_ready_o),
    .data_i ({a_source_i, a_size_i, get, denied, get && !denied ? data : DataWidth'(0)}),
    .valid_o(d_valid_o),
    .ready_i(d_ready_i),
    .data_o ({source, size, is_data, was_denied, found})
  );
  assign d_opcode_o  = d_valid_o && is_data ? AccessAckData : AccessAck;
  assign d_size_o    = d_valid_o ? size : '0;
  assign d_source_o  = d_valid_o ? source : '0;
  assign d_data_o    = d_valid_o ? found : '0;
  assign d_denied_o  = d_valid_o && was_denied;
  assign d_corrupt_o = d_denied_o && is_data;
endmodule
