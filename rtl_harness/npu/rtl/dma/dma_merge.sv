// SPDX-License-Identifier: Apache-2.0
/// Merges rows of up to 16 bytes, which lie anywhere in memory, into 64-bit beats.
module dma_merge (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         en_i,
  // Rows
  input  logic         valid_i,
  output logic         ready_o,
  input  logic [31:0]  addr_i,
  input  logic [4:0]   bytes_i,
  input  logic [127:0] data_i,
  input  logic         flush_i,  // no row comes for now
  output logic         busy_o,
  // Beats
  output logic         beat_valid_o,
  input  logic         beat_ready_i,
  output logic [28:0]  beat_word_o,
  output logic [63:0]  beat_data_o,
  output logic [7:0]   beat_strb_o
);
  logic row_valid_q;
  logic [31:0] addr_q;   // what of the row is not merged
  logic [4:0] left_q;
  logic [127:0] row_q;
  logic beat_valid_q;
  logic [28:0] word_q;
  logic [63:0] data_q;
  logic [7:0] strb_q;

  // The bytes of the row that go into one beat
  logic [3:0] to_beat, bytes;
  logic last_bytes, same;
  logic [7:0] strb;
  logic [63:0] data;
  assign to_beat    = 4'd8 - 4'(addr_q[2:0]);
  assign last_bytes = left_q <= 5'(to_beat);
  assign bytes      = last_bytes ? left_q[3:0] : to_beat;
  assign strb       = 8'((9'd1 << bytes) - 9'd1) << addr_q[2:0];
  assign data       = row_q[63:0] << {addr_q[2:0], 3'd0};
  assign same       = beat_valid_q && word_q == addr_q[31:3];

  logic merge, row_ends;
  assign merge        = row_valid_q && (!beat_valid_q || same || beat_ready_i);
  assign row_ends     = merge && last_bytes;
  assign ready_o      = !row_valid_q || row_ends;
  assign busy_o       = row_valid_q || beat_valid_q;
  assign beat_valid_o = beat_valid_q && (row_valid_q ? !same : flush_i);
  assign beat_word_o  = word_q;
  assign beat_data_o  = data_q;
  assign beat_strb_o  = strb_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_valid_q  <= 1'b0;
      addr_q       <= '0;
      left_q       <= '0;
      row_q        <= '0;
      beat_valid_q <= 1'b0;
      word_q       <= '0;
      data_q       <= '0;
      strb_q       <= '0;
    end else if (en_i) begin
      if (valid_i && ready_o) begin
        row_valid_q <= 1'b1;
        addr_q      <= addr_i;
        left_q      <= bytes_i;
        row_q       <= data_i;
      end else if (row_ends) begin
        row_valid_q <= 1'b0;
      end else if (merge) begin
        addr_q <= {addr_q[31:3] + 29'd1, 3'd0};
        left_q <= left_q - 5'(bytes);
        row_q  <= row_q >> {bytes, 3'd0};
      end
      if (merge) begin
        beat_valid_q <= 1'b1;
        word_q       <= addr_q[31:3];
        strb_q       <= same ? strb_q | strb : strb;
        for (int unsigned i = 0; i < 8; i++) begin
          data_q[8*i+:8] <= strb[i] ? data[8*i+:8] : (same ? data_q[8*i+:8] : '0);
        end
      end else if (beat_valid_o && beat_ready_i) begin
        beat_valid_q <= 1'b0;
      end
    end
  end
endmodule
