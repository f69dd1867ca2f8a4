// SPDX-License-Identifier: Apache-2.0
/// Types and constants that the NPU's blocks share.
package npu_pkg;

  // Data beats that pass the ports in a cycle
  typedef struct packed {
    logic m0_read;
    logic m0_write;
    logic m1_read;
  } axi_beats_t;

  // One region of memory that the command stream may address.
  typedef struct packed {
    logic        port;     // 0: read/write port M0, 1: read-only port M1
    logic        checked;  // an access beyond the size is an error; else only the bus stops it
    logic [31:0] base;
    logic [31:0] size;
  } region_t;

  // Whether bytes of a region, from an offset on, reach beyond its size
  function automatic logic leaves_region(region_t region, logic [31:0] offset, logic [31:0] length);
    return region.checked && {1'b0, offset} + {1'b0, length} > {1'b0, region.size};
  endfunction

  localparam int unsigned NumRegions = 8;
  localparam int unsigned BankBytes  = 1024;  // of the shared buffer

  // A feature map as the DMA controller sees it: four tiles, see README.md.
  typedef struct packed {
    logic [2:0]  region;
    logic        brick;      // NHCWB16, else NHWC
    logic [1:0]  log2_bytes; // of an element
    logic [15:0] width0_m1;
    logic [15:0] height0_m1;
    logic [15:0] height1_m1;
    logic [3:0][31:0] base;
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

  typedef enum logic [2:0] {
    Conv,
    Depthwise,
    MaxPool,
    AveragePool,
    ReduceSum,
    Elementwise
  } kind_e;

  typedef enum logic [3:0] {
    EwMul   = 4'd0,
    EwAdd   = 4'd1,
    EwSub   = 4'd2,
    EwMin   = 4'd3,
    EwMax   = 4'd4,
    EwLrelu = 4'd5,
    EwAbs   = 4'd6,
    EwClz   = 4'd7,
    EwShr   = 4'd8,
    EwShl   = 4'd9
  } elementwise_e;

  // The operation in flight: checked, with what is derived from the registers.
  typedef struct packed {
    kind_e       kind;
    elementwise_e elementwise;
    logic [15:0] ofm_w_m1;
    logic [15:0] ofm_h_m1;
    logic [15:0] ofm_d_m1;
    logic [15:0] ifm_d_m1;
    logic [17:0] ifm_w;      // with upscaling
    logic [17:0] ifm_h;
    logic [6:0]  pad_top;
    logic [6:0]  pad_left;
    logic        padded;
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
    logic        one_row;         // of pixels in a group: its four lanes lie side by side
    logic        small_subkernel;
    logic        upscale;         // by two in both directions
    logic        upscale_zeros;   // between the pixels are zeros, else copies
    logic        single_ifm_job;  // a block needs its IFM in one piece, whatever its depth
    logic [5:0]  ib_end;
    logic [5:0]  ib2_start;
    logic [5:0]  ab_start;
    logic [5:0]  acc_end;         // bank after the accumulators
    logic        ifm_signed;
    logic [15:0] ifm_zero_point;
    logic        ifm2_signed;
    logic [15:0] ifm2_zero_point;
    logic        ifm2_used;
    logic        ifm2_scalar_used;
    logic [15:0] ifm2_scalar;
    logic        broadcast_h;
    logic        broadcast_w;
    logic        broadcast_c;
    logic        reversed;
    logic        ofm_signed;
    logic [15:0] ofm_zero_point;
    logic        global_scale;
    logic [31:0] ofm_scale;
    logic [5:0]  ofm_shift;
    logic [31:0] opa_scale;
    logic [5:0]  opa_shift;
    logic [31:0] opb_scale;
    logic [1:0]  operand_to_scale;
    logic [1:0]  rounding;
    logic        table_used;
    logic [2:0]  table_index;
    logic        clip_int8;
    logic [15:0] activation_min;
    logic [15:0] activation_max;
    fmap_t       ifm;
    fmap_t       ifm2;
    fmap_t       ofm;
    stream_t     weight;
    stream_t     scale;
  } op_t;

  // An OFM block: its first element, and its size when clipped to the OFM
  typedef struct packed {
    logic [15:0] ox0;
    logic [15:0] oy0;
    logic [15:0] oz0;
    logic [6:0]  bw;  // pixels across, 1..64
    logic [6:0]  bh;
    logic [7:0]  bd;  // channels, 1..128
  } block_t;

  // One step of an operation: an OFM block, or one IFM piece and subkernel of it.
  typedef struct packed {
    logic [15:0]        ox0;
    logic [15:0]        oy0;
    logic [15:0]        oz0;
    logic [6:0]         bw;        // pixels of the block across, 1..64
    logic [6:0]         bh;
    logic [7:0]         bd;        // channels of the block, 1..128
    logic [15:0]        iz0;
    logic [7:0]         zc;        // IFM channels of the piece, 1..128
    logic signed [18:0] ix0;       // upscaled IFM position of the first tap of the first pixel
    logic signed [18:0] iy0;
    logic [3:0]         tw;        // taps of the subkernel, 1..8
    logic [3:0]         th;
    logic [7:0]         iw;        // IFM pixels of the piece across and down, not upscaled
    logic [7:0]         ih;
    logic               first;     // first step of the block
    logic               last;      // last step of the block
    logic               row_first; // first step of a spatial position: the weight stream begins anew
    logic               row_last;
  } step_t;

  // Part of a feature map's pixel that lies in one place: what a piece is read by.
  typedef struct packed {
    logic        leaves;  // its region
    logic [31:0] addr;
    logic [5:0]  bytes;   // 1..32
    logic [2:0]  x;       // low bits of its pixel's place in the piece
    logic [1:0]  y;
    logic [11:0] word;    // of the shared buffer's lane
  } segment_t;

  // A piece of a feature map on its way into the shared buffer.
  typedef struct packed {
    logic signed [18:0] x0;       // first pixel; negative in the padding
    logic signed [18:0] y0;
    logic [15:0]        z0;       // first channel
    logic [7:0]         w;        // pixels and channels
    logic [7:0]         h;
    logic [7:0]         c;
    logic [17:0]        limit_x;  // pixels from here on are padding
    logic [17:0]        limit_y;
    logic               spread;   // over the lanes' banks, for the MAC unit
    logic               one_row;  // of four lanes
    logic [1:0]         stride_x;
    logic [1:0]         stride_y;
    logic [5:0]         bank;     // first bank
  } piece_t;

  // Requests of a linear byte-stream reader; length in bytes, address a multiple of 8.
  typedef struct packed {
    logic        port;
    logic [31:0] addr;
    logic [31:0] length;
  } linear_req_t;

  // A burst of at most 32 beats, which crosses no 4 KiB border.
  typedef struct packed {
    logic [28:0] word;  // address of the first beat
    logic [4:0]  len;   // beats, minus one
  } burst_t;

  typedef struct packed {
    linear_req_t src;
    logic        internal;  // to the shared buffer
    logic [31:0] dst;
  } copy_req_t;

  // Errors that are sticky while an operation runs.
  typedef struct packed {
    logic scale;
    logic address;
    logic weight;
    logic bus;
  } op_error_t;

  // What the performance monitor can count, in a cycle
  typedef struct packed {
    logic active;    // a stream is being executed
    logic mac;       // the MAC unit has a step
    logic ao;        // the output unit has a block and its sources
    logic m0_read;   // data beats
    logic m0_write;
    logic m1_read;
  } pmu_events_t;

  // Lane of the shared buffer that holds a pixel of an IFM piece. Pixels a stride apart, whose outputs are
  // computed together, lie in different lanes; within a lane, pairs of pixels follow one another, or fours.
  function automatic logic [1:0] ifm_lane(logic [7:0] x, logic [7:0] y, logic one_row, logic [1:0] stride_x,
                                          logic [1:0] stride_y, int unsigned across,
                                          int unsigned down);
    logic lane_x, lane_y;
    if (down == 2 && one_row) return {x[1], x[0] ^ (stride_x == 2'd2 && x[2])};
    lane_x = across == 2 && (x[0] ^ (stride_x == 2'd2 && x[1]));
    lane_y = down == 2 && (y[0] ^ (stride_y == 2'd2 && y[1]));
    return {1'b0, lane_x} + (lane_y ? 2'(across) : 2'd0);
  endfunction

  // The next pixel of the row lies behind others of its lane
  function automatic logic ifm_lanes_end(logic [1:0] x, logic one_row, int unsigned across);
    return across == 1 || (x[0] && (!one_row || x[1]));
  endfunction

  // IFM pixel that holds an upscaled position; with zeros between the pixels, the next one
  function automatic logic signed [18:0] ifm_origin(op_t op, logic signed [18:0] at);
    return (at + (op.upscale_zeros ? 19'sd1 : 19'sd0)) >>> op.upscale;
  endfunction

  // Bytes from a pixel of a feature map to its neighbour in the row
  function automatic logic [31:0] pixel_step(fmap_t fmap);
    return fmap.brick ? 32'd16 << fmap.log2_bytes : fmap.stride_x;
  endfunction

  // First bank of one of the two IFM buffers
  function automatic logic [5:0] ifm_buffer_bank(op_t op, int unsigned lanes, logic second);
    logic [5:0] half;
    half = ((op.ib_end - 6'd2) >> 1) / 6'(lanes) * 6'(lanes);
    return 6'd2 + (second ? half : '0);
  endfunction

  // First group of 64 accumulator rows of one of the two accumulator buffers
  function automatic logic [5:0] acc_buffer_group(op_t op, int unsigned usable, int unsigned banks,
                                                  logic second);
    logic [5:0] first, half;
    first = (op.ab_start - 6'(usable % banks)) / 6'(banks);
    half  = ((op.acc_end - op.ab_start) >> 1) / 6'(banks);
    return first + (second ? half : '0);
  endfunction

  // First bank of one of the two buffers of an elementwise operand
  function automatic logic [5:0] operand_bank(op_t op, logic operand2, logic second);
    logic [5:0] half, half2, split;
    split = op.ifm2_used ? op.ib2_start : op.ib_end;
    half  = (split - 6'd2) >> 1;
    half2 = (op.ib_end - op.ib2_start) >> 1;
    if (operand2) return op.ib2_start + (second ? half2 : '0);
    return 6'd2 + (second ? half : '0);
  endfunction

  // Of an addition of 8 or 16-bit elements: the second operand is the one that OPA_SCALE scales
  function automatic logic second_scaled(op_t op);
    return op.kind == Elementwise && (op.elementwise == EwAdd || op.elementwise == EwSub)
           && op.ifm.log2_bytes != 2'd2 && op.operand_to_scale == 2'd2;
  endfunction

endpackage
