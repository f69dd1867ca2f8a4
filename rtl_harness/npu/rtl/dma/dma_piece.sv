/// Fetches one piece of a feature map into the shared buffer, pixel by pixel, in segments of 32 bytes at most.
///
/// Pixels outside the map (padding) are skipped; segments outside the region deliver zeros and set the error.
module dma_piece
  import npu_pkg::*;
#(
  parameter int unsigned UblkW = 1,
  parameter int unsigned UblkH = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  region_t     region_i,
  input  fmap_t       fmap_i,
  input  logic        valid_i,
  input  piece_t      piece_i,
  output logic        done_o,
  output logic        address_error_o,
  // Address requests
  output logic        ar_valid_o,
  input  logic        ar_ready_i,
  output logic [31:0] ar_addr_o,
  output logic [7:0]  ar_len_o,
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
  typedef enum logic [1:0] {
    Idle,
    Locate,
    Walk,
    Wait
  } state_e;

  state_e state_q;
  logic [7:0] x_q, y_q;
  logic [9:0] done_q;          // bytes of the pixel that are asked for
  logic [31:0] channels_q;     // offset of the next of them from channel 0
  logic split_q;

  logic located, next, wrap;
  logic [31:0] offset, first_channels;
  dma_position u_position (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .en_i    (en_i),
    .fmap_i  (fmap_i),
    .start_i (state_q == Idle && valid_i),
    .x_i     (piece_i.x0 < 0 ? '0 : piece_i.x0[15:0]),
    .y_i     (piece_i.y0 < 0 ? '0 : piece_i.y0[15:0]),
    .z_i     (piece_i.z0),
    .ready_o (located),
    .next_i  (next),
    .wrap_i  (wrap),
    .offset_o(offset),
    .first_channel_o(first_channels)
  );

  logic signed [18:0] x, y;
  logic in_x, in_y;
  assign x    = piece_i.x0 + 19'(x_q);
  assign y    = piece_i.y0 + 19'(y_q);
  assign in_x = x >= 0 && x < $signed({1'b0, piece_i.limit_x});
  assign in_y = y >= 0 && y < $signed({1'b0, piece_i.limit_y});

  // The segment at hand
  logic [9:0] total, left;
  logic [5:0] longest, bytes;
  logic [6:0] words;
  logic [31:0] at;
  logic leaves, last_segment;
  assign total          = 10'(piece_i.c) << fmap_i.log2_bytes;
  assign left           = total - done_q;
  assign longest        = fmap_i.brick && fmap_i.log2_bytes == '0 ? 6'd16 : 6'd32;
  assign bytes          = left < 10'(longest) ? left[5:0] : longest;
  assign last_segment   = left <= 10'(longest);
  assign words          = 7'((total + 10'd7) >> 3);
  assign at             = offset + channels_q;
  assign leaves         = leaves_region(region_i, at, 32'(bytes));

  // The next segment of the pixel: on in memory, or in the next brick
  logic [9:0] reached;  // counted from the first piece's brick
  logic brick_ends;
  assign reached    = done_q + 10'(longest) + (10'(piece_i.z0[3:0]) << fmap_i.log2_bytes);
  assign brick_ends = fmap_i.brick
                      && (reached & ((10'd16 << fmap_i.log2_bytes) - 10'd1)) == '0;

  // Its beats, in one burst or, at a 4 KiB page's end, two
  logic [31:0] addr;
  logic [2:0] beats, beats_here;
  logic [9:0] to_page;
  logic crosses;
  assign addr       = region_i.base + at;
  assign beats      = 3'((7'(bytes) + 7'(addr[2:0]) + 7'd7) >> 3);
  assign to_page    = 10'd512 - {1'b0, addr[11:3]};
  assign crosses    = 10'(beats) > to_page;
  assign beats_here = crosses ? 3'(to_page) : beats;

  logic pixel_in, full, none, push, asked, step_on;
  assign pixel_in   = state_q == Walk && in_x && in_y;
  assign ar_valid_o = pixel_in && !leaves && (split_q || !full);
  assign ar_addr_o  = split_q ? {addr[31:12] + 20'd1, 12'd0} : {addr[31:3], 3'd0};
  assign ar_len_o   = split_q ? 8'(beats - beats_here) - 8'd1 : 8'(beats_here) - 8'd1;
  assign asked      = ar_valid_o && ar_ready_i;
  assign push       = pixel_in && !split_q && !full && (leaves || asked);
  assign step_on    = state_q == Walk
                      && (!pixel_in || (leaves ? push : asked && (split_q || !crosses)));
  assign address_error_o = push && leaves;

  logic last_x, last_y, pixel_ends;
  assign last_x     = x_q == piece_i.w - 8'd1;
  assign last_y     = y_q == piece_i.h - 8'd1;
  assign pixel_ends = step_on && (!pixel_in || last_segment);
  assign next       = pixel_ends && pixel_in && !last_x;
  assign wrap       = pixel_ends && last_x && in_y;

  // Where it goes
  localparam int unsigned Lanes = UblkW * UblkH;
  logic [7:0] pitch_pixels;
  logic [11:0] word;
  logic [1:0] lane;
  always_comb begin
    if (piece_i.spread) begin
      pitch_pixels = 8'((9'(piece_i.w) + 9'(UblkW - 1)) >> $clog2(UblkW));
      word = (12'(y_q >> $clog2(UblkH)) * 12'(pitch_pixels) + 12'(x_q >> $clog2(UblkW))) * 12'(words);
      lane = ifm_lane(x_q, y_q, piece_i.stride_x, piece_i.stride_y, UblkW, UblkH);
    end else begin
      pitch_pixels = piece_i.w;
      word = (12'(y_q) * 12'(pitch_pixels) + 12'(x_q)) * 12'(words);
      lane = '0;
    end
  end

  dma_receive #(
    .Depth(16)
  ) u_receive (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .en_i     (en_i),
    .push_i   (push),
    .zero_i   (leaves),
    .shift_i  (addr[2:0]),
    .bytes_i  (bytes),
    .lane_i   (lane),
    .word_i   (word + 12'(done_q >> 3)),
    .full_o   (full),
    .none_o   (none),
    .lanes_i  (piece_i.spread ? 3'(Lanes) : 3'd1),
    .bank_i   (piece_i.bank),
    .r_valid_i(r_valid_i),
    .r_ready_o(r_ready_o),
    .r_data_i (r_data_i),
    .wr_o     (wr_o),
    .wr_bank_o(wr_bank_o),
    .wr_addr_o(wr_addr_o),
    .wr_data_o(wr_data_o)
  );

  assign done_o = state_q == Wait && none && valid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      x_q        <= '0;
      y_q        <= '0;
      done_q     <= '0;
      channels_q <= '0;
      split_q    <= 1'b0;
    end else if (en_i) begin
      unique case (state_q)
        Idle: begin
          if (valid_i) begin
            state_q <= Locate;
            x_q     <= '0;
            y_q     <= '0;
            done_q  <= '0;
            split_q <= 1'b0;
          end
        end
        Locate: begin
          channels_q <= first_channels;
          if (located) state_q <= Walk;
        end
        Walk: begin
          if (asked) split_q <= crosses && !split_q;
          if (pixel_ends) begin
            done_q     <= '0;
            channels_q <= first_channels;
            x_q        <= last_x ? '0 : x_q + 8'd1;
            if (last_x) begin
              y_q <= y_q + 8'd1;
              if (last_y) state_q <= Wait;
            end
          end else if (step_on) begin
            done_q     <= done_q + 10'(longest);
            channels_q <= brick_ends
                          ? channels_q + fmap_i.stride_c - (32'd16 << fmap_i.log2_bytes) + 32'(longest)
                          : channels_q + 32'(longest);
          end
        end
        Wait: if (done_o) state_q <= Idle;
        default: state_q <= Idle;
      endcase
    end
  end
endmodule
