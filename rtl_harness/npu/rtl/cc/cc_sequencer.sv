// SPDX-License-Identifier: Apache-2.0
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
  input  logic   mac_ready_i,       // takes the step
  input  logic   mac_step_done_i,   // IFM piece and weights of a step are no longer needed
  input  logic   mac_row_done_i,    // so, and of the last step of a spatial position
  input  logic   mac_block_done_i,  // the accumulators of a block are written
  // Weight stream: begin anew, or stop
  output logic   weight_start_o,
  output logic   weight_stop_o,
  // That of the next operation: it may be read ahead; begin with it; what is read is kept for it
  input  logic   next_weighted_i,
  input  logic   weight_idle_i,
  input  logic   flushing_i,
  output logic   weight_ahead_o,
  output logic   weight_kept_o,
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
  logic [1:0] ifm_full_q, acc_used_q, acc_full_q;
  logic ifm_wr_q, ifm_rd_q, ifm_free_q, acc_wr_q, acc_done_q, acc_rd_q;
  logic weight_pending_q, row_ending_q, weight_kept_q;

  logic elementwise, weighted;
  assign elementwise = op_i.kind == Elementwise;
  assign weighted    = op_i.kind == Conv || op_i.kind == Depthwise;

  // The walks begin a cycle after the operation: only then is it known.
  logic started_q;

  logic piece_walk, piece_over, piece_last;
  cc_pieces #(
    .Lanes(Lanes)
  ) u_pieces (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .start_i (started_q),
    .op_i    (op_i),
    .buffer_i(ifm_wr_q),
    .valid_o (piece_walk),
    .over_o  (piece_over),
    .piece_o (piece_o),
    .second_o(piece_second_o),
    .done_i  (piece_done_i),
    .full_o  (piece_last)
  );

  // The MAC unit's next step is in registers. It takes it before it is done with the one before.
  logic mac_next_valid, mac_load, mac_take, mac_valid_q;
  step_t mac_next, mac_step_q;
  cc_steps u_mac_walker (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (started_q && !elementwise),
    .op_i        (op_i),
    .skip_depth_i(1'b0),
    .valid_o     (mac_next_valid),
    .step_o      (mac_next),
    .next_i      (mac_load)
  );
  assign mac_load   = mac_next_valid && (!mac_valid_q || mac_take);
  assign mac_step_o = mac_step_q;

  logic out_walk, ofm_walk, out_last_z, ofm_last_z;
  block_t out_block, ofm_block;
  cc_blocks u_out_walker (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (started_q),
    .op_i        (op_i),
    .skip_depth_i(1'b0),
    .valid_o     (out_walk),
    .block_o     (out_block),
    .last_z_o    (out_last_z),
    .next_i      (out_done_i)
  );
  cc_blocks u_ofm_walker (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (started_q),
    .op_i        (op_i),
    .skip_depth_i(1'b0),
    .valid_o     (ofm_walk),
    .block_o     (ofm_block),
    .last_z_o    (ofm_last_z),
    .next_i      (ofm_done_i)
  );
  function automatic step_t block_step(block_t block);
    block_step     = '0;
    block_step.ox0 = block.ox0;
    block_step.oy0 = block.oy0;
    block_step.oz0 = block.oz0;
    block_step.bw  = block.bw;
    block_step.bh  = block.bh;
    block_step.bd  = block.bd;
  endfunction
  assign out_step_o = block_step(out_block);
  assign ofm_step_o = block_step(ofm_block);

  assign piece_valid_o = piece_walk && !ifm_full_q[ifm_wr_q];

  assign mac_valid_o      = mac_valid_q && !weight_pending_q && ifm_full_q[ifm_rd_q]
                            && (!mac_step_q.first || !acc_used_q[acc_wr_q]);
  assign mac_take         = mac_valid_o && mac_ready_i;
  assign mac_ifm_buffer_o = ifm_rd_q;
  assign mac_acc_buffer_o = acc_wr_q;
  assign out_valid_o      = out_walk;
  assign out_ready_o      = out_walk && (elementwise ? ifm_full_q[ifm_rd_q] : acc_full_q[acc_rd_q]);
  assign out_acc_buffer_o = acc_rd_q;
  assign out_ifm_buffer_o = ifm_rd_q;
  assign ofm_valid_o      = ofm_walk;
  assign weight_start_o   = weight_pending_q && weighted && !row_ending_q;
  assign weight_stop_o    = !weighted || !(mac_valid_q || row_ending_q);

  // The weights of the next operation are read as far as their queue goes once this one needs none.
  logic weights_over;
  assign weights_over   = !weighted || !(started_q || mac_next_valid || mac_valid_q || row_ending_q);
  assign weight_ahead_o = busy_q && next_weighted_i && weights_over && weight_idle_i && !weight_kept_q;
  assign weight_kept_o  = weight_kept_q;

  // A piece is read to its end, and may be written anew
  logic ifm_over, ifm_release;
  assign ifm_over    = elementwise ? out_done_i
                       : mac_take && (!op_i.single_ifm_job || mac_step_q.row_last);
  assign ifm_release = elementwise ? out_done_i
                       : mac_step_done_i && (!op_i.single_ifm_job || mac_row_done_i);

  assign busy_o = busy_q;
  assign done_o = busy_q && !(started_q || mac_next_valid || mac_valid_q || out_walk || ofm_walk)
                  && piece_over && streams_idle_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q           <= 1'b0;
      started_q        <= 1'b0;
      ifm_full_q       <= '0;
      acc_used_q       <= '0;
      acc_full_q       <= '0;
      ifm_wr_q         <= 1'b0;
      ifm_rd_q         <= 1'b0;
      ifm_free_q       <= 1'b0;
      acc_wr_q         <= 1'b0;
      acc_done_q       <= 1'b0;
      acc_rd_q         <= 1'b0;
      row_ending_q     <= 1'b0;
      weight_pending_q <= 1'b0;
      weight_kept_q    <= 1'b0;
      mac_valid_q      <= 1'b0;
      mac_step_q       <= '0;
    end else begin
      started_q        <= start_i;
      if (mac_load && mac_next.row_first) weight_pending_q <= 1'b1;
      else if (!row_ending_q) weight_pending_q <= 1'b0;
      if (mac_take && mac_step_q.row_last) row_ending_q <= 1'b1;
      else if (mac_row_done_i) row_ending_q <= 1'b0;
      if (weight_ahead_o) weight_kept_q <= 1'b1;
      else if (weight_start_o || (flushing_i && weight_idle_i)) weight_kept_q <= 1'b0;
      if (mac_load || mac_take) mac_valid_q <= mac_load;
      if (mac_load) mac_step_q <= mac_next;
      if (start_i) begin
        busy_q     <= 1'b1;
        ifm_full_q <= '0;
        acc_used_q <= '0;
        acc_full_q <= '0;
        ifm_wr_q   <= 1'b0;
        ifm_rd_q   <= 1'b0;
        ifm_free_q <= 1'b0;
        acc_wr_q   <= 1'b0;
        acc_done_q <= 1'b0;
        acc_rd_q   <= 1'b0;
      end else begin
        if (done_o) busy_q <= 1'b0;
        if (piece_last) begin
          ifm_full_q[ifm_wr_q] <= 1'b1;
          ifm_wr_q             <= !ifm_wr_q;
        end
        if (ifm_over) ifm_rd_q <= !ifm_rd_q;
        if (ifm_release) begin
          ifm_full_q[ifm_free_q] <= 1'b0;
          ifm_free_q             <= !ifm_free_q;
        end
        if (mac_take) begin
          acc_used_q[acc_wr_q] <= 1'b1;
          if (mac_step_q.last) acc_wr_q <= !acc_wr_q;
        end
        if (mac_block_done_i) begin
          acc_full_q[acc_done_q] <= 1'b1;
          acc_done_q             <= !acc_done_q;
        end
        if (out_done_i && !elementwise) begin
          acc_used_q[acc_rd_q] <= 1'b0;
          acc_full_q[acc_rd_q] <= 1'b0;
          acc_rd_q             <= !acc_rd_q;
        end
      end
    end
  end

  logic unused_last;
  assign unused_last = ^{out_last_z, ofm_last_z};
endmodule
