/// The register file that SET commands write.
module cc_regs
  import npu_pkg::*;
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
    is_stride_o     = code_i[9:8] == 2'b00 && code_i[6:5] == 2'b00
                      && (code_i[3:0] == 4'h4 || code_i[3:0] == 4'h5 || code_i[3:0] == 4'h6);

    unique case (code_i)
      10'h100: if (set_param_i) regs_d.ifm_pad_top = param_i;
      10'h101: if (set_param_i) regs_d.ifm_pad_left = param_i;
      10'h102: if (set_param_i) regs_d.ifm_pad_right = param_i;
      10'h103: if (set_param_i) regs_d.ifm_pad_bottom = param_i;
      10'h104: if (set_param_i) regs_d.ifm.depth_m1 = param_i;
      10'h105: if (set_param_i) regs_d.ifm.precision = param_i;
      10'h107: if (set_param_i) regs_d.ifm_upscale = param_i;
      10'h109: if (set_param_i) regs_d.ifm.zero_point = param_i;
      10'h10A: if (set_param_i) regs_d.ifm.width0_m1 = param_i;
      10'h10B: if (set_param_i) regs_d.ifm.height0_m1 = param_i;
      10'h10C: if (set_param_i) regs_d.ifm.height1_m1 = param_i;
      10'h10D: if (set_param_i) regs_d.ifm_ib_end = param_i;
      10'h10F: if (set_param_i) regs_d.ifm.region = param_i;
      10'h111: if (set_param_i) regs_d.ofm_width_m1 = param_i;
      10'h112: if (set_param_i) regs_d.ofm_height_m1 = param_i;
      10'h113: if (set_param_i) regs_d.ofm.depth_m1 = param_i;
      10'h114: if (set_param_i) regs_d.ofm.precision = param_i;
      10'h115: if (set_param_i) regs_d.ofm_blk_width_m1 = param_i;
      10'h116: if (set_param_i) regs_d.ofm_blk_height_m1 = param_i;
      10'h117: if (set_param_i) regs_d.ofm_blk_depth_m1 = param_i;
      10'h118: if (set_param_i) regs_d.ofm.zero_point = param_i;
      10'h11A: if (set_param_i) regs_d.ofm.width0_m1 = param_i;
      10'h11B: if (set_param_i) regs_d.ofm.height0_m1 = param_i;
      10'h11C: if (set_param_i) regs_d.ofm.height1_m1 = param_i;
      10'h11F: if (set_param_i) regs_d.ofm.region = param_i;
      10'h120: if (set_param_i) regs_d.kernel_width_m1 = param_i;
      10'h121: if (set_param_i) regs_d.kernel_height_m1 = param_i;
      10'h122: if (set_param_i) regs_d.kernel_stride = param_i;
      10'h124: if (set_param_i) regs_d.acc_format = param_i;
      10'h125: if (set_param_i) regs_d.activation = param_i;
      10'h126: if (set_param_i) regs_d.activation_min = param_i;
      10'h127: if (set_param_i) regs_d.activation_max = param_i;
      10'h128: if (set_param_i) regs_d.weight_region = param_i;
      10'h129: if (set_param_i) regs_d.scale_region = param_i;
      10'h12D: if (set_param_i) regs_d.ab_start = param_i;
      10'h130: if (set_param_i) regs_d.dma0_src_region = param_i;
      10'h131: if (set_param_i) regs_d.dma0_dst_region = param_i;
      10'h180: if (set_param_i) regs_d.ifm2_broadcast = param_i;
      10'h181: if (set_param_i) regs_d.ifm2_scalar = param_i;
      10'h185: if (set_param_i) regs_d.ifm2.precision = param_i;
      10'h189: if (set_param_i) regs_d.ifm2.zero_point = param_i;
      10'h18A: if (set_param_i) regs_d.ifm2.width0_m1 = param_i;
      10'h18B: if (set_param_i) regs_d.ifm2.height0_m1 = param_i;
      10'h18C: if (set_param_i) regs_d.ifm2.height1_m1 = param_i;
      10'h18D: if (set_param_i) regs_d.ifm2_ib_start = param_i;
      10'h18F: if (set_param_i) regs_d.ifm2.region = param_i;
      // Accepted without effect: parallel mode, block dependency, sizes of 2D and 3D copies
      10'h123, 10'h12F, 10'h132, 10'h133: ;
      default: param_known_o = 1'b0;
    endcase

    unique case (code_i)
      10'h000, 10'h001, 10'h002, 10'h003: if (set_payload_i) regs_d.ifm.base[code_i[1:0]] = payload_i;
      10'h004: if (set_payload_i) regs_d.ifm.stride_x = payload_i;
      10'h005: if (set_payload_i) regs_d.ifm.stride_y = payload_i;
      10'h006: if (set_payload_i) regs_d.ifm.stride_c = payload_i;
      10'h010, 10'h011, 10'h012, 10'h013: if (set_payload_i) regs_d.ofm.base[code_i[1:0]] = payload_i;
      10'h014: if (set_payload_i) regs_d.ofm.stride_x = payload_i;
      10'h015: if (set_payload_i) regs_d.ofm.stride_y = payload_i;
      10'h016: if (set_payload_i) regs_d.ofm.stride_c = payload_i;
      10'h020: if (set_payload_i) regs_d.weight_base = payload_i;
      10'h021: if (set_payload_i) regs_d.weight_length = payload_i;
      10'h022: if (set_payload_i) regs_d.scale_base = payload_i;
      10'h023: if (set_payload_i) regs_d.scale_length = payload_i;
      10'h024: begin
        is_address_o = 1'b0;
        if (set_payload_i) {regs_d.ofm_shift, regs_d.ofm_scale} = {param_i[5:0], payload_i};
      end
      10'h025: begin
        is_address_o = 1'b0;
        if (set_payload_i) {regs_d.opa_shift, regs_d.opa_scale} = {param_i[5:0], payload_i};
      end
      10'h026: begin
        is_address_o = 1'b0;
        if (set_payload_i) regs_d.opb_scale = payload_i;
      end
      10'h030: if (set_payload_i) regs_d.dma0_src = payload_i;
      10'h031: if (set_payload_i) regs_d.dma0_dst = payload_i;
      10'h032: if (set_payload_i) regs_d.dma0_len = payload_i;
      10'h080, 10'h081, 10'h082, 10'h083: if (set_payload_i) regs_d.ifm2.base[code_i[1:0]] = payload_i;
      10'h084: if (set_payload_i) regs_d.ifm2.stride_x = payload_i;
      10'h085: if (set_payload_i) regs_d.ifm2.stride_y = payload_i;
      10'h086: if (set_payload_i) regs_d.ifm2.stride_c = payload_i;
      // Accepted without effect: skips of 2D and 3D copies, second weight core
      10'h033, 10'h034, 10'h090, 10'h091, 10'h092, 10'h093: ;
      default: payload_known_o = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) regs_q <= '0;
    else if (clear_i) regs_q <= '0;
    else regs_q <= regs_d;
  end
endmodule
