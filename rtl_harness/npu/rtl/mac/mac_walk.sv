// SPDX-License-Identifier: Apache-2.0
/// Loops of one step: for each weight vector, in the order of the weight stream, the groups of pixels.
///
/// From the outside in: IFM word (part kernel first), group of OFM channels, tap, IFM word (depth first), pixels.
/// Pools with 16-bit elements have two IFM words for a group of eight OFM channels.
/// The stream pads the taps of some operations to a multiple of four.
module mac_walk
  import npu_pkg::*;
  import mac_pkg::*;
#(
  parameter int unsigned UblkW = 1,
  parameter int unsigned UblkH = 1,
  parameter int unsigned UblkD = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  op_t         op_i,
  input  logic        start_i,
  input  step_t       step_i,
  input  logic        next_i,
  output axis_move_e  move_x_o,
  output axis_move_e  move_y_o,
  // The group of pixels
  output logic        real_o,         // its vector belongs to a tap and to an IFM word
  output logic        new_vector_o,
  output logic        first_o,        // its vector is the first for its OFM channels
  output logic        last_o,         // of the step
  output logic        last_column_o,
  output logic        last_row_o,
  output logic        upper_half_o,   // one-row operation: the group has no pixels in the lower half of the lanes,
  output logic        lower_half_o,   // or none in the upper half
  output logic [4:0]  channels_o,     // group of OFM channels
  output logic [3:0]  word_o,
  output logic [11:0] acc_o           // accumulator row, counted from the buffer's first
);
  localparam logic [3:0] DepthFirstLast = 4'd3;  // IFM word of a depth-first vector

  // Limits, all minus one but the padding
  logic [4:0] words_q;
  logic [4:0] channels_limit_q;
  logic [2:0] taps_x_q, taps_y_q;
  logic [1:0] padding_q;
  logic [5:0] columns_q, rows_q;

  // Positions; those of pixels and taps count down
  logic [3:0] word_q;
  logic [4:0] channels_q;
  logic [2:0] tap_x_q, tap_y_q;
  logic [1:0] padding_tap_q;
  logic [5:0] column_q, row_q;
  logic first_tap_q, new_vector_q;
  // In a one-row operation pairs of pixels follow one another without a gap: where their number is odd, every
  // second group of channels begins in the upper half of the row in which the one before it has ended.
  logic odd_pairs, upper, upper_half;  // upper: of the group of channels, of the group of pixels
  logic [11:0] acc_q, first_acc_q, next_acc_q;

  logic word_inner;      // the IFM words are an inner loop, else the outermost
  logic padded;
  logic two_words;       // a group of OFM channels has two
  assign two_words  = UblkD > 4 && op_i.ifm.log2_bytes == 2'd1 && (op_i.kind == MaxPool || op_i.kind == AveragePool);
  assign word_inner = op_i.kind == Conv ? !op_i.part_kernel : op_i.kind == ReduceSum || two_words;
  assign padded     = (op_i.kind == Conv && op_i.part_kernel) || op_i.kind == Depthwise;

  logic shared_row;
  assign shared_row = odd_pairs && !upper;

  logic last_column, last_row, last_group, last_word, last_tap, last_element, last_channels;
  logic real_vector;
  logic [4:0] word;  // of the pixel
  assign word          = two_words ? {channels_q[3:0], word_q[0]} : 5'(word_q);
  assign real_vector   = padding_tap_q == '0 && word <= words_q;
  assign last_column   = column_q == '0;
  assign last_row      = row_q == '0;
  assign last_group    = (last_column && last_row) || !real_vector;
  assign last_tap      = tap_x_q == '0 && tap_y_q == '0;
  assign last_element  = last_tap && padding_tap_q == padding_q;
  assign last_channels = channels_q == channels_limit_q;
  always_comb begin
    last_word = 1'b1;
    if (op_i.kind == Conv && word_inner) last_word = word_q == DepthFirstLast;
    else if (op_i.kind == Conv || op_i.kind == ReduceSum) last_word = 5'(word_q) == words_q;
    else if (two_words) last_word = word_q[0];
  end

  assign real_o        = real_vector;
  assign new_vector_o  = new_vector_q;
  assign first_o       = first_tap_q && word_q == '0;
  assign last_o        = last_group && last_element && last_word && last_channels;
  assign last_column_o = last_column;
  assign last_row_o    = last_row;
  assign channels_o    = channels_q;
  assign word_o        = word_q;
  assign upper_half_o  = upper_half;
  assign lower_half_o  = last_column && shared_row;
  assign acc_o         = acc_q;

  // What follows: another group, or another vector, with the next word, tap or group of channels
  logic next_tap, next_channels;
  assign next_tap      = last_group && (!word_inner || last_word);
  assign next_channels = next_tap && last_element;
  always_comb begin
    move_x_o = last_column ? FirstGroup : NextGroup;
    move_y_o = last_column ? NextGroup : Stay;
    if (next_channels) begin
      move_x_o = FirstTap;
      move_y_o = FirstTap;
    end else if (next_tap && !last_tap) begin
      move_x_o = tap_x_q == '0 ? FirstTap : NextTap;
      move_y_o = tap_x_q == '0 ? NextTap : FirstGroup;
    end else if (last_group) begin
      move_x_o = FirstGroup;
      move_y_o = FirstGroup;
    end
  end

  logic [11:0] acc, after_acc;   // after: the first row of the next group of channels
  assign acc       = acc_q + 12'd1;
  assign after_acc = real_vector ? (shared_row ? acc_q : acc) : next_acc_q;

  logic [5:0] columns, rows;     // minus one
  assign columns = op_i.one_row ? 6'((step_i.bw - 7'd1) >> $clog2(UblkW * UblkH))
                                : 6'((step_i.bw - 7'd1) >> $clog2(UblkW));
  assign rows    = 6'((step_i.bh - 7'd1) >> $clog2(UblkH));

  if (UblkH > 1) begin : gen_one_row
    logic odd_pairs_q, upper_q, upper_half_q, next_upper;
    assign odd_pairs  = odd_pairs_q;
    assign upper      = upper_q;
    assign upper_half = upper_half_q;
    assign next_upper = next_channels ? shared_row && !last_channels : upper_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        odd_pairs_q  <= 1'b0;
        upper_q      <= 1'b0;
        upper_half_q <= 1'b0;
      end else if (en_i) begin
        if (start_i) begin
          odd_pairs_q  <= op_i.one_row && (step_i.bw[1:0] == 2'd1 || step_i.bw[1:0] == 2'd2);
          upper_q      <= 1'b0;
          upper_half_q <= 1'b0;
        end else if (next_i) begin
          upper_q      <= next_upper;
          upper_half_q <= last_group && next_upper;
        end
      end
    end
  end else begin : gen_no_one_row
    assign odd_pairs  = 1'b0;
    assign upper      = 1'b0;
    assign upper_half = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      words_q          <= '0;
      channels_limit_q <= '0;
      taps_x_q         <= '0;
      taps_y_q         <= '0;
      padding_q        <= '0;
      columns_q        <= '0;
      rows_q           <= '0;
      word_q           <= '0;
      channels_q       <= '0;
      tap_x_q          <= '0;
      tap_y_q          <= '0;
      padding_tap_q    <= '0;
      column_q         <= '0;
      row_q            <= '0;
      first_tap_q      <= 1'b0;
      new_vector_q     <= 1'b0;
      acc_q            <= '0;
      first_acc_q      <= '0;
      next_acc_q       <= '0;
    end else if (en_i) begin
      if (start_i) begin
        words_q          <= 5'(((10'(step_i.zc) << op_i.ifm.log2_bytes) - 10'd1) >> 3);
        channels_limit_q <= op_i.kind == ReduceSum ? '0 : 5'((step_i.bd - 8'd1) >> $clog2(UblkD));
        taps_x_q         <= 3'(step_i.tw - 4'd1);
        taps_y_q         <= 3'(step_i.th - 4'd1);
        padding_q        <= padded ? -2'(2'(step_i.tw) * 2'(step_i.th)) : '0;
        columns_q        <= columns;
        rows_q           <= rows;
        word_q           <= '0;
        channels_q       <= '0;
        tap_x_q          <= 3'(step_i.tw - 4'd1);
        tap_y_q          <= 3'(step_i.th - 4'd1);
        padding_tap_q    <= '0;
        column_q         <= columns;
        row_q            <= rows;
        first_tap_q      <= 1'b1;
        new_vector_q     <= 1'b1;
        acc_q            <= '0;
        first_acc_q      <= '0;
      end else if (next_i) begin
        new_vector_q <= last_group;
        if (!last_group) begin
          acc_q    <= acc;
          column_q <= last_column ? columns_q : column_q - 6'd1;
          if (last_column) row_q <= row_q - 6'd1;
        end else begin
          acc_q      <= first_acc_q;
          next_acc_q <= after_acc;
          column_q   <= columns_q;
          row_q      <= rows_q;
          if (word_inner) word_q <= last_word ? '0 : word_q + 4'd1;
        end
        if (next_channels) begin
          first_tap_q   <= 1'b1;
          tap_x_q       <= taps_x_q;
          tap_y_q       <= taps_y_q;
          padding_tap_q <= '0;
          channels_q    <= last_channels ? '0 : channels_q + 5'd1;
          acc_q         <= last_channels ? '0 : after_acc;
          first_acc_q   <= last_channels ? '0 : after_acc;
          if (last_channels && !word_inner) word_q <= word_q + 4'd1;
        end else if (next_tap) begin
          first_tap_q <= 1'b0;
          if (last_tap) begin
            padding_tap_q <= padding_tap_q + 2'd1;
          end else begin
            tap_x_q <= tap_x_q == '0 ? taps_x_q : tap_x_q - 3'd1;
            if (tap_x_q == '0) tap_y_q <= tap_y_q - 3'd1;
          end
        end
      end
    end
  end
endmodule
