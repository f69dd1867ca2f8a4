// SPDX-License-Identifier: Apache-2.0
/// Commands of the stream: their codes, and the registers that they set.
package cc_cmd_pkg;

  // Commands that do something
  localparam logic [9:0] OpStop        = 10'h000;
  localparam logic [9:0] OpIrq         = 10'h001;
  localparam logic [9:0] OpConv        = 10'h002;
  localparam logic [9:0] OpDepthwise   = 10'h003;
  localparam logic [9:0] OpPool        = 10'h005;
  localparam logic [9:0] OpElementwise = 10'h006;
  localparam logic [9:0] OpDmaStart    = 10'h010;
  localparam logic [9:0] OpDmaWait     = 10'h011;
  localparam logic [9:0] OpKernelWait  = 10'h012;
  localparam logic [9:0] OpPmuMask     = 10'h013;

  // Commands that set a register from their parameter
  localparam logic [9:0] SetIfmPadTop      = 10'h100;
  localparam logic [9:0] SetIfmPadLeft     = 10'h101;
  localparam logic [9:0] SetIfmPadRight    = 10'h102;
  localparam logic [9:0] SetIfmPadBottom   = 10'h103;
  localparam logic [9:0] SetIfmDepthM1     = 10'h104;
  localparam logic [9:0] SetIfmPrecision   = 10'h105;
  localparam logic [9:0] SetIfmUpscale     = 10'h107;
  localparam logic [9:0] SetIfmZeroPoint   = 10'h109;
  localparam logic [9:0] SetIfmWidth0M1    = 10'h10A;
  localparam logic [9:0] SetIfmHeight0M1   = 10'h10B;
  localparam logic [9:0] SetIfmHeight1M1   = 10'h10C;
  localparam logic [9:0] SetIfmIbEnd       = 10'h10D;
  localparam logic [9:0] SetIfmRegion      = 10'h10F;
  localparam logic [9:0] SetOfmWidthM1     = 10'h111;
  localparam logic [9:0] SetOfmHeightM1    = 10'h112;
  localparam logic [9:0] SetOfmDepthM1     = 10'h113;
  localparam logic [9:0] SetOfmPrecision   = 10'h114;
  localparam logic [9:0] SetOfmBlkWidthM1  = 10'h115;
  localparam logic [9:0] SetOfmBlkHeightM1 = 10'h116;
  localparam logic [9:0] SetOfmBlkDepthM1  = 10'h117;
  localparam logic [9:0] SetOfmZeroPoint   = 10'h118;
  localparam logic [9:0] SetOfmWidth0M1    = 10'h11A;
  localparam logic [9:0] SetOfmHeight0M1   = 10'h11B;
  localparam logic [9:0] SetOfmHeight1M1   = 10'h11C;
  localparam logic [9:0] SetOfmRegion      = 10'h11F;
  localparam logic [9:0] SetKernelWidthM1  = 10'h120;
  localparam logic [9:0] SetKernelHeightM1 = 10'h121;
  localparam logic [9:0] SetKernelStride   = 10'h122;
  localparam logic [9:0] SetParallelMode   = 10'h123;
  localparam logic [9:0] SetAccFormat      = 10'h124;
  localparam logic [9:0] SetActivation     = 10'h125;
  localparam logic [9:0] SetActivationMin  = 10'h126;
  localparam logic [9:0] SetActivationMax  = 10'h127;
  localparam logic [9:0] SetWeightRegion   = 10'h128;
  localparam logic [9:0] SetScaleRegion    = 10'h129;
  localparam logic [9:0] SetAbStart        = 10'h12D;
  localparam logic [9:0] SetBlockdep       = 10'h12F;
  localparam logic [9:0] SetDma0SrcRegion  = 10'h130;
  localparam logic [9:0] SetDma0DstRegion  = 10'h131;
  localparam logic [9:0] SetDma0Size0      = 10'h132;
  localparam logic [9:0] SetDma0Size1      = 10'h133;
  localparam logic [9:0] SetIfm2Broadcast  = 10'h180;
  localparam logic [9:0] SetIfm2Scalar     = 10'h181;
  localparam logic [9:0] SetIfm2Precision  = 10'h185;
  localparam logic [9:0] SetIfm2ZeroPoint  = 10'h189;
  localparam logic [9:0] SetIfm2Width0M1   = 10'h18A;
  localparam logic [9:0] SetIfm2Height0M1  = 10'h18B;
  localparam logic [9:0] SetIfm2Height1M1  = 10'h18C;
  localparam logic [9:0] SetIfm2IbStart    = 10'h18D;
  localparam logic [9:0] SetIfm2Region     = 10'h18F;

  // Commands that set a register from their payload
  localparam logic [9:0] SetIfmBase0      = 10'h000;
  localparam logic [9:0] SetIfmBase1      = 10'h001;
  localparam logic [9:0] SetIfmBase2      = 10'h002;
  localparam logic [9:0] SetIfmBase3      = 10'h003;
  localparam logic [9:0] SetIfmStrideX    = 10'h004;
  localparam logic [9:0] SetIfmStrideY    = 10'h005;
  localparam logic [9:0] SetIfmStrideC    = 10'h006;
  localparam logic [9:0] SetOfmBase0      = 10'h010;
  localparam logic [9:0] SetOfmBase1      = 10'h011;
  localparam logic [9:0] SetOfmBase2      = 10'h012;
  localparam logic [9:0] SetOfmBase3      = 10'h013;
  localparam logic [9:0] SetOfmStrideX    = 10'h014;
  localparam logic [9:0] SetOfmStrideY    = 10'h015;
  localparam logic [9:0] SetOfmStrideC    = 10'h016;
  localparam logic [9:0] SetWeightBase    = 10'h020;
  localparam logic [9:0] SetWeightLength  = 10'h021;
  localparam logic [9:0] SetScaleBase     = 10'h022;
  localparam logic [9:0] SetScaleLength   = 10'h023;
  localparam logic [9:0] SetOfmScale      = 10'h024;
  localparam logic [9:0] SetOpaScale      = 10'h025;
  localparam logic [9:0] SetOpbScale      = 10'h026;
  localparam logic [9:0] SetDma0Src       = 10'h030;
  localparam logic [9:0] SetDma0Dst       = 10'h031;
  localparam logic [9:0] SetDma0Len       = 10'h032;
  localparam logic [9:0] SetDma0Skip0     = 10'h033;
  localparam logic [9:0] SetDma0Skip1     = 10'h034;
  localparam logic [9:0] SetIfm2Base0     = 10'h080;
  localparam logic [9:0] SetIfm2Base1     = 10'h081;
  localparam logic [9:0] SetIfm2Base2     = 10'h082;
  localparam logic [9:0] SetIfm2Base3     = 10'h083;
  localparam logic [9:0] SetIfm2StrideX   = 10'h084;
  localparam logic [9:0] SetIfm2StrideY   = 10'h085;
  localparam logic [9:0] SetIfm2StrideC   = 10'h086;
  localparam logic [9:0] SetWeight1Base   = 10'h090;
  localparam logic [9:0] SetWeight1Length = 10'h091;
  localparam logic [9:0] SetScale1Base    = 10'h092;
  localparam logic [9:0] SetScale1Length  = 10'h093;

  // The high part of the address of a negative stride
  localparam logic [15:0] NegativeStride = 16'h00FF;

  // Registers that the command stream sets, as wide as their commands carry them.
  typedef struct packed {
    logic [15:0] depth_m1;     // IFM only
    logic [15:0] precision;
    logic [15:0] zero_point;
    logic [15:0] width0_m1;
    logic [15:0] height0_m1;
    logic [15:0] height1_m1;
    logic [15:0] region;
    logic [3:0][31:0] base;
    logic [31:0] stride_x;
    logic [31:0] stride_y;
    logic [31:0] stride_c;
  } fmap_regs_t;

  typedef struct packed {
    logic [15:0] ifm_pad_top;
    logic [15:0] ifm_pad_left;
    logic [15:0] ifm_pad_right;
    logic [15:0] ifm_pad_bottom;
    logic [15:0] ifm_upscale;
    logic [15:0] ifm_ib_end;
    logic [15:0] ofm_width_m1;
    logic [15:0] ofm_height_m1;
    logic [15:0] ofm_blk_width_m1;
    logic [15:0] ofm_blk_height_m1;
    logic [15:0] ofm_blk_depth_m1;
    logic [15:0] kernel_width_m1;
    logic [15:0] kernel_height_m1;
    logic [15:0] kernel_stride;
    logic [15:0] acc_format;
    logic [15:0] activation;
    logic [15:0] activation_min;
    logic [15:0] activation_max;
    logic [15:0] weight_region;
    logic [15:0] scale_region;
    logic [15:0] ab_start;
    logic [15:0] ifm2_broadcast;
    logic [15:0] ifm2_scalar;
    logic [15:0] ifm2_ib_start;
    logic [15:0] dma0_src_region;
    logic [15:0] dma0_dst_region;
    logic [31:0] weight_base;
    logic [31:0] weight_length;
    logic [31:0] scale_base;
    logic [31:0] scale_length;
    logic [31:0] ofm_scale;
    logic [5:0]  ofm_shift;
    logic [31:0] opa_scale;
    logic [5:0]  opa_shift;
    logic [31:0] opb_scale;
    logic [31:0] dma0_src;
    logic [31:0] dma0_dst;
    logic [31:0] dma0_len;
    fmap_regs_t  ifm;
    fmap_regs_t  ifm2;
    fmap_regs_t  ofm;
  } cmd_regs_t;

endpackage
