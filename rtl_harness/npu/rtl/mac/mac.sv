// SPDX-License-Identifier: Apache-2.0
/// MAC unit: multiplies IFM words with weight vectors and accumulates in the shared buffer.
///
/// Pipeline, a group of pixels a cycle: walk; read the IFM words; subtract the zero point and take the weight
/// vector; multiply; sum, read the accumulators; add (or take the maximum) and write back. It waits before the
/// weight vector is taken; what has one goes on.
module mac
  import npu_pkg::*;
  import mac_pkg::*;
#(
  parameter int unsigned UblkW  = 1,
  parameter int unsigned UblkH  = 1,
  parameter int unsigned UblkD  = 4,
  parameter int unsigned Usable = 16,
  localparam int unsigned Lanes    = UblkW * UblkH,
  localparam int unsigned AccBanks = Lanes * UblkD / 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  op_t         op_i,
  // Steps: the next one is taken while the pipeline works off the one before
  input  logic        valid_i,
  output logic        ready_o,
  input  step_t       step_i,
  input  logic        ifm_buffer_i,
  input  logic        acc_buffer_i,
  output logic        step_done_o,   // IFM piece and weights are no longer needed
  output logic        row_done_o,    // so, and of the last step of a spatial position
  output logic        block_done_o,  // the accumulators of a block are written
  input  logic        vec_valid_i,
  output logic        vec_ready_o,
  input  logic [UblkD*8*9-1:0] vec_i,
  output logic [Lanes-1:0] ifm_rd_o,
  output logic [Lanes-1:0][5:0] ifm_rd_bank_o,
  output logic [Lanes-1:0][6:0] ifm_rd_addr_o,
  input  logic [Lanes-1:0][63:0] ifm_rd_data_i,
  output logic        acc_rd_o,
  output logic [5:0]  acc_rd_group_o,
  output logic [5:0]  acc_rd_row_o,
  input  logic [AccBanks*128-1:0] acc_rd_data_i,
  output logic        acc_wr_o,
  output logic [5:0]  acc_wr_group_o,
  output logic [5:0]  acc_wr_row_o,
  output logic [AccBanks*128-1:0] acc_wr_data_o
);
  localparam int unsigned WideLog2Bytes = 2;

  logic weighted, wide, two_bytes, go;
  assign weighted  = op_i.kind == Conv || op_i.kind == Depthwise;
  assign wide      = op_i.ifm.log2_bytes == 2'(WideLog2Bytes);
  assign two_bytes = op_i.ifm.log2_bytes == 2'd1;

  // Walk
  logic walk_valid;
  group_t walk_group;
  logic [Lanes-1:0] walk_absent;
  logic [Lanes-1:0][5:0] walk_bank;
  logic [Lanes-1:0][6:0] walk_addr;
  mac_sequencer #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Usable(Usable)
  ) u_sequencer (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .en_i        (en_i),
    .op_i        (op_i),
    .valid_i     (valid_i),
    .ready_o     (ready_o),
    .step_i      (step_i),
    .ifm_buffer_i(ifm_buffer_i),
    .acc_buffer_i(acc_buffer_i),
    .valid_o     (walk_valid),
    .ready_i     (go),
    .group_o     (walk_group),
    .absent_o    (walk_absent),
    .bank_o      (walk_bank),
    .addr_o      (walk_addr)
  );

  // Read the IFM words
  logic read_q;
  group_t read_group_q;
  logic [Lanes-1:0] read_absent_q;
  logic [Lanes-1:0][5:0] read_bank_q;
  logic [Lanes-1:0][6:0] read_addr_q;
  assign ifm_rd_o      = go && read_q && read_group_q.multiply ? ~read_absent_q : '0;
  assign ifm_rd_bank_o = read_bank_q;
  assign ifm_rd_addr_o = read_addr_q;

  // Take the weight vector
  logic take_q;
  group_t take_group_q;
  logic [Lanes-1:0] take_absent_q;
  logic [UblkD*8*9-1:0] weights;
  assign vec_ready_o = take_q && take_group_q.new_vector && weighted;
  assign go          = !vec_ready_o || vec_valid_i;
  mac_weights #(
    .UblkD(UblkD)
  ) u_weights (
    .kind_i     (op_i.kind),
    .half_i     (take_group_q.half),
    .two_bytes_i(two_bytes),
    .vec_i      (vec_i),
    .weights_o  (weights)
  );

  logic load, load_weights;
  assign load         = en_i && go && take_q && take_group_q.multiply;
  assign load_weights = load && take_group_q.new_vector;

  // Multiply, then sum
  logic mul_q, sum_q, mul_clear_q, sum_clear_q, sum_lower_clear;
  logic [Lanes-1:0] mul_absent_q, sum_absent_q;
  logic [11:0] mul_acc_q, sum_acc_q;
  logic [UblkD*8*9-1:0] weights_q;
  logic [Lanes-1:0][UblkD-1:0][31:0] dot;
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [7:0][9:0] factors, factors_q;
    mac_operands u_operands (
      .word_i       (ifm_rd_data_i[l]),
      .absent_i     (take_absent_q[l]),
      .channels_m1_i(take_group_q.channels_m1),
      .signed_i     (op_i.ifm_signed),
      .two_bytes_i  (two_bytes),
      .wide_i       (wide),
      .zero_point_i (op_i.ifm_zero_point[8:0]),
      .factors_o    (factors)
    );
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) factors_q <= '0;
      else if (load) factors_q <= factors;
    end
    mac_array #(
      .UblkD(UblkD)
    ) u_array (
      .clk_i     (clk_i),
      .rst_ni    (rst_ni),
      .multiply_i(en_i && mul_q),
      .wide_i    (wide),
      .factors_i (factors_q),
      .weights_i (weights_q),
      .dot_o     (dot[l])
    );
  end

  // Of pools with 16-bit elements, a word has half of the channels.
  logic sum_half;
  if (UblkD > 4) begin : gen_half
    logic mul_half_q, sum_half_q;
    assign sum_half = sum_half_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        mul_half_q <= 1'b0;
        sum_half_q <= 1'b0;
      end else if (en_i) begin
        if (load) mul_half_q <= take_group_q.half;
        if (mul_q) sum_half_q <= mul_half_q;
      end
    end
  end else begin : gen_no_half
    assign sum_half = 1'b0;
  end

  // Accumulate
  logic [11:0] acc_rd_row, acc_wr_row;
  mac_accumulate #(
    .Lanes(Lanes),
    .UblkD(UblkD)
  ) u_accumulate (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .en_i         (en_i),
    .max_i        (op_i.kind == MaxPool),
    .halves_i     (two_bytes),
    .half_i       (sum_half),
    .valid_i      (sum_q),
    .clear_i      (sum_clear_q),
    .lower_clear_i(sum_lower_clear),
    .absent_i     (sum_absent_q),
    .acc_i        (sum_acc_q),
    .dot_i        (dot),
    .rd_o         (acc_rd_o),
    .rd_row_o     (acc_rd_row),
    .rd_data_i    (acc_rd_data_i),
    .wr_o         (acc_wr_o),
    .wr_row_o     (acc_wr_row),
    .wr_data_o    (acc_wr_data_o)
  );
  assign {acc_rd_group_o, acc_rd_row_o} = acc_rd_row;
  assign {acc_wr_group_o, acc_wr_row_o} = acc_wr_row;

  // In a one-row operation the lower half of the lanes may have to stay.
  if (UblkH > 1) begin : gen_one_row
    logic mul_lower_clear_q, sum_lower_clear_q;
    assign sum_lower_clear = sum_lower_clear_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        mul_lower_clear_q <= 1'b0;
        sum_lower_clear_q <= 1'b0;
      end else if (en_i) begin
        if (load) mul_lower_clear_q <= take_group_q.clear && !take_group_q.keep;
        if (mul_q) sum_lower_clear_q <= mul_lower_clear_q;
      end
    end
  end else begin : gen_no_one_row
    assign sum_lower_clear = sum_clear_q;
  end

  // What has ended: a step when its last vector is taken, a block when its last sums are written
  logic step_done_q, row_done_q, mul_end_q, sum_end_q, add_end_q;
  assign step_done_o  = step_done_q;
  assign row_done_o   = row_done_q;
  assign block_done_o = add_end_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q        <= 1'b0;
      read_group_q  <= '0;
      read_absent_q <= '0;
      read_bank_q   <= '0;
      read_addr_q   <= '0;
      take_q        <= 1'b0;
      take_group_q  <= '0;
      take_absent_q <= '0;
    end else if (en_i && go) begin
      read_q <= walk_valid;
      if (walk_valid) begin
        read_group_q  <= walk_group;
        read_absent_q <= walk_absent;
        read_bank_q   <= walk_bank;
        read_addr_q   <= walk_addr;
      end
      take_q <= read_q;
      if (read_q) begin
        take_group_q  <= read_group_q;
        take_absent_q <= read_absent_q;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mul_q        <= 1'b0;
      mul_clear_q  <= 1'b0;
      mul_absent_q <= '0;
      mul_acc_q    <= '0;
      mul_end_q    <= 1'b0;
      weights_q    <= '0;
      sum_q        <= 1'b0;
      sum_clear_q  <= 1'b0;
      sum_absent_q <= '0;
      sum_acc_q    <= '0;
      sum_end_q    <= 1'b0;
      add_end_q    <= 1'b0;
      step_done_q  <= 1'b0;
      row_done_q   <= 1'b0;
    end else if (en_i) begin
      mul_q <= load;
      if (load) begin
        mul_clear_q  <= take_group_q.clear;
        mul_absent_q <= take_absent_q;
        mul_acc_q    <= take_group_q.acc;
      end
      if (load_weights) weights_q <= weights;
      sum_q <= mul_q;
      if (mul_q) begin
        sum_clear_q  <= mul_clear_q;
        sum_absent_q <= mul_absent_q;
        sum_acc_q    <= mul_acc_q;
      end
      step_done_q <= go && take_q && take_group_q.step_end;
      row_done_q  <= go && take_q && take_group_q.row_end;
      mul_end_q   <= go && take_q && take_group_q.block_end;
      sum_end_q   <= mul_end_q;
      add_end_q   <= sum_end_q;
    end
  end
endmodule
