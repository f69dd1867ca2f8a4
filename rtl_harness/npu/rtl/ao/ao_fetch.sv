/// Shared-buffer addresses of one element's sources: accumulator or first operand, and second operand.
module ao_fetch
  import npu_pkg::*;
#(
  parameter int unsigned UblkW  = 1,
  parameter int unsigned UblkH  = 1,
  parameter int unsigned UblkD  = 4,
  parameter int unsigned Usable = 16
) (
  input  op_t        op_i,
  input  step_t      step_i,
  input  logic       acc_buffer_i,
  input  logic       ifm_buffer_i,
  input  logic [6:0] x_i,          // within the block
  input  logic [6:0] y_i,
  input  logic [7:0] channel_i,
  output logic [1:0][5:0] bank_o,
  output logic [1:0][5:0] row_o,
  output logic [1:0][3:0] byte_o   // of the element in the row
);
  localparam int unsigned AccBanks = UblkW * UblkH * UblkD / 4;
  localparam int unsigned AccOffset = Usable % AccBanks;

  // Accumulators
  logic [11:0] across, down, acc_row;
  logic [5:0] acc_lane;
  assign across   = (12'(step_i.bw) + 12'(UblkW - 1)) >> $clog2(UblkW);
  assign down     = (12'(step_i.bh) + 12'(UblkH - 1)) >> $clog2(UblkH);
  assign acc_row  = 12'(channel_i >> $clog2(UblkD)) * (across * down)
                    + 12'(y_i >> $clog2(UblkH)) * across + 12'(x_i >> $clog2(UblkW))
                    + {acc_buffer_group(op_i, Usable, AccBanks, acc_buffer_i), 6'd0};
  assign acc_lane = ((6'(y_i) % 6'(UblkH)) * 6'(UblkW) + 6'(x_i) % 6'(UblkW)) * 6'(UblkD / 4)
                    + (6'(channel_i) % 6'(UblkD)) / 6'd4;

  // Operands
  logic [6:0] x2, y2;
  logic [7:0] channel2, width2;
  logic [6:0] words, words2;
  logic [17:0] at, at2;
  assign x2       = op_i.broadcast_w ? '0 : x_i;
  assign y2       = op_i.broadcast_h ? '0 : y_i;
  assign channel2 = op_i.broadcast_c ? '0 : channel_i;
  assign width2   = op_i.broadcast_w ? 8'd1 : 8'(step_i.bw);
  assign words    = 7'(((10'(step_i.bd) << op_i.ifm.log2_bytes) + 10'd7) >> 3);
  assign words2   = 7'(((10'(op_i.broadcast_c ? 8'd1 : step_i.bd) << op_i.ifm2.log2_bytes) + 10'd7)
                       >> 3);
  assign at       = {(15'(y_i) * 15'(step_i.bw) + 15'(x_i)) * 15'(words), 3'd0}
                    + (18'(channel_i) << op_i.ifm.log2_bytes);
  assign at2      = {(15'(y2) * 15'(width2) + 15'(x2)) * 15'(words2), 3'd0}
                    + (18'(channel2) << op_i.ifm2.log2_bytes);

  always_comb begin
    bank_o[0] = 6'(acc_row[11:6]) * 6'(AccBanks) + 6'(AccOffset) + acc_lane;
    row_o[0]  = acc_row[5:0];
    byte_o[0] = {channel_i[1:0], 2'd0};
    if (op_i.kind == Elementwise) begin
      bank_o[0] = operand_bank(op_i, 1'b0, ifm_buffer_i) + 6'(at[17:10]);
      row_o[0]  = at[9:4];
      byte_o[0] = at[3:0];
    end
    bank_o[1] = operand_bank(op_i, 1'b1, ifm_buffer_i) + 6'(at2[17:10]);
    row_o[1]  = at2[9:4];
    byte_o[1] = at2[3:0];
  end
endmodule
