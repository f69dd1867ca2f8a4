/// Takes the beats of segments in order and writes them to the shared buffer as words whose byte 0 is the
/// segment's first byte. Segments marked zero take no beats and give words of zeros.
module dma_receive #(
  parameter int unsigned Depth = 16   // segments under way
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  // A segment of 1..32 bytes begins
  input  logic        push_i,
  input  logic        zero_i,
  input  logic [2:0]  shift_i,   // of its first byte in its first beat
  input  logic [5:0]  bytes_i,
  input  logic [1:0]  lane_i,
  input  logic [11:0] word_i,    // in the lane
  output logic        full_o,
  output logic        none_o,
  input  logic [2:0]  lanes_i,   // of the buffer, a bank each
  input  logic [5:0]  bank_i,    // first bank of the buffer
  // Beats
  input  logic        r_valid_i,
  output logic        r_ready_o,
  input  logic [63:0] r_data_i,
  // Shared buffer
  output logic        wr_o,
  output logic [5:0]  wr_bank_o,
  output logic [6:0]  wr_addr_o,
  output logic [63:0] wr_data_o
);
  typedef struct packed {
    logic        zero;
    logic [2:0]  shift;
    logic [5:0]  bytes;
    logic [1:0]  lane;
    logic [11:0] word;
  } segment_t;

  segment_t head;
  logic pop;
  fifo #(
    .Width($bits(segment_t)),
    .Depth(Depth)
  ) u_segments (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (en_i),
    .clear_i(1'b0),
    .push_i (push_i),
    .data_i ({zero_i, shift_i, bytes_i, lane_i, word_i}),
    .pop_i  (pop),
    .data_o (head),
    .empty_o(none_o),
    .full_o (full_o)
  );

  logic [2:0] count_q;   // beats taken, or words of zeros given
  logic [63:0] hold_q;   // the beat before
  logic flush_q;         // the last beat completed one word and began another
  logic [2:0] words, beats;
  logic take, last_beat, extra_word;
  assign words      = 3'((head.bytes + 6'd7) >> 3);
  assign beats      = 3'((7'(head.bytes) + 7'(head.shift) + 7'd7) >> 3);
  assign r_ready_o  = !none_o && !head.zero && !flush_q;
  assign take       = r_valid_i && r_ready_o;
  assign last_beat  = count_q == beats - 3'd1;
  assign extra_word = head.shift != '0 && count_q != '0 && words == beats;

  logic [5:0] shift;
  assign shift = {head.shift, 3'b000};

  logic [11:0] at;
  always_comb begin
    wr_o      = 1'b0;
    at        = head.word + 12'(count_q);
    wr_data_o = r_data_i >> shift;
    pop       = 1'b0;
    if (flush_q) begin
      wr_o      = 1'b1;
      at        = head.word + 12'(words) - 12'd1;
      wr_data_o = hold_q >> shift;
      pop       = 1'b1;
    end else if (!none_o && head.zero) begin
      wr_o      = 1'b1;
      wr_data_o = '0;
      pop       = count_q == words - 3'd1;
    end else if (take) begin
      pop = last_beat && !extra_word;
      if (head.shift == '0 || (last_beat && count_q == '0)) begin
        wr_o = 1'b1;
      end else if (count_q != '0) begin
        wr_o      = 1'b1;
        at        = head.word + 12'(count_q) - 12'd1;
        wr_data_o = 64'({r_data_i, hold_q} >> shift);
      end
    end
  end
  assign wr_bank_o = bank_i + 6'(6'(at[11:7]) * 6'(lanes_i)) + 6'(head.lane);
  assign wr_addr_o = at[6:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      hold_q  <= '0;
      flush_q <= 1'b0;
    end else if (en_i) begin
      if (take) begin
        hold_q  <= r_data_i;
        count_q <= last_beat ? '0 : count_q + 3'd1;
        flush_q <= last_beat && extra_word;
      end else if (flush_q) begin
        flush_q <= 1'b0;
      end else if (!none_o && head.zero) begin
        count_q <= pop ? '0 : count_q + 3'd1;
      end
    end
  end
endmodule
