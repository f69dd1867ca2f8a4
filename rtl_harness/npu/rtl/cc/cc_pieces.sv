// SPDX-License-Identifier: Apache-2.0
/// Hands the pieces of the IFM, and of an elementwise operation's second operand, to the fetch, in order.
///
/// The piece at hand is in registers; the next one is ready when it is done.
module cc_pieces
  import npu_pkg::*;
#(
  parameter int unsigned Lanes = 1
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  logic   start_i,   // the operation is known
  input  op_t    op_i,
  input  logic   buffer_i,  // that the piece at hand belongs to
  output logic   valid_o,
  output logic   over_o,    // no piece is left
  output piece_t piece_o,
  output logic   second_o,  // of the second operand
  input  logic   done_i,
  output logic   full_o     // the piece that is done is the last that its buffer takes
);
  // What differs from piece to piece
  typedef struct packed {
    logic signed [18:0] x0;
    logic signed [18:0] y0;
    logic [15:0]        z0;
    logic [7:0]         w;
    logic [7:0]         h;
    logic [7:0]         c;
    logic [5:0]         bank;
  } part_t;

  logic valid_q, second_q;
  part_t part_q, part_d;

  logic load, more, second_d, step_valid;
  step_t next_step;
  assign full_o   = done_i && (second_q || !op_i.ifm2_used);
  assign more     = done_i && !full_o;
  assign load     = step_valid && (!valid_q || done_i);
  assign second_d = more;
  cc_steps u_walker (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (start_i),
    .op_i        (op_i),
    .skip_depth_i(op_i.single_ifm_job),
    .valid_o     (step_valid),
    .step_o      (next_step),
    .next_i      (load && (second_d || !op_i.ifm2_used))
  );

  logic elementwise, buffer_d;
  assign elementwise = op_i.kind == Elementwise;
  assign buffer_d    = buffer_i ^ full_o;
  always_comb begin
    part_d.x0   = second_d && op_i.broadcast_w ? '0 : ifm_origin(op_i, next_step.ix0);
    part_d.y0   = second_d && op_i.broadcast_h ? '0 : ifm_origin(op_i, next_step.iy0);
    part_d.z0   = second_d && op_i.broadcast_c ? '0 : next_step.iz0;
    part_d.w    = second_d && op_i.broadcast_w ? 8'd1 : next_step.iw;
    part_d.h    = second_d && op_i.broadcast_h ? 8'd1 : next_step.ih;
    part_d.c    = second_d && op_i.broadcast_c ? 8'd1 : next_step.zc;
    part_d.bank = elementwise ? operand_bank(op_i, second_d, buffer_d)
                              : ifm_buffer_bank(op_i, Lanes, buffer_d);
  end

  always_comb begin
    piece_o          = '0;
    piece_o.x0       = part_q.x0;
    piece_o.y0       = part_q.y0;
    piece_o.z0       = part_q.z0;
    piece_o.w        = part_q.w;
    piece_o.h        = part_q.h;
    piece_o.c        = part_q.c;
    piece_o.bank     = part_q.bank;
    piece_o.spread   = !elementwise;
    piece_o.one_row  = Lanes > 2 && op_i.one_row;
    piece_o.stride_x = op_i.stride_x;
    piece_o.stride_y = op_i.stride_y;
    piece_o.limit_x  = elementwise ? '1 : (op_i.ifm_w + 18'(op_i.upscale)) >> op_i.upscale;
    piece_o.limit_y  = elementwise ? '1 : (op_i.ifm_h + 18'(op_i.upscale)) >> op_i.upscale;
  end
  assign valid_o  = valid_q;
  assign second_o = second_q;
  assign over_o   = !valid_q && !step_valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      second_q <= 1'b0;
      part_q   <= '0;
    end else if (start_i) begin
      valid_q  <= 1'b0;
      second_q <= 1'b0;
    end else if (load || done_i) begin
      valid_q  <= load;
      second_q <= second_d;
      if (load) part_q <= part_d;
    end
  end
endmodule
