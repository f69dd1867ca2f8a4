// SPDX-License-Identifier: Apache-2.0
/// The host of a closed bench: runs a small program of register accesses, then says done.
///
/// The program is `program_q`, read with $readmemh from the file that +PlusArg=FILE names. An entry is {mask, data,
/// address, operation}, 32 bits each:
///
///   0 end        done
///   1 write      data to address
///   2 read       address into status_o
///   3 poll       read address, again after PollInterval cycles, until (value & mask) == data
///   4 check      read address; an error unless (value & mask) == data
///   5 interrupt  wait until (irq_i & mask) != 0
///   6 wait       data cycles
///   7 mark       count an operation in operations_o
///
/// An error, which also is an answer of the bus that says so, an unknown operation or a program without an end,
/// sets error_o and ends the program. Accesses go to resil_axil_master or resil_apb_master.
module resil_boot #(
  parameter int unsigned Words        = 64,
  parameter int unsigned PollInterval = 16,
  parameter              PlusArg      = "boot"
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [31:0] irq_i,
  output logic        req_valid_o,
  output logic        req_write_o,
  output logic [31:0] req_addr_o,
  output logic [31:0] req_data_o,
  input  logic        rsp_valid_i,
  input  logic [31:0] rsp_data_i,
  input  logic        rsp_error_i,
  output logic        done_o,
  output logic        error_o,
  output logic [31:0] status_o,
  output logic [15:0] operations_o
);
  localparam int unsigned IndexW = $clog2(Words + 1);

  localparam logic [31:0] End = 32'd0;
  localparam logic [31:0] Write = 32'd1;
  localparam logic [31:0] Read = 32'd2;
  localparam logic [31:0] Poll = 32'd3;
  localparam logic [31:0] Check = 32'd4;
  localparam logic [31:0] Interrupt = 32'd5;
  localparam logic [31:0] Wait = 32'd6;
  localparam logic [31:0] Mark = 32'd7;

  typedef enum logic [1:0] {
    Fetch,
    Access,
    Pause,
    Done
  } state_e;

  logic [127:0] program_q [Words];

  string file;
  initial begin
    for (int i = 0; i < int'(Words); i++) program_q[i] = '0;
    if ($value$plusargs({PlusArg, "=%s"}, file)) $readmemh(file, program_q);
  end

  state_e state_q;
  logic [IndexW-1:0] index_q;
  logic [31:0] pause_q, status_q;
  logic [15:0] operations_q;
  logic error_q;

  logic [31:0] mask, data, address, operation;
  logic ran_out, equal;
  assign ran_out = index_q == IndexW'(Words);
  assign {mask, data, address, operation} = ran_out ? '0 : program_q[index_q];
  assign equal = (rsp_data_i & mask) == data;

  assign req_valid_o  = state_q == Access;
  assign req_write_o  = operation == Write;
  assign req_addr_o   = address;
  assign req_data_o   = data;
  assign done_o       = state_q == Done;
  assign error_o      = error_q;
  assign status_o     = status_q;
  assign operations_o = operations_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Fetch;
      index_q      <= '0;
      pause_q      <= '0;
      status_q     <= '0;
      operations_q <= '0;
      error_q      <= 1'b0;
    end else begin
      unique case (state_q)
        Fetch: begin
          if (ran_out) begin
            error_q <= 1'b1;
            state_q <= Done;
          end else begin
            unique case (operation)
              End: state_q <= Done;
              Write, Read, Poll, Check: state_q <= Access;
              Interrupt: if ((irq_i & mask) != '0) index_q <= index_q + IndexW'(1);
              Wait: begin
                index_q <= index_q + IndexW'(1);
                pause_q <= data;
                state_q <= Pause;
              end
              Mark: begin
                index_q      <= index_q + IndexW'(1);
                operations_q <= operations_q + 16'd1;
              end
              default: begin
                error_q <= 1'b1;
                state_q <= Done;
              end
            endcase
          end
        end
        Access: begin
          if (rsp_valid_i) begin
            state_q <= Fetch;
            if (operation == Read) status_q <= rsp_data_i;
            if (rsp_error_i || (operation == Check && !equal)) begin
              error_q <= 1'b1;
              state_q <= Done;
            end else if (operation == Poll && !equal) begin
              pause_q <= 32'(PollInterval);
              state_q <= Pause;
            end else begin
              index_q <= index_q + IndexW'(1);
            end
          end
        end
        Pause: begin
          if (pause_q > 32'd1) begin
            pause_q <= pause_q - 32'd1;
          end else begin
            pause_q <= '0;
            state_q <= Fetch;
          end
        end
        Done: ;
        default: state_q <= Done;
      endcase
    end
  end
endmodule
