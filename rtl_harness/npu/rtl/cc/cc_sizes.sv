// SPDX-License-Identifier: Apache-2.0
/// Sizes that the rules of README.md section 4 bound: products of the registers, in two cycles.
module cc_sizes
  import npu_pkg::*;
  import cc_cmd_pkg::*;
  import cc_pkg::*;
#(
  parameter int unsigned UblkW = 1,
  parameter int unsigned UblkH = 1,
  parameter int unsigned UblkD = 4,
  localparam int unsigned Lanes = UblkW * UblkH
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  input  logic      start_i,
  input  logic      next_i,   // the cycle after the start
  input  form_t     form_i,
  input  cmd_regs_t regs_i,
  output sizes_t    sizes_o
);
  logic [8:0] sub_w, sub_h, sub_max;
  assign sub_max = regs_i.kernel_stride[5] ? 9'd4 : 9'd8;
  assign sub_w   = 9'(form_i.kernel_w_m1[6:0]) < sub_max ? 9'(form_i.kernel_w_m1[6:0]) + 9'd1 : sub_max;
  assign sub_h   = 9'(form_i.kernel_h_m1[6:0]) < sub_max ? 9'(form_i.kernel_h_m1[6:0]) + 9'd1 : sub_max;

  // 64-bit words of a pixel in a piece: of the operand, of the second operand
  function automatic logic [6:0] pixel_words(logic [15:0] channels_m1, logic [6:0] blk_m1,
                                             logic [1:0] log2_bytes);
    logic [9:0] channels;
    channels = 10'(channels_m1 < 16'(blk_m1) ? channels_m1[6:0] : blk_m1) + 10'd1;
    return 7'(((channels << log2_bytes) + 10'd7) >> 3);
  endfunction
  logic [6:0] words_d, words_q, words2_d, words2_q;
  always_comb begin
    words_d = pixel_words(regs_i.ofm.depth_m1, regs_i.ofm_blk_depth_m1[6:0], regs_i.ifm.precision[3:2]);
    if (form_i.pieces) begin
      words_d = pixel_words(regs_i.ifm.depth_m1, form_i.kind == Conv && regs_i.kernel_stride[2] ? 7'd15 : 7'd31, 2'd0);
      if (regs_i.ifm.precision[3:2] == 2'd1) words_d = pixel_words(regs_i.ifm.depth_m1, 7'd15, 2'd1);
      if (regs_i.ifm.precision[3:2] == 2'd2) words_d = pixel_words(regs_i.ifm.depth_m1, 7'd7, 2'd2);
    end
    words2_d = regs_i.ifm2_broadcast[2] ? 7'd1
                                   : pixel_words(regs_i.ofm.depth_m1, regs_i.ofm_blk_depth_m1[6:0], regs_i.ifm2.precision[3:2]);
  end

  logic signed [19:0] ifm_w_d, ifm_h_d;
  assign ifm_w_d = 20'(regs_i.ofm_width_m1) * 20'(form_i.sx) + 20'(form_i.kernel_w_m1) + 20'd1
                   - 20'(regs_i.ifm_pad_left) - 20'(regs_i.ifm_pad_right);
  assign ifm_h_d = 20'(regs_i.ofm_height_m1) * 20'(form_i.sy) + 20'(form_i.kernel_h_m1) + 20'd1
                   - 20'(regs_i.ifm_pad_top) - 20'(regs_i.ifm_pad_bottom);

  logic [8:0] piece_w_d, piece_h_d, piece_w_q, piece_h_q, up_w, up_h;
  assign up_w      = 9'(regs_i.ofm_blk_width_m1[5:0]) * 9'(form_i.sx) + sub_w;
  assign up_h      = 9'(regs_i.ofm_blk_height_m1[5:0]) * 9'(form_i.sy) + sub_h;
  // Copies in between need a pixel more than zeros do.
  assign piece_w_d = !form_i.upscale ? up_w : (regs_i.ifm_upscale[0] ? (up_w >> 1) + 9'd1 : (up_w + 9'd1) >> 1);
  assign piece_h_d = !form_i.upscale ? up_h : (regs_i.ifm_upscale[0] ? (up_h >> 1) + 9'd1 : (up_h + 9'd1) >> 1);

  logic [12:0] rows_d, rows_q, pixels_d, pixels_q, pixels2_d, pixels2_q;
  logic [6:0] blk_w, blk_h;
  assign blk_w     = 7'(regs_i.ofm_blk_width_m1[5:0]) + 7'd1;
  assign blk_h     = 7'(regs_i.ofm_blk_height_m1[5:0]) + 7'd1;
  assign rows_d    = ((13'(blk_w) + 13'(UblkW - 1)) >> $clog2(UblkW))
                     * (form_i.one_row ? 13'd1 : (13'(blk_h) + 13'(UblkH - 1)) >> $clog2(UblkH));
  assign pixels_d  = 13'(blk_w) * 13'(blk_h);
  assign pixels2_d = (regs_i.ifm2_broadcast[1] ? 13'd1 : 13'(blk_w))
                     * (regs_i.ifm2_broadcast[0] ? 13'd1 : 13'(blk_h));
  logic [5:0] ublocks_d, ublocks_q;
  assign ublocks_d = 6'((8'(regs_i.ofm_blk_depth_m1[6:0]) + 8'(UblkD)) >> $clog2(UblkD));

  logic [13:0] taps_d;
  assign taps_d = (14'(regs_i.kernel_width_m1[6:0] >> form_i.dx) + 14'd1)
                  * (14'(regs_i.kernel_height_m1[6:0] >> form_i.dy) + 14'd1);

  // What the buffers must hold
  logic signed [19:0] ifm_w_q, ifm_h_q;
  logic [13:0] taps_q;
  logic [21:0] acc_need_q, ifm_need_q, ifm2_need_q;
  logic [15:0] piece_pixels;
  always_comb begin
    piece_pixels = ((16'(piece_w_q) + 16'(UblkW - 1)) >> $clog2(UblkW))
                   * ((16'(piece_h_q) + 16'(UblkH - 1)) >> $clog2(UblkH));
    if (form_i.one_row) piece_pixels = (16'(piece_w_q) + 16'(Lanes - 1)) >> $clog2(Lanes);
  end

  assign sizes_o = '{ifm_w: ifm_w_q, ifm_h: ifm_h_q, taps: taps_q, acc_need: acc_need_q,
                     ifm_need: ifm_need_q, ifm2_need: ifm2_need_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      words_q     <= '0;
      words2_q    <= '0;
      piece_w_q   <= '0;
      piece_h_q   <= '0;
      rows_q      <= '0;
      pixels_q    <= '0;
      pixels2_q   <= '0;
      ublocks_q   <= '0;
      ifm_w_q     <= '0;
      ifm_h_q     <= '0;
      taps_q      <= '0;
      acc_need_q  <= '0;
      ifm_need_q  <= '0;
      ifm2_need_q <= '0;
    end else begin
      if (start_i) begin
        words_q     <= words_d;
        words2_q    <= words2_d;
        piece_w_q   <= piece_w_d;
        piece_h_q   <= piece_h_d;
        rows_q      <= rows_d;
        pixels_q    <= pixels_d;
        pixels2_q   <= pixels2_d;
        ublocks_q   <= ublocks_d;
        ifm_w_q     <= ifm_w_d;
        ifm_h_q     <= ifm_h_d;
        taps_q      <= taps_d;
      end
      if (next_i) begin
        acc_need_q  <= 22'(rows_q) * 22'(ublocks_q);
        ifm_need_q  <= 22'(form_i.elementwise ? 16'(pixels_q) : piece_pixels) * 22'(words_q);
        ifm2_need_q <= 22'(pixels2_q) * 22'(words2_q);
      end
    end
  end
endmodule
