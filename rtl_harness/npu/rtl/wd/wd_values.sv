// SPDX-License-Identifier: Apache-2.0
/// Completes quotients with their remainders: holds the quotients of a chunk, and takes the pieces
/// that the remainders of the chunk come in.
module wd_values
  import wd_pkg::*;
#(
  parameter int unsigned Rate = 4,
  localparam int unsigned FieldsBits = Rate * IndexBits
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           en_i,
  input  logic                           clear_i,
  input  logic                           slice_start_i,
  input  logic                           truncated_i,

  input  logic                           valid_i,
  output logic                           ready_o,
  input  piece_t                         piece_i,
  input  logic [FieldsBits-1:0]          fields_i,
  input  logic                           unary_i,  // `codes_i` lie before the piece
  input  codes_t                         codes_i,
  output logic                           reserved_o,
  output logic                           empty_o,

  output logic                           entries_o,  // `values_o` are the palette's next entries
  output logic                           valid_o,
  input  logic                           ready_i,
  output logic                           runs_o,  // zero runs, else indices
  output logic [3:0]                     count_o,
  output logic                           open_o,  // the last one is an open run
  output logic [Rate-1:0][IndexBits-1:0] values_o
);
  logic valid_q;
  piece_t piece_q;
  logic [FieldsBits-1:0] bits_q;
  codes_t codes_q;
  logic [QuotientBits-1:0] carry_q;
  logic [ChunkCodes-1:0][QuotientBits-1:0] weights_q;
  logic [ChunkCodes-1:0][CodeCountBits-1:0] runs_q;

  // What is not the last of its kind has `Rate` values, or, at the end of the stream, one or none.
  logic pass, reserved, single;
  assign single     = piece_q.count == 4'd1;
  assign pass       = valid_q && ready_i;
  assign ready_o    = !valid_q || ready_i;
  assign reserved_o = valid_q && piece_q.kind != Entries && reserved;
  assign empty_o    = !valid_q;
  assign entries_o  = pass && piece_q.kind == Entries;
  assign valid_o    = valid_q && piece_q.kind != Entries && piece_q.count != '0 && !reserved;
  assign runs_o     = piece_q.kind == Runs;
  assign count_o    = piece_q.count;
  assign open_o     = piece_q.open;

  logic [Rate-1:0][IndexBits-1:0] fields;
  wd_fields #(
    .Rate (Rate)
  ) u_fields (
    .bits_i   (bits_q),
    .width_i  (piece_q.width),
    .fields_o (fields)
  );

  logic [QuotientBits-1:0] carry;
  logic [ChunkCodes-1:0][QuotientBits-1:0] weights;
  logic [ChunkCodes-1:0][CodeCountBits-1:0] runs;
  wd_codes u_codes (
    .codes_i     (codes_q),
    .truncated_i (truncated_i),
    .carry_i     (carry_q),
    .reserved_o  (reserved),
    .carry_o     (carry),
    .weights_o   (weights),
    .runs_o      (runs)
  );

  for (genvar k = 0; k < Rate; k++) begin : gen_value
    logic [IndexBits-1:0] quotient, remainder;
    always_comb begin
      quotient  = '0;
      remainder = fields[k];
      if (piece_q.kind == Weights) quotient = IndexBits'(weights_q[k]);
      if (piece_q.kind == Runs)    quotient = IndexBits'(runs_q[k]);
      if (piece_q.open && piece_q.count == 4'(k + 1)) remainder = '0;
    end
    assign values_o[k] = (quotient << piece_q.width) | remainder;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= 1'b0;
      piece_q   <= '0;
      bits_q    <= '0;
      codes_q   <= '0;
      carry_q   <= '0;
      weights_q <= '0;
      runs_q    <= '0;
    end else if (en_i) begin
      if (ready_o) valid_q <= valid_i;
      if (reserved_o || clear_i) valid_q <= 1'b0;
      if (ready_o && valid_i) begin
        piece_q <= piece_i;
        bits_q  <= fields_i;
        if (unary_i) codes_q <= codes_i;
      end

      if (slice_start_i) carry_q <= '0;
      if (pass && piece_q.kind != Entries) begin
        if (piece_q.last) begin
          carry_q   <= carry;
          weights_q <= weights;
          runs_q    <= runs;
        end else if (piece_q.kind == Weights && piece_q.count != '0) begin
          weights_q <= weights_q >> (single ? QuotientBits : Rate * QuotientBits);
        end else if (piece_q.kind == Runs && piece_q.count != '0) begin
          runs_q <= runs_q >> (single ? CodeCountBits : Rate * CodeCountBits);
        end
      end
    end
  end
endmodule
