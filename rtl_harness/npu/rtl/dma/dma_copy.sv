/// Copies a byte stream from memory to another place of memory, or to the shared buffer, beat by beat.
module dma_copy
  import npu_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  logic        start_i,
  input  copy_req_t   req_i,
  output logic        busy_o,
  // Source stream
  input  logic        src_idle_i,
  input  logic        src_valid_i,
  output logic        src_ready_o,
  input  logic [63:0] src_data_i,
  // Write beats
  output logic        wr_valid_o,
  input  logic        wr_ready_i,
  output logic [31:0] wr_addr_o,
  output logic [63:0] wr_data_o,
  input  logic        wr_idle_i,
  // Shared buffer
  output logic        word_valid_o,
  input  logic        word_ready_i,
  output logic [5:0]  word_bank_o,
  output logic [6:0]  word_addr_o
);
  logic busy_q, begun_q, internal_q;
  logic [28:0] addr_q;

  assign busy_o      = busy_q;
  assign wr_valid_o  = busy_q && src_valid_i && !internal_q;
  assign wr_addr_o   = {addr_q, 3'd0};
  assign wr_data_o   = src_data_i;
  assign src_ready_o = busy_q && (internal_q ? word_ready_i : wr_ready_i);

  assign word_valid_o = busy_q && src_valid_i && internal_q;
  assign word_bank_o  = addr_q[12:7];
  assign word_addr_o  = addr_q[6:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      begun_q <= 1'b0;
      addr_q  <= '0;
      internal_q <= 1'b0;
    end else if (en_i) begin
      if (start_i) begin
        busy_q  <= 1'b1;
        begun_q <= 1'b0;
        addr_q  <= req_i.dst[31:3];
        internal_q <= req_i.internal;
      end else if (busy_q) begin
        begun_q <= 1'b1;
        if (src_valid_i && src_ready_o) addr_q <= addr_q + 29'd1;
        if (begun_q && src_idle_i && wr_idle_i) busy_q <= 1'b0;
      end
    end
  end
endmodule
