/// Takes the beats of segments in order and writes them to the shared buffer as words whose byte 0 is the
/// segment's first byte. Segments that leave their region take no beats and give words of zeros.
///
/// The last beat is kept: it may hold the first bytes of the next word, or of the next segment.
module dma_receive
  import npu_pkg::*;
#(
  parameter int unsigned Depth = 16,  // segments under way
  parameter int unsigned Lanes = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  // Segments whose beats are asked for
  input  logic        push_i,
  input  segment_t    segment_i,
  input  logic [1:0]  advance_i,  // from the beat at hand to its first one
  output logic        full_o,
  output logic        none_o,
  input  logic        spread_i,   // over the lanes, a bank each
  input  logic [5:0]  bank_i,     // first bank of the buffer
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
    logic [1:0]  advance;
    logic [2:0]  shift;   // of the first byte in its beat
    logic [5:0]  bytes;
    logic [1:0]  lane;
    logic [11:0] word;
  } entry_t;

  entry_t head;
  logic pop;
  fifo #(
    .Width($bits(entry_t)),
    .Depth(Depth)
  ) u_segments (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (en_i),
    .clear_i(1'b0),
    .push_i (push_i),
    .data_i ({segment_i.leaves, advance_i, segment_i.addr[2:0], segment_i.bytes, segment_i.lane,
              segment_i.word}),
    .pop_i  (pop),
    .data_o (head),
    .empty_o(none_o),
    .full_o (full_o)
  );

  logic [1:0] count_q;    // words of the segment that are written
  logic [1:0] dropped_q;  // beats before it that are dropped
  logic taken_q;          // the beat at hand is the word's first one
  logic [63:0] beat_q;    // the beat at hand

  // The word's first beat is at hand or comes, and so does a second one if the word has bytes of two.
  logic [5:0] left;
  logic [3:0] bytes;
  logic last_word, two, drop, have, take, give;
  assign left      = head.bytes - {1'b0, count_q, 3'd0};
  assign last_word = left <= 6'd8;
  assign bytes     = last_word ? left[3:0] : 4'd8;
  assign two       = 5'(head.shift) + 5'(bytes) > 5'd8;
  assign drop      = 3'(dropped_q) + 3'd1 < 3'(head.advance);
  assign have      = taken_q || (count_q == '0 && head.advance == '0);
  assign r_ready_o = !none_o && !head.zero && (drop || two || !have);
  assign take      = r_valid_i && r_ready_o;
  assign give      = !none_o && (head.zero || (!drop && (two ? have && r_valid_i : have || r_valid_i)));
  assign pop       = give && last_word;

  logic [63:0] low, data;
  assign low  = have ? beat_q : r_data_i;
  assign data = 64'({r_data_i, low} >> {head.shift, 3'd0});

  logic [11:0] at;
  logic [5:0] bank;
  assign at   = head.word + 12'(count_q);
  assign bank = spread_i ? 6'(at[11:7] * 6'(Lanes)) : 6'(at[11:7]);

  logic wr_q;
  logic [5:0] wr_bank_q;
  logic [6:0] wr_addr_q;
  logic [63:0] wr_data_q;
  assign wr_o      = wr_q;
  assign wr_bank_o = wr_bank_q;
  assign wr_addr_o = wr_addr_q;
  assign wr_data_o = wr_data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q   <= '0;
      dropped_q <= '0;
      taken_q   <= 1'b0;
      beat_q    <= '0;
      wr_q      <= 1'b0;
      wr_bank_q <= '0;
      wr_addr_q <= '0;
      wr_data_q <= '0;
    end else if (en_i) begin
      if (take) beat_q <= r_data_i;
      if (pop) begin
        count_q   <= '0;
        dropped_q <= '0;
        taken_q   <= 1'b0;
      end else if (give) begin
        count_q <= count_q + 2'd1;
        taken_q <= two;
      end else if (take) begin
        if (drop) dropped_q <= dropped_q + 2'd1;
        else taken_q <= 1'b1;
      end
      wr_q <= give;
      if (give) begin
        wr_bank_q <= bank_i + bank + 6'(head.lane);
        wr_addr_q <= at[6:0];
        wr_data_q <= head.zero ? '0 : data;
      end
    end
  end
endmodule
