// SPDX-License-Identifier: Apache-2.0
/// What the blocks need to know of an operation, derived from its registers.
module cc_op
  import npu_pkg::*;
  import cc_cmd_pkg::*;
  import cc_pkg::*;
(
  input  form_t      form_i,
  input  logic [15:0] param_i,
  input  cmd_regs_t  regs_i,
  input  sizes_t     sizes_i,
  input  logic [5:0] ab_start_i, // first bank of the accumulators,
  input  logic [5:0] acc_end_i,  // and the one after them
  output op_t        op_o
);
  function automatic fmap_t fmap(fmap_regs_t f, logic [1:0] log2_bytes);
    return '{region: f.region[2:0], brick: f.precision[6], log2_bytes: log2_bytes,
             width0_m1: f.width0_m1, height0_m1: f.height0_m1, height1_m1: f.height1_m1,
             base: f.base, stride_x: f.stride_x, stride_y: f.stride_y, stride_c: f.stride_c};
  endfunction

  logic [3:0] sub_max;
  assign sub_max = regs_i.kernel_stride[5] ? 4'd4 : 4'd8;

  always_comb begin
    op_o                  = '0;
    op_o.kind             = form_i.kind;
    op_o.elementwise      = elementwise_e'(param_i[3:0]);
    op_o.ofm_w_m1         = regs_i.ofm_width_m1;
    op_o.ofm_h_m1         = regs_i.ofm_height_m1;
    op_o.ofm_d_m1         = regs_i.ofm.depth_m1;
    op_o.ifm_d_m1         = form_i.pieces ? regs_i.ifm.depth_m1 : regs_i.ofm.depth_m1;
    op_o.ifm_w            = sizes_i.ifm_w[17:0];
    op_o.ifm_h            = sizes_i.ifm_h[17:0];
    op_o.pad_top          = form_i.elementwise ? '0 : regs_i.ifm_pad_top[6:0];
    op_o.pad_left         = form_i.elementwise ? '0 : regs_i.ifm_pad_left[6:0];
    op_o.padded           = form_i.padded;
    op_o.blk_w_m1         = regs_i.ofm_blk_width_m1[5:0];
    op_o.blk_h_m1         = regs_i.ofm_blk_height_m1[5:0];
    op_o.blk_d_m1         = regs_i.ofm_blk_depth_m1[6:0];
    op_o.stride_x         = form_i.sx;
    op_o.stride_y         = form_i.sy;
    op_o.dilate_x         = form_i.dx;
    op_o.dilate_y         = form_i.dy;
    op_o.taps_x_m1        = form_i.kernel_w_m1[6:0] >> form_i.dx;
    op_o.taps_y_m1        = form_i.kernel_h_m1[6:0] >> form_i.dy;
    op_o.part_kernel      = regs_i.kernel_stride[2] && form_i.kind == Conv;
    op_o.one_row          = form_i.one_row;
    op_o.small_subkernel  = regs_i.kernel_stride[5];
    op_o.upscale          = form_i.upscale && !form_i.elementwise;
    op_o.upscale_zeros    = regs_i.ifm_upscale[1] && !form_i.elementwise;
    op_o.single_ifm_job   = form_i.kind == Conv && regs_i.ifm.depth_m1 < (regs_i.kernel_stride[2] ? 16'd16 : 16'd32)
                            && regs_i.kernel_width_m1 < 16'(sub_max) && regs_i.kernel_height_m1 < 16'(sub_max);
    op_o.ib_end           = regs_i.ifm_ib_end[5:0];
    op_o.ib2_start        = regs_i.ifm2_ib_start[5:0];
    op_o.ab_start         = ab_start_i;
    op_o.acc_end          = acc_end_i;
    op_o.ifm_signed       = regs_i.ifm.precision[0];
    op_o.ifm_zero_point   = regs_i.ifm.zero_point;
    op_o.ifm2_signed      = regs_i.ifm2.precision[0];
    op_o.ifm2_zero_point  = regs_i.ifm2.zero_point;
    op_o.ifm2_used        = form_i.elementwise && !form_i.unary && !form_i.scalar;
    op_o.ifm2_scalar_used = form_i.elementwise && form_i.scalar;
    op_o.ifm2_scalar      = regs_i.ifm2_scalar;
    op_o.broadcast_h      = regs_i.ifm2_broadcast[0];
    op_o.broadcast_w      = regs_i.ifm2_broadcast[1];
    op_o.broadcast_c      = regs_i.ifm2_broadcast[2];
    op_o.reversed         = form_i.elementwise && !form_i.unary && regs_i.ifm2_broadcast[6];
    op_o.ofm_signed       = regs_i.ofm.precision[0];
    op_o.ofm_zero_point   = regs_i.ofm.zero_point;
    op_o.global_scale     = regs_i.ofm.precision[8];
    op_o.ofm_scale        = regs_i.ofm_scale;
    op_o.ofm_shift        = regs_i.ofm_shift;
    op_o.opa_scale        = regs_i.opa_scale;
    op_o.opa_shift        = regs_i.opa_shift;
    op_o.opb_scale        = regs_i.opb_scale;
    op_o.operand_to_scale = regs_i.ifm.precision[9:8];
    op_o.rounding         = regs_i.ofm.precision[15:14];
    op_o.table_used       = form_i.table_used;
    op_o.table_index      = regs_i.activation[2:0];
    op_o.clip_int8        = regs_i.activation[13:12] == 2'd3;
    op_o.activation_min   = regs_i.activation_min;
    op_o.activation_max   = regs_i.activation_max;
    op_o.ifm              = fmap(regs_i.ifm, regs_i.ifm.precision[3:2]);
    op_o.ifm2             = fmap(regs_i.ifm2, regs_i.ifm2.precision[3:2]);
    op_o.ofm              = fmap(regs_i.ofm, regs_i.ofm.precision[2:1]);
    op_o.weight           = '{region: regs_i.weight_region[2:0], base: regs_i.weight_base,
                              length: regs_i.weight_length};
    op_o.scale            = '{region: regs_i.scale_region[2:0], base: regs_i.scale_base,
                              length: regs_i.scale_length};
  end
endmodule
