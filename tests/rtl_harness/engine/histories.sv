// SPDX-License-Identifier: Apache-2.0
// A closed design for tests in which runs with other histories come to the same state, and go on in it for long.
//
// A byte goes through five stages into a sum. A flip in any stage, each a cycle after the one before it, comes to the same
// state. Of stages 0 and 4 nothing is told, of stage 1 something detected, of stage 2 something corrected, of stage 3 both.
// What becomes of a wrong sum is decided much later, when it is judged, and is another thing for each of its bits: 0 it is
// mended in silence, 1 it is put out, 2 detected, 3 mended and told of, 4 both alarms, 5 the run never ends. Bits 6 and 7 tell
// only when the run should have ended: 6 is detected and ends late, 7 is corrected, then detected, and never ends.

module histories_core (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [7:0]  data_i,
  output logic [15:0] count_o,
  output logic        put_o,
  output logic        bit_o,
  output logic        done_o,
  output logic        pulse_o,
  output logic        late_o,
  output logic        mended_o,
  output logic        late_mended_o
);
  localparam logic [15:0] Fed = 16'd650;
  localparam logic [15:0] Judge = 16'd660;
  localparam logic [15:0] Last = 16'd700;

  logic [15:0] count_q;
  logic [7:0] s0_q, s1_q, s2_q, s3_q, s4_q, twin1_q, twin2_q, twin3_q, sum_q, expected_q, fed, wrong;
  logic judge;

  assign fed = count_q < Fed ? data_i : 8'd0;
  assign wrong = sum_q ^ expected_q;
  assign judge = count_q == Judge;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      s0_q <= '0;
      s1_q <= '0;
      s2_q <= '0;
      s3_q <= '0;
      s4_q <= '0;
      twin1_q <= '0;
      twin2_q <= '0;
      twin3_q <= '0;
      sum_q <= '0;
      expected_q <= '0;
    end else begin
      count_q <= count_q + 16'd1;
      s0_q <= fed;
      s1_q <= s0_q;
      s2_q <= s1_q;
      s3_q <= s2_q;
      s4_q <= s3_q;
      twin1_q <= s0_q;
      twin2_q <= s1_q;
      twin3_q <= s2_q;
      sum_q <= (judge ? (sum_q & 8'hf6) | (expected_q & 8'h09) : sum_q) ^ s4_q;
      expected_q <= expected_q ^ fed;
    end
  end

  assign count_o = count_q;
  assign put_o = count_q[15:1] == Judge[15:1];
  assign bit_o = sum_q[1];
  assign done_o = count_q >= Last && !wrong[5] && !wrong[7] && !(wrong[6] && count_q < Last + 16'd16);
  assign pulse_o = s1_q != twin1_q || s3_q != twin3_q;
  assign mended_o = s2_q != twin2_q || s3_q != twin3_q;
  assign late_o = (judge && (wrong[2] || wrong[4])) || (count_q == Last + 16'd8 && wrong[6])
                || (count_q == Last + 16'd12 && wrong[7]);
  assign late_mended_o = (judge && (wrong[3] || wrong[4])) || (count_q == Last + 16'd8 && wrong[7]);
endmodule

module histories (
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic       done_o,
  output logic [7:0] status_o,
  output logic       pulse_o,
  output logic       late_o,
  output logic       mended_o,
  output logic       late_mended_o
);
  logic [7:0] in_q [16];
  logic [7:0] out_q [2];
  logic [15:0] count;
  logic put, found;

  initial begin
    string file;
    if ($value$plusargs("input=%s", file)) $readmemh(file, in_q);
  end

  histories_core u_core (
    .clk_i, .rst_ni, .data_i(in_q[count[3:0]]), .count_o(count), .put_o(put), .bit_o(found), .done_o, .pulse_o,
    .late_o, .mended_o, .late_mended_o
  );

  always_ff @(posedge clk_i) begin
    if (put) out_q[count[0]] <= {7'd0, found};
  end

  assign status_o = out_q[count[0]];
endmodule
