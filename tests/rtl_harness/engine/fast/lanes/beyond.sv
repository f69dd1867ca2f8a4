// SPDX-License-Identifier: Apache-2.0
// A small closed design whose pointers, once they are wrong, select beyond the ends of arrays and words: what comes of that
// is undefined, and Verilator computes something.

module beyond_core (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [31:0] back_i,
  output logic [5:0]  index_o,
  output logic [31:0] mixed_o,
  output logic        done_o
);
  localparam logic [2:0] LastShort = 3'd4;
  localparam logic [3:0] LastLong = 4'd11;

  logic [11:0] count_q;
  logic [4:0][2:0] short_q;    // 3 x 7 is more than 16
  logic [11:0][72:0] long_q;   // 73 x 15 is more than 1024
  logic [19:0] word_q;
  logic [99:0] wide_q;
  logic [2:0] short_at_q;
  logic [3:0] long_at_q;
  logic [4:0] word_at_q;
  logic [6:0] wide_at_q;
  logic [31:0] mixed_q;
  logic done_q;

  logic [2:0] short_now;
  logic [72:0] long_now;
  logic [5:0] word_now;
  logic [69:0] wide_now;
  assign short_now = short_q[short_at_q];
  assign long_now  = long_q[long_at_q];
  assign word_now  = word_q[word_at_q+:6];
  assign wide_now  = wide_q[wide_at_q+:70];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q    <= '0;
      short_q    <= 15'h5a3c;
      long_q     <= {12{73'h0123456789abcdef5a3}};
      word_q     <= 20'h5ca93;
      wide_q     <= {4{25'h12c9a5f}};
      short_at_q <= '0;
      long_at_q  <= '0;
      word_at_q  <= '0;
      wide_at_q  <= '0;
      mixed_q    <= 32'h1234_5678;
      done_q     <= 1'b0;
    end else begin
      count_q    <= count_q + 12'd1;
      short_at_q <= short_at_q == LastShort ? '0 : short_at_q + 3'd1;
      if (count_q[2:0] == '0) long_at_q <= long_at_q == LastLong ? '0 : long_at_q + 4'd1;
      word_at_q  <= word_at_q == 5'd14 ? '0 : word_at_q + 5'd1;
      if (count_q[0]) wide_at_q <= wide_at_q == 7'd30 ? '0 : wide_at_q + 7'd1;
      short_q    <= {short_q[3:0], short_q[4] ^ mixed_q[2:0]};
      long_q     <= {long_q[10:0], long_q[11] ^ {41'd0, mixed_q}};
      word_q     <= {word_q[18:0], word_q[19] ^ mixed_q[4]};
      wide_q     <= {wide_q[98:0], wide_q[99] ^ mixed_q[9]};
      mixed_q    <= {mixed_q[30:0], mixed_q[31]} ^ {29'd0, short_now} ^ {long_now[72:60], long_now[18:0]} ^
                    {20'd0, word_now, 6'd0} ^ {wide_now[69:50], wide_now[11:0]} ^ {31'd0, back_i[7]};
      done_q     <= count_q >= 12'd1500;
    end
  end

  assign index_o = count_q[5:0];
  assign mixed_o = mixed_q;
  assign done_o  = done_q;
endmodule

module beyond (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o
);
  logic [5:0] index;
  logic [31:0] mixed;
  logic [31:0] out_q [64];
  beyond_core u_core (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .back_i (out_q[index]),
    .index_o(index),
    .mixed_o(mixed),
    .done_o (done_o)
  );

  always_ff @(posedge clk_i) begin
    if (!done_o) out_q[index] <= mixed;
  end
endmodule
