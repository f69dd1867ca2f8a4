/// Shared buffer: banked SRAM for IFM pieces, accumulators and the output staging area.
///
/// Bank 0 and 1 hold the staging area, the banks from 2 on the IFM pieces, those from the
/// operation's accumulator start on the accumulators, in pairs of banks (128 bits: four accumulators).
/// A checked operation never sends two requests of a kind to one bank; should a fault do so, the
/// request listed first wins.
module sb #(
  parameter int unsigned Banks = 16,
  localparam int unsigned BankW = $clog2(Banks),
  localparam int unsigned PairW = BankW - 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  // IFM piece: word address {bank, row}
  input  logic               ifm_wr_i,
  input  logic [BankW+6:0]   ifm_wr_addr_i,
  input  logic [63:0]        ifm_wr_data_i,
  input  logic               ifm_rd_i,
  input  logic [BankW+6:0]   ifm_rd_addr_i,
  output logic [63:0]        ifm_rd_data_o,
  // Accumulators: {pair of banks, row}
  input  logic               acc_wr_i,
  input  logic [PairW+6:0]   acc_wr_addr_i,
  input  logic [127:0]       acc_wr_data_i,
  input  logic               acc_rd_i,
  input  logic [PairW+6:0]   acc_rd_addr_i,
  output logic [127:0]       acc_rd_data_o,
  input  logic               out_rd_i,
  input  logic [PairW+6:0]   out_rd_addr_i,
  output logic [127:0]       out_rd_data_o,
  // Staging: address in units of four bytes
  input  logic               stage_wr_i,
  input  logic [8:0]         stage_wr_addr_i,
  input  logic [31:0]        stage_wr_data_i,
  input  logic               stage_rd_i,
  input  logic [8:0]         stage_rd_addr_i,
  output logic [31:0]        stage_rd_data_o
);
  logic [Banks-1:0][63:0] rd_data;

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    localparam logic [BankW-1:0] Bank = BankW'(b);
    localparam logic [PairW-1:0] Pair = PairW'(b / 2);
    localparam bit Staging = b < 2;

    logic ifm_rd, acc_rd, out_rd, stage_rd, ifm_wr, acc_wr, stage_wr;
    assign ifm_rd = ifm_rd_i && ifm_rd_addr_i[BankW+6:7] == Bank;
    assign acc_rd = acc_rd_i && acc_rd_addr_i[PairW+6:7] == Pair;
    assign out_rd = out_rd_i && out_rd_addr_i[PairW+6:7] == Pair;
    assign ifm_wr = ifm_wr_i && ifm_wr_addr_i[BankW+6:7] == Bank;
    assign acc_wr = acc_wr_i && acc_wr_addr_i[PairW+6:7] == Pair;
    if (Staging) begin : gen_staging
      assign stage_rd = stage_rd_i && stage_rd_addr_i[8] == Bank[0];
      assign stage_wr = stage_wr_i && stage_wr_addr_i[8] == Bank[0];
    end else begin : gen_no_staging
      assign stage_rd = 1'b0;
      assign stage_wr = 1'b0;
    end

    logic [6:0] rd_row, wr_row;
    logic [1:0] wr;
    logic [63:0] wr_data;
    always_comb begin
      rd_row = stage_rd_addr_i[7:1];
      if (ifm_rd) rd_row = ifm_rd_addr_i[6:0];
      else if (acc_rd) rd_row = acc_rd_addr_i[6:0];
      else if (out_rd) rd_row = out_rd_addr_i[6:0];

      wr      = stage_wr ? (stage_wr_addr_i[0] ? 2'b10 : 2'b01) : 2'b00;
      wr_row  = stage_wr_addr_i[7:1];
      wr_data = {stage_wr_data_i, stage_wr_data_i};
      if (ifm_wr) begin
        wr      = 2'b11;
        wr_row  = ifm_wr_addr_i[6:0];
        wr_data = ifm_wr_data_i;
      end else if (acc_wr) begin
        wr      = 2'b11;
        wr_row  = acc_wr_addr_i[6:0];
        wr_data = acc_wr_data_i[64*(b%2)+:64];
      end
    end

    sb_bank #(
      .Rows(128)
    ) u_bank (
      .clk_i    (clk_i),
      .rd_i     (ifm_rd || acc_rd || out_rd || stage_rd),
      .rd_row_i (rd_row),
      .rd_data_o(rd_data[b]),
      .wr_i     (wr),
      .wr_row_i (wr_row),
      .wr_data_i(wr_data)
    );
  end

  // Which bank answers each port in the next cycle.
  logic [BankW-1:0] ifm_bank_q;
  logic [PairW-1:0] acc_pair_q, out_pair_q;
  logic [1:0] stage_half_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ifm_bank_q   <= '0;
      acc_pair_q   <= '0;
      out_pair_q   <= '0;
      stage_half_q <= '0;
    end else if (en_i) begin
      if (ifm_rd_i) ifm_bank_q <= ifm_rd_addr_i[BankW+6:7];
      if (acc_rd_i) acc_pair_q <= acc_rd_addr_i[PairW+6:7];
      if (out_rd_i) out_pair_q <= out_rd_addr_i[PairW+6:7];
      if (stage_rd_i) stage_half_q <= {stage_rd_addr_i[8], stage_rd_addr_i[0]};
    end
  end

  assign ifm_rd_data_o = rd_data[ifm_bank_q];
  assign acc_rd_data_o = {rd_data[{acc_pair_q, 1'b1}], rd_data[{acc_pair_q, 1'b0}]};
  assign out_rd_data_o = {rd_data[{out_pair_q, 1'b1}], rd_data[{out_pair_q, 1'b0}]};

  logic [63:0] stage_word;
  assign stage_word      = stage_half_q[1] ? rd_data[1] : rd_data[0];
  assign stage_rd_data_o = stage_half_q[0] ? stage_word[63:32] : stage_word[31:0];
endmodule
