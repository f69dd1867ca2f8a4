/// MAC unit: multiplies IFM words with weight vectors and accumulates in the shared buffer.
///
/// Pipeline: address of the IFM word; multiply, address of the accumulators; add and write back. An
/// accumulator that is read while it is written is forwarded.
module mac
  import npu_pkg::*;
#(
  parameter int unsigned OfmUblock = 4,
  parameter int unsigned SbBanks   = 16,
  localparam int unsigned IfmAddrW = $clog2(SbBanks) + 7,
  localparam int unsigned AccAddrW = $clog2(SbBanks) - 1 + 7
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     en_i,
  input  op_t                      op_i,
  input  logic                     valid_i,
  input  step_t                    step_i,
  input  logic                     ifm_buffer_i,
  input  logic                     acc_buffer_i,
  output logic                     done_o,
  input  logic                     vec_valid_i,
  output logic                     vec_ready_o,
  input  logic [OfmUblock*8*9-1:0] vec_i,
  output logic                     ifm_rd_o,
  output logic [IfmAddrW-1:0]      ifm_rd_addr_o,
  input  logic [63:0]              ifm_rd_data_i,
  output logic                     acc_rd_o,
  output logic [AccAddrW-1:0]      acc_rd_addr_o,
  input  logic [32*OfmUblock-1:0]  acc_rd_data_i,
  output logic                     acc_wr_o,
  output logic [AccAddrW-1:0]      acc_wr_addr_o,
  output logic [32*OfmUblock-1:0]  acc_wr_data_o
);
  // Where the two buffers of each kind begin
  logic [5:0] ifm_half;
  logic [5:0] acc_half;
  logic [5:0] acc_first;
  assign ifm_half  = (op_i.ib_end - 6'd2) >> 1;
  assign acc_half  = (6'(SbBanks) - op_i.ab_start) >> 2;
  assign acc_first = (op_i.ab_start + 6'd1) >> 1;

  logic issue, padding, clear;
  logic [7:0] lanes;
  logic [AccAddrW-1:0] acc_addr;
  mac_sequencer #(
    .IfmAddrW(IfmAddrW),
    .AccAddrW(AccAddrW)
  ) u_sequencer (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .en_i       (en_i),
    .op_i       (op_i),
    .valid_i    (valid_i),
    .step_i     (step_i),
    .ifm_base_i ({(IfmAddrW - 7)'(6'd2 + (ifm_buffer_i ? ifm_half : '0)), 7'd0}),
    .acc_base_i ({(AccAddrW - 7)'(acc_first + (acc_buffer_i ? acc_half : '0)), 7'd0}),
    .done_o     (done_o),
    .vec_valid_i(vec_valid_i),
    .vec_ready_o(vec_ready_o),
    .issue_o    (issue),
    .padding_o  (padding),
    .clear_o    (clear),
    .lanes_o    (lanes),
    .ifm_addr_o (ifm_rd_addr_o),
    .acc_addr_o (acc_addr)
  );
  assign ifm_rd_o = issue && !padding;

  // Multiply
  logic mul_q, mul_clear_q;
  logic [7:0] mul_lanes_q;
  logic [AccAddrW-1:0] mul_acc_q;
  logic [OfmUblock*8*9-1:0] mul_weights_q;
  logic [OfmUblock-1:0][21:0] dot;
  mac_array #(
    .OfmUblock(OfmUblock)
  ) u_array (
    .ifm_i       (ifm_rd_data_i),
    .lanes_i     (mul_lanes_q),
    .signed_i    (op_i.ifm_signed),
    .zero_point_i(op_i.ifm_zero_point),
    .weights_i   (mul_weights_q),
    .dot_o       (dot)
  );
  assign acc_rd_o      = mul_q && !mul_clear_q;
  assign acc_rd_addr_o = mul_acc_q;

  // Add
  logic add_q, add_clear_q, forward_q;
  logic [AccAddrW-1:0] add_acc_q;
  logic [OfmUblock-1:0][21:0] dot_q;
  logic [OfmUblock-1:0][31:0] sum, sum_q, old;
  assign old = add_clear_q ? '0 : (forward_q ? sum_q : acc_rd_data_i);
  always_comb begin
    for (int unsigned c = 0; c < OfmUblock; c++) sum[c] = old[c] + 32'($signed(dot_q[c]));
  end
  assign acc_wr_o      = add_q;
  assign acc_wr_addr_o = add_acc_q;
  assign acc_wr_data_o = sum;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mul_q         <= 1'b0;
      mul_clear_q   <= 1'b0;
      mul_lanes_q   <= '0;
      mul_acc_q     <= '0;
      mul_weights_q <= '0;
      add_q         <= 1'b0;
      add_clear_q   <= 1'b0;
      add_acc_q     <= '0;
      forward_q     <= 1'b0;
      dot_q         <= '0;
      sum_q         <= '0;
    end else if (en_i) begin
      mul_q <= issue;
      if (issue) begin
        mul_clear_q   <= clear;
        mul_lanes_q   <= padding ? '0 : lanes;
        mul_acc_q     <= acc_addr;
        mul_weights_q <= vec_i;
      end
      add_q <= mul_q;
      if (mul_q) begin
        add_clear_q <= mul_clear_q;
        add_acc_q   <= mul_acc_q;
        dot_q       <= dot;
        forward_q   <= add_q && add_acc_q == mul_acc_q;
      end
      if (add_q) sum_q <= sum;
    end
  end
endmodule
