/// Command processor: takes the command stream word by word, sets registers, starts operations and copies.
module cc_decode
  import npu_pkg::*;
  import cc_pkg::*;
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
  input  logic        copy_busy_i,
  // Performance monitor
  input  logic        pmu_irq_i,
  output logic        counted_o  // PMU_MASK wants what follows counted
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
    BeginCopy,
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
  logic counted_q, counted_d;
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

  logic copy_check, copy_bad, copy_leaves;
  cc_copy #(
    .Banks(Banks)
  ) u_copy (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .start_i  (copy_check),
    .regs_i   (regs),
    .regions_i(regions_i),
    .bad_o    (copy_bad),
    .leaves_o (copy_leaves),
    .copy_o   (copy_o)
  );

  logic begin_stream, set_cmd_error, set_address_error, set_scale_error, set_end, set_mask, set_irq, failed;
  cc_status u_status (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .clear_irq_i    (clear_irq_i),
    .begin_i        (begin_stream),
    .running_i      (running_o),
    .op_error_i     (op_error_i),
    .cmd_error_i    (set_cmd_error),
    .address_error_i(set_address_error),
    .scale_error_i  (set_scale_error),
    .end_i          (set_end),
    .mask_i         (set_mask),
    .param_i        (word_q[31:16]),
    .irq_i          (set_irq),
    .pmu_irq_i      (pmu_irq_i),
    .failed_o       (failed),
    .irq_o          (irq_o),
    .status_o       (status_o)
  );

  always_comb begin
    state_d         = state_q;
    word_d          = word_q;
    index_d         = index_q;
    op_d            = op_q;
    counted_d       = counted_q;
    begin_stream    = 1'b0;
    set_cmd_error   = 1'b0;
    set_address_error = 1'b0;
    set_scale_error = 1'b0;
    set_end         = 1'b0;
    set_mask        = 1'b0;
    set_irq         = 1'b0;
    copy_check      = 1'b0;
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
        begin_stream  = 1'b1;
        regs_clear    = 1'b1;
        index_d       = '0;
        counted_d     = 1'b0;
        set_cmd_error = stream_i.addr[2:0] != '0 || stream_i.length[1:0] != '0;
        fetch_start_o = !set_cmd_error;
        state_d       = set_cmd_error ? Drain : Command;
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
            state_d = !payload_known || (is_address && param != '0 && !(is_stride && param == NegativeStride))
                      ? BadCommand : Payload;
          end else begin
            unique case (code)
              OpStop: state_d = Stop;
              OpIrq: state_d = Interrupt;
              OpConv, OpDepthwise, OpPool, OpElementwise: state_d = BeginCheck;
              OpDmaStart: state_d = BeginCopy;
              OpDmaWait: state_d = WaitCopy;
              OpKernelWait: if (param == '0) state_d = WaitOp;
              OpPmuMask: counted_d = param[0];
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
            op_d            = check_op;
            op_start_o      = 1'b1;
            set_scale_error = check_scale_error;
            state_d         = Command;
          end
        end
      end

      WaitOp: begin
        if (!op_busy_i) state_d = failed ? Drain : Command;
      end

      BeginCopy: begin
        copy_check = 1'b1;
        state_d    = StartCopy;
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
          set_mask = !failed;
          state_d  = failed ? Drain : Command;
        end
      end

      // A command that cannot be carried out counts only if those before it ended well.
      BadCommand, BadAddress: begin
        if (!op_busy_i && !copy_busy_i) begin
          set_cmd_error     = !failed && state_q == BadCommand;
          set_address_error = !failed && state_q == BadAddress;
          state_d           = Drain;
        end
      end

      Stop: begin
        if (!op_busy_i && !copy_busy_i) begin
          set_mask = !failed;
          set_end  = !failed;
          state_d  = Drain;
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
          set_irq = 1'b1;
          state_d = Idle;
        end
      end

      default: state_d = Idle;
    endcase
  end

  assign running_o = state_q != Idle;
  assign op_o      = op_q;
  assign qread_o   = {index_q, 2'b00};
  assign counted_o = counted_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q         <= Idle;
      word_q          <= '0;
      index_q         <= '0;
      op_q            <= '0;
      counted_q       <= 1'b0;
    end else begin
      state_q         <= state_d;
      word_q          <= word_d;
      index_q         <= index_d;
      op_q            <= op_d;
      counted_q       <= counted_d;
    end
  end
endmodule
