// SPDX-License-Identifier: Apache-2.0
/// Boots the NPU as a host would: APB writes from a list, wait for the interrupt, read STATUS.
///
/// With several inferences the list goes on after the first: what lies between them is three further kinds of entry,
/// each of one cycle, by their address:
///
///   FFFF_FFFE   wait for the interrupt, read STATUS, count an inference, go on with the list
///   FFFF_FFFD   the NPU's reset, held while data is 1
///   2xxx_xxxx   32 bits into the SRAM, as the application writes the next input
module boot #(
  parameter int unsigned Words      = 64,
  parameter int unsigned Inferences = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        psel_o,
  output logic        penable_o,
  output logic        pwrite_o,
  output logic [11:0] paddr_o,
  output logic [31:0] pwdata_o,
  input  logic        pready_i,
  input  logic [31:0] prdata_i,
  input  logic        irq_i,
  output logic        npu_reset_o,
  output logic        mem_valid_o,
  output logic [31:0] mem_addr_o,
  output logic [7:0]  inferences_o,
  output logic        done_o,
  output logic [31:0] status_o
);
  localparam logic [11:0] StatusAddress = 12'h004;
  localparam int unsigned IndexW = $clog2(Words);
  localparam bit Several = Inferences > 1;
  localparam logic [31:0] Pause = 32'hFFFF_FFFE;
  localparam logic [31:0] Reset = 32'hFFFF_FFFD;

  // {address, data}; the address FFFF_FFFF ends the list.
  logic [63:0] rom_q [Words];

`ifndef SYNTHESIS
  string file;
  initial begin
    for (int i = 0; i < int'(Words); i++) rom_q[i] = '1;
    if ($value$plusargs("boot=%s", file)) $readmemh(file, rom_q);
  end
`endif

  typedef enum logic [2:0] {
    WriteSetup,
    WriteAccess,
    AwaitIrq,
    ReadSetup,
    ReadAccess,
    Done
  } state_e;

  state_e state_q;
  logic [IndexW-1:0] index_q;
  logic [31:0] status_q;

  logic [63:0] entry;
  assign entry = rom_q[index_q];

  logic ends, waits, resets, to_memory, answered;
  assign ends      = entry[63:32] == '1;
  assign waits     = ends || (Several && entry[63:32] == Pause);
  assign resets    = Several && entry[63:32] == Reset;
  assign to_memory = Several && entry[63:60] == 4'h2;
  assign answered  = state_q == ReadAccess && pready_i;

  assign psel_o    = state_q == WriteSetup ? !(waits || resets || to_memory)
                                           : state_q inside {WriteAccess, ReadSetup, ReadAccess};
  assign penable_o = state_q == WriteAccess || state_q == ReadAccess;
  assign pwrite_o  = state_q == WriteSetup || state_q == WriteAccess;
  assign paddr_o   = pwrite_o ? entry[43:32] : StatusAddress;
  assign pwdata_o  = entry[31:0];
  assign done_o    = state_q == Done;
  assign status_o  = status_q;

  assign mem_valid_o = state_q == WriteSetup && to_memory;
  assign mem_addr_o  = entry[63:32];

  if (Several) begin : gen_several
    logic npu_reset_q;
    logic [7:0] inferences_q;
    assign npu_reset_o  = npu_reset_q;
    assign inferences_o = inferences_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        npu_reset_q  <= 1'b0;
        inferences_q <= '0;
      end else begin
        if (state_q == WriteSetup && resets) npu_reset_q <= entry[0];
        if (answered) inferences_q <= inferences_q + 8'd1;
      end
    end
  end else begin : gen_one
    assign npu_reset_o  = 1'b0;
    assign inferences_o = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= WriteSetup;
      index_q  <= '0;
      status_q <= '0;
    end else begin
      unique case (state_q)
        WriteSetup: begin
          if (resets || to_memory) index_q <= index_q + IndexW'(1);
          else state_q <= waits ? AwaitIrq : WriteAccess;
        end
        WriteAccess: begin
          if (pready_i) begin
            index_q <= index_q + IndexW'(1);
            state_q <= WriteSetup;
          end
        end
        AwaitIrq: if (irq_i) state_q <= ReadSetup;
        ReadSetup: state_q <= ReadAccess;
        ReadAccess: begin
          if (answered) begin
            status_q <= prdata_i;
            state_q  <= ends ? Done : WriteSetup;
            if (!ends) index_q <= index_q + IndexW'(1);
          end
        end
        Done: ;
        default: state_q <= Done;
      endcase
    end
  end
endmodule
