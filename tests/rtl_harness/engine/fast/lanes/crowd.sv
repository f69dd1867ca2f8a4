// SPDX-License-Identifier: Apache-2.0
// A small closed design with what a lane model has to cover: memories with byte enables and two write ports, a reset that
// goes through a synchroniser, registers with enables, shifts of wide words, and a pointer that may come to rest.

module crowd_core #(
  parameter int unsigned Cycles = 3000,
  parameter bit SecondClock = 1'b0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [7:0]         word_i,
  input  logic [31:0]        back_i,
  output logic [3:0]         index_o,
  output logic               advance_o,
  output logic               odd_o,
  output logic [31:0]        random_o,
  output logic [31:0]        mixed_o,
  output logic signed [19:0] sum_o,
  output logic               done_o,
  output logic               error_o,
  output logic               alert_o,
  output logic [7:0]         operations_o
);
  // The reset is released in step with the clock.
  logic [1:0] sync_q;
  logic rst_n;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sync_q <= '0;
    else sync_q <= {sync_q[0], 1'b1};
  end
  assign rst_n = sync_q[1];

  logic [15:0] count_q;
  logic [31:0] random_q;
  logic [99:0] wide_q;
  logic signed [19:0] sum_q;
  logic [7:0] operations_q;
  logic [63:0] product_q;
  logic parity_q, done_q;
  logic [71:0] store_q [16];

  logic signed [7:0] centred;

  assign index_o   = count_q[3:0];
  assign centred = signed'(word_i ^ 8'h80);
  assign advance_o = random_q[1:0] != 2'd3;
  assign odd_o     = ^{random_q[7:4], wide_q[70]};

  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) begin
      count_q      <= '0;
      random_q     <= 32'h1234_5678;
      wide_q       <= '0;
      sum_q        <= '0;
      operations_q <= '0;
      product_q    <= 64'd1;
      parity_q     <= 1'b0;
      done_q       <= 1'b0;
    end else begin
      random_q <= {random_q[30:0], random_q[31] ^ random_q[21] ^ random_q[1] ^ random_q[0]};
      done_q   <= count_q >= 16'(Cycles);
      if (advance_o) begin
        count_q <= count_q + 16'd1;
        sum_q   <= odd_o ? sum_q + 20'(centred) : (sum_q >>> 1) - 20'(signed'(random_q[3:0]));
        if (index_o == 4'd15) operations_q <= operations_q + 8'd1;
      end
      unique case (random_q[9:8])
        2'd0: wide_q <= {wide_q[91:0], word_i};
        2'd1: wide_q <= wide_q >> (7'(random_q[13:10]) * 7'd9);
        2'd2: if (odd_o) wide_q <= wide_q + {36'(sum_q), product_q};
        default: parity_q <= parity_q ^ (^wide_q);
      endcase
      if (random_q[5] && !random_q[6]) product_q <= 64'(product_q[31:0]) * 64'(random_q) + 64'(wide_q[99:64] ^ {4'd0, back_i});
    end
  end

  always_ff @(posedge clk_i) begin
    if (random_q[12:10] == 3'd0) store_q[random_q[27:24]] <= {wide_q[7:0], product_q} ^ store_q[random_q[31:28]];
  end

  logic slow;
  if (SecondClock) begin : gen_second
    logic slow_q, other_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) slow_q <= 1'b0;
      else slow_q <= !slow_q;
    end
    always_ff @(posedge slow_q or negedge rst_ni) begin
      if (!rst_ni) other_q <= 1'b0;
      else other_q <= !other_q;
    end
    assign slow = other_q;
  end else begin : gen_one
    assign slow = 1'b0;
  end

  assign random_o     = random_q;
  assign mixed_o      = wide_q[31:0] ^ product_q[31:0];
  assign sum_o        = sum_q;
  assign done_o       = done_q;
  assign error_o      = sum_q == 20'sd77 || (slow && &random_q[7:0]) || store_q[count_q[7:4]][71:68] == 4'd9;
  // A run whose random numbers are not the golden ones comes to this one sooner or later; the golden run does not.
  assign alert_o      = random_q[11:0] == 12'h024;
  assign operations_o = operations_q;
endmodule

module crowd #(
  parameter int unsigned Cycles = 3000,
  parameter bit SecondClock = 1'b0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic       done_o,
  output logic       error_o,
  output logic       alert_o,
  output logic [7:0] operations_o
);
  logic [7:0]  in_q [16];
  logic [31:0] out_q [16];
  string file;
  initial begin
    for (int i = 0; i < 16; i++) in_q[i] = '0;
    for (int i = 0; i < 16; i++) out_q[i] = '0;
    if ($value$plusargs("input=%s", file)) $readmemh(file, in_q);
    if ($value$plusargs("output=%s", file)) $readmemh(file, out_q);
  end

  logic [3:0] index;
  logic advance, odd;
  logic [31:0] random, mixed;
  logic signed [19:0] sum;

  crowd_core #(
    .Cycles     (Cycles),
    .SecondClock(SecondClock)
  ) u_core (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .word_i      (in_q[index]),
    .back_i      (out_q[random[3:0]]),
    .index_o     (index),
    .advance_o   (advance),
    .odd_o       (odd),
    .random_o    (random),
    .mixed_o     (mixed),
    .sum_o       (sum),
    .done_o      (done_o),
    .error_o     (error_o),
    .alert_o     (alert_o),
    .operations_o(operations_o)
  );

  // Two write ports, of which the second wins; one of them writes bytes.
  always_ff @(posedge clk_i) begin
    for (int b = 0; b < 4; b++) begin
      if (advance && random[16 + b]) out_q[random[23:20]][8*b +: 8] <= mixed[8*b +: 8];
    end
    if (odd && random[15]) out_q[index] <= {12'(operations_o), sum};
  end
endmodule
