/// Types and constants that the NPU's blocks share.
package npu_pkg;

  // AXI4 with 64-bit data, 32-bit addresses, INCR bursts of whole beats.
  typedef enum logic [2:0] {
    RdCommand = 3'd0,
    RdScale   = 3'd1,
    RdWeight  = 3'd2,
    RdIfm     = 3'd3,
    RdCopy    = 3'd4
  } rd_client_e;

  localparam int unsigned NumRdClients = 5;

  typedef struct packed {
    logic [2:0]  id;
    logic [31:0] addr;
    logic [7:0]  len;
  } axi_ar_t;

  typedef struct packed {
    logic [2:0]  id;
    logic [63:0] data;
    logic [1:0]  resp;
    logic        last;
  } axi_r_t;

  typedef struct packed {
    logic [2:0]  id;
    logic [31:0] addr;
    logic [7:0]  len;
  } axi_aw_t;

  typedef struct packed {
    logic [63:0] data;
    logic [7:0]  strb;
    logic        last;
  } axi_w_t;

  typedef struct packed {
    logic [2:0] id;
    logic [1:0] resp;
  } axi_b_t;

  // One region of memory that the command stream may address.
  typedef struct packed {
    logic        port;  // 0: read/write port M0, 1: read-only port M1
    logic [31:0] base;
    logic [31:0] size;
  } region_t;

  localparam int unsigned NumRegions = 8;

  // Registers that the command stream sets, as wide as their commands carry them.
  typedef struct packed {
    logic [15:0] ifm_pad_top;
    logic [15:0] ifm_pad_left;
    logic [15:0] ifm_pad_right;
    logic [15:0] ifm_pad_bottom;
    logic [15:0] ifm_depth_m1;
    logic [15:0] ifm_precision;
    logic [15:0] ifm_upscale;
    logic [15:0] ifm_zero_point;
    logic [15:0] ifm_width0_m1;
    logic [15:0] ifm_height0_m1;
    logic [15:0] ifm_height1_m1;
    logic [15:0] ifm_ib_end;
    logic [15:0] ifm_region;
    logic [15:0] ofm_width_m1;
    logic [15:0] ofm_height_m1;
    logic [15:0] ofm_depth_m1;
    logic [15:0] ofm_precision;
    logic [15:0] ofm_blk_width_m1;
    logic [15:0] ofm_blk_height_m1;
    logic [15:0] ofm_blk_depth_m1;
    logic [15:0] ofm_zero_point;
    logic [15:0] ofm_width0_m1;
    logic [15:0] ofm_height0_m1;
    logic [15:0] ofm_height1_m1;
    logic [15:0] ofm_region;
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
    logic [15:0] dma0_src_region;
    logic [15:0] dma0_dst_region;
    logic [31:0] ifm_base0;
    logic [31:0] ifm_stride_x;
    logic [31:0] ifm_stride_y;
    logic [31:0] ifm_stride_c;
    logic [31:0] ofm_base0;
    logic [31:0] ofm_stride_x;
    logic [31:0] ofm_stride_y;
    logic [31:0] ofm_stride_c;
    logic [31:0] weight_base;
    logic [31:0] weight_length;
    logic [31:0] scale_base;
    logic [31:0] scale_length;
    logic [31:0] dma0_src;
    logic [31:0] dma0_dst;
    logic [31:0] dma0_len;
  } cmd_regs_t;

  // A feature map as the DMA controller sees it.
  typedef struct packed {
    logic [2:0]  region;
    logic        brick;  // NHCWB16, else NHWC
    logic [31:0] base;
    logic [31:0] stride_x;
    logic [31:0] stride_y;
    logic [31:0] stride_c;
  } fmap_t;

  // A byte stream inside a region.
  typedef struct packed {
    logic [2:0]  region;
    logic [31:0] base;
    logic [31:0] length;
  } stream_t;

  // The operation in flight: checked, with what is derived from the registers.
  typedef struct packed {
    logic [12:0] ofm_w_m1;
    logic [12:0] ofm_h_m1;
    logic [12:0] ofm_d_m1;
    logic [12:0] ifm_d_m1;
    logic [16:0] ifm_w;
    logic [16:0] ifm_h;
    logic [6:0]  pad_top;
    logic [6:0]  pad_left;
    logic [5:0]  blk_w_m1;
    logic [5:0]  blk_h_m1;
    logic [6:0]  blk_d_m1;
    logic [1:0]  stride_x;
    logic [1:0]  stride_y;
    logic        dilate_x;
    logic        dilate_y;
    logic [6:0]  taps_x_m1;
    logic [6:0]  taps_y_m1;
    logic        part_kernel;
    logic        small_subkernel;
    logic        single_ifm_job;  // a block needs its IFM in one piece
    logic [5:0]  ib_end;
    logic [5:0]  ab_start;
    logic        ifm_signed;
    logic [8:0]  ifm_zero_point;
    logic        ofm_signed;
    logic [15:0] ofm_zero_point;
    logic [15:0] activation_min;
    logic [15:0] activation_max;
    fmap_t       ifm;
    fmap_t       ofm;
    stream_t     weight;
    stream_t     scale;
  } op_t;

  // One step of an operation: an OFM block, or one IFM piece and subkernel of it.
  typedef struct packed {
    logic [12:0]        ox0;
    logic [12:0]        oy0;
    logic [12:0]        oz0;
    logic [6:0]         bw;       // pixels of the block across, 1..64
    logic [6:0]         bh;
    logic [7:0]         bd;       // channels of the block, 1..128
    logic [12:0]        iz0;
    logic [5:0]         zc;       // IFM channels of the piece, 1..32
    logic signed [16:0] ix0;      // IFM position of the first tap of the first pixel
    logic signed [16:0] iy0;
    logic [3:0]         tw;       // taps of the subkernel, 1..8
    logic [3:0]         th;
    logic [7:0]         iw;       // IFM pixels of the piece across and down
    logic [7:0]         ih;
    logic               first;    // first step of the block
    logic               last;     // last step of the block
    logic               row_first; // first block of a spatial position: the weight stream begins anew
    logic               row_last;
  } step_t;

  // Requests of a linear byte-stream reader; length in bytes, address a multiple of 8.
  typedef struct packed {
    logic        port;
    logic [31:0] addr;
    logic [31:0] length;
  } linear_req_t;

  typedef struct packed {
    linear_req_t src;
    logic [31:0] dst;
  } copy_req_t;

  // Errors that are sticky while an operation runs.
  typedef struct packed {
    logic scale;
    logic address;
    logic weight;
    logic bus;
  } op_error_t;

endpackage
