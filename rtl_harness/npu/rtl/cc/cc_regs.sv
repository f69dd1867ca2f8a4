// SPDX-License-Identifier: Apache-2.0
/// The register file that SET commands write.
module cc_regs
  import npu_pkg::*;
  import cc_cmd_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        set_param_i,    // a SET command without payload
  input  logic        set_payload_i,  // a SET command with payload
  input  logic [9:0]  code_i,
  input  logic [15:0] param_i,
  input  logic [31:0] payload_i,
  output logic        param_known_o,   // `code_i` names a register without payload
  output logic        payload_known_o, // `code_i` names a register with payload
  output logic        is_address_o,    // ... whose parameter is the high part of an address
  output logic        is_stride_o,     // ... or that of a distance, which may be negative
  output cmd_regs_t   regs_o
);
  cmd_regs_t regs_q, regs_d;
  assign regs_o = regs_q;

  always_comb begin
    regs_d          = regs_q;
    param_known_o   = 1'b1;
    payload_known_o = 1'b1;
    is_address_o    = 1'b1;

    unique case (code_i)
      SetIfmPadTop: if (set_param_i) regs_d.ifm_pad_top = param_i;
      SetIfmPadLeft: if (set_param_i) regs_d.ifm_pad_left = param_i;
      SetIfmPadRight: if (set_param_i) regs_d.ifm_pad_right = param_i;
      SetIfmPadBottom: if (set_param_i) regs_d.ifm_pad_bottom = param_i;
      SetIfmDepthM1: if (set_param_i) regs_d.ifm.depth_m1 = param_i;
      SetIfmPrecision: if (set_param_i) regs_d.ifm.precision = param_i;
      SetIfmUpscale: if (set_param_i) regs_d.ifm_upscale = param_i;
      SetIfmZeroPoint: if (set_param_i) regs_d.ifm.zero_point = param_i;
      SetIfmWidth0M1: if (set_param_i) regs_d.ifm.width0_m1 = param_i;
      SetIfmHeight0M1: if (set_param_i) regs_d.ifm.height0_m1 = param_i;
      SetIfmHeight1M1: if (set_param_i) regs_d.ifm.height1_m1 = param_i;
      SetIfmIbEnd: if (set_param_i) regs_d.ifm_ib_end = param_i;
      SetIfmRegion: if (set_param_i) regs_d.ifm.region = param_i;
      SetOfmWidthM1: if (set_param_i) regs_d.ofm_width_m1 = param_i;
      SetOfmHeightM1: if (set_param_i) regs_d.ofm_height_m1 = param_i;
      SetOfmDepthM1: if (set_param_i) regs_d.ofm.depth_m1 = param_i;
      SetOfmPrecision: if (set_param_i) regs_d.ofm.precision = param_i;
      SetOfmBlkWidthM1: if (set_param_i) regs_d.ofm_blk_width_m1 = param_i;
      SetOfmBlkHeightM1: if (set_param_i) regs_d.ofm_blk_height_m1 = param_i;
      SetOfmBlkDepthM1: if (set_param_i) regs_d.ofm_blk_depth_m1 = param_i;
      SetOfmZeroPoint: if (set_param_i) regs_d.ofm.zero_point = param_i;
      SetOfmWidth0M1: if (set_param_i) regs_d.ofm.width0_m1 = param_i;
      SetOfmHeight0M1: if (set_param_i) regs_d.ofm.height0_m1 = param_i;
      SetOfmHeight1M1: if (set_param_i) regs_d.ofm.height1_m1 = param_i;
      SetOfmRegion: if (set_param_i) regs_d.ofm.region = param_i;
      SetKernelWidthM1: if (set_param_i) regs_d.kernel_width_m1 = param_i;
      SetKernelHeightM1: if (set_param_i) regs_d.kernel_height_m1 = param_i;
      SetKernelStride: if (set_param_i) regs_d.kernel_stride = param_i;
      SetAccFormat: if (set_param_i) regs_d.acc_format = param_i;
      SetActivation: if (set_param_i) regs_d.activation = param_i;
      SetActivationMin: if (set_param_i) regs_d.activation_min = param_i;
      SetActivationMax: if (set_param_i) regs_d.activation_max = param_i;
      SetWeightRegion: if (set_param_i) regs_d.weight_region = param_i;
      SetScaleRegion: if (set_param_i) regs_d.scale_region = param_i;
      SetAbStart: if (set_param_i) regs_d.ab_start = param_i;
      SetDma0SrcRegion: if (set_param_i) regs_d.dma0_src_region = param_i;
      SetDma0DstRegion: if (set_param_i) regs_d.dma0_dst_region = param_i;
      SetIfm2Broadcast: if (set_param_i) regs_d.ifm2_broadcast = param_i;
      SetIfm2Scalar: if (set_param_i) regs_d.ifm2_scalar = param_i;
      SetIfm2Precision: if (set_param_i) regs_d.ifm2.precision = param_i;
      SetIfm2ZeroPoint: if (set_param_i) regs_d.ifm2.zero_point = param_i;
      SetIfm2Width0M1: if (set_param_i) regs_d.ifm2.width0_m1 = param_i;
      SetIfm2Height0M1: if (set_param_i) regs_d.ifm2.height0_m1 = param_i;
      SetIfm2Height1M1: if (set_param_i) regs_d.ifm2.height1_m1 = param_i;
      SetIfm2IbStart: if (set_param_i) regs_d.ifm2_ib_start = param_i;
      SetIfm2Region: if (set_param_i) regs_d.ifm2.region = param_i;
      // Accepted without effect: parallel mode, block dependency, sizes of 2D and 3D copies
      SetParallelMode, SetBlockdep, SetDma0Size0, SetDma0Size1: ;
      default: param_known_o = 1'b0;
    endcase

    unique case (code_i)
      SetIfmBase0, SetIfmBase1, SetIfmBase2, SetIfmBase3: if (set_payload_i) regs_d.ifm.base[code_i[1:0]] = payload_i;
      SetIfmStrideX: if (set_payload_i) regs_d.ifm.stride_x = payload_i;
      SetIfmStrideY: if (set_payload_i) regs_d.ifm.stride_y = payload_i;
      SetIfmStrideC: if (set_payload_i) regs_d.ifm.stride_c = payload_i;
      SetOfmBase0, SetOfmBase1, SetOfmBase2, SetOfmBase3: if (set_payload_i) regs_d.ofm.base[code_i[1:0]] = payload_i;
      SetOfmStrideX: if (set_payload_i) regs_d.ofm.stride_x = payload_i;
      SetOfmStrideY: if (set_payload_i) regs_d.ofm.stride_y = payload_i;
      SetOfmStrideC: if (set_payload_i) regs_d.ofm.stride_c = payload_i;
      SetWeightBase: if (set_payload_i) regs_d.weight_base = payload_i;
      SetWeightLength: if (set_payload_i) regs_d.weight_length = payload_i;
      SetScaleBase: if (set_payload_i) regs_d.scale_base = payload_i;
      SetScaleLength: if (set_payload_i) regs_d.scale_length = payload_i;
      SetOfmScale: begin
        is_address_o = 1'b0;
        if (set_payload_i) {regs_d.ofm_shift, regs_d.ofm_scale} = {param_i[5:0], payload_i};
      end
      SetOpaScale: begin
        is_address_o = 1'b0;
        if (set_payload_i) {regs_d.opa_shift, regs_d.opa_scale} = {param_i[5:0], payload_i};
      end
      SetOpbScale: begin
        is_address_o = 1'b0;
        if (set_payload_i) regs_d.opb_scale = payload_i;
      end
      SetDma0Src: if (set_payload_i) regs_d.dma0_src = payload_i;
      SetDma0Dst: if (set_payload_i) regs_d.dma0_dst = payload_i;
      SetDma0Len: if (set_payload_i) regs_d.dma0_len = payload_i;
      SetIfm2Base0, SetIfm2Base1, SetIfm2Base2, SetIfm2Base3: if (set_payload_i) regs_d.ifm2.base[code_i[1:0]] = payload_i;
      SetIfm2StrideX: if (set_payload_i) regs_d.ifm2.stride_x = payload_i;
      SetIfm2StrideY: if (set_payload_i) regs_d.ifm2.stride_y = payload_i;
      SetIfm2StrideC: if (set_payload_i) regs_d.ifm2.stride_c = payload_i;
      // Accepted without effect: skips of 2D and 3D copies, second weight core
      SetDma0Skip0, SetDma0Skip1, SetWeight1Base, SetWeight1Length, SetScale1Base, SetScale1Length: ;
      default: payload_known_o = 1'b0;
    endcase
  end

  always_comb begin
    unique case (code_i)
      SetIfmStrideX, SetIfmStrideY, SetIfmStrideC, SetOfmStrideX, SetOfmStrideY, SetOfmStrideC,
      SetIfm2StrideX, SetIfm2StrideY, SetIfm2StrideC:
      is_stride_o = 1'b1;
      default: is_stride_o = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) regs_q <= '0;
    else if (clear_i) regs_q <= '0;
    else regs_q <= regs_d;
  end
endmodule
