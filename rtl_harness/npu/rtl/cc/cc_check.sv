/// Checks the registers of an operation and derives what the blocks need from them, in four cycles.
///
/// The rules are those of README.md section 4.
module cc_check
  import npu_pkg::*;
  import cc_pkg::*;
#(
  parameter int unsigned UblkW  = 1,
  parameter int unsigned UblkH  = 1,
  parameter int unsigned UblkD  = 4,
  parameter int unsigned Banks  = 16,
  parameter int unsigned Usable = 16
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  input  logic      start_i,
  input  logic [9:0]  code_i,     // of the operation's command
  input  logic [15:0] param_i,
  input  cmd_regs_t regs_i,
  input  region_t [NumRegions-1:0] regions_i,
  output logic      done_o,
  output logic      cmd_error_o,
  output logic      address_error_o,
  output logic      scale_error_o,
  output op_t       op_o
);
  localparam int unsigned Lanes = UblkW * UblkH;
  localparam int unsigned AccBanks = Lanes * UblkD / 4;

  cmd_regs_t r;
  assign r = regs_i;

  kind_e kind;
  logic known;
  always_comb begin
    kind  = Conv;
    known = 1'b1;
    unique case (code_i)
      OpConv: kind = Conv;
      OpDepthwise: kind = Depthwise;
      OpPool: begin
        kind  = param_i == 16'd0 ? MaxPool : (param_i == 16'd1 ? AveragePool : ReduceSum);
        known = param_i <= PoolMax;
      end
      default: begin
        kind  = Elementwise;
        known = param_i <= ElementwiseMax;
      end
    endcase
  end
  logic elementwise, pool, weighted, pieces, unary, scalar, table_used;
  assign elementwise = kind == Elementwise;
  assign pool        = kind == MaxPool || kind == AveragePool;
  assign weighted    = kind == Conv || kind == Depthwise;
  assign pieces      = kind == Conv || kind == ReduceSum;
  assign unary       = param_i[3:0] == EwLrelu || param_i[3:0] == EwAbs || param_i[3:0] == EwClz;
  assign scalar      = r.ifm2_broadcast[7];
  assign table_used  = r.activation[4];

  logic padded;
  assign padded = (r.ifm_pad_top | r.ifm_pad_bottom | r.ifm_pad_left | r.ifm_pad_right) != '0;

  logic [1:0] ifm_log2, ifm2_log2, ofm_log2;
  assign ifm_log2  = r.ifm.precision[3:2];
  assign ifm2_log2 = r.ifm2.precision[3:2];
  assign ofm_log2  = r.ofm.precision[2:1];

  // Stage 1: sizes
  logic [1:0] sx, sy;
  logic dx, dy, upscale;
  assign sx      = elementwise ? 2'd1 : 2'({r.kernel_stride[6], r.kernel_stride[0]} + 2'd1);
  assign sy      = elementwise ? 2'd1 : 2'({r.kernel_stride[9], r.kernel_stride[1]} + 2'd1);
  assign dx      = !elementwise && r.kernel_stride[3];
  assign dy      = !elementwise && r.kernel_stride[4];
  assign upscale = r.ifm_upscale != '0;

  logic [15:0] kernel_w_m1, kernel_h_m1;
  assign kernel_w_m1 = elementwise ? '0 : r.kernel_width_m1;
  assign kernel_h_m1 = elementwise ? '0 : r.kernel_height_m1;

  logic [8:0] sub_w, sub_h, sub_max;
  assign sub_max = r.kernel_stride[5] ? 9'd4 : 9'd8;
  assign sub_w   = 9'(kernel_w_m1[6:0]) < sub_max ? 9'(kernel_w_m1[6:0]) + 9'd1 : sub_max;
  assign sub_h   = 9'(kernel_h_m1[6:0]) < sub_max ? 9'(kernel_h_m1[6:0]) + 9'd1 : sub_max;

  logic [15:0] ifm_depth_m1;
  assign ifm_depth_m1 = pieces ? r.ifm.depth_m1 : r.ofm.depth_m1;

  // 64-bit words of a pixel in a piece: of the operand, of the second operand
  function automatic logic [6:0] pixel_words(logic [15:0] channels_m1, logic [6:0] blk_m1,
                                             logic [1:0] log2_bytes);
    logic [9:0] channels;
    channels = 10'(channels_m1 < 16'(blk_m1) ? channels_m1[6:0] : blk_m1) + 10'd1;
    return 7'(((channels << log2_bytes) + 10'd7) >> 3);
  endfunction
  logic [6:0] words_d, words_q, words2_d, words2_q;
  always_comb begin
    words_d = pixel_words(r.ofm.depth_m1, r.ofm_blk_depth_m1[6:0], ifm_log2);
    if (pieces) begin
      words_d = pixel_words(r.ifm.depth_m1, kind == Conv && r.kernel_stride[2] ? 7'd15 : 7'd31, 2'd0);
      if (ifm_log2 == 2'd2) words_d = pixel_words(r.ifm.depth_m1, 7'd7, 2'd2);
    end
    words2_d = r.ifm2_broadcast[2] ? 7'd1
                                   : pixel_words(r.ofm.depth_m1, r.ofm_blk_depth_m1[6:0], ifm2_log2);
  end

  logic signed [19:0] ifm_w_d, ifm_h_d, ifm_w_q, ifm_h_q;
  assign ifm_w_d = 20'(r.ofm_width_m1) * 20'(sx) + 20'(kernel_w_m1) + 20'd1
                   - 20'(r.ifm_pad_left) - 20'(r.ifm_pad_right);
  assign ifm_h_d = 20'(r.ofm_height_m1) * 20'(sy) + 20'(kernel_h_m1) + 20'd1
                   - 20'(r.ifm_pad_top) - 20'(r.ifm_pad_bottom);

  logic [8:0] piece_w_d, piece_h_d, piece_w_q, piece_h_q, up_w, up_h;
  assign up_w      = 9'(r.ofm_blk_width_m1[5:0]) * 9'(sx) + sub_w;
  assign up_h      = 9'(r.ofm_blk_height_m1[5:0]) * 9'(sy) + sub_h;
  // Copies in between need a pixel more than zeros do.
  assign piece_w_d = !upscale ? up_w : (r.ifm_upscale[0] ? (up_w >> 1) + 9'd1 : (up_w + 9'd1) >> 1);
  assign piece_h_d = !upscale ? up_h : (r.ifm_upscale[0] ? (up_h >> 1) + 9'd1 : (up_h + 9'd1) >> 1);

  logic [12:0] rows_d, rows_q, pixels_d, pixels_q, pixels2_d, pixels2_q;
  logic [6:0] blk_w, blk_h;
  assign blk_w     = 7'(r.ofm_blk_width_m1[5:0]) + 7'd1;
  assign blk_h     = 7'(r.ofm_blk_height_m1[5:0]) + 7'd1;
  assign rows_d    = ((13'(blk_w) + 13'(UblkW - 1)) >> $clog2(UblkW))
                     * ((13'(blk_h) + 13'(UblkH - 1)) >> $clog2(UblkH));
  assign pixels_d  = 13'(blk_w) * 13'(blk_h);
  assign pixels2_d = (r.ifm2_broadcast[1] ? 13'd1 : 13'(blk_w))
                     * (r.ifm2_broadcast[0] ? 13'd1 : 13'(blk_h));
  logic [5:0] ublocks_d, ublocks_q;
  assign ublocks_d = 6'((8'(r.ofm_blk_depth_m1[6:0]) + 8'(UblkD)) >> $clog2(UblkD));

  // Stage 2: what the buffers must hold, and can
  logic [21:0] acc_need_q, ifm_need_q, ifm2_need_q;
  logic [15:0] piece_pixels;
  assign piece_pixels = ((16'(piece_w_q) + 16'(UblkW - 1)) >> $clog2(UblkW))
                        * ((16'(piece_h_q) + 16'(UblkH - 1)) >> $clog2(UblkH));

  logic [5:0] acc_end, ib_end, ib2_start, ab_start;
  assign acc_end   = table_used && Banks == Usable ? 6'(Usable - 2) : 6'(Usable);
  assign ib_end    = r.ifm_ib_end[5:0];
  assign ib2_start = r.ifm2_ib_start[5:0];
  assign ab_start  = r.ab_start[5:0];
  logic [5:0] acc_banks, ifm_banks, ifm2_banks, ifm_lane_banks;
  assign acc_banks      = ((acc_end - ab_start) >> 1) / 6'(AccBanks);
  assign ifm_lane_banks = ((ib_end - 6'd2) >> 1) / 6'(Lanes);
  assign ifm_banks      = ((unary || scalar ? ib_end : ib2_start) - 6'd2) >> 1;
  assign ifm2_banks     = (ib_end - ib2_start) >> 1;

  logic common_bad, kernel_bad, stream_bad, kind_bad, operands_bad, buffers_bad, banks_bad;
  assign common_bad =
      !known
      || (r.ifm.precision & IfmPrecisionZero) != '0 || ifm_log2 == 2'd3
      || (r.ofm.precision & OfmPrecisionZero) != '0 || ofm_log2 == 2'd3 || r.ofm.precision[15:14] == 2'd3
      || (r.activation & ActivationZero) != '0 || r.activation[13:12] == 2'd1
      || r.activation[13:12] == 2'd2 || (r.activation[4:0] != '0 && !(table_used && !r.activation[3]))
      || (table_used && (ofm_log2 == 2'd1 || (ofm_log2 == 2'd2 && r.activation[2:0] > 3'd1)))
      || (table_used && ofm_log2 == 2'd2 && r.activation[13:12] != 2'd3)
      || (r.ifm.region | r.ofm.region) > RegionMax || regions_i[r.ofm.region[2:0]].port
      || (r.ofm_blk_width_m1 | r.ofm_blk_height_m1) > BlockSideMax || r.ofm_blk_depth_m1 > BlockDepthMax
      || (r.ofm_blk_depth_m1 < r.ofm.depth_m1 && r.ofm_blk_depth_m1[3:0] != 4'hF);

  assign kernel_bad =
      r.ifm_upscale > UpscaleMax || (upscale && (sx != 2'd1 || sy != 2'd1))
      || (r.kernel_stride & KernelStrideZero) != '0 || sx == 2'd0 || sy == 2'd0
      || r.kernel_width_m1 > KernelSideMax || (dx && r.kernel_width_m1[0])
      || r.kernel_height_m1 > KernelSideMax || (dy && r.kernel_height_m1[0])
      || (r.ifm_pad_top | r.ifm_pad_bottom | r.ifm_pad_left | r.ifm_pad_right) > PadMax
      || ifm_w_q <= 0 || ifm_h_q <= 0 || r.acc_format != '0
      || ((ifm_w_q + 20'(upscale)) >> upscale) > 20'd65536
      || ((ifm_h_q + 20'(upscale)) >> upscale) > 20'd65536;

  assign stream_bad =
      (r.weight_region | r.scale_region) > RegionMax
      || r.weight_base[3:0] != '0 || r.weight_length[3:0] != '0 || r.scale_base[3:0] != '0
      || r.weight_length == '0 || r.scale_length == '0 || r.ofm.precision[8];

  // An average that leaves the padding out counts at most 64 pixels.
  logic [13:0] taps;
  assign taps = (14'(r.kernel_width_m1[6:0] >> dx) + 14'd1) * (14'(r.kernel_height_m1[6:0] >> dy) + 14'd1);
  assign kind_bad =
      (kind != ReduceSum && !elementwise && ifm_log2 != '0)
      || (pool && (dx || dy))
      || (kind == AveragePool && (padded || !r.ofm.precision[8]) && taps > CountedTapsMax)
      || (kind == ReduceSum
          && (ifm_log2 == 2'd1 || r.ofm.depth_m1 != '0 || kernel_w_m1 != '0 || kernel_h_m1 != '0
              || sx != 2'd1 || sy != 2'd1 || upscale));

  assign operands_bad =
      r.ifm_upscale != '0 || r.ifm.precision[9:8] == 2'd3
      || (!unary && ((r.ifm2_broadcast & Ifm2BroadcastZero) != '0
                     || (r.ifm2.precision & IfmPrecisionZero) != '0 || ifm2_log2 != ifm_log2
                     || (!scalar && (r.ifm2.region > RegionMax))));

  assign banks_bad =
      r.ifm_ib_end > 16'(Banks) || r.ifm_ib_end < 16'd2
      || (!elementwise && (r.ifm_ib_end > r.ab_start || r.ab_start > 16'(acc_end)
                           || (ab_start - 6'(Usable % AccBanks)) % 6'(AccBanks) != '0))
      || (elementwise && r.ifm_ib_end > 16'(acc_end))
      || (elementwise && !unary && !scalar
          && (r.ifm2_ib_start < 16'd2 || r.ifm2_ib_start > r.ifm_ib_end));
  assign buffers_bad =
      elementwise ? ifm_need_q > {9'd0, ifm_banks, 7'd0}
                    || (!unary && !scalar && ifm2_need_q > {9'd0, ifm2_banks, 7'd0})
                  : acc_need_q > {10'd0, acc_banks, 6'd0} || ifm_need_q > {9'd0, ifm_lane_banks, 7'd0};

  function automatic fmap_t fmap(fmap_regs_t f, logic [1:0] log2_bytes);
    return '{region: f.region[2:0], brick: f.precision[6], log2_bytes: log2_bytes,
             width0_m1: f.width0_m1, height0_m1: f.height0_m1, height1_m1: f.height1_m1,
             base: f.base, stride_x: f.stride_x, stride_y: f.stride_y, stride_c: f.stride_c};
  endfunction

  logic [3:0] stage_q;
  op_t op_d;
  always_comb begin
    op_d                  = '0;
    op_d.kind             = kind;
    op_d.elementwise      = elementwise_e'(param_i[3:0]);
    op_d.ofm_w_m1         = r.ofm_width_m1;
    op_d.ofm_h_m1         = r.ofm_height_m1;
    op_d.ofm_d_m1         = r.ofm.depth_m1;
    op_d.ifm_d_m1         = ifm_depth_m1;
    op_d.ifm_w            = ifm_w_q[17:0];
    op_d.ifm_h            = ifm_h_q[17:0];
    op_d.pad_top          = elementwise ? '0 : r.ifm_pad_top[6:0];
    op_d.pad_left         = elementwise ? '0 : r.ifm_pad_left[6:0];
    op_d.padded           = padded;
    op_d.blk_w_m1         = r.ofm_blk_width_m1[5:0];
    op_d.blk_h_m1         = r.ofm_blk_height_m1[5:0];
    op_d.blk_d_m1         = r.ofm_blk_depth_m1[6:0];
    op_d.stride_x         = sx;
    op_d.stride_y         = sy;
    op_d.dilate_x         = dx;
    op_d.dilate_y         = dy;
    op_d.taps_x_m1        = kernel_w_m1[6:0] >> dx;
    op_d.taps_y_m1        = kernel_h_m1[6:0] >> dy;
    op_d.part_kernel      = r.kernel_stride[2] && kind == Conv;
    op_d.small_subkernel  = r.kernel_stride[5];
    op_d.upscale          = upscale && !elementwise;
    op_d.upscale_zeros    = r.ifm_upscale[1] && !elementwise;
    op_d.single_ifm_job   = kind == Conv && r.ifm.depth_m1 < (r.kernel_stride[2] ? 16'd16 : 16'd32)
                            && r.kernel_width_m1 < 16'(sub_max) && r.kernel_height_m1 < 16'(sub_max);
    op_d.ib_end           = ib_end;
    op_d.ib2_start        = ib2_start;
    op_d.ab_start         = ab_start;
    op_d.acc_end          = acc_end;
    op_d.ifm_signed       = r.ifm.precision[0];
    op_d.ifm_zero_point   = r.ifm.zero_point;
    op_d.ifm2_signed      = r.ifm2.precision[0];
    op_d.ifm2_zero_point  = r.ifm2.zero_point;
    op_d.ifm2_used        = elementwise && !unary && !scalar;
    op_d.ifm2_scalar_used = elementwise && scalar;
    op_d.ifm2_scalar      = r.ifm2_scalar;
    op_d.broadcast_h      = r.ifm2_broadcast[0];
    op_d.broadcast_w      = r.ifm2_broadcast[1];
    op_d.broadcast_c      = r.ifm2_broadcast[2];
    op_d.reversed         = elementwise && !unary && r.ifm2_broadcast[6];
    op_d.ofm_signed       = r.ofm.precision[0];
    op_d.ofm_zero_point   = r.ofm.zero_point;
    op_d.global_scale     = r.ofm.precision[8];
    op_d.ofm_scale        = r.ofm_scale;
    op_d.ofm_shift        = r.ofm_shift;
    op_d.opa_scale        = r.opa_scale;
    op_d.opa_shift        = r.opa_shift;
    op_d.opb_scale        = r.opb_scale;
    op_d.operand_to_scale = r.ifm.precision[9:8];
    op_d.rounding         = r.ofm.precision[15:14];
    op_d.table_used       = table_used;
    op_d.table_index      = r.activation[2:0];
    op_d.clip_int8        = r.activation[13:12] == 2'd3;
    op_d.activation_min   = r.activation_min;
    op_d.activation_max   = r.activation_max;
    op_d.ifm              = fmap(r.ifm, ifm_log2);
    op_d.ifm2             = fmap(r.ifm2, ifm2_log2);
    op_d.ofm              = fmap(r.ofm, ofm_log2);
    op_d.weight           = '{region: r.weight_region[2:0], base: r.weight_base,
                              length: r.weight_length};
    op_d.scale            = '{region: r.scale_region[2:0], base: r.scale_base,
                              length: r.scale_length};
  end
  assign op_o = op_d;

  logic cmd_error_q, address_error_q, scale_error_q;
  assign done_o          = stage_q[3];
  assign cmd_error_o     = cmd_error_q;
  assign address_error_o = address_error_q;
  assign scale_error_o   = scale_error_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_q         <= '0;
      words_q         <= '0;
      words2_q        <= '0;
      ifm_w_q         <= '0;
      ifm_h_q         <= '0;
      piece_w_q       <= '0;
      piece_h_q       <= '0;
      rows_q          <= '0;
      pixels_q        <= '0;
      pixels2_q       <= '0;
      ublocks_q       <= '0;
      acc_need_q      <= '0;
      ifm_need_q      <= '0;
      ifm2_need_q     <= '0;
      cmd_error_q     <= 1'b0;
      address_error_q <= 1'b0;
      scale_error_q   <= 1'b0;
    end else begin
      stage_q <= {stage_q[2:0], start_i};
      if (start_i) begin
        words_q   <= words_d;
        words2_q  <= words2_d;
        ifm_w_q   <= ifm_w_d;
        ifm_h_q   <= ifm_h_d;
        piece_w_q <= piece_w_d;
        piece_h_q <= piece_h_d;
        rows_q    <= rows_d;
        pixels_q  <= pixels_d;
        pixels2_q <= pixels2_d;
        ublocks_q <= ublocks_d;
      end
      if (stage_q[0]) begin
        acc_need_q  <= 22'(rows_q) * 22'(ublocks_q);
        ifm_need_q  <= 22'(elementwise ? 16'(pixels_q) : piece_pixels) * 22'(words_q);
        ifm2_need_q <= 22'(pixels2_q) * 22'(words2_q);
      end
      if (stage_q[1]) begin
        cmd_error_q <= common_bad || kind_bad || banks_bad || buffers_bad
                       || (elementwise ? operands_bad : kernel_bad) || (weighted && stream_bad);
      end
      if (stage_q[2]) begin
        address_error_q <= !cmd_error_q && weighted
                           && (leaves_region(regions_i[op_d.weight.region], r.weight_base, r.weight_length)
                               || leaves_region(regions_i[op_d.scale.region], r.scale_base, r.scale_length));
        scale_error_q   <= weighted && 32'(r.ofm.depth_m1) * 32'd10 + 32'd10 > r.scale_length;
      end
    end
  end
endmodule
