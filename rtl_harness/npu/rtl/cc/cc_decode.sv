/// Command processor: takes the command stream word by word, sets registers, starts operations and copies.
module cc_decode
  import npu_pkg::*;
#(
  parameter int unsigned UblkW  = 1,
  parameter int unsigned UblkH  = 1,
  parameter int unsigned UblkD  = 4,
  parameter int unsigned Banks  = 16,
  parameter int unsigned Usable = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic        clear_irq_i,
  input  linear_req_t stream_i,
  input  region_t [NumRegions-1:0] regions_i,
  output logic [31:0] status_o,
  output logic [31:0] qread_o,
  output logic        running_o,
  output logic        irq_o,
  // Command stream, 64 bits at a time
  output logic        fetch_start_o,
  output logic        fetch_stop_o,
  input  logic        fetch_idle_i,
  input  logic        fetch_valid_i,
  output logic        fetch_ready_o,
  input  logic [63:0] fetch_data_i,
  // Operation
  output logic        op_start_o,
  output op_t         op_o,
  input  logic        op_busy_i,
  input  op_error_t   op_error_i,
  // Copy
  output logic        copy_start_o,
  output copy_req_t   copy_o,
  input  logic        copy_busy_i
);
  typedef enum logic [4:0] {
    Idle,
    Begin,
    Command,
    Payload,
    BeginCheck,
    Check,
    StartOp,
    WaitOp,
    StartCopy,
    WaitCopy,
    Interrupt,
    BadCommand,
    BadAddress,
    Stop,
    Drain,
    Flush
  } state_e;

  state_e state_q, state_d;
  logic [31:0] word_q, word_d;
  logic [29:0] index_q, index_d;
  logic [15:0] irq_mask_q, irq_mask_d;
  logic irq_q, irq_d, end_q, end_d, cmd_error_q, cmd_error_d;
  logic bus_error_q, bus_error_d, weight_error_q, weight_error_d;
  logic address_error_q, address_error_d, scale_error_q, scale_error_d;
  op_t op_q, op_d;

  logic at_end;
  assign at_end = index_q == stream_i.length[31:2];

  logic [31:0] word;
  assign word          = index_q[0] ? fetch_data_i[63:32] : fetch_data_i[31:0];
  assign fetch_ready_o = (state_q == Command || state_q == Payload) && index_q[0] && !at_end;

  logic [9:0] code;
  logic [15:0] param;
  assign code  = state_q == Payload ? word_q[9:0] : word[9:0];
  assign param = state_q == Payload ? word_q[31:16] : word[31:16];

  logic failed;
  assign failed = cmd_error_q || bus_error_q || weight_error_q || address_error_q || scale_error_q;

  cmd_regs_t regs;
  logic regs_clear, set_param, set_payload, param_known, payload_known, is_address, is_stride;
  cc_regs u_regs (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .clear_i        (regs_clear),
    .set_param_i    (set_param),
    .set_payload_i  (set_payload),
    .code_i         (code),
    .param_i        (param),
    .payload_i      (word),
    .param_known_o  (param_known),
    .payload_known_o(payload_known),
    .is_address_o   (is_address),
    .is_stride_o    (is_stride),
    .regs_o         (regs)
  );

  logic check_start, check_done, check_cmd_error, check_address_error, check_scale_error;
  op_t check_op;
  cc_check #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Banks (Banks),
    .Usable(Usable)
  ) u_check (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .start_i        (check_start),
    .code_i         (word_q[9:0]),
    .param_i        (word_q[31:16]),
    .regs_i         (regs),
    .regions_i      (regions_i),
    .done_o         (check_done),
    .cmd_error_o    (check_cmd_error),
    .address_error_o(check_address_error),
    .scale_error_o  (check_scale_error),
    .op_o           (check_op)
  );

  // Copy; bit 8 of the destination's region means the shared buffer
  region_t src, dst;
  logic internal;
  assign src      = regions_i[regs.dma0_src_region[2:0]];
  assign dst      = regions_i[regs.dma0_dst_region[2:0]];
  assign internal = regs.dma0_dst_region[8];
  assign copy_o   = '{
          src: '{port: src.port, addr: src.base + regs.dma0_src, length: regs.dma0_len},
          internal: internal,
          dst: internal ? regs.dma0_dst : dst.base + regs.dma0_dst
      };
  logic copy_bad, copy_leaves;
  region_t dst_space;
  always_comb begin
    dst_space = dst;
    if (internal) begin
      dst_space.checked = 1'b1;
      dst_space.size    = 32'(Banks * BankBytes);
    end
  end
  assign copy_bad = regs.dma0_src_region > 16'd7
                    || (regs.dma0_dst_region & 16'hFEF8) != '0 || (dst.port && !internal)
                    || (regs.dma0_src[3:0] | regs.dma0_dst[3:0] | regs.dma0_len[3:0]) != '0;
  assign copy_leaves = leaves_region(src, regs.dma0_src, regs.dma0_len)
                       || leaves_region(dst_space, regs.dma0_dst, regs.dma0_len);

  always_comb begin
    state_d         = state_q;
    word_d          = word_q;
    index_d         = index_q;
    irq_mask_d      = irq_mask_q;
    irq_d           = irq_q && !clear_irq_i;
    end_d           = end_q;
    cmd_error_d     = cmd_error_q;
    bus_error_d     = bus_error_q || (running_o && op_error_i.bus);
    weight_error_d  = weight_error_q || (running_o && op_error_i.weight);
    address_error_d = address_error_q || (running_o && op_error_i.address);
    scale_error_d   = scale_error_q || (running_o && op_error_i.scale);
    op_d            = op_q;
    fetch_start_o   = 1'b0;
    fetch_stop_o    = 1'b0;
    op_start_o      = 1'b0;
    copy_start_o    = 1'b0;
    regs_clear      = 1'b0;
    set_param       = 1'b0;
    set_payload     = 1'b0;
    check_start     = 1'b0;

    unique case (state_q)
      Idle: begin
        if (start_i) state_d = Begin;
      end

      Begin: begin
        regs_clear      = 1'b1;
        index_d         = '0;
        irq_mask_d      = '0;
        irq_d           = 1'b0;
        end_d           = 1'b0;
        bus_error_d     = 1'b0;
        weight_error_d  = 1'b0;
        address_error_d = 1'b0;
        scale_error_d   = 1'b0;
        cmd_error_d     = stream_i.addr[2:0] != '0 || stream_i.length[1:0] != '0;
        fetch_start_o   = !cmd_error_d;
        state_d         = cmd_error_d ? Drain : Command;
      end

      Command: begin
        if (at_end) begin
          state_d = BadCommand;
        end else if (fetch_valid_i) begin
          index_d = index_q + 30'd1;
          word_d  = word;
          if (word[13:10] != '0 || word[15]) begin
            state_d = BadCommand;
          end else if (word[14]) begin
            state_d = !payload_known || (is_address && param != '0 && !(is_stride && param == 16'h00FF))
                      ? BadCommand : Payload;
          end else begin
            unique case (code)
              10'h000: state_d = Stop;
              10'h001: state_d = Interrupt;
              10'h002, 10'h003, 10'h005, 10'h006: state_d = BeginCheck;
              10'h010: state_d = StartCopy;
              10'h011: state_d = WaitCopy;
              10'h012: if (param == '0) state_d = WaitOp;
              10'h013: ;
              default: begin
                set_param = param_known;
                if (!param_known) state_d = BadCommand;
              end
            endcase
          end
        end
      end

      Payload: begin
        if (at_end) begin
          state_d = BadCommand;
        end else if (fetch_valid_i) begin
          index_d     = index_q + 30'd1;
          set_payload = 1'b1;
          state_d     = Command;
        end
      end

      BeginCheck: begin
        check_start = 1'b1;
        state_d     = Check;
      end

      Check: begin
        if (check_done) begin
          state_d = check_cmd_error ? BadCommand : (check_address_error ? BadAddress : StartOp);
        end
      end

      StartOp: begin
        if (!op_busy_i) begin
          if (failed) begin
            state_d = Drain;
          end else begin
            op_d          = check_op;
            op_start_o    = 1'b1;
            scale_error_d = check_scale_error;
            state_d       = Command;
          end
        end
      end

      WaitOp: begin
        if (!op_busy_i) state_d = failed ? Drain : Command;
      end

      StartCopy: begin
        if (copy_bad) begin
          state_d = BadCommand;
        end else if (copy_leaves) begin
          state_d = BadAddress;
        end else if (!copy_busy_i) begin
          copy_start_o = 1'b1;
          state_d      = Command;
        end
      end

      WaitCopy: begin
        if (!copy_busy_i) state_d = Command;
      end

      Interrupt: begin
        if (!op_busy_i && !copy_busy_i) begin
          if (!failed) irq_mask_d = irq_mask_q | word_q[31:16];
          state_d = failed ? Drain : Command;
        end
      end

      // A command that cannot be carried out counts only if those before it ended well.
      BadCommand, BadAddress: begin
        if (!op_busy_i && !copy_busy_i) begin
          if (!failed && state_q == BadCommand) cmd_error_d = 1'b1;
          if (!failed && state_q == BadAddress) address_error_d = 1'b1;
          state_d = Drain;
        end
      end

      Stop: begin
        if (!op_busy_i && !copy_busy_i) begin
          if (!failed) begin
            irq_mask_d = irq_mask_q | word_q[31:16];
            end_d      = 1'b1;
          end
          state_d = Drain;
        end
      end

      // The stream is over: let what is in flight finish, then drop what was fetched ahead.
      Drain: begin
        if (!op_busy_i && !copy_busy_i) begin
          fetch_stop_o = 1'b1;
          state_d      = Flush;
        end
      end

      Flush: begin
        if (fetch_idle_i) begin
          irq_d   = 1'b1;
          state_d = Idle;
        end
      end

      default: state_d = Idle;
    endcase
  end

  assign running_o = state_q != Idle;
  assign irq_o     = irq_q;
  assign op_o      = op_q;
  assign qread_o   = {index_q, 2'b00};
  assign status_o  = {irq_mask_q, 5'd0, scale_error_q, address_error_q, 1'b0, weight_error_q, 1'b0,
                      end_q, cmd_error_q, 1'b0, bus_error_q, irq_q, running_o};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q         <= Idle;
      word_q          <= '0;
      index_q         <= '0;
      irq_mask_q      <= '0;
      irq_q           <= 1'b0;
      end_q           <= 1'b0;
      cmd_error_q     <= 1'b0;
      bus_error_q     <= 1'b0;
      weight_error_q  <= 1'b0;
      address_error_q <= 1'b0;
      scale_error_q   <= 1'b0;
      op_q            <= '0;
    end else begin
      state_q         <= state_d;
      word_q          <= word_d;
      index_q         <= index_d;
      irq_mask_q      <= irq_mask_d;
      irq_q           <= irq_d;
      end_q           <= end_d;
      cmd_error_q     <= cmd_error_d;
      bus_error_q     <= bus_error_d;
      weight_error_q  <= weight_error_d;
      address_error_q <= address_error_d;
      scale_error_q   <= scale_error_d;
      op_q            <= op_d;
    end
  end
endmodule
