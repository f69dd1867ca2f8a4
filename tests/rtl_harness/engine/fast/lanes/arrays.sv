// SPDX-License-Identifier: Apache-2.0
// A small closed design of register arrays: a queue that takes up to two items at once, a table that is written at a chosen
// place under conditions within conditions, a packed word written at multiples of its items' width, one whose places
// overlap, and a memory that is read under a condition.

module arrays_core (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [11:0] word_i,
  output logic [4:0]  index_o,
  output logic        wanted_o,
  output logic        done_o,
  output logic        error_o,
  output logic [31:0] random_o,
  output logic [7:0]  operations_o
);
  typedef struct packed {
    logic [11:0] value;
    logic        odd;
    logic [4:0]  place;
  } item_t;

  logic [31:0] random_q;
  logic [15:0] count_q;
  logic [7:0]  operations_q;

  // The queue.
  item_t [4:0] queue_q;
  logic [2:0] held_q;
  item_t one, other;
  logic put_one, put_other, take;
  assign one = '{value: word_i, odd: ^random_q, place: random_q[8:4]};
  assign other = '{value: random_q[31:20], odd: random_q[2], place: random_q[12:8]};
  assign put_one = random_q[3] && held_q < 3'd4;
  assign put_other = put_one && random_q[9];
  assign take = random_q[1] && held_q != 3'd0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      queue_q <= '0;
      held_q  <= '0;
    end else begin
      if (take) queue_q <= queue_q >> $bits(item_t);
      if (put_one) queue_q[held_q - 3'(take)] <= one;
      if (put_other) queue_q[held_q - 3'(take) + 3'd1] <= other;
      held_q <= held_q + 3'(put_one) + 3'(put_other) - 3'(take);
    end
  end

  // The table: later writes win, and a flush comes before all.
  logic [40:0] table_q [8];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int i = 0; i < 8; i++) table_q[i] <= 41'(i);
    end else if (random_q[17:14] == 4'd0) begin
      for (int i = 0; i < 8; i++) table_q[i] <= table_q[7-i];
    end else if (take) begin
      if (queue_q[0].odd) table_q[queue_q[0].place[2:0]] <= {random_q[28:0], queue_q[0].value};
      if (random_q[5]) table_q[random_q[22:20]][7:0] <= queue_q[0].value[7:0];
    end
  end

  // Items of 9 bits side by side, two of which are written at once; pieces of 6 bits at multiples of 3.
  logic [71:0] packed_q;
  logic [35:0] overlapping_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      packed_q      <= '0;
      overlapping_q <= '0;
    end else begin
      if (random_q[6]) begin
        packed_q[32'(random_q[26:24]) * 9 +: 9] <= word_i[8:0];
        if (random_q[7]) packed_q[(32'(random_q[25:24]) + 32'd4) * 9 +: 9] <= table_q[random_q[13:11]][20:12];
      end
      if (random_q[10]) overlapping_q[32'(random_q[21:18]) * 3 +: 6] <= word_i[5:0];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      random_q     <= 32'h2468_ace1;
      count_q      <= '0;
      operations_q <= '0;
    end else begin
      random_q <= {random_q[30:0], random_q[31] ^ random_q[21] ^ random_q[1] ^ random_q[0]} ^ {26'd0, packed_q[5:0]};
      if (wanted_o) random_q[7:0] <= word_i[7:0] ^ random_q[9:2];
      count_q <= count_q + 16'd1;
      if (count_q[4:0] == 5'd0) operations_q <= operations_q + 8'd1;
    end
  end

  assign index_o      = random_q[4:0] ^ 5'(overlapping_q[35:31]);
  assign wanted_o     = random_q[16:14] == 3'd5;
  assign done_o       = count_q >= 16'd3000;
  assign error_o      = table_q[3][11:0] == 12'd77 && overlapping_q[0];
  assign random_o     = random_q ^ 32'(table_q[count_q[2:0]]);
  assign operations_o = operations_q;
endmodule

module arrays (
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic       done_o,
  output logic       error_o,
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

  logic [4:0] index;
  logic wanted;
  logic [31:0] random;

  arrays_core u_core (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .word_i      (wanted ? 12'(out_q[index[3:0]]) : {4'd0, in_q[index[3:0]]}),
    .index_o     (index),
    .wanted_o    (wanted),
    .done_o      (done_o),
    .error_o     (error_o),
    .random_o    (random),
    .operations_o(operations_o)
  );

  always_ff @(posedge clk_i) begin
    if (random[3:0] == 4'd1) out_q[random[7:4]] <= random;
  end
endmodule
