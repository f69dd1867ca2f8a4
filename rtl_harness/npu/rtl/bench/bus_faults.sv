// SPDX-License-Identifier: Apache-2.0
/// Stands between a master and a memory, and makes the bus between them worse: stalls and error responses.
///
/// Five words say what it does, from the file that +PlusArg=FILE names, $readmemh:
///
///   0  seed of the pseudo-random numbers
///   1  probability of a stall in a cycle, in 1/64, of AR [5:0], R [11:6], AW [17:12], W [23:18], B [29:24]
///   2  probability of an error response, in 1/65536, of a read beat [15:0] and of a write burst [31:16]
///   3  number of the read burst, from 0, whose beats are all answered with an error; FFFF_FFFF: none
///   4  number of the write burst, from 0, that is answered with an error; FFFF_FFFF: none
///
/// A valid signal that was seen stays until it is taken, as AXI4 demands. Data of a read beat in error are
/// inverted; a write in error does not happen. Addresses and data of writes may come at different times.
module bus_faults
  import axi_pkg::*;
#(
  parameter PlusArg = "bus_faults"
) (
  input  logic    clk_i,
  input  logic    rst_ni,
  // From the master
  input  logic    ar_valid_i,
  output logic    ar_ready_o,
  input  axi_ar_t ar_i,
  output logic    r_valid_o,
  input  logic    r_ready_i,
  output axi_r_t  r_o,
  input  logic    aw_valid_i,
  output logic    aw_ready_o,
  input  axi_aw_t aw_i,
  input  logic    w_valid_i,
  output logic    w_ready_o,
  input  axi_w_t  w_i,
  output logic    b_valid_o,
  input  logic    b_ready_i,
  output axi_b_t  b_o,
  // To the memory
  output logic    ar_valid_o,
  input  logic    ar_ready_i,
  output axi_ar_t ar_o,
  input  logic    r_valid_i,
  output logic    r_ready_o,
  input  axi_r_t  r_i,
  output logic    aw_valid_o,
  input  logic    aw_ready_i,
  output axi_aw_t aw_o,
  output logic    w_valid_o,
  input  logic    w_ready_i,
  output axi_w_t  w_o,
  input  logic    b_valid_i,
  output logic    b_ready_o,
  input  axi_b_t  b_i
);
  localparam int unsigned MaxWrites = 64;  // on their way
  localparam int unsigned WriteW = $clog2(MaxWrites);

  logic [31:0] config_q [5];

