/// Boots the NPU as a host would: APB writes from a list, wait for the interrupt, read STATUS.
module boot #(
  parameter int unsigned Words = 64
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
  output logic        done_o,
  output logic [31:0] status_o
);
  localparam logic [11:0] StatusAddress = 12'h004;
  localparam int unsigned IndexW = $clog2(Words);

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

  assign psel_o    = state_q == WriteSetup ? entry[63:32] != '1
                                           : state_q inside {WriteAccess, ReadSetup, ReadAccess};
  assign penable_o = state_q == WriteAccess || state_q == ReadAccess;
  assign pwrite_o  = state_q == WriteSetup || state_q == WriteAccess;
  assign paddr_o   = pwrite_o ? entry[43:32] : StatusAddress;
  assign pwdata_o  = entry[31:0];
  assign done_o    = state_q == Done;
  assign status_o  = status_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= WriteSetup;
      index_q  <= '0;
      status_q <= '0;
    end else begin
      unique case (state_q)
        WriteSetup: state_q <= entry[63:32] == '1 ? AwaitIrq : WriteAccess;
        WriteAccess: begin
          if (pready_i) begin
            index_q <= index_q + IndexW'(1);
            state_q <= WriteSetup;
          end
        end
        AwaitIrq: if (irq_i) state_q <= ReadSetup;
        ReadSetup: state_q <= ReadAccess;
        ReadAccess: begin
          if (pready_i) begin
            status_q <= prdata_i;
            state_q  <= Done;
          end
        end
        Done: ;
        default: state_q <= Done;
      endcase
    end
  end
endmodule
