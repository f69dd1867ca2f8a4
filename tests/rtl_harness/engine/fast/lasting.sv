// SPDX-License-Identifier: Apache-2.0
// The core of watched.sv with alarms that stay up: by registers that do nothing else, and by some that do more.
//
// Nothing but alarms: `major_q`, `minor_q`, `ok_q` (low once there was an error), `seen_q` and `late_q` behind it.
// More: `clear_q` is cleared again, `shown_q` is part of the status, `tick_q` is up in every run.

module lasting_core (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [7:0]  data_i,
  output logic [15:0] count_o,
  output logic [15:0] sum_o,
  output logic        write_o,
  output logic        shown_o,
  output logic [1:0]  major_o,
  output logic        minor_o,
  output logic        bad_o,
  output logic        late_o,
  output logic        clear_o,
  output logic        tick_o
);
  logic parity, sum, lockstep, watchdog, mended, tick;
  logic [1:0] entry, major_q;
  logic minor_q, ok_q, seen_q, late_q, clear_q, shown_q, tick_q;

  watched_core u_watched (
    .clk_i, .rst_ni, .data_i, .count_o, .sum_o, .write_o, .parity_alarm_o(parity), .sum_alarm_o(sum),
    .table_alarm_o(entry), .lockstep_alarm_o(lockstep), .watchdog_alarm_o(watchdog), .mended_o(mended), .tick_o(tick)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      major_q <= '0;
      minor_q <= 1'b0;
      ok_q <= 1'b1;
      seen_q <= 1'b0;
      late_q <= 1'b0;
      clear_q <= 1'b0;
      shown_q <= 1'b0;
      tick_q <= 1'b0;
    end else begin
      major_q <= major_q | {sum, parity};
      if (mended) minor_q <= 1'b1;
      ok_q <= ok_q & ~|entry;
      seen_q <= seen_q | lockstep | (mended & count_o[3]);
      late_q <= late_q | (seen_q & count_o[10]);
      clear_q <= (clear_q | sum) & ~tick;
      shown_q <= shown_q | watchdog | (parity & count_o[6]);
      tick_q <= tick_q | tick;
    end
  end

  assign shown_o = shown_q;
  assign major_o = major_q | {sum, parity};
  assign minor_o = minor_q | mended;
  assign bad_o = ~ok_q;
  assign late_o = late_q;
  assign clear_o = clear_q;
  assign tick_o = tick_q;
endmodule

module lasting (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic [15:0] status_o,
  output logic [7:0]  operations_o,
  output logic [1:0]  major_o,
  output logic        minor_o,
  output logic        bad_o,
  output logic        late_o,
  output logic        clear_o,
  output logic        tick_o
);
  localparam logic [15:0] Last = 16'd1350;

  logic [7:0] in_q [64];
  logic [31:0] out_q [32];
  logic [15:0] count, sum;
  logic write, shown;
  logic [7:0] operations_q;

  initial begin
    string file;
    if ($value$plusargs("input=%s", file)) $readmemh(file, in_q);
  end

  lasting_core u_core (
    .clk_i, .rst_ni, .data_i(in_q[count[5:0]]), .count_o(count), .sum_o(sum), .write_o(write), .shown_o(shown),
    .major_o, .minor_o, .bad_o, .late_o, .clear_o, .tick_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) operations_q <= '0;
    else if (write) operations_q <= operations_q + 8'd1;
  end
  always_ff @(posedge clk_i) begin
    if (write) out_q[count[10:6]] <= {16'd0, sum};
  end

  assign done_o = count == Last;
  assign status_o = count ^ out_q[31][15:0] ^ {15'd0, shown};
  assign operations_o = operations_q;
endmodule
