// SPDX-License-Identifier: Apache-2.0
/// Checks the registers of an operation and derives what the blocks need from them, in four cycles.
///
/// The rules are those of README.md section 4.
module cc_check
  import npu_pkg::*;
  import cc_cmd_pkg::*;
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

  logic [3:0] stage_q;

  form_t form;
  sizes_t sizes;
  assign form = form_of(code_i, param_i, regs_i, UblkH);
  cc_sizes #(
    .UblkW(UblkW),
    .UblkH(UblkH),
    .UblkD(UblkD)
  ) u_sizes (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .start_i(start_i),
    .next_i (stage_q[0]),
    .form_i (form),
    .regs_i (regs_i),
    .sizes_o(sizes)
  );

  cmd_regs_t r;
  assign r = regs_i;

  logic [1:0] ifm_log2, ifm2_log2, ofm_log2;
  assign ifm_log2  = r.ifm.precision[3:2];
  assign ifm2_log2 = r.ifm2.precision[3:2];
  assign ofm_log2  = r.ofm.precision[2:1];

  // What the buffers can hold
  logic [5:0] acc_end, ib_end, ib2_start, ab_start;
  assign acc_end   = form.table_used && Banks == Usable ? 6'(Usable - 2) : 6'(Usable);
  assign ib_end    = r.ifm_ib_end[5:0];
  assign ib2_start = r.ifm2_ib_start[5:0];
  assign ab_start  = r.ab_start[5:0];
  // Accumulators begin in the first bank from AB_START on that their rows can begin in.
  logic [5:0] first_acc;
  assign first_acc = 6'(Usable) - (6'(Usable) - ab_start) / 6'(AccBanks) * 6'(AccBanks);
  logic [5:0] acc_banks, ifm_banks, ifm2_banks, ifm_lane_banks;
  assign acc_banks      = ((acc_end - ab_start) >> 1) / 6'(AccBanks);
  assign ifm_lane_banks = ((ib_end - 6'd2) >> 1) / 6'(Lanes);
  assign ifm_banks      = ((form.unary || form.scalar ? ib_end : ib2_start) - 6'd2) >> 1;
  assign ifm2_banks     = (ib_end - ib2_start) >> 1;

  logic [21:0] acc_room;
  assign acc_room = form.one_row ? {9'd0, acc_banks, 7'd0} : {10'd0, acc_banks, 6'd0};

  // 40-bit accumulators are asked for where 32 bits hold the sums, too.
  logic [15:0] acc_format_zero;
  assign acc_format_zero = form.kind == ReduceSum && ifm_log2 == 2'd1 ? 16'hFFFE : 16'hFFFF;

  logic common_bad, kernel_bad, stream_bad, kind_bad, operands_bad, buffers_bad, banks_bad;
  assign common_bad =
      !form.known
      || (r.ifm.precision & IfmPrecisionZero) != '0 || ifm_log2 == 2'd3
      || (r.ofm.precision & OfmPrecisionZero) != '0 || ofm_log2 == 2'd3 || r.ofm.precision[15:14] == 2'd3
      || (r.activation & ActivationZero) != '0 || r.activation[13:12] == 2'd1
      || r.activation[13:12] == 2'd2 || (r.activation[4:0] != '0 && !(form.table_used && !r.activation[3]))
      || (form.table_used && ((ofm_log2 == 2'd1 && r.activation[2:0] != '0)
                              || (ofm_log2 == 2'd2 && r.activation[2:0] > 3'd1)))
      || (form.table_used && ofm_log2 == 2'd2 && r.activation[13:12] != 2'd3)
      || (r.ifm.region | r.ofm.region) > RegionMax || regions_i[r.ofm.region[2:0]].port
      || (r.ofm_blk_width_m1 | r.ofm_blk_height_m1) > BlockSideMax || r.ofm_blk_depth_m1 > BlockDepthMax
      || (r.ofm_blk_depth_m1 < r.ofm.depth_m1 && r.ofm_blk_depth_m1[3:0] != 4'hF);

  assign kernel_bad =
      r.ifm_upscale > UpscaleMax || (form.upscale && (form.sx != 2'd1 || form.sy != 2'd1))
      || (r.kernel_stride & KernelStrideZero) != '0 || form.sx == 2'd0 || form.sy == 2'd0
      || r.kernel_width_m1 > KernelSideMax || (form.dx && r.kernel_width_m1[0])
      || r.kernel_height_m1 > KernelSideMax || (form.dy && r.kernel_height_m1[0])
      || (r.ifm_pad_top | r.ifm_pad_bottom | r.ifm_pad_left | r.ifm_pad_right) > PadMax
      || sizes.ifm_w <= 0 || sizes.ifm_h <= 0 || (r.acc_format & acc_format_zero) != '0
      || ((sizes.ifm_w + 20'(form.upscale)) >> form.upscale) > 20'd65536
      || ((sizes.ifm_h + 20'(form.upscale)) >> form.upscale) > 20'd65536;

  assign stream_bad =
      (r.weight_region | r.scale_region) > RegionMax
      || r.weight_base[3:0] != '0 || r.weight_length[3:0] != '0 || r.scale_base[3:0] != '0
      || r.weight_length == '0 || r.scale_length == '0 || r.ofm.precision[8];

  // An average that leaves the padding out counts at most 64 pixels.
  assign kind_bad =
      (form.weighted && ifm_log2 != '0) || (form.pool && ifm_log2 > 2'd1)
      || (form.pool && (form.dx || form.dy))
      || (form.kind == AveragePool && (form.padded || !r.ofm.precision[8]) && sizes.taps > CountedTapsMax)
      || (form.kind == ReduceSum
          && (r.ofm.depth_m1 != '0 || form.kernel_w_m1 != '0 || form.kernel_h_m1 != '0
              || form.sx != 2'd1 || form.sy != 2'd1 || form.upscale));

  assign operands_bad =
      r.ifm_upscale != '0 || r.ifm.precision[9:8] == 2'd3
      || (!form.unary && ((r.ifm2_broadcast & Ifm2BroadcastZero) != '0
                     || (r.ifm2.precision & IfmPrecisionZero) != '0 || ifm2_log2 != ifm_log2
                     || (!form.scalar && (r.ifm2.region > RegionMax))));

  assign banks_bad =
      r.ifm_ib_end > 16'(Banks) || r.ifm_ib_end < 16'd2
      || (!form.elementwise && (r.ifm_ib_end > r.ab_start || r.ab_start > 16'(acc_end)
                           || (r.acc_format == '0 && ab_start != first_acc)))
      || (form.elementwise && r.ifm_ib_end > 16'(acc_end))
      || (form.elementwise && !form.unary && !form.scalar
          && (r.ifm2_ib_start < 16'd2 || r.ifm2_ib_start > r.ifm_ib_end));
  assign buffers_bad =
      form.elementwise ? sizes.ifm_need > {9'd0, ifm_banks, 7'd0}
                    || (!form.unary && !form.scalar && sizes.ifm2_need > {9'd0, ifm2_banks, 7'd0})
                  : sizes.acc_need > acc_room || sizes.ifm_need > {9'd0, ifm_lane_banks, 7'd0};

  // What the blocks need to know
  cc_op u_op (
    .form_i    (form),
    .param_i   (param_i),
    .regs_i    (regs_i),
    .sizes_i   (sizes),
    .ab_start_i(first_acc),
    .acc_end_i (acc_end),
    .op_o      (op_o)
  );

  logic cmd_error_q, address_error_q, scale_error_q;
  assign done_o          = stage_q[3];
  assign cmd_error_o     = cmd_error_q;
  assign address_error_o = address_error_q;
  assign scale_error_o   = scale_error_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_q         <= '0;
      cmd_error_q     <= 1'b0;
      address_error_q <= 1'b0;
      scale_error_q   <= 1'b0;
    end else begin
      stage_q <= {stage_q[2:0], start_i};
      if (stage_q[1]) begin
        cmd_error_q <= common_bad || kind_bad || banks_bad || buffers_bad
                       || (form.elementwise ? operands_bad : kernel_bad) || (form.weighted && stream_bad);
      end
      if (stage_q[2]) begin
        address_error_q <= !cmd_error_q && form.weighted
                           && (leaves_region(regions_i[r.weight_region[2:0]], r.weight_base, r.weight_length)
                               || leaves_region(regions_i[r.scale_region[2:0]], r.scale_base, r.scale_length));
        scale_error_q   <= form.weighted && 32'(r.ofm.depth_m1) * 32'd10 + 32'd10 > r.scale_length;
      end
    end
  end
endmodule
