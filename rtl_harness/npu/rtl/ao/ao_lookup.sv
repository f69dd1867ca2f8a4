// SPDX-License-Identifier: Apache-2.0
/// Looks an element up in the table of the operation: asks for its row, then cuts the entry out.
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
  input  logic [7:0]   index_i,
  output logic         rd_o,
  output logic [5:0]   rd_bank_o,
  output logic [5:0]   rd_row_o,
  input  logic [127:0] rd_data_i,  // in the next cycle, with `entry_o`
  output logic [31:0]  entry_o
);
  localparam logic [7:0] Middle = 8'h80;          // index of zero in a table for signed elements
  localparam logic [5:0] TableBank = 6'(Banks - 2);

  logic [7:0] index;
  logic [10:0] at;
  logic [3:0] byte_q;
  assign index     = op_i.ofm_signed || op_i.clip_int8 ? index_i ^ Middle : index_i;
  assign at        = op_i.ofm.log2_bytes == 2'd2 ? {op_i.table_index[0], index, 2'd0}
                                                 : {op_i.table_index, index};
  assign rd_o      = valid_i && op_i.table_used;
  assign rd_bank_o = TableBank | 6'(at[10]);
  assign rd_row_o  = at[9:4];
  assign entry_o   = 32'(rd_data_i >> {byte_q, 3'd0});

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) byte_q <= '0;
    else if (en_i && rd_o) byte_q <= at[3:0];
  end
endmodule
