/// Runs one operation: three walkers hand steps to IFM fetch, MAC unit and output unit.
///
/// IFM pieces and accumulators are double buffered; a unit gets its step when the buffers it needs are
/// full, or free. The staging area of the output is single: the output unit waits for the OFM writer.
module cc_sequencer
  import npu_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_ni,
  input  logic  start_i,
  input  op_t   op_i,
  output logic  busy_o,
  output logic  done_o,
  // IFM fetch
  output logic  ifm_valid_o,
  output step_t ifm_step_o,
  output logic  ifm_buffer_o,
  input  logic  ifm_done_i,
  // MAC unit
  output logic  mac_valid_o,
  output step_t mac_step_o,
  output logic  mac_ifm_buffer_o,
  output logic  mac_acc_buffer_o,
  input  logic  mac_done_i,
  // Weight stream: begin anew, or stop
  output logic  weight_start_o,
  output logic  weight_stop_o,
  // Output unit: step known, and accumulators ready with room in the staging area
  output logic  out_valid_o,
  output logic  out_ready_o,
  output step_t out_step_o,
  output logic  out_acc_buffer_o,
  input  logic  out_done_i,
  // OFM writer
  output logic  ofm_start_o,
  input  logic  ofm_busy_i,
  input  logic  streams_idle_i
);
  logic busy_q;
  logic [1:0] ifm_full_q, acc_full_q;
  logic ifm_wr_q, ifm_rd_q, acc_wr_q, acc_rd_q;
  logic weight_pending_q;

  logic ifm_walk, mac_walk, out_walk;
  cc_walker #(
    .Inner(1'b1)
  ) u_ifm_walker (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (start_i),
    .op_i        (op_i),
    .skip_depth_i(op_i.single_ifm_job),
    .valid_o     (ifm_walk),
    .step_o      (ifm_step_o),
    .next_i      (ifm_done_i)
  );
  cc_walker #(
    .Inner(1'b1)
  ) u_mac_walker (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .start_i     (start_i),
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

  assign ifm_valid_o      = ifm_walk && !ifm_full_q[ifm_wr_q];
  assign ifm_buffer_o     = ifm_wr_q;
  assign mac_valid_o      = mac_walk && !weight_pending_q && ifm_full_q[ifm_rd_q]
                            && (!mac_step_o.first || !acc_full_q[acc_wr_q]);
  assign mac_ifm_buffer_o = ifm_rd_q;
  assign mac_acc_buffer_o = acc_wr_q;
  assign out_valid_o      = out_walk;
  assign out_ready_o      = out_walk && acc_full_q[acc_rd_q] && !ofm_busy_i;
  assign out_acc_buffer_o = acc_rd_q;
  assign ofm_start_o      = out_done_i;
  assign weight_start_o   = weight_pending_q && mac_walk;
  assign weight_stop_o    = !mac_walk;

  logic ifm_release;
  assign ifm_release = mac_done_i && (!op_i.single_ifm_job || mac_step_o.row_last);

  assign busy_o = busy_q;
  assign done_o = busy_q && !(ifm_walk || mac_walk || out_walk || ofm_busy_i) && streams_idle_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q           <= 1'b0;
      ifm_full_q       <= '0;
      acc_full_q       <= '0;
      ifm_wr_q         <= 1'b0;
      ifm_rd_q         <= 1'b0;
      acc_wr_q         <= 1'b0;
      acc_rd_q         <= 1'b0;
      weight_pending_q <= 1'b0;
    end else if (start_i) begin
      busy_q           <= 1'b1;
      ifm_full_q       <= '0;
      acc_full_q       <= '0;
      ifm_wr_q         <= 1'b0;
      ifm_rd_q         <= 1'b0;
      acc_wr_q         <= 1'b0;
      acc_rd_q         <= 1'b0;
      weight_pending_q <= 1'b1;
    end else begin
      if (done_o) busy_q <= 1'b0;
      if (ifm_done_i) begin
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
      if (out_done_i) begin
        acc_full_q[acc_rd_q] <= 1'b0;
        acc_rd_q             <= !acc_rd_q;
      end
      weight_pending_q <= mac_done_i && mac_step_o.row_last;
    end
  end
endmodule
