// SPDX-License-Identifier: Apache-2.0
/// STATUS: what has happened since the stream began, and the interrupt.
module cc_status
  import npu_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_irq_i,
  input  logic        begin_i,          // a stream begins: all is forgotten
  input  logic        running_i,
  input  op_error_t   op_error_i,
  input  logic        cmd_error_i,      // sets the bit, as those that follow
  input  logic        address_error_i,
  input  logic        scale_error_i,
  input  logic        end_i,            // STOP was executed
  input  logic        mask_i,           // takes the parameter of IRQ or STOP
  input  logic [15:0] param_i,
  input  logic        irq_i,            // the stream is over
  input  logic        pmu_irq_i,
  output logic        failed_o,
  output logic        irq_o,
  output logic [31:0] status_o
);
  logic [15:0] irq_mask_q;
  logic irq_q, end_q, cmd_error_q;
  op_error_t error_q;

  op_error_t found;
  always_comb begin
    found         = running_i ? op_error_i : '0;
    found.address = found.address || address_error_i;
    found.scale   = found.scale || scale_error_i;
  end

  assign failed_o = cmd_error_q || error_q != '0;
  assign irq_o    = irq_q || pmu_irq_i;
  assign status_o = {
    irq_mask_q, 5'd0, error_q.scale, error_q.address, 1'b0, error_q.weight, pmu_irq_i, end_q,
    cmd_error_q, 1'b0, error_q.bus, irq_q, running_i
  };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      irq_mask_q  <= '0;
      irq_q       <= 1'b0;
      end_q       <= 1'b0;
      cmd_error_q <= 1'b0;
      error_q     <= '0;
    end else if (begin_i) begin
      irq_mask_q  <= '0;
      irq_q       <= 1'b0;
      end_q       <= 1'b0;
      cmd_error_q <= cmd_error_i;
      error_q     <= '0;
    end else begin
      if (mask_i) irq_mask_q <= irq_mask_q | param_i;
      if (end_i) end_q <= 1'b1;
      if (cmd_error_i) cmd_error_q <= 1'b1;
      error_q <= error_q | found;
      irq_q   <= irq_i || (irq_q && !clear_irq_i);
    end
  end
endmodule
