/// Runs one operation: walkers hand steps to IFM fetch, MAC unit, output unit and OFM writer.
///
/// Feature-map pieces and accumulators are double buffered; a unit gets its step when the buffers it needs
/// are full, or free. Elementwise operations have no accumulators: their operands go straight from the
/// pieces to the output unit.
module cc_sequencer
  import npu_pkg::*;
#(
  parameter int unsigned UblkW = 1,
  parameter int unsigned UblkH = 1
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  logic   start_i,
  input  op_t    op_i,
  output logic   busy_o,
  output logic   done_o,
  // Fetch of feature-map pieces
  output logic   piece_valid_o,
  output piece_t piece_o,
  output logic   piece_second_o,  // of the second operand
  input  logic   piece_done_i,
  // MAC unit
  output logic   mac_valid_o,
  output step_t  mac_step_o,
  output logic   mac_ifm_buffer_o,
  output logic   mac_acc_buffer_o,
  input  logic   mac_done_i,
  // Weight stream: begin anew, or stop
  output logic   weight_start_o,
  output logic   weight_stop_o,
  // Output unit: step known, and its sources there
  output logic   out_valid_o,
  output logic   out_ready_o,
  output step_t  out_step_o,
  output logic   out_acc_buffer_o,
  output logic   out_ifm_buffer_o,
  input  logic   out_done_i,
  // OFM writer
  output logic   ofm_valid_o,
  output step_t  ofm_step_o,
  input  logic   ofm_done_i,
  input  logic   streams_idle_i
);
  localparam int unsigned Lanes = UblkW * UblkH;

  logic busy_q;
  logic [1:0] ifm_full_q, acc_full_q;
  logic ifm_wr_q, ifm_rd_q, acc_wr_q, acc_rd_q, second_q;
  logic weight_pending_q;

  logic elementwise, weighted, mac_start;
  assign elementwise = op_i.kind == Elementwise;
  assign weighted    = op_i.kind == Conv || op_i.kind == Depthwise;

  step_t ifm_step;
  logic ifm_walk, mac_walk, out_walk, ofm_walk, piece_last;
  cc_walker #(
    .Inner(1'b1)
  ) u_ifm_walker (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (start_i),
    .op_i        (op_i),
    .skip_depth_i(op_i.single_ifm_job),
    .valid_o     (ifm_walk),
    .step_o      (ifm_step),
    .next_i      (piece_last)
  );
  cc_walker #(
    .Inner(1'b1)
  ) u_mac_walker (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (mac_start),
    .op_i        (op_i),
    .skip_depth_i(1'b0),
    .valid_o     (mac_walk),
    .step_o      (mac_step_o),
    .next_i      (mac_done_i)
  );
  cc_walker #(
    .Inner(1'b0)
  ) u_out_walker (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (start_i),
    .op_i        (op_i),
    .skip_depth_i(1'b0),
    .valid_o     (out_walk),
    .step_o      (out_step_o),
    .next_i      (out_done_i)
  );
  cc_walker #(
    .Inner(1'b0)
  ) u_ofm_walker (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (start_i),
    .op_i        (op_i),
    .skip_depth_i(1'b0),
    .valid_o     (ofm_walk),
    .step_o      (ofm_step_o),
    .next_i      (ofm_done_i)
  );

  // The MAC unit's walk begins a cycle after the others: only then is the operation's kind known.
  logic started_q;
  assign mac_start = started_q && !elementwise;

  always_comb begin
    piece_o          = '0;
    piece_o.stride_x = op_i.stride_x;
    piece_o.stride_y = op_i.stride_y;
    if (!elementwise) begin
      piece_o.x0      = ifm_origin(op_i, ifm_step.ix0);
      piece_o.y0      = ifm_origin(op_i, ifm_step.iy0);
      piece_o.z0      = ifm_step.iz0;
      piece_o.w       = ifm_step.iw;
      piece_o.h       = ifm_step.ih;
      piece_o.c       = ifm_step.zc;
      piece_o.limit_x = (op_i.ifm_w + 18'(op_i.upscale)) >> op_i.upscale;
      piece_o.limit_y = (op_i.ifm_h + 18'(op_i.upscale)) >> op_i.upscale;
      piece_o.spread  = 1'b1;
      piece_o.bank    = ifm_buffer_bank(op_i, Lanes, ifm_wr_q);
    end else begin
      piece_o.x0      = second_q && op_i.broadcast_w ? '0 : 19'(ifm_step.ox0);
      piece_o.y0      = second_q && op_i.broadcast_h ? '0 : 19'(ifm_step.oy0);
      piece_o.z0      = second_q && op_i.broadcast_c ? '0 : ifm_step.oz0;
      piece_o.w       = second_q && op_i.broadcast_w ? 8'd1 : 8'(ifm_step.bw);
      piece_o.h       = second_q && op_i.broadcast_h ? 8'd1 : 8'(ifm_step.bh);
      piece_o.c       = second_q && op_i.broadcast_c ? 8'd1 : ifm_step.bd;
      piece_o.limit_x = '1;
      piece_o.limit_y = '1;
      piece_o.bank    = operand_bank(op_i, second_q, ifm_wr_q);
    end
  end
  assign piece_valid_o  = ifm_walk && !ifm_full_q[ifm_wr_q];
  assign piece_second_o = second_q;
  assign piece_last     = piece_done_i && (second_q || !op_i.ifm2_used);

  assign mac_valid_o      = mac_walk && !weight_pending_q && ifm_full_q[ifm_rd_q]
                            && (!mac_step_o.first || !acc_full_q[acc_wr_q]);
  assign mac_ifm_buffer_o = ifm_rd_q;
  assign mac_acc_buffer_o = acc_wr_q;
  assign out_valid_o      = out_walk;
  assign out_ready_o      = out_walk && (elementwise ? ifm_full_q[ifm_rd_q] : acc_full_q[acc_rd_q]);
  assign out_acc_buffer_o = acc_rd_q;
  assign out_ifm_buffer_o = ifm_rd_q;
  assign ofm_valid_o      = ofm_walk;
  assign weight_start_o   = weight_pending_q && mac_walk && weighted;
  assign weight_stop_o    = !mac_walk || !weighted;

  logic ifm_release;
  assign ifm_release = elementwise ? out_done_i
                       : mac_done_i && (!op_i.single_ifm_job || mac_step_o.row_last);

  assign busy_o = busy_q;
  assign done_o = busy_q && !(started_q || ifm_walk || mac_walk || out_walk || ofm_walk)
                  && streams_idle_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q           <= 1'b0;
      started_q        <= 1'b0;
      ifm_full_q       <= '0;
      acc_full_q       <= '0;
      ifm_wr_q         <= 1'b0;
      ifm_rd_q         <= 1'b0;
      acc_wr_q         <= 1'b0;
      acc_rd_q         <= 1'b0;
      second_q         <= 1'b0;
      weight_pending_q <= 1'b0;
    end else begin
      started_q        <= start_i;
      weight_pending_q <= started_q || (mac_done_i && mac_step_o.row_last);
      if (start_i) begin
        busy_q     <= 1'b1;
        ifm_full_q <= '0;
        acc_full_q <= '0;
        ifm_wr_q   <= 1'b0;
        ifm_rd_q   <= 1'b0;
        acc_wr_q   <= 1'b0;
        acc_rd_q   <= 1'b0;
        second_q   <= 1'b0;
      end else begin
        if (done_o) busy_q <= 1'b0;
        if (piece_done_i) second_q <= !piece_last;
        if (piece_last) begin
          ifm_full_q[ifm_wr_q] <= 1'b1;
          ifm_wr_q             <= !ifm_wr_q;
        end
        if (ifm_release) begin
          ifm_full_q[ifm_rd_q] <= 1'b0;
          ifm_rd_q             <= !ifm_rd_q;
        end
        if (mac_done_i && mac_step_o.last) begin
          acc_full_q[acc_wr_q] <= 1'b1;
          acc_wr_q             <= !acc_wr_q;
        end
        if (out_done_i && !elementwise) begin
          acc_full_q[acc_rd_q] <= 1'b0;
          acc_rd_q             <= !acc_rd_q;
        end
      end
    end
  end
endmodule
