// SPDX-License-Identifier: Apache-2.0
/// Performance monitor: a cycle counter and four counters of events that the host selects.
///
/// Off after reset; all registers keep still while it is off. See the programming interface in README.md.
module cc_pmu
  import npu_pkg::*;
  import cc_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // Register access
  input  logic        wr_i,
  input  logic [11:0] addr_i,
  input  logic [31:0] data_i,
  output logic [31:0] data_o,  // zero for addresses of others
  // What happens in this cycle
  input  pmu_events_t events_i,
  input  logic        unmasked_i,  // the command stream wants what follows counted
  output logic        irq_o
);
  localparam int unsigned Counters = 4;
  localparam int unsigned Cycles   = Counters;  // the cycle counter, in masks

  logic on_q, mask_q;
  logic [Counters:0] enable_q, overflow_q, irq_enable_q;
  logic [47:0] cycles_q;
  logic [Counters-1:0][31:0] count_q;
  pmu_event_e [Counters-1:0] type_q;
  pmu_events_t events_q;
  logic run_q;

  // Bits 0 to 3 of a mask are the event counters, bit 31 is the cycle counter.
  function automatic logic [31:0] spread(logic [Counters:0] mask);
    return {mask[Cycles], 27'd0, mask[Counters-1:0]};
  endfunction
  logic [Counters:0] mask;
  assign mask = {data_i[31], data_i[Counters-1:0]};

  logic is_count, is_type;
  logic [1:0] index;
  assign is_count = addr_i[11:4] == PmuCount[11:4] && addr_i[1:0] == 2'd0;
  assign is_type  = addr_i[11:4] == PmuType[11:4] && addr_i[1:0] == 2'd0;
  assign index    = addr_i[3:2];

  logic [Counters-1:0] happens;
  for (genvar i = 0; i < Counters; i++) begin : gen_counter
    always_comb begin
      unique case (type_q[i])
        EventCycle:      happens[i] = 1'b1;
        EventIdle:       happens[i] = !events_q.active;
        EventActive:     happens[i] = events_q.active;
        EventMacActive:  happens[i] = events_q.mac;
        EventAoActive:   happens[i] = events_q.ao;
        EventAxi0Read:   happens[i] = events_q.m0_read;
        EventAxi0Write:  happens[i] = events_q.m0_write;
        EventAxi1Read:   happens[i] = events_q.m1_read;
        default:         happens[i] = 1'b0;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      on_q         <= 1'b0;
      mask_q       <= 1'b0;
      enable_q     <= '0;
      overflow_q   <= '0;
      irq_enable_q <= '0;
      cycles_q     <= '0;
      count_q      <= '0;
      type_q       <= '0;
      events_q     <= '0;
      run_q        <= 1'b0;
    end else begin
      run_q <= on_q && (!mask_q || unmasked_i);
      if (on_q) events_q <= events_i;
      if (run_q) begin
        if (enable_q[Cycles]) begin
          cycles_q <= cycles_q + 48'd1;
          if (&cycles_q) overflow_q[Cycles] <= 1'b1;
        end
        for (int unsigned i = 0; i < Counters; i++) begin
          if (enable_q[i] && happens[i]) begin
            count_q[i] <= count_q[i] + 32'd1;
            if (&count_q[i]) overflow_q[i] <= 1'b1;
          end
        end
      end
      if (wr_i) begin
        unique case (addr_i)
          PmuControl: begin
            on_q   <= data_i[0];
            mask_q <= data_i[3];
            if (data_i[1]) count_q <= '0;
            if (data_i[2]) cycles_q <= '0;
          end
          PmuEnableSet:   enable_q <= enable_q | mask;
          PmuEnableClear: enable_q <= enable_q & ~mask;
          PmuOverSet:     overflow_q <= overflow_q | mask;
          PmuOverClear:   overflow_q <= overflow_q & ~mask;
          PmuIrqSet:      irq_enable_q <= irq_enable_q | mask;
          PmuIrqClear:    irq_enable_q <= irq_enable_q & ~mask;
          PmuCyclesLow:   cycles_q[31:0] <= data_i;
          PmuCyclesHigh:  cycles_q[47:32] <= data_i[15:0];
          default: begin
            if (is_count) count_q[index] <= data_i;
            if (is_type) type_q[index] <= pmu_event(data_i[9:0]);
          end
        endcase
      end
    end
  end

  assign irq_o = |(overflow_q & irq_enable_q);

  always_comb begin
    unique case (addr_i)
      PmuControl:                   data_o = {16'd0, 5'(Counters), 7'd0, mask_q, 2'd0, on_q};
      PmuEnableSet, PmuEnableClear: data_o = spread(enable_q);
      PmuOverSet, PmuOverClear:     data_o = spread(overflow_q);
      PmuIrqSet, PmuIrqClear:       data_o = spread(irq_enable_q);
      PmuCyclesLow:                 data_o = cycles_q[31:0];
      PmuCyclesHigh:                data_o = {16'd0, cycles_q[47:32]};
      default: begin
        data_o = '0;
        if (is_count) data_o = count_q[index];
        if (is_type) data_o = {22'd0, pmu_number(type_q[index])};
      end
    endcase
  end

  logic unused_data;
  assign unused_data = ^data_i[30:16];
endmodule
