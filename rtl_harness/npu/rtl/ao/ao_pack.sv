// SPDX-License-Identifier: Apache-2.0
/// Packs elements into rows of the staging area, up to 16 bytes each.
module ao_pack #(
  parameter int unsigned Rate = 1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         en_i,
  input  logic [1:0]   log2_bytes_i,  // of an element
  input  logic         valid_i,
  input  logic [1:0]   more_i,        // elements beside the first
  input  logic         row_ends_i,
  input  logic [Rate-1:0][31:0] value_i,
  output logic         wr_o,
  output logic [6:0]   wr_addr_o,
  output logic [127:0] wr_data_o
);
  logic [127:0] row_q, row_d, insert;
  logic [3:0] from_q;    // byte of the next element
  logic full_q;
  logic [6:0] tail_q;
  assign wr_o      = full_q;
  assign wr_addr_o = tail_q;
  assign wr_data_o = row_q;

  always_comb begin
    insert = '0;
    for (int unsigned r = 0; r < Rate; r++) begin
      if (2'(r) <= more_i) begin
        unique case (log2_bytes_i)
          2'd0:    insert[8*r+:8] = value_i[r][7:0];
          2'd1:    insert[16*r+:16] = value_i[r][15:0];
          default: insert[32*r+:32] = value_i[r];
        endcase
      end
    end
    row_d = (from_q == '0 ? '0 : row_q) | (insert << {from_q, 3'd0});
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_q  <= '0;
      from_q <= '0;
      full_q <= 1'b0;
      tail_q <= '0;
    end else if (en_i) begin
      full_q <= valid_i && row_ends_i;
      if (valid_i) begin
        row_q  <= row_d;
        from_q <= row_ends_i ? '0 : from_q + 4'((3'(more_i) + 3'd1) << log2_bytes_i);
      end
      if (full_q) tail_q <= tail_q + 7'd1;
    end
  end
endmodule
