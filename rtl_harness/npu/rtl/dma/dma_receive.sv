// SPDX-License-Identifier: Apache-2.0
/// Takes the beats of segments, run by run, and writes them to the shared buffer as words whose byte 0 is the
/// segment's first byte. Segments that leave their region take no beats and give words of zeros.
///
/// The last beat is kept: it may hold the first bytes of the next word, or of the next segment.
module dma_receive
  import npu_pkg::*;
  import dma_pkg::*;
#(
  parameter int unsigned UblkW = 1,
  parameter int unsigned UblkH = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  piece_t      piece_i,
  input  pitch_t      pitch_i,
  // Runs of segments
  input  logic        valid_i,
  output logic        pop_o,
  input  run_t        run_i,
  output logic        none_o,  // no segment is at hand
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
  localparam int unsigned Lanes = UblkW * UblkH;

  logic valid_q;       // a segment is at hand
  arrival_t head, next;
  run_t run_q;         // it, and how many follow from it
  logic pop, load, exists;
  dma_follow #(
    .UblkW(UblkW)
  ) u_follow (
    .pitch_i  (pitch_i),
    .segment_i(head),
    .exists_o (exists),
    .next_o   (next)
  );
  assign head   = run_q.first;
  assign load   = valid_i && (!valid_q || (pop && run_q.more == '0));
  assign pop_o  = load;
  assign none_o = !valid_q;

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
  assign r_ready_o = valid_q && !head.zero && (drop || two || !have);
  assign take      = r_valid_i && r_ready_o;
  assign give      = valid_q && (head.zero || (!drop && (two ? have && r_valid_i : have || r_valid_i)));
  assign pop       = give && last_word;

  logic [63:0] low, data;
  assign low  = have ? beat_q : r_data_i;
  assign data = 64'({r_data_i, low} >> {head.shift, 3'd0});

  logic [11:0] at;
  logic [5:0] bank;
  logic [1:0] lane;
  assign at   = head.word + 12'(count_q);
  assign bank = piece_i.spread ? 6'(at[11:7] * 6'(Lanes)) : 6'(at[11:7]);
  assign lane = piece_i.spread ? ifm_lane(8'(head.x), 8'(head.y), piece_i.one_row, piece_i.stride_x,
                                          piece_i.stride_y, UblkW, UblkH) : '0;

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
      valid_q   <= 1'b0;
      run_q     <= '0;
      count_q   <= '0;
      dropped_q <= '0;
      taken_q   <= 1'b0;
      beat_q    <= '0;
      wr_q      <= 1'b0;
      wr_bank_q <= '0;
      wr_addr_q <= '0;
      wr_data_q <= '0;
    end else if (en_i) begin
      if (load) begin
        valid_q <= 1'b1;
        run_q   <= run_i;
      end else if (pop) begin
        valid_q <= run_q.more != '0;
        run_q   <= '{more: run_q.more - 4'd1, first: next};
      end
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
        wr_bank_q <= piece_i.bank + bank + 6'(lane);
        wr_addr_q <= at[6:0];
        wr_data_q <= head.zero ? '0 : data;
      end
    end
  end

  logic unused_exists;
  assign unused_exists = exists;  // the run says so
endmodule
