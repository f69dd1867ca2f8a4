// SPDX-License-Identifier: Apache-2.0
/// Looks an element up in the table of the operation: asks for its row, then cuts the entry out.
///
/// The table of 16-bit elements has 512 entries of 32 bits, each the base and the slope of a stretch of 128 values.
module ao_lookup
  import npu_pkg::*;
#(
  parameter int unsigned Banks = 16
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         en_i,
  input  op_t          op_i,
  input  logic         valid_i,
  input  logic [15:0]  index_i,
  output logic         rd_o,
  output logic [5:0]   rd_bank_o,
  output logic [5:0]   rd_row_o,
  input  logic [127:0] rd_data_i,  // in the next cycle, with `entry_o`
  output logic [31:0]  entry_o
);
  localparam logic [7:0] Middle = 8'h80;          // index of zero in a table for signed elements
  localparam logic [15:0] Middle16 = 16'h8000;
  localparam logic signed [23:0] Half = 24'sd64;  // of a stretch
  localparam logic [5:0] TableBank = 6'(Banks - 2);

  logic centred;
  logic [7:0] index;
  logic [15:0] index16;
  logic [10:0] at;
  logic [3:0] byte_q;
  logic [6:0] offset_q;  // within a stretch
  assign centred   = op_i.ofm_signed || op_i.clip_int8;
  assign index     = centred ? index_i[7:0] ^ Middle : index_i[7:0];
  assign index16   = centred ? index_i ^ Middle16 : index_i;
  always_comb begin
    unique case (op_i.ofm.log2_bytes)
      2'd0:    at = {op_i.table_index, index};
      2'd1:    at = {index16[15:7], 2'd0};
      default: at = {op_i.table_index[0], index, 2'd0};
    endcase
  end
  assign rd_o      = valid_i && op_i.table_used;
  assign rd_bank_o = TableBank | 6'(at[10]);
  assign rd_row_o  = at[9:4];

  logic [31:0] entry;
  logic signed [23:0] rise;  // times 128
  assign entry   = 32'(rd_data_i >> {byte_q, 3'd0});
  assign rise    = 24'($signed(entry[31:16])) * $signed({17'd0, offset_q}) + Half;
  assign entry_o = op_i.ofm.log2_bytes == 2'd1 ? 32'(entry[15:0] + rise[22:7]) : entry;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      byte_q   <= '0;
      offset_q <= '0;
    end else if (en_i && rd_o) begin
      byte_q   <= at[3:0];
      offset_q <= index16[6:0];
    end
  end

  logic unused_rise;
  assign unused_rise = ^{rise[23], rise[6:0]};
endmodule
