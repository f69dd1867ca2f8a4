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
      10'h100: if (set_param_i) regs_d.ifm_pad_top = param_i;
      10'h101: if (set_param_i) regs_d.ifm_pad_left = param_i;
      10'h102: if (set_param_i) regs_d.ifm_pad_right = param_i;
      10'h103: if (set_param_i) regs_d.ifm_pad_bottom = param_i;
      10'h104: if (set_param_i) regs_d.ifm_depth_m1 = param_i;
      10'h105: if (set_param_i) regs_d.ifm_precision = param_i;
      10'h107: if (set_param_i) regs_d.ifm_upscale = param_i;
      10'h109: if (set_param_i) regs_d.ifm_zero_point = param_i;
      10'h10A: if (set_param_i) regs_d.ifm_width0_m1 = param_i;
      10'h10B: if (set_param_i) regs_d.ifm_height0_m1 = param_i;
      10'h10C: if (set_param_i) regs_d.ifm_height1_m1 = param_i;
      10'h10D: if (set_param_i) regs_d.ifm_ib_end = param_i;
      10'h10F: if (set_param_i) regs_d.ifm_region = param_i;
      10'h111: if (set_param_i) regs_d.ofm_width_m1 = param_i;
      10'h112: if (set_param_i) regs_d.ofm_height_m1 = param_i;
      10'h113: if (set_param_i) regs_d.ofm_depth_m1 = param_i;
      10'h114: if (set_param_i) regs_d.ofm_precision = param_i;
      10'h115: if (set_param_i) regs_d.ofm_blk_width_m1 = param_i;
      10'h116: if (set_param_i) regs_d.ofm_blk_height_m1 = param_i;
      10'h117: if (set_param_i) regs_d.ofm_blk_depth_m1 = param_i;
      10'h118: if (set_param_i) regs_d.ofm_zero_point = param_i;
      10'h11A: if (set_param_i) regs_d.ofm_width0_m1 = param_i;
      10'h11B: if (set_param_i) regs_d.ofm_height0_m1 = param_i;
      10'h11C: if (set_param_i) regs_d.ofm_height1_m1 = param_i;
      10'h11F: if (set_param_i) regs_d.ofm_region = param_i;
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
      // Accepted without effect: parallel mode, block dependency, 2D/3D copies, second IFM.
      10'h123, 10'h12F, 10'h132, 10'h133,
      10'h180, 10'h181, 10'h185, 10'h189, 10'h18A, 10'h18B, 10'h18C, 10'h18D, 10'h18F: ;
      default: param_known_o = 1'b0;
    endcase

    unique case (code_i)
      10'h000: if (set_payload_i) regs_d.ifm_base0 = payload_i;
      10'h004: if (set_payload_i) regs_d.ifm_stride_x = payload_i;
      10'h005: if (set_payload_i) regs_d.ifm_stride_y = payload_i;
      10'h006: if (set_payload_i) regs_d.ifm_stride_c = payload_i;
      10'h010: if (set_payload_i) regs_d.ofm_base0 = payload_i;
      10'h014: if (set_payload_i) regs_d.ofm_stride_x = payload_i;
      10'h015: if (set_payload_i) regs_d.ofm_stride_y = payload_i;
      10'h016: if (set_payload_i) regs_d.ofm_stride_c = payload_i;
      10'h020: if (set_payload_i) regs_d.weight_base = payload_i;
      10'h021: if (set_payload_i) regs_d.weight_length = payload_i;
      10'h022: if (set_payload_i) regs_d.scale_base = payload_i;
      10'h023: if (set_payload_i) regs_d.scale_length = payload_i;
      10'h030: if (set_payload_i) regs_d.dma0_src = payload_i;
      10'h031: if (set_payload_i) regs_d.dma0_dst = payload_i;
      10'h032: if (set_payload_i) regs_d.dma0_len = payload_i;
      // Accepted without effect: further tiles, copy skips, second IFM, second weight core.
      10'h001, 10'h002, 10'h003, 10'h011, 10'h012, 10'h013, 10'h033, 10'h034,
      10'h080, 10'h081, 10'h082, 10'h083, 10'h084, 10'h085, 10'h086,
      10'h090, 10'h091, 10'h092, 10'h093: ;
      10'h024, 10'h025, 10'h026: is_address_o = 1'b0;  // scales: accepted without effect
      default: payload_known_o = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) regs_q <= '0;
    else if (clear_i) regs_q <= '0;
    else regs_q <= regs_d;
  end
endmodule
