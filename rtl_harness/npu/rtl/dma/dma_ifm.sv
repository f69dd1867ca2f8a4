/// Fetches one IFM piece into the shared buffer: a segment of channels a pixel, 64-bit words a pixel.
///
/// Pixels in the padding are skipped; segments outside the region deliver zeros and set the error.
module dma_ifm
  import npu_pkg::*;
#(
  parameter int unsigned AddrW = 11,  // shared-buffer word address
  parameter int unsigned Depth = 16   // segments under way
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              en_i,
  input  op_t               op_i,
  input  region_t           region_i,
  input  logic              valid_i,
  input  step_t             step_i,
  input  logic [AddrW-1:0]  buffer_i,   // first word of the buffer
  output logic              done_o,
  output logic              address_error_o,
  // Address requests
  output logic              ar_valid_o,
  input  logic              ar_ready_i,
  output logic [31:0]       ar_addr_o,
  output logic [7:0]        ar_len_o,
  // Beats
  input  logic              r_valid_i,
  output logic              r_ready_o,
  input  logic [63:0]       r_data_i,
  // Shared buffer
  output logic              wr_o,
  output logic [AddrW-1:0]  wr_addr_o,
  output logic [63:0]       wr_data_o
);
  typedef enum logic [1:0] {
    Idle,
    Locate,
    Walk,
    Wait
  } state_e;

  typedef struct packed {
    logic             zero;
    logic [2:0]       shift;
    logic [5:0]       bytes;
    logic [AddrW-1:0] word;
  } segment_t;

  state_e state_q;
  logic [7:0] x_q, y_q;
  logic group_q, split_q;
  logic [31:0] row_q, pixel_q, group_offset_q;
  logic [AddrW-1:0] word_q;

  // The first pixel that is not padding.
  logic [14:0] first_x, first_y;
  assign first_x = step_i.ix0 < 0 ? '0 : step_i.ix0[14:0];
  assign first_y = step_i.iy0 < 0 ? '0 : step_i.iy0[14:0];

  logic [31:0] step_x;
  assign step_x = op_i.ifm.brick ? 32'd16 : op_i.ifm.stride_x;

  logic locate, located;
  logic [31:0] offset;
  assign locate = state_q == Idle && valid_i;
  dma_offset u_offset (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .en_i      (en_i),
    .start_i   (locate),
    .base_i    (op_i.ifm.base + (op_i.ifm.brick ? '0 : 32'(step_i.iz0))),
    .y_i       (first_y),
    .x_i       (first_x),
    .g_i       (op_i.ifm.brick ? step_i.iz0[12:4] : '0),
    .stride_y_i(op_i.ifm.stride_y),
    .stride_x_i(step_x),
    .stride_g_i(op_i.ifm.stride_c),
    .valid_o   (located),
    .offset_o  (offset)
  );

  logic signed [16:0] ix, iy;
  logic in_x, in_y;
  assign ix   = step_i.ix0 + 17'(x_q);
  assign iy   = step_i.iy0 + 17'(y_q);
  assign in_x = ix >= 0 && ix < $signed(op_i.ifm_w);
  assign in_y = iy >= 0 && iy < $signed(op_i.ifm_h);

  // The segment at hand
  logic two_groups;
  logic [5:0] bytes;
  logic [2:0] words;  // of the pixel in this piece
  logic [31:0] at;
  logic leaves;
  assign two_groups = op_i.ifm.brick && step_i.zc > 6'd16;
  assign bytes      = !two_groups ? step_i.zc : (group_q ? step_i.zc - 6'd16 : 6'd16);
  assign words      = 3'((step_i.zc + 6'd7) >> 3);
  assign at         = pixel_q + group_offset_q;
  assign leaves     = {1'b0, at} + 33'(bytes) > {1'b0, region_i.size};

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

  logic pixel_in, segment_full, push, asked, step_on;
  assign pixel_in   = state_q == Walk && in_x && in_y;
  assign ar_valid_o = pixel_in && !leaves && (split_q || !segment_full);
  assign ar_addr_o  = split_q ? {addr[31:12] + 20'd1, 12'd0} : {addr[31:3], 3'd0};
  assign ar_len_o   = split_q ? 8'(beats - beats_here) - 8'd1 : 8'(beats_here) - 8'd1;
  assign asked      = ar_valid_o && ar_ready_i;
  assign push       = pixel_in && !split_q && !segment_full && (leaves || asked);
  // Go to the next group or pixel.
  assign step_on    = state_q == Walk
                      && (!pixel_in || (leaves ? push : asked && (split_q || !crosses)));
  assign address_error_o = push && leaves;

  logic last_group, last_x, last_y;
  assign last_group = !pixel_in || !two_groups || group_q;
  assign last_x     = x_q == step_i.iw - 8'd1;
  assign last_y     = y_q == step_i.ih - 8'd1;

  segment_t head;
  logic pop, none;
  fifo #(
    .Width($bits(segment_t)),
    .Depth(Depth)
  ) u_segments (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (en_i),
    .clear_i(1'b0),
    .push_i (push),
    .data_i ({leaves, addr[2:0], bytes, word_q + (group_q ? AddrW'(2) : '0)}),
    .pop_i  (pop),
    .data_o (head),
    .empty_o(none),
    .full_o (segment_full)
  );

  // Receive: shift the beats so that the segment's first byte is byte 0 of a word.
  logic [2:0] beat_q;
  logic [2:0] zero_q;
  logic [63:0] hold_q;
  logic flush_q;
  logic [2:0] head_words, head_beats;
  logic take, last_beat;
  assign head_words = 3'((head.bytes + 6'd7) >> 3);
  assign head_beats = 3'((7'(head.bytes) + 7'(head.shift) + 7'd7) >> 3);
  assign r_ready_o  = !none && !head.zero && !flush_q;
  assign take       = r_valid_i && r_ready_o;
  assign last_beat  = beat_q == head_beats - 3'd1;

  logic [5:0] shift;
  assign shift = {head.shift, 3'b000};

  logic extra_word;  // the last beat completes one word and begins another
  assign extra_word = head.shift != '0 && beat_q != '0 && head_words == head_beats;

  always_comb begin
    wr_o      = 1'b0;
    wr_addr_o = head.word + AddrW'(beat_q);
    wr_data_o = r_data_i >> shift;
    pop       = 1'b0;
    if (flush_q) begin
      wr_o      = 1'b1;
      wr_addr_o = head.word + AddrW'(head_words) - AddrW'(1);
      wr_data_o = hold_q >> shift;
      pop       = 1'b1;
    end else if (!none && head.zero) begin
      wr_o      = 1'b1;
      wr_addr_o = head.word + AddrW'(zero_q);
      wr_data_o = '0;
      pop       = zero_q == head_words - 3'd1;
    end else if (take) begin
      pop = last_beat && !extra_word;
      if (head.shift == '0 || (last_beat && beat_q == '0)) begin
        wr_o = 1'b1;
      end else if (beat_q != '0) begin
        wr_o      = 1'b1;
        wr_addr_o = head.word + AddrW'(beat_q) - AddrW'(1);
        wr_data_o = 64'({r_data_i, hold_q} >> shift);
      end
    end
  end

  assign done_o = state_q == Wait && none && valid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Idle;
      x_q            <= '0;
      y_q            <= '0;
      group_q        <= 1'b0;
      split_q        <= 1'b0;
      row_q          <= '0;
      pixel_q        <= '0;
      group_offset_q <= '0;
      word_q         <= '0;
      beat_q         <= '0;
      zero_q         <= '0;
      hold_q         <= '0;
      flush_q        <= 1'b0;
    end else if (en_i) begin
      unique case (state_q)
        Idle: begin
          if (valid_i) begin
            state_q <= Locate;
            x_q     <= '0;
            y_q     <= '0;
            word_q  <= buffer_i;
          end
        end
        Locate: begin
          group_q        <= 1'b0;
          split_q        <= 1'b0;
          group_offset_q <= '0;
          if (located) begin
            row_q   <= offset;
            pixel_q <= offset;
            state_q <= Walk;
          end
        end
        Walk: begin
          if (asked) split_q <= crosses && !split_q;
          if (step_on) begin
            if (!last_group) begin
              group_q        <= 1'b1;
              group_offset_q <= op_i.ifm.stride_c;
            end else begin
              group_q        <= 1'b0;
              group_offset_q <= '0;
              word_q         <= word_q + AddrW'(words);
              x_q            <= last_x ? '0 : x_q + 8'd1;
              if (in_x) pixel_q <= pixel_q + step_x;
              if (last_x) begin
                y_q <= y_q + 8'd1;
                if (in_y) begin
                  row_q   <= row_q + op_i.ifm.stride_y;
                  pixel_q <= row_q + op_i.ifm.stride_y;
                end else begin
                  pixel_q <= row_q;
                end
                if (last_y) state_q <= Wait;
              end
            end
          end
        end
        Wait: begin
          if (done_o) state_q <= Idle;
        end
        default: state_q <= Idle;
      endcase

      if (take) begin
        hold_q  <= r_data_i;
        beat_q  <= last_beat ? '0 : beat_q + 3'd1;
        flush_q <= last_beat && extra_word;
      end else if (flush_q) begin
        flush_q <= 1'b0;
      end
      if (!none && head.zero) zero_q <= pop ? '0 : zero_q + 3'd1;
    end
  end
endmodule
