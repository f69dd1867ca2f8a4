// SPDX-License-Identifier: Apache-2.0
/// Memory behind a Wishbone B4 port, classic or `Pipelined`. Each access is acknowledged `Latency` cycles after it was
/// taken at the earliest; what lies outside, and a write to a memory that is not `Writable`, ends with err_o. A cycle
/// that the design gives up (cyc_i falls) takes its answers with it.
module resil_wishbone_mem #(
  parameter int unsigned          DataWidth   = 32,
  parameter int unsigned          AddrWidth   = 32,
  parameter bit                   WordAddress = 1'b0,  // adr_i counts words, not bytes
  parameter int unsigned          Words       = 1024,  // of DataWidth bits
  parameter logic [AddrWidth-1:0] Base        = '0,
  parameter bit                   Writable    = 1'b1,
  parameter bit                   Pipelined   = 1'b0,
  parameter int unsigned          Latency     = 1,     // at least 1
  parameter int unsigned          Outstanding = 4,
  parameter                       PlusArg     = "mem"
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   cyc_i,
  input  logic                   stb_i,
  input  logic                   we_i,
  input  logic   [AddrWidth-1:0] adr_i,
  input  logic [DataWidth/8-1:0] sel_i,
  input  logic   [DataWidth-1:0] dat_i,
  output logic   [DataWidth-1:0] dat_o,
  output logic                   ack_o,
  output logic                   err_o,
  output logic                   stall_o
);
  localparam int unsigned ByteW = WordAddress ? 0 : $clog2(DataWidth / 8);

  logic [AddrWidth-1:0] offset;
  logic [DataWidth-1:0] data, found;
  logic take, hit, bad, failed, free, answered, waiting_q, given_up_q;

  assign offset  = adr_i - Base;
  assign bad     = !hit || (we_i && !Writable);
  assign stall_o = !free || given_up_q || (!Pipelined && waiting_q);
  assign take    = cyc_i && stb_i && !stall_o;

  resil_word_mem #(
    .Width  (DataWidth),
    .Words  (Words),
    .PlusArg(PlusArg)
  ) u_words (
    .clk_i,
    .index_i(64'(offset >> ByteW)),
    .we_i   (take && we_i && Writable),
    .strb_i (sel_i),
    .data_i (dat_i),
    .data_o (data),
    .hit_o  (hit)
  );

  resil_delay_queue #(
    .Width(1 + DataWidth),
    .Depth(Outstanding),
    .Delay(Latency - 1)
  ) u_answers (
    .clk_i,
    .rst_ni,
    .valid_i(take),
    .ready_o(free),
    .data_i ({bad, we_i || bad ? DataWidth'(0) : data}),
    .valid_o(answered),
    .ready_i(1'b1),
    .data_o ({failed, found})
  );
  assign ack_o = answered && cyc_i && !given_up_q && !failed;
  assign err_o = answered && cyc_i && !given_up_q && failed;
  assign dat_o = ack_o ? found : '0;

  // Accesses that are not answered yet.
  localparam int unsigned CountW = $clog2(Outstanding + 1);
  logic [CountW-1:0] open_q, open_d;
  assign open_d = open_q + CountW'(take) - CountW'(answered);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q     <= '0;
      waiting_q  <= 1'b0;
      given_up_q <= 1'b0;
    end else begin
      open_q     <= open_d;
      waiting_q  <= open_d != '0;
      given_up_q <= (given_up_q || !cyc_i) && open_d != '0;
    end
  end
endmodule