`ifndef SYNTHESIS
  string file;
  initial begin
    config_q[0] = '0;
    config_q[1] = '0;
    config_q[2] = '0;
    config_q[3] = '1;
    config_q[4] = '1;
    if ($value$plusargs({PlusArg, "=%s"}, file)) $readmemh(file, config_q);
  end
`endif

  // Two xorshift generators (Marsaglia 2003), a step a cycle: one for stalls, one for errors
  function automatic logic [31:0] xorshift(logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction
  logic started_q;
  logic [31:0] stall_q, error_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      started_q <= 1'b0;
      stall_q   <= '0;
      error_q   <= '0;
    end else begin
      started_q <= 1'b1;
      stall_q   <= xorshift(started_q ? stall_q : config_q[0] ^ 32'h9E37_79B9);
      error_q   <= xorshift(started_q ? error_q : config_q[0] ^ 32'h85EB_CA6B);
    end
  end

  logic [29:0] stalls;
  assign stalls = config_q[1][29:0];
  logic stall_ar, stall_r, stall_aw, stall_w, stall_b;
  assign stall_ar = stall_q[5:0] < stalls[5:0];
  assign stall_r  = stall_q[11:6] < stalls[11:6];
  assign stall_aw = stall_q[17:12] < stalls[17:12];
  assign stall_w  = stall_q[23:18] < stalls[23:18];
  assign stall_b  = stall_q[29:24] < stalls[29:24];

  // Reads are answered in the order of their addresses, so that bursts are counted at their ends.
  logic r_shown_q, r_bad, r_bad_q;
  logic [31:0] burst_q;
  assign ar_valid_o = ar_valid_i && !stall_ar;
  assign ar_ready_o = ar_ready_i && !stall_ar;
  assign ar_o       = ar_i;
  assign r_valid_o  = r_valid_i && (!stall_r || r_shown_q);
  assign r_ready_o  = r_ready_i && (!stall_r || r_shown_q);
  assign r_bad      = r_shown_q ? r_bad_q : error_q[15:0] < config_q[2][15:0] || burst_q == config_q[3];
  assign r_o        = r_bad ? '{id: r_i.id, data: ~r_i.data, resp: AxiSlvErr, last: r_i.last} : r_i;

  // Writes: an address and a beat wait here; what becomes of each burst is noted until its answer.
  logic aw_full_q, w_full_q, bad_w_q, w_first_q, bad_now, give_aw, give_w, noted, level_full;
  axi_aw_t aw_q;
  axi_w_t w_q;
  logic [31:0] write_q;
  logic [MaxWrites-1:0] bad_q;
  logic [WriteW-1:0] head_q, tail_q;
  logic [WriteW:0] level_q;
  assign aw_ready_o = !aw_full_q && !stall_aw;
  assign w_ready_o  = !w_full_q && !stall_w;
  assign level_full = level_q == (WriteW + 1)'(MaxWrites);
  assign aw_valid_o = aw_full_q;
  assign w_valid_o  = w_full_q && !level_full;
  assign give_aw    = aw_valid_o && aw_ready_i;
  assign give_w     = w_valid_o && w_ready_i;
  assign noted      = give_w && w_q.last;
  assign bad_now    = error_q[31:16] < config_q[2][31:16] || write_q == config_q[4];
  assign aw_o       = aw_q;
  assign w_o        = '{data: w_q.data, strb: bad_w_q ? '0 : w_q.strb, last: w_q.last};

  logic b_shown_q, answer;
  assign b_valid_o = b_valid_i && (!stall_b || b_shown_q);
  assign b_ready_o = b_ready_i && (!stall_b || b_shown_q);
  assign answer    = b_valid_o && b_ready_i;
  assign b_o       = '{id: b_i.id, resp: bad_q[head_q] ? AxiSlvErr : b_i.resp};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      r_shown_q <= 1'b0;
      r_bad_q   <= 1'b0;
      burst_q   <= '0;
      aw_full_q <= 1'b0;
      w_full_q  <= 1'b0;
      bad_w_q   <= 1'b0;
      w_first_q <= 1'b1;
      aw_q      <= '0;
      w_q       <= '0;
      write_q   <= '0;
      bad_q     <= '0;
      head_q    <= '0;
      tail_q    <= '0;
      level_q   <= '0;
      b_shown_q <= 1'b0;
    end else begin
      r_shown_q <= r_valid_o && !r_ready_i;
      r_bad_q   <= r_bad;
      if (r_valid_o && r_ready_i && r_i.last) burst_q <= burst_q + 32'd1;
      if (give_aw) aw_full_q <= 1'b0;
      if (give_w) w_full_q <= 1'b0;
      if (noted) begin
        bad_q[tail_q] <= bad_w_q;
        tail_q        <= tail_q + WriteW'(1);
      end
      if (aw_valid_i && aw_ready_o) begin
        aw_full_q <= 1'b1;
        aw_q      <= aw_i;
      end
      if (w_valid_i && w_ready_o) begin
        w_full_q <= 1'b1;
        w_q      <= w_i;
        w_first_q <= w_i.last;
        if (w_first_q) bad_w_q <= bad_now;
        if (w_i.last) write_q <= write_q + 32'd1;
      end
      b_shown_q <= b_valid_o && !b_ready_i;
      if (answer) head_q <= head_q + WriteW'(1);
      level_q <= level_q + (WriteW + 1)'(noted) - (WriteW + 1)'(answer);
    end
  end
endmodule
