// SPDX-License-Identifier: Apache-2.0
/// Takes the command stream word by word: what each asks for, and whether it is time for it.
module cc_control
  import npu_pkg::*;
  import cc_cmd_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  linear_req_t stream_i,
  output logic [31:0] qread_o,
  output logic        running_o,
  output logic        counted_o,  // PMU_MASK wants what follows counted
  // Command stream, 64 bits at a time
  output logic        fetch_start_o,
  output logic        fetch_stop_o,
  input  logic        fetch_idle_i,
  input  logic        fetch_valid_i,
  output logic        fetch_ready_o,
  input  logic [63:0] fetch_data_i,
  // Registers: of the word that is there, of a payload the command before it
  output logic        regs_clear_o,
  output logic        set_param_o,
  output logic        set_payload_o,
  output logic [9:0]  code_o,
  output logic [15:0] param_o,
  output logic [31:0] word_o,
  input  logic        param_known_i,
  input  logic        payload_known_i,
  input  logic        is_address_i,
  input  logic        is_stride_i,
  // Operation: its command is the last one taken
  output logic [9:0]  last_code_o,
  output logic [15:0] last_param_o,
  output logic        check_start_o,
  input  logic        check_done_i,
  input  logic        check_cmd_error_i,
  input  logic        check_address_error_i,
  input  logic        check_scale_error_i,
  output logic        op_start_o,
  input  logic        op_busy_i,
  output logic        op_waits_o,   // the next operation is checked, and waits for the one before it
  output logic        flushing_o,
  // Copy
  output logic        copy_check_o,
  input  logic        copy_bad_i,
  input  logic        copy_leaves_i,
  output logic        copy_start_o,
  input  logic        copy_busy_i,
  // Status
  output logic        begin_stream_o,
  output logic        set_cmd_error_o,
  output logic        set_address_error_o,
  output logic        set_scale_error_o,
  output logic        set_end_o,
  output logic        set_mask_o,
  output logic        set_irq_o,
  input  logic        failed_i
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

  logic at_end;
  assign at_end = index_q == stream_i.length[31:2];

  logic [31:0] word;
  assign word          = index_q[0] ? fetch_data_i[63:32] : fetch_data_i[31:0];
  assign fetch_ready_o = (state_q == Command || state_q == Payload) && index_q[0] && !at_end;

  logic [9:0] code;
  logic [15:0] param;
  assign code  = state_q == Payload ? word_q[9:0] : word[9:0];
  assign param = state_q == Payload ? word_q[31:16] : word[31:16];

  always_comb begin
    state_d             = state_q;
    word_d              = word_q;
    index_d             = index_q;
    counted_d           = counted_q;
    begin_stream_o      = 1'b0;
    set_cmd_error_o     = 1'b0;
    set_address_error_o = 1'b0;
    set_scale_error_o   = 1'b0;
    set_end_o           = 1'b0;
    set_mask_o          = 1'b0;
    set_irq_o           = 1'b0;
    copy_check_o        = 1'b0;
    fetch_start_o       = 1'b0;
    fetch_stop_o        = 1'b0;
    op_start_o          = 1'b0;
    copy_start_o        = 1'b0;
    regs_clear_o        = 1'b0;
    set_param_o         = 1'b0;
    set_payload_o       = 1'b0;
    check_start_o       = 1'b0;

    unique case (state_q)
      Idle: begin
        if (start_i) state_d = Begin;
      end

      Begin: begin
        begin_stream_o  = 1'b1;
        regs_clear_o    = 1'b1;
        index_d         = '0;
        counted_d       = 1'b0;
        set_cmd_error_o = stream_i.addr[2:0] != '0 || stream_i.length[1:0] != '0;
        fetch_start_o   = !set_cmd_error_o;
        state_d         = set_cmd_error_o ? Drain : Command;
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
            state_d = !payload_known_i || (is_address_i && param != '0
                                           && !(is_stride_i && param == NegativeStride))
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
                set_param_o = param_known_i;
                if (!param_known_i) state_d = BadCommand;
              end
            endcase
          end
        end
      end

      Payload: begin
        if (at_end) begin
          state_d = BadCommand;
        end else if (fetch_valid_i) begin
          index_d       = index_q + 30'd1;
          set_payload_o = 1'b1;
          state_d       = Command;
        end
      end

      BeginCheck: begin
        check_start_o = 1'b1;
        state_d       = Check;
      end

      Check: begin
        if (check_done_i) begin
          state_d = check_cmd_error_i ? BadCommand : (check_address_error_i ? BadAddress : StartOp);
        end
      end

      StartOp: begin
        if (!op_busy_i) begin
          if (failed_i) begin
            state_d = Drain;
          end else begin
            op_start_o        = 1'b1;
            set_scale_error_o = check_scale_error_i;
            state_d           = Command;
          end
        end
      end

      WaitOp: begin
        if (!op_busy_i) state_d = failed_i ? Drain : Command;
      end

      BeginCopy: begin
        copy_check_o = 1'b1;
        state_d      = StartCopy;
      end

      StartCopy: begin
        if (copy_bad_i) begin
          state_d = BadCommand;
        end else if (copy_leaves_i) begin
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
          set_mask_o = !failed_i;
          state_d    = failed_i ? Drain : Command;
        end
      end

      // A command that cannot be carried out counts only if those before it ended well.
      BadCommand, BadAddress: begin
        if (!op_busy_i && !copy_busy_i) begin
          set_cmd_error_o     = !failed_i && state_q == BadCommand;
          set_address_error_o = !failed_i && state_q == BadAddress;
          state_d             = Drain;
        end
      end

      Stop: begin
        if (!op_busy_i && !copy_busy_i) begin
          set_mask_o = !failed_i;
          set_end_o  = !failed_i;
          state_d    = Drain;
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
          set_irq_o = 1'b1;
          state_d   = Idle;
        end
      end

      default: state_d = Idle;
    endcase
  end

  assign running_o    = state_q != Idle;
  assign op_waits_o   = state_q == StartOp;
  assign flushing_o   = state_q == Flush;
  assign qread_o      = {index_q, 2'b00};
  assign counted_o    = counted_q;
  assign code_o       = code;
  assign param_o      = param;
  assign word_o       = word;
  assign last_code_o  = word_q[9:0];
  assign last_param_o = word_q[31:16];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      word_q    <= '0;
      index_q   <= '0;
      counted_q <= 1'b0;
    end else begin
      state_q   <= state_d;
      word_q    <= word_d;
      index_q   <= index_d;
      counted_q <= counted_d;
    end
  end
endmodule
