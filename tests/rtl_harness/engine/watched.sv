// SPDX-License-Identifier: Apache-2.0
// A closed design for tests whose alarms are pulses: none stays up, and none is up when the run ends.
//
// Words go through r, s0, s1, s2 into a sum; the sum of 64 words is written to `out_q`. What is watched, by which alarm:
// the parity of r and s1 (parity), the sum against its twin when it is written (sum), the parity of a table when it is read
// (table, a bit for each kind of address), the count against its twin, in the cycle in which they part (lockstep), a trap
// state that goes round in circles (watchdog). Copies of the mode are mended by a vote (mended). `tick_o` needs no fault.

module watched_core (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [7:0]  data_i,
  output logic [15:0] count_o,
  output logic [15:0] sum_o,
  output logic        write_o,
  output logic        parity_alarm_o,
  output logic        sum_alarm_o,
  output logic [1:0]  table_alarm_o,
  output logic        lockstep_alarm_o,
  output logic        watchdog_alarm_o,
  output logic        mended_o,
  output logic        tick_o
);
  localparam logic [1:0] Run = 2'b01;

  logic [15:0] count_q, twin_q, acc_q, acc_twin_q;
  logic [7:0] r_q, s0_q, s1_q, s2_q, s2_twin_q;
  logic pr_q, p1_q, parted_q;
  logic [1:0] state_q;
  logic [2:0] trap_q;
  logic [3:0] mode_a_q, mode_b_q, mode_c_q, mode;
  logic [8:0] table_q [128];
  logic [8:0] entry;
  logic running;

  assign running = state_q == Run;
  assign mode = (mode_a_q & mode_b_q) | (mode_a_q & mode_c_q) | (mode_b_q & mode_c_q);
  assign entry = table_q[count_q[8:2]];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      twin_q <= '0;
      parted_q <= 1'b0;
      state_q <= Run;
      trap_q <= '0;
      r_q <= '0;
      pr_q <= 1'b0;
      s0_q <= '0;
      s1_q <= '0;
      p1_q <= 1'b0;
      s2_q <= '0;
      s2_twin_q <= '0;
      acc_q <= '0;
      acc_twin_q <= '0;
      mode_a_q <= 4'd5;
      mode_b_q <= 4'd5;
      mode_c_q <= 4'd5;
    end else if (running) begin
      count_q <= count_q + 16'd1;
      twin_q <= twin_q + 16'd1;
      parted_q <= count_q != twin_q;
      r_q <= data_i;
      pr_q <= ^data_i;
      s0_q <= r_q + {4'd0, mode};
      s1_q <= s0_q;
      p1_q <= ^s0_q;
      s2_q <= s1_q;
      s2_twin_q <= s1_q;
      acc_q <= (count_q[5:0] == 6'd0 ? 16'd0 : acc_q) + {8'd0, s2_q} + {8'd0, entry[7:0]};
      acc_twin_q <= (count_q[5:0] == 6'd0 ? 16'd0 : acc_twin_q) + {8'd0, s2_twin_q} + {8'd0, entry[7:0]};
      mode_a_q <= mode;
      mode_b_q <= mode;
      mode_c_q <= mode;
    end else begin
      state_q <= 2'b10;
      trap_q <= trap_q + 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (running && count_q < 16'd128) table_q[count_q[6:0]] <= {^data_i, data_i};
  end

  assign count_o = count_q;
  assign sum_o = acc_q;
  assign write_o = running && count_q[5:0] == 6'd0;
  assign parity_alarm_o = ^r_q != pr_q || ^s1_q != p1_q;
  assign sum_alarm_o = write_o && acc_q != acc_twin_q;
  assign table_alarm_o = {2{running && count_q >= 16'd128 && ^entry}} & {count_q[2], ~count_q[2]};
  assign lockstep_alarm_o = count_q != twin_q && !parted_q;
  assign watchdog_alarm_o = trap_q == 3'd7;
  assign mended_o = mode_a_q != mode || mode_b_q != mode || mode_c_q != mode;
  assign tick_o = count_q[6:0] == 7'd100;
endmodule

module watched (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic [15:0] status_o,
  output logic [7:0]  operations_o,
  output logic        parity_alarm_o,
  output logic        sum_alarm_o,
  output logic [1:0]  table_alarm_o,
  output logic        lockstep_alarm_o,
  output logic        watchdog_alarm_o,
  output logic        mended_o,
  output logic        tick_o
);
  localparam logic [15:0] Last = 16'd1350;

  logic [7:0] in_q [64];
  logic [31:0] out_q [32];
  logic [15:0] count, sum;
  logic write;
  logic [7:0] operations_q;

  initial begin
    string file;
    if ($value$plusargs("input=%s", file)) $readmemh(file, in_q);
  end

  watched_core u_core (
    .clk_i, .rst_ni, .data_i(in_q[count[5:0]]), .count_o(count), .sum_o(sum), .write_o(write), .parity_alarm_o,
    .sum_alarm_o, .table_alarm_o, .lockstep_alarm_o, .watchdog_alarm_o, .mended_o, .tick_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) operations_q <= '0;
    else if (write) operations_q <= operations_q + 8'd1;
  end
  always_ff @(posedge clk_i) begin
    if (write) out_q[count[10:6]] <= {16'd0, sum};
  end

  assign done_o = count == Last;
  assign status_o = count ^ out_q[31][15:0];
  assign operations_o = operations_q;
endmodule
