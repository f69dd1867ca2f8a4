/// Checks the registers of a CONV command and derives the operation from them, in four cycles.
///
/// The rules are those of README.md section 4, in its order.
module cc_check
  import npu_pkg::*;
#(
  parameter int unsigned SbBanks = 16
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  input  logic      start_i,
  input  cmd_regs_t regs_i,
  input  region_t [NumRegions-1:0] regions_i,
  output logic      done_o,
  output logic      cmd_error_o,
  output logic      address_error_o,
  output logic      scale_error_o,
  output op_t       op_o
);
  cmd_regs_t r;
  assign r = regs_i;

  // Stage 1: sizes that need a multiplication by a stride or a rounding.
  logic [1:0] sx, sy;
  logic dx, dy;
  logic stride_bad;
  assign sx = 2'({r.kernel_stride[6], r.kernel_stride[0]} + 2'd1);
  assign sy = 2'({r.kernel_stride[9], r.kernel_stride[1]} + 2'd1);
  assign stride_bad = sx == 2'd0 || sy == 2'd0;
  assign dx = r.kernel_stride[3];
  assign dy = r.kernel_stride[4];

  logic [7:0] sub_w, sub_h, sub_max;
  assign sub_max = r.kernel_stride[5] ? 8'd4 : 8'd8;
  assign sub_w = 8'(r.kernel_width_m1[6:0]) < sub_max ? 8'(r.kernel_width_m1[6:0]) + 8'd1 : sub_max;
  assign sub_h = 8'(r.kernel_height_m1[6:0]) < sub_max ? 8'(r.kernel_height_m1[6:0]) + 8'd1
                                                       : sub_max;

  logic [3:0] words_d, words_q;  // 64-bit words of an IFM piece's pixel
  logic [3:0] words_max;
  assign words_max = r.kernel_stride[2] ? 4'd2 : 4'd4;
  assign words_d   = r.ifm_depth_m1[15:3] >= 13'(words_max) ? words_max
                                                            : 4'(r.ifm_depth_m1[5:3]) + 4'd1;

  logic signed [18:0] ifm_w_d, ifm_h_d, ifm_w_q, ifm_h_q;
  assign ifm_w_d = 19'(r.ofm_width_m1) * 19'(sx) + 19'(r.kernel_width_m1) + 19'd1
                   - 19'(r.ifm_pad_left) - 19'(r.ifm_pad_right);
  assign ifm_h_d = 19'(r.ofm_height_m1) * 19'(sy) + 19'(r.kernel_height_m1) + 19'd1
                   - 19'(r.ifm_pad_top) - 19'(r.ifm_pad_bottom);

  logic [7:0] piece_w_d, piece_h_d, piece_w_q, piece_h_q;
  assign piece_w_d = 8'(r.ofm_blk_width_m1[5:0]) * 8'(sx) + sub_w;
  assign piece_h_d = 8'(r.ofm_blk_height_m1[5:0]) * 8'(sy) + sub_h;

  logic [12:0] npix_d, npix_q;
  assign npix_d = (13'(r.ofm_blk_width_m1[5:0]) + 13'd1) * (13'(r.ofm_blk_height_m1[5:0]) + 13'd1);
  logic [5:0] ublocks_q;

  // Stage 2: rows of the buffers that the block needs, and has.
  logic [18:0] acc_need_d, ifm_need_d, acc_need_q, ifm_need_q;
  assign acc_need_d = 19'(npix_q) * 19'(ublocks_q);
  assign ifm_need_d = 19'(16'(piece_w_q) * 16'(piece_h_q)) * 19'(words_q);

  logic [18:0] acc_rows, ifm_rows;
  logic [15:0] acc_banks, ifm_banks;
  assign acc_banks = 16'(SbBanks) - r.ab_start;
  assign ifm_banks = r.ifm_ib_end - 16'd2;
  assign acc_rows  = {7'd0, acc_banks[6:2], 7'd0};
  assign ifm_rows  = {6'd0, ifm_banks[6:1], 7'd0};

  logic registers_bad, geometry_bad, buffers_bad;
  assign registers_bad =
      (r.ifm_precision & 16'hFCBE) != '0 || (r.ofm_precision & 16'hFFBE) != '0
      || r.ifm_upscale != '0 || r.acc_format != '0 || r.activation != '0
      || (r.kernel_stride & 16'hFD80) != '0 || stride_bad
      || r.kernel_width_m1 > 16'd127 || (dx && r.kernel_width_m1[0])
      || r.kernel_height_m1 > 16'd127 || (dy && r.kernel_height_m1[0])
      || (r.ofm_width_m1 | r.ofm_height_m1 | r.ofm_depth_m1 | r.ifm_depth_m1) > 16'h1FFF
      || (r.ifm_pad_top | r.ifm_pad_bottom | r.ifm_pad_left | r.ifm_pad_right) > 16'd127
      || (r.ifm_region | r.ofm_region | r.weight_region | r.scale_region) > 16'd7
      || regions_i[r.ofm_region[2:0]].port
      || (r.ofm_blk_width_m1 | r.ofm_blk_height_m1) > 16'd63 || r.ofm_blk_depth_m1 > 16'd127
      || r.weight_base[3:0] != '0 || r.weight_length[3:0] != '0 || r.scale_base[3:0] != '0
      || r.weight_length == '0 || r.scale_length == '0;

  assign geometry_bad =
      ifm_w_q <= 0 || ifm_h_q <= 0
      || ifm_w_q > 19'(r.ifm_width0_m1) + 19'd1
      || ifm_h_q > 19'(r.ifm_height0_m1) + 19'd1 || ifm_h_q > 19'(r.ifm_height1_m1) + 19'd1
      || r.ofm_width_m1 > r.ofm_width0_m1
      || r.ofm_height_m1 > r.ofm_height0_m1 || r.ofm_height_m1 > r.ofm_height1_m1;

  assign buffers_bad =
      r.ifm_ib_end < 16'd2 || r.ifm_ib_end > r.ab_start || r.ab_start > 16'(SbBanks)
      || acc_need_q > acc_rows || acc_need_q > 19'd512 || ifm_need_q > ifm_rows;

  function automatic logic leaves(stream_t stream, region_t region);
    return {1'b0, stream.base} + {1'b0, stream.length} > {1'b0, region.size};
  endfunction

  logic [3:0] stage_q;
  op_t op_d;
  always_comb begin
    op_d                 = '0;
    op_d.ofm_w_m1        = r.ofm_width_m1[12:0];
    op_d.ofm_h_m1        = r.ofm_height_m1[12:0];
    op_d.ofm_d_m1        = r.ofm_depth_m1[12:0];
    op_d.ifm_d_m1        = r.ifm_depth_m1[12:0];
    op_d.ifm_w           = ifm_w_q[16:0];
    op_d.ifm_h           = ifm_h_q[16:0];
    op_d.pad_top         = r.ifm_pad_top[6:0];
    op_d.pad_left        = r.ifm_pad_left[6:0];
    op_d.blk_w_m1        = r.ofm_blk_width_m1[5:0];
    op_d.blk_h_m1        = r.ofm_blk_height_m1[5:0];
    op_d.blk_d_m1        = r.ofm_blk_depth_m1[6:0];
    op_d.stride_x        = sx;
    op_d.stride_y        = sy;
    op_d.dilate_x        = dx;
    op_d.dilate_y        = dy;
    op_d.taps_x_m1       = r.kernel_width_m1[6:0] >> dx;
    op_d.taps_y_m1       = r.kernel_height_m1[6:0] >> dy;
    op_d.part_kernel     = r.kernel_stride[2];
    op_d.small_subkernel = r.kernel_stride[5];
    op_d.single_ifm_job  = r.ifm_depth_m1 < (r.kernel_stride[2] ? 16'd16 : 16'd32)
                           && r.kernel_width_m1 < 16'(sub_max) && r.kernel_height_m1 < 16'(sub_max);
    op_d.ib_end          = r.ifm_ib_end[5:0];
    op_d.ab_start        = r.ab_start[5:0];
    op_d.ifm_signed      = r.ifm_precision[0];
    op_d.ifm_zero_point  = r.ifm_zero_point[8:0];
    op_d.ofm_signed      = r.ofm_precision[0];
    op_d.ofm_zero_point  = r.ofm_zero_point;
    op_d.activation_min  = r.activation_min;
    op_d.activation_max  = r.activation_max;
    op_d.ifm             = '{region: r.ifm_region[2:0], brick: r.ifm_precision[6], base: r.ifm_base0,
                             stride_x: r.ifm_stride_x, stride_y: r.ifm_stride_y,
                             stride_c: r.ifm_stride_c};
    op_d.ofm             = '{region: r.ofm_region[2:0], brick: r.ofm_precision[6], base: r.ofm_base0,
                             stride_x: r.ofm_stride_x, stride_y: r.ofm_stride_y,
                             stride_c: r.ofm_stride_c};
    op_d.weight          = '{region: r.weight_region[2:0], base: r.weight_base,
                             length: r.weight_length};
    op_d.scale           = '{region: r.scale_region[2:0], base: r.scale_base,
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
      ifm_w_q         <= '0;
      ifm_h_q         <= '0;
      piece_w_q       <= '0;
      piece_h_q       <= '0;
      npix_q          <= '0;
      ublocks_q       <= '0;
      acc_need_q      <= '0;
      ifm_need_q      <= '0;
      cmd_error_q     <= 1'b0;
      address_error_q <= 1'b0;
      scale_error_q   <= 1'b0;
    end else begin
      stage_q <= {stage_q[2:0], start_i};
      if (start_i) begin
        words_q   <= words_d;
        ifm_w_q   <= ifm_w_d;
        ifm_h_q   <= ifm_h_d;
        piece_w_q <= piece_w_d;
        piece_h_q <= piece_h_d;
        npix_q    <= npix_d;
        ublocks_q <= 6'(r.ofm_blk_depth_m1[6:2]) + 6'd1;
      end
      if (stage_q[0]) begin
        acc_need_q <= acc_need_d;
        ifm_need_q <= ifm_need_d;
      end
      if (stage_q[1]) cmd_error_q <= registers_bad || geometry_bad || buffers_bad;
      if (stage_q[2]) begin
        address_error_q <= !cmd_error_q
                           && (leaves(op_d.weight, regions_i[op_d.weight.region])
                               || leaves(op_d.scale, regions_i[op_d.scale.region]));
        scale_error_q   <= 32'(r.ofm_depth_m1) * 32'd10 + 32'd10 > r.scale_length;
      end
    end
  end
endmodule
