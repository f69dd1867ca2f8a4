// SPDX-License-Identifier: Apache-2.0
/// Constants of central control: fields of registers, addresses of the host's; the form of an operation.
package cc_pkg;

  import npu_pkg::*;
  import cc_cmd_pkg::*;

  // Bits of registers that must be zero
  localparam logic [15:0] IfmPrecisionZero  = 16'h3CB2;
  localparam logic [15:0] OfmPrecisionZero  = 16'h3EB8;
  localparam logic [15:0] ActivationZero    = 16'hCFE0;
  localparam logic [15:0] KernelStrideZero  = 16'hFD80;
  localparam logic [15:0] Ifm2BroadcastZero = 16'hFF38;
  localparam logic [15:0] DmaDstRegionZero  = 16'hFEF8;

  // Bounds
  localparam logic [15:0] RegionMax      = 16'd7;
  localparam logic [15:0] BlockSideMax   = 16'd63;   // minus one
  localparam logic [15:0] BlockDepthMax  = 16'd127;  // minus one
  localparam logic [15:0] KernelSideMax  = 16'd127;  // minus one
  localparam logic [15:0] PadMax         = 16'd127;
  localparam logic [13:0] CountedTapsMax = 14'd64;
  localparam logic [15:0] UpscaleMax     = 16'd2;
  localparam logic [15:0] PoolMax        = 16'd2;
  localparam logic [15:0] ElementwiseMax = 16'd9;

  // Registers of the host
  localparam logic [11:0] RegId        = 12'h000;
  localparam logic [11:0] RegStatus    = 12'h004;
  localparam logic [11:0] RegCmd       = 12'h008;
  localparam logic [11:0] RegReset     = 12'h00C;
  localparam logic [11:0] RegQbase     = 12'h010;
  localparam logic [11:0] RegQread     = 12'h018;
  localparam logic [11:0] RegQconfig   = 12'h01C;
  localparam logic [11:0] RegQsize     = 12'h020;
  localparam logic [11:0] RegRegionCfg = 12'h03C;
  localparam logic [11:0] RegBasep     = 12'h080;  // 8 bytes each
  localparam logic [11:0] RegRsize     = 12'h100;  // 4 bytes each

  // Performance monitor
  localparam logic [11:0] PmuControl     = 12'h180;
  localparam logic [11:0] PmuEnableSet   = 12'h184;
  localparam logic [11:0] PmuEnableClear = 12'h188;
  localparam logic [11:0] PmuOverSet     = 12'h18C;
  localparam logic [11:0] PmuOverClear   = 12'h190;
  localparam logic [11:0] PmuIrqSet      = 12'h194;
  localparam logic [11:0] PmuIrqClear    = 12'h198;
  localparam logic [11:0] PmuCyclesLow   = 12'h1A0;
  localparam logic [11:0] PmuCyclesHigh  = 12'h1A4;
  localparam logic [11:0] PmuCount       = 12'h300;  // 4 bytes each
  localparam logic [11:0] PmuType        = 12'h380;  // 4 bytes each

  typedef enum logic [3:0] {
    EventNone,
    EventCycle,
    EventIdle,
    EventActive,
    EventMacActive,
    EventAoActive,
    EventAxi0Read,
    EventAxi0Write,
    EventAxi1Read
  } pmu_event_e;

  // Event by the number that the host writes
  function automatic pmu_event_e pmu_event(logic [9:0] number);
    unique case (number)
      10'h011: return EventCycle;
      10'h020: return EventIdle;
      10'h023: return EventActive;
      10'h030: return EventMacActive;
      10'h040: return EventAoActive;
      10'h082: return EventAxi0Read;
      10'h087: return EventAxi0Write;
      10'h182: return EventAxi1Read;
      default: return EventNone;
    endcase
  endfunction

  function automatic logic [9:0] pmu_number(pmu_event_e kind);
    unique case (kind)
      EventCycle:     return 10'h011;
      EventIdle:      return 10'h020;
      EventActive:    return 10'h023;
      EventMacActive: return 10'h030;
      EventAoActive:  return 10'h040;
      EventAxi0Read:  return 10'h082;
      EventAxi0Write: return 10'h087;
      EventAxi1Read:  return 10'h182;
      default:        return 10'h000;
    endcase
  endfunction

  // What an operation's command and registers say of its form
  typedef struct packed {
    kind_e       kind;
    logic        known;        // the command's parameter is one of those that exist
    logic        elementwise;
    logic        pool;         // maximum or average
    logic        weighted;
    logic        pieces;       // takes the IFM in pieces of channels
    logic        unary;
    logic        scalar;
    logic        table_used;
    logic        padded;
    logic        upscale;
    logic        one_row;      // of pixels in a group
    logic [1:0]  sx;           // strides, 0 if they are none
    logic [1:0]  sy;
    logic        dx;           // dilated
    logic        dy;
    logic [15:0] kernel_w_m1;
    logic [15:0] kernel_h_m1;
  } form_t;

  function automatic form_t form_of(logic [9:0] code, logic [15:0] param, cmd_regs_t r, int unsigned ublk_h);
    form_of       = '0;
    form_of.known = 1'b1;
    unique case (code)
      OpConv:      form_of.kind = Conv;
      OpDepthwise: form_of.kind = Depthwise;
      OpPool: begin
        form_of.kind  = param == 16'd0 ? MaxPool : (param == 16'd1 ? AveragePool : ReduceSum);
        form_of.known = param <= PoolMax;
      end
      default: begin
        form_of.kind  = Elementwise;
        form_of.known = param <= ElementwiseMax;
      end
    endcase
    form_of.elementwise = form_of.kind == Elementwise;
    form_of.pool        = form_of.kind == MaxPool || form_of.kind == AveragePool;
    form_of.weighted    = form_of.kind == Conv || form_of.kind == Depthwise;
    form_of.pieces      = form_of.kind == Conv || form_of.kind == ReduceSum;
    form_of.unary       = param[3:0] == EwLrelu || param[3:0] == EwAbs || param[3:0] == EwClz;
    form_of.scalar      = r.ifm2_broadcast[7];
    form_of.table_used  = r.activation[4];
    form_of.padded      = (r.ifm_pad_top | r.ifm_pad_bottom | r.ifm_pad_left | r.ifm_pad_right) != '0;
    form_of.upscale     = r.ifm_upscale != '0;
    form_of.sx          = 2'd1;
    form_of.sy          = 2'd1;
    if (!form_of.elementwise) begin
      form_of.sx          = 2'({r.kernel_stride[6], r.kernel_stride[0]} + 2'd1);
      form_of.sy          = 2'({r.kernel_stride[9], r.kernel_stride[1]} + 2'd1);
      form_of.dx          = r.kernel_stride[3];
      form_of.dy          = r.kernel_stride[4];
      form_of.kernel_w_m1 = r.kernel_width_m1;
      form_of.kernel_h_m1 = r.kernel_height_m1;
      form_of.one_row     = ublk_h > 1 && r.ofm_height_m1 == '0 && r.kernel_height_m1 == '0;
    end
  endfunction

  // What follows from form and registers with products
  typedef struct packed {
    logic signed [19:0] ifm_w;  // with upscaling
    logic signed [19:0] ifm_h;
    logic [13:0]        taps;
    logic [21:0]        acc_need;   // rows of a buffer of accumulators, halves of them if one_row
    logic [21:0]        ifm_need;   // words of a buffer of the IFM, or first operand
    logic [21:0]        ifm2_need;  // words of a buffer of the second operand
  } sizes_t;

endpackage
