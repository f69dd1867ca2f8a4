// SPDX-License-Identifier: Apache-2.0
// Counters that run each on a clock of its own: gated by a latch, in series, by a falling edge, by an AND or an OR alone, or
// divided. `Kind` takes one of them, so that a fault in it cannot hide in the others.
module gated #(
  parameter int unsigned Kind = 0
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o,
  output logic error_o
);

  logic [7:0] in_q[16];
  logic [7:0] out_q[16];
  logic [3:0] address;
  logic [7:0] data;
  logic write, gclk;

  gated_core #(.Kind(Kind)) u_core (
    .clk_i,
    .rst_ni,
    .data_i(in_q[address]),
    .address_o(address),
    .data_o(data),
    .write_o(write),
    .gclk_o(gclk),
    .done_o,
    .error_o
  );

  // The memory is behind the gate, too.
  always_ff @(posedge gclk) if (write) out_q[address] <= data ^ out_q[~address];

endmodule

// An integrated clock gate, with its test enable.
module gated_latch (
  input  logic clk_i,
  input  logic en_i,
  input  logic test_en_i,
  output logic clk_o
);
  logic en_latch;
  always_latch if (!clk_i) en_latch = en_i | test_en_i;
  assign clk_o = clk_i & en_latch;
endmodule

module gated_core #(
  parameter int unsigned Kind = 0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] data_i,
  output logic [3:0] address_o,
  output logic [7:0] data_o,
  output logic       write_o,
  output logic       gclk_o,
  output logic       done_o,
  output logic       error_o
);

  logic [5:0] step_q;
  logic [4:0] slow_q;
  logic [7:0] sum_q, behind_q;
  logic [4:0] held;
  logic wait_q, test_q, gclk, other;

  // Enables depend on registers of the clock, on one behind the gate, and on a test enable that a register holds.
  logic en;
  assign en = ~wait_q | (behind_q[0] & step_q[1]);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= '0;
      wait_q <= 1'b0;
      test_q <= 1'b0;
    end else begin
      step_q <= step_q + 6'd1;
      wait_q <= step_q[2] ^ sum_q[1];
      test_q <= test_q & wait_q;
    end
  end

  if (Kind == 0) begin : gen_latch
    gated_latch u_gate (.clk_i, .en_i(en), .test_en_i(test_q), .clk_o(gclk));
    assign other = gclk;
  end else if (Kind == 1) begin : gen_series
    gated_latch u_gate (.clk_i, .en_i(en), .test_en_i(test_q), .clk_o(gclk));
    gated_latch u_second (.clk_i(gclk), .en_i(sum_q[2] | step_q[0]), .test_en_i(1'b0), .clk_o(other));
  end else if (Kind == 2) begin : gen_falling
    logic en_q;
    always_ff @(negedge clk_i or negedge rst_ni) if (!rst_ni) en_q <= 1'b0; else en_q <= en | test_q;
    assign gclk = clk_i & en_q;
    assign other = gclk;
  end else if (Kind == 3) begin : gen_and
    // What a register enables a moment after the edge is an edge of its own.
    assign gclk = clk_i & (wait_q | test_q);
    assign other = clk_i | step_q[1];
  end else if (Kind == 4) begin : gen_divided
    logic half_q, quarter_q;
    always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) half_q <= 1'b0; else half_q <= ~half_q;
    always_ff @(posedge half_q or negedge rst_ni) if (!rst_ni) quarter_q <= 1'b0; else quarter_q <= ~quarter_q;
    assign gclk = clk_i;
    assign other = step_q[5] ? half_q : quarter_q;
  end else begin : gen_lockup
    // A latch in the data's way, and falling edges of a gated clock.
    gated_latch u_gate (.clk_i, .en_i(en), .test_en_i(test_q), .clk_o(gclk));
    always_latch if (!clk_i) held = slow_q ^ step_q[4:0];
    assign other = ~gclk;
  end

  if (Kind != 5) begin : gen_none
    assign held = '0;
  end

  always_ff @(posedge gclk or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q <= '0;
    end else begin
      sum_q <= {sum_q[6:0], sum_q[7]} ^ data_i ^ {3'b0, held};
    end
  end

  // No reset: of the second clock.
  always_ff @(posedge other) slow_q <= slow_q + sum_q[7:3] + {4'b0, wait_q};
  always_ff @(posedge other) behind_q <= behind_q ^ {slow_q, 3'b0} ^ 8'd1;

  assign address_o = step_q[3:0];
  assign data_o = sum_q ^ behind_q;
  assign write_o = step_q[4] | slow_q[0];
  assign gclk_o = Kind == 3 ? clk_i : gclk;
  assign done_o = step_q == 6'd50;
  assign error_o = &slow_q;

endmodule
