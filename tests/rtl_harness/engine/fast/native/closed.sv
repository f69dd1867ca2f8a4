// SPDX-License-Identifier: Apache-2.0
// A closed design for tests: reads words from `in_q`, mixes them, writes `out_q`, counts operations of 16 words.

module mixer #(
  parameter int unsigned Width = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             enable_i,
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);
  /* verilator no_inline_module */
  typedef struct packed {
    logic [3:0]  tag;
    logic [70:0] body;
  } pair_t;

  logic [Width-1:0] first_q, twin_q, unread_q, zero_q;
  logic [2:0][Width-1:0] packed_q;
  logic [Width-1:0] grid_q [2][3:1];
  pair_t pair_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q <= '0;
      twin_q <= '0;
      unread_q <= '0;
      zero_q <= '0;
      packed_q <= '0;
      pair_q <= '0;
    end else if (enable_i) begin
      first_q <= data_i;
      twin_q <= data_i;
      unread_q <= data_i;
      zero_q <= '0;
      packed_q <= {packed_q[1:0], data_i};
      pair_q <= {pair_q.body[3:0], pair_q.body ^ 71'(data_i)};
    end
  end

  always_ff @(posedge clk_i) begin
    grid_q[0][1] <= data_i;
    grid_q[0][2] <= grid_q[0][1];
    grid_q[0][3] <= grid_q[0][2];
    grid_q[1][1] <= grid_q[0][3];
    grid_q[1][2] <= grid_q[1][1];
    grid_q[1][3] <= grid_q[1][2];
  end

  for (genvar g = 0; g < 2; g++) begin : gen_lane
    logic [Width-1:0] lane_q;
    always_ff @(posedge clk_i) lane_q <= data_i + Width'(g);
  end

  assign data_o = (first_q + zero_q) ^ (twin_q << 1) ^ packed_q[2] ^ grid_q[1][3] ^ Width'(pair_q.tag)
                ^ gen_lane[0].lane_q ^ (gen_lane[1].lane_q >> 1);
endmodule

module closed #(
  parameter int unsigned Words = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic        error_o,
  output logic [31:0] status_o,
  output logic [15:0] operations_o
);
  logic [63:0] in_q [Words];
  logic [31:0] out_q [Words];
  logic [15:0] count_q;
  logic half_q, parity_q, run_q;
  logic [7:0] low;
  logic [15:0] high;

  initial begin
    string file;
    if ($value$plusargs("input=%s", file)) $readmemh(file, in_q);
    if ($test$plusargs("fatal")) $fatal(1, "asked to fail");
  end

  mixer #(.Width(8)) u_low (
    .clk_i, .rst_ni, .enable_i(half_q), .data_i(in_q[count_q[$clog2(Words)-1:0]][7:0]), .data_o(low)
  );
  mixer #(.Width(16)) u_high (
    .clk_i, .rst_ni, .enable_i(1'b1), .data_i({low, in_q[count_q[$clog2(Words)-1:0]][15:8]}), .data_o(high)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      half_q <= 1'b0;
      parity_q <= 1'b0;
      run_q <= 1'b1;
    end else begin
      half_q <= ~half_q;
      parity_q <= parity_q ^ half_q;
      if (half_q && run_q && !done_o) begin
        count_q <= count_q + 16'd1;
        out_q[count_q[$clog2(Words)-1:0]] <= {high, low, 7'b0, parity_q};
      end
    end
  end

  assign done_o = count_q >= 16'(Words);
  assign error_o = count_q > 16'(Words);
  assign status_o = {high, count_q};
  assign operations_o = count_q / 16;
endmodule
