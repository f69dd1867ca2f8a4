/// MAC unit: multiplies IFM words with weight vectors and accumulates in the shared buffer.
///
/// Pipeline: address of the IFM words; multiply, address of the accumulators; add (or take the maximum) and
/// write back. An accumulator row that is read while it is written is forwarded.
module mac
  import npu_pkg::*;
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
  input  logic        valid_i,
  input  step_t       step_i,
  input  logic        ifm_buffer_i,
  input  logic        acc_buffer_i,
  output logic        done_o,
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
  localparam logic [31:0] Lowest = 32'h8000_0000;

  logic issue, clear, half;
  logic [Lanes-1:0] absent;
  logic [7:0] channels;
  logic [11:0] acc_row, acc_at;
  mac_sequencer #(
    .UblkW(UblkW),
    .UblkH(UblkH),
    .UblkD(UblkD)
  ) u_sequencer (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .en_i       (en_i),
    .op_i       (op_i),
    .valid_i    (valid_i),
    .step_i     (step_i),
    .ifm_bank_i (ifm_buffer_bank(op_i, Lanes, ifm_buffer_i)),
    .done_o     (done_o),
    .vec_valid_i(vec_valid_i),
    .vec_ready_o(vec_ready_o),
    .issue_o    (issue),
    .absent_o   (absent),
    .clear_o    (clear),
    .channels_o (channels),
    .half_o     (half),
    .bank_o     (ifm_rd_bank_o),
    .addr_o     (ifm_rd_addr_o),
    .acc_row_o  (acc_row)
  );
  assign ifm_rd_o = issue ? ~absent : '0;
  assign acc_at   = acc_row + {acc_buffer_group(op_i, Usable, AccBanks, acc_buffer_i), 6'd0};

  logic [UblkD*8*9-1:0] weights;
  mac_weights #(
    .UblkD(UblkD)
  ) u_weights (
    .kind_i   (op_i.kind),
    .half_i   (half),
    .vec_i    (vec_i),
    .weights_o(weights)
  );

  // Multiply
  logic mul_q, mul_clear_q;
  logic [Lanes-1:0] mul_absent_q;
  logic [7:0] mul_channels_q;
  logic [11:0] mul_acc_q;
  logic [UblkD*8*9-1:0] mul_weights_q;
  logic [Lanes-1:0][UblkD-1:0][31:0] dot;
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [UblkD-1:0][21:0] narrow;
    mac_array #(
      .UblkD(UblkD)
    ) u_array (
      .ifm_i       (ifm_rd_data_i[l]),
      .channels_i  (mul_absent_q[l] ? '0 : mul_channels_q),
      .signed_i    (op_i.ifm_signed),
      .zero_point_i(op_i.ifm_zero_point[8:0]),
      .weights_i   (mul_weights_q),
      .dot_o       (narrow)
    );
    // Sums over depth may have 32-bit elements, two a word.
    logic [31:0] low, high;
    assign low  = mul_channels_q[0] && !mul_absent_q[l] ? ifm_rd_data_i[l][31:0] : '0;
    assign high = mul_channels_q[1] && !mul_absent_q[l] ? ifm_rd_data_i[l][63:32] : '0;
    always_comb begin
      for (int unsigned c = 0; c < UblkD; c++) dot[l][c] = 32'($signed(narrow[c]));
      if (op_i.ifm.log2_bytes == 2'd2) dot[l][0] = low + high;
    end
  end
  assign acc_rd_o       = mul_q && !mul_clear_q;
  assign acc_rd_group_o = mul_acc_q[11:6];
  assign acc_rd_row_o   = mul_acc_q[5:0];

  // Add, or take the maximum
  logic add_q, add_clear_q, forward_q;
  logic [Lanes-1:0] add_absent_q;
  logic [11:0] add_acc_q;
  logic [Lanes-1:0][UblkD-1:0][31:0] dot_q, sum, sum_q, old;
  assign old = forward_q ? sum_q : acc_rd_data_i;
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      for (int unsigned c = 0; c < UblkD; c++) begin
        if (op_i.kind == MaxPool) begin
          sum[l][c] = add_clear_q ? Lowest : old[l][c];
          if (!add_absent_q[l] && $signed(dot_q[l][c]) > $signed(sum[l][c])) sum[l][c] = dot_q[l][c];
        end else begin
          sum[l][c] = (add_clear_q ? '0 : old[l][c]) + dot_q[l][c];
        end
      end
    end
  end
  assign acc_wr_o       = add_q;
  assign acc_wr_group_o = add_acc_q[11:6];
  assign acc_wr_row_o   = add_acc_q[5:0];
  assign acc_wr_data_o  = sum;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mul_q          <= 1'b0;
      mul_clear_q    <= 1'b0;
      mul_absent_q   <= '0;
      mul_channels_q <= '0;
      mul_acc_q      <= '0;
      mul_weights_q  <= '0;
      add_q          <= 1'b0;
      add_clear_q    <= 1'b0;
      add_absent_q   <= '0;
      add_acc_q      <= '0;
      forward_q      <= 1'b0;
      dot_q          <= '0;
      sum_q          <= '0;
    end else if (en_i) begin
      mul_q <= issue;
      if (issue) begin
        mul_clear_q    <= clear;
        mul_absent_q   <= absent;
        mul_channels_q <= channels;
        mul_acc_q      <= acc_at;
        mul_weights_q  <= weights;
      end
      add_q <= mul_q;
      if (mul_q) begin
        add_clear_q  <= mul_clear_q;
        add_absent_q <= mul_absent_q;
        add_acc_q    <= mul_acc_q;
        dot_q        <= dot;
        forward_q    <= add_q && add_acc_q == mul_acc_q;
      end
      if (add_q) sum_q <= sum;
    end
  end
endmodule
