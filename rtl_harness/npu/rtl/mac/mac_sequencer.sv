// SPDX-License-Identifier: Apache-2.0
/// Takes a step and gives its work: each cycle a weight vector with a group of pixels.
///
/// A group is `UblkW` by `UblkH` pixels, or as many in one row, which the array computes together, a lane each.
/// With it go the shared-buffer address of each lane's IFM word and the accumulator row of the group.
module mac_sequencer
  import npu_pkg::*;
  import mac_pkg::*;
#(
  parameter int unsigned UblkW  = 1,
  parameter int unsigned UblkH  = 1,
  parameter int unsigned UblkD  = 4,
  parameter int unsigned Usable = 16,
  localparam int unsigned Lanes    = UblkW * UblkH,
  localparam int unsigned AccBanks = Lanes * UblkD / 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  op_t         op_i,
  input  logic        valid_i,
  output logic        ready_o,
  input  step_t       step_i,
  input  logic        ifm_buffer_i,
  input  logic        acc_buffer_i,
  // Work
  output logic        valid_o,
  input  logic        ready_i,
  output group_t      group_o,
  output logic [Lanes-1:0] absent_o,   // lanes with padding, or no pixel
  output logic [Lanes-1:0][5:0] bank_o,
  output logic [Lanes-1:0][6:0] addr_o
);
  localparam logic [7:0] DepthMax = 8'd255;  // more channels than a pixel's words of a piece hold

  logic busy_q, ifm_buffer_q, acc_buffer_q, clear_q, row_last_q, last_q;
  logic odd_width_q, odd_height_q;  // the last column or row of groups is not whole
  logic [5:0] words_q;              // of a pixel in the piece
  logic [11:0] pitch_q;             // words of a lane's row of pixels
  logic [7:0] depth_q;              // IFM channels from the piece's first to the last, minus one

  logic start, next;
  assign start   = valid_i && ready_o;
  assign next    = busy_q && ready_i;
  assign ready_o = !busy_q;
  assign valid_o = busy_q;

  // Order
  axis_move_e move_x, move_y;
  logic real_vector, new_vector, first, last, last_column, last_row, upper_half, lower_half;
  logic [4:0] channels;
  logic [3:0] word_walk;
  logic [11:0] acc;
  mac_walk #(
    .UblkW(UblkW),
    .UblkH(UblkH),
    .UblkD(UblkD)
  ) u_walk (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .en_i         (en_i),
    .op_i         (op_i),
    .start_i      (start),
    .step_i       (step_i),
    .next_i       (next),
    .move_x_o     (move_x),
    .move_y_o     (move_y),
    .real_o       (real_vector),
    .new_vector_o (new_vector),
    .first_o      (first),
    .last_o       (last),
    .last_column_o(last_column),
    .last_row_o   (last_row),
    .upper_half_o (upper_half),
    .lower_half_o (lower_half),
    .channels_o   (channels),
    .word_o       (word_walk),
    .acc_o        (acc)
  );

  // Positions
  localparam int unsigned Columns = UblkH > 1 ? Lanes : UblkW;  // of a group, at most
  logic [Columns-1:0][11:0] at_x;
  logic [Columns-1:0][2:0] pixel_x;
  logic [Columns-1:0] absent_x;
  mac_axis #(
    .Ublk   (UblkW),
    .RowUblk(Columns)
  ) u_x (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .en_i     (en_i),
    .upscale_i(op_i.upscale),
    .zeros_i  (op_i.upscale_zeros),
    .stride_i (op_i.stride_x),
    .dilate_i (op_i.dilate_x),
    .size_i   (op_i.ifm_w),
    .one_row_i(op_i.one_row),
    .start_i  (start),
    .first_i  (step_i.ix0),
    .next_i   (next),
    .move_i   (move_x),
    .half_i   (upper_half),
    .pitch_i  (12'(words_q)),
    .at_o     (at_x),
    .pixel_o  (pixel_x),
    .absent_o (absent_x)
  );
  logic [UblkH-1:0][11:0] at_y;
  logic [UblkH-1:0][2:0] pixel_y;
  logic [UblkH-1:0] absent_y;
  mac_axis #(
    .Ublk(UblkH)
  ) u_y (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .en_i     (en_i),
    .upscale_i(op_i.upscale),
    .zeros_i  (op_i.upscale_zeros),
    .stride_i (op_i.stride_y),
    .dilate_i (op_i.dilate_y),
    .size_i   (op_i.ifm_h),
    .one_row_i(1'b0),
    .start_i  (start),
    .first_i  (step_i.iy0),
    .next_i   (next),
    .move_i   (move_y),
    .half_i   (1'b0),
    .pitch_i  (pitch_q),
    .at_o     (at_y),
    .pixel_o  (pixel_y),
    .absent_o (absent_y)
  );

  // The IFM word: of the walk where sums go over IFM channels, that of the OFM channels otherwise
  logic by_channel;
  logic two_bytes;
  logic [4:0] word;
  logic [8:0] depth;  // IFM channels from the word's first to the last, minus one
  assign by_channel = op_i.kind != Conv && op_i.kind != ReduceSum;
  assign two_bytes  = op_i.ifm.log2_bytes == 2'd1;
  always_comb begin
    word = 5'(word_walk);
    if (by_channel) word = UblkD == 4 ? channels >> 1 : channels;
    if (by_channel && two_bytes) word = UblkD == 4 ? channels : {channels[3:0], word_walk[0]};
  end
  assign depth      = 9'(depth_q) - 9'({word, 3'd0} >> op_i.ifm.log2_bytes);

  always_comb begin
    group_o             = '0;
    group_o.multiply    = real_vector;
    group_o.new_vector  = new_vector;
    group_o.clear       = clear_q && first;
    group_o.keep        = upper_half;
    group_o.half        = UblkD == 4 ? channels[0] && !two_bytes : two_bytes && word_walk[0];
    group_o.channels_m1 = depth[8:3] != '0 ? '1 : depth[2:0];
    group_o.acc         = acc + {acc_buffer_group(op_i, Usable, AccBanks, acc_buffer_q), 6'd0};
    group_o.step_end    = last;
    group_o.row_end     = last && row_last_q;
    group_o.block_end   = last && last_q;
  end

  // A piece is spread over the lanes' banks so that a group's pixels never meet in one.
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    localparam int unsigned X = l % UblkW;
    localparam int unsigned Y = l / UblkW;
    logic [1:0] lane;
    logic [11:0] at, column;
    logic [2:0] pixel;
    logic padding, outside;
    always_comb begin
      column  = at_x[X] + at_y[Y];
      pixel   = pixel_x[X];
      padding = absent_x[X] || absent_y[Y];
      outside = (X == 1 && last_column && odd_width_q) || (Y == 1 && last_row && odd_height_q);
      if (UblkH > 1 && op_i.one_row) begin
        column  = (upper_half ? at_x[X] : at_x[l % Columns]);
        pixel   = upper_half ? pixel_x[X] : pixel_x[l % Columns];
        padding = upper_half ? absent_x[X] : absent_x[l % Columns];
        outside = (Y == 0 ? upper_half : lower_half)
                  || (X == 1 && last_column && odd_width_q && lower_half == (Y == 0));
      end
    end
    assign lane        = ifm_lane(8'(pixel), 8'(pixel_y[Y]), op_i.one_row, op_i.stride_x, op_i.stride_y,
                                  UblkW, UblkH);
    assign at          = column + 12'(word);
    assign bank_o[l]   = ifm_buffer_bank(op_i, Lanes, ifm_buffer_q) + 6'(12'(at[11:7]) * 12'(Lanes))
                         + 6'(lane);
    assign addr_o[l]   = at[6:0];
    assign absent_o[l] = padding || outside;
  end

  logic [5:0] words;
  logic [7:0] lane_columns;
  logic [15:0] depth_left;
  assign words        = 6'(((10'(step_i.zc) << op_i.ifm.log2_bytes) + 10'd7) >> 3);
  assign lane_columns = 8'((9'(step_i.iw) + 9'(UblkW - 1)) >> $clog2(UblkW));
  assign depth_left   = op_i.ifm_d_m1 - step_i.iz0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q       <= 1'b0;
      ifm_buffer_q <= 1'b0;
      acc_buffer_q <= 1'b0;
      clear_q      <= 1'b0;
      row_last_q   <= 1'b0;
      last_q       <= 1'b0;
      odd_width_q  <= 1'b0;
      odd_height_q <= 1'b0;
      words_q      <= '0;
      pitch_q      <= '0;
      depth_q      <= '0;
    end else if (en_i) begin
      if (start) begin
        busy_q       <= 1'b1;
        ifm_buffer_q <= ifm_buffer_i;
        acc_buffer_q <= acc_buffer_i;
        clear_q      <= step_i.first;
        row_last_q   <= step_i.row_last;
        last_q       <= step_i.last;
        odd_width_q  <= step_i.bw[0];
        odd_height_q <= step_i.bh[0];
        words_q      <= words;
        pitch_q      <= 12'(lane_columns) * 12'(words);
        depth_q      <= depth_left > 16'(DepthMax) ? DepthMax : depth_left[7:0];
      end else if (next && last) begin
        busy_q <= 1'b0;
      end
    end
  end
endmodule
