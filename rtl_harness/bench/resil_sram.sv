// SPDX-License-Identifier: Apache-2.0
/// A tightly coupled SRAM of one port: the word of a read is on rdata_o `Latency` cycles after the request, and stays
/// there until the next. A write leaves rdata_o as it is. What lies outside reads zero and is not written.
module resil_sram #(
  parameter int unsigned DataWidth   = 32,
  parameter int unsigned AddrWidth   = 10,
  parameter bit          ByteAddress = 1'b0,  // addr_i counts bytes, not words
  parameter int unsigned Words       = 1024,
  parameter int unsigned Latency     = 1,     // at least 1
  parameter              PlusArg     = "mem"
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   req_i,
  input  logic                   we_i,
  input  logic [DataWidth/8-1:0] be_i,
  input  logic   [AddrWidth-1:0] addr_i,
  input  logic   [DataWidth-1:0] wdata_i,
  output logic   [DataWidth-1:0] rdata_o,
  output logic                   rvalid_o  // the word of a read is there for the first time
);
  localparam int unsigned ByteW = ByteAddress ? $clog2(DataWidth / 8) : 0;

  logic [DataWidth-1:0] data;
  logic [Latency-1:0] valid_q;
  logic [Latency-1:0][DataWidth-1:0] data_q;
  logic hit;

  resil_word_mem #(
    .Width  (DataWidth),
    .Words  (Words),
    .PlusArg(PlusArg)
  ) u_words (
    .clk_i,
    .index_i(64'(addr_i >> ByteW)),
    .we_i   (req_i && we_i),
    .strb_i (be_i),
    .data_i (wdata_i),
    .data_o (data),
    .hit_o  (hit)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      data_q  <= '0;
    end else begin
      valid_q[0] <= req_i && !we_i;
      if (req_i && !we_i) data_q[0] <= data;
      for (int unsigned i = 1; i < Latency; i++) begin
        valid_q[i] <= valid_q[i-1];
        if (valid_q[i-1]) data_q[i] <= data_q[i-1];
      end
    end
  end
  assign rdata_o  = data_q[Latency-1];
  assign rvalid_o = valid_q[Latency-1];
endmodule
