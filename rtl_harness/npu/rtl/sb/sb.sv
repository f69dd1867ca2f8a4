// SPDX-License-Identifier: Apache-2.0
/// Shared buffer: banked SRAM for the output staging area, feature-map pieces, accumulators and look-up
/// tables.
///
/// Banks 0 and 1 hold the staging area, the banks from 2 on pieces of feature maps, those from the
/// operation's accumulator start on accumulators, the last two look-up tables while one is in use. An
/// accumulator row spans `AccBanks` banks. A checked operation never sends two requests of a kind to one
/// bank; should a fault do so, the port listed last wins.
///
/// With a code the banks keep check bits with each 32-bit word, see sb_code_pkg. Words are encoded where they come
/// in and decoded where they go out, behind the banks' output latches. What a port has read is looked at until it
/// reads something else. Nothing is written back.
module sb #(
  parameter int unsigned Banks    = 16,  // of 1 KiB
  parameter int unsigned Usable   = 16,  // those that accumulators may use
  parameter int unsigned Lanes    = 1,   // feature-map words a cycle
  parameter int unsigned AccBanks = 1,
  parameter int unsigned Code     = 0,   // 0 none, 1 parity, 2 SECDED, of words of 32 bits
  localparam int unsigned BankW  = 6,
  localparam int unsigned GroupW = 6,
  localparam int unsigned ReadPorts = 3
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic en_i,
  // Feature-map pieces and tables: 64-bit words
  input  logic             word_wr_i,
  input  logic [BankW-1:0] word_wr_bank_i,
  input  logic [6:0]       word_wr_addr_i,
  input  logic [63:0]      word_wr_data_i,
  input  logic [Lanes-1:0] word_rd_i,
  input  logic [Lanes-1:0][BankW-1:0] word_rd_bank_i,
  input  logic [Lanes-1:0][6:0]       word_rd_addr_i,
  output logic [Lanes-1:0][63:0]      word_rd_data_o,
  // Accumulator rows of the MAC unit
  input  logic              acc_wr_i,
  input  logic [GroupW-1:0] acc_wr_group_i,
  input  logic [5:0]        acc_wr_row_i,
  input  logic [AccBanks*128-1:0] acc_wr_data_i,
  input  logic              acc_rd_i,
  input  logic [GroupW-1:0] acc_rd_group_i,
  input  logic [5:0]        acc_rd_row_i,
  output logic [AccBanks*128-1:0] acc_rd_data_o,
  // 128-bit reads of the output unit: accumulators or first operand, second operand, table
  input  logic [ReadPorts-1:0] out_rd_i,
  input  logic [ReadPorts-1:0][BankW-1:0] out_rd_bank_i,
  input  logic [ReadPorts-1:0][5:0]       out_rd_row_i,
  output logic [ReadPorts-1:0][127:0]     out_rd_data_o,
  // Staging rows, alternating between banks 0 and 1
  input  logic         stage_wr_i,
  input  logic [6:0]   stage_wr_addr_i,
  input  logic [127:0] stage_wr_data_i,
  input  logic         stage_rd_i,
  input  logic [6:0]   stage_rd_addr_i,
  output logic [127:0] stage_rd_data_o,
  // What the code found
  output logic         corrected_o,
  output logic         error_o        // wrong bits that it cannot mend
);
  // Accumulator groups are counted from the first bank that lets the last group end at `Usable`.
  localparam int unsigned AccOffset = Usable % AccBanks;
  localparam int unsigned IndexW = $clog2(Banks);
  localparam int unsigned CodedW = 32 + sb_code_pkg::check_bits(Code);
  localparam int unsigned RowW   = 4 * CodedW;

  logic [Banks-1:0] rd;
  logic [Banks-1:0][5:0] rd_row, wr_row;
  logic [Banks-1:0][1:0] wr;
  logic [Banks-1:0][RowW-1:0] wr_data;
  logic [Banks-1:0][RowW-1:0] rd_data;

  logic [RowW-1:0] stage_wr_row;
  logic [RowW/2-1:0] word_wr_half;
  logic [AccBanks-1:0][RowW-1:0] acc_wr_rows;
  sb_encode #(
    .Code (Code),
    .Words(4)
  ) u_stage_encode (
    .data_i (stage_wr_data_i),
    .coded_o(stage_wr_row)
  );
  sb_encode #(
    .Code (Code),
    .Words(2)
  ) u_word_encode (
    .data_i (word_wr_data_i),
    .coded_o(word_wr_half)
  );
  sb_encode #(
    .Code (Code),
    .Words(4 * AccBanks)
  ) u_acc_encode (
    .data_i (acc_wr_data_i),
    .coded_o(acc_wr_rows)
  );

  function automatic logic [BankW-1:0] acc_bank(logic [GroupW-1:0] group, int unsigned j);
    return BankW'(32'(group) * AccBanks + AccOffset + j);
  endfunction

  always_comb begin
    rd     = '0;
    rd_row = '0;
    if (stage_rd_i) begin
      rd[IndexW'(stage_rd_addr_i[0])]     = 1'b1;
      rd_row[IndexW'(stage_rd_addr_i[0])] = stage_rd_addr_i[6:1];
    end
    for (int unsigned p = 0; p < ReadPorts; p++) begin
      if (out_rd_i[p] && out_rd_bank_i[p] < BankW'(Banks)) begin
        rd[IndexW'(out_rd_bank_i[p])]     = 1'b1;
        rd_row[IndexW'(out_rd_bank_i[p])] = out_rd_row_i[p];
      end
    end
    if (acc_rd_i) begin
      for (int unsigned j = 0; j < AccBanks; j++) begin
        if (acc_bank(acc_rd_group_i, j) < BankW'(Banks)) begin
          rd[IndexW'(acc_bank(acc_rd_group_i, j))]     = 1'b1;
          rd_row[IndexW'(acc_bank(acc_rd_group_i, j))] = acc_rd_row_i;
        end
      end
    end
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (word_rd_i[l] && word_rd_bank_i[l] < BankW'(Banks)) begin
        rd[IndexW'(word_rd_bank_i[l])]     = 1'b1;
        rd_row[IndexW'(word_rd_bank_i[l])] = word_rd_addr_i[l][6:1];
      end
    end
  end

  always_comb begin
    wr      = '0;
    wr_row  = '0;
    wr_data = '0;
    if (stage_wr_i) begin
      wr[IndexW'(stage_wr_addr_i[0])]      = 2'b11;
      wr_row[IndexW'(stage_wr_addr_i[0])]  = stage_wr_addr_i[6:1];
      wr_data[IndexW'(stage_wr_addr_i[0])] = stage_wr_row;
    end
    if (acc_wr_i) begin
      for (int unsigned j = 0; j < AccBanks; j++) begin
        if (acc_bank(acc_wr_group_i, j) < BankW'(Banks)) begin
          wr[IndexW'(acc_bank(acc_wr_group_i, j))]      = 2'b11;
          wr_row[IndexW'(acc_bank(acc_wr_group_i, j))]  = acc_wr_row_i;
          wr_data[IndexW'(acc_bank(acc_wr_group_i, j))] = acc_wr_rows[j];
        end
      end
    end
    if (word_wr_i && word_wr_bank_i < BankW'(Banks)) begin
      wr[IndexW'(word_wr_bank_i)]      = word_wr_addr_i[0] ? 2'b10 : 2'b01;
      wr_row[IndexW'(word_wr_bank_i)]  = word_wr_addr_i[6:1];
      wr_data[IndexW'(word_wr_bank_i)] = {2{word_wr_half}};
    end
  end

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    sb_bank #(
      .Width(RowW)
    ) u_bank (
      .clk_i    (clk_i),
      .rd_i     (rd[b]),
      .rd_row_i (rd_row[b]),
      .rd_data_o(rd_data[b]),
      .wr_i     (wr[b]),
      .wr_row_i (wr_row[b]),
      .wr_data_i(wr_data[b])
    );
  end

  // Which bank answers each port in the next cycle
  logic [Lanes-1:0][BankW-1:0] word_bank_q;
  logic [Lanes-1:0] word_half_q;
  logic [GroupW-1:0] acc_group_q;
  logic [ReadPorts-1:0][BankW-1:0] out_bank_q;
  logic stage_bank_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_bank_q  <= '0;
      word_half_q  <= '0;
      acc_group_q  <= '0;
      out_bank_q   <= '0;
      stage_bank_q <= 1'b0;
    end else if (en_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (word_rd_i[l]) begin
          word_bank_q[l] <= word_rd_bank_i[l];
          word_half_q[l] <= word_rd_addr_i[l][0];
        end
      end
      if (acc_rd_i) acc_group_q <= acc_rd_group_i;
      for (int unsigned p = 0; p < ReadPorts; p++) begin
        if (out_rd_i[p]) out_bank_q[p] <= out_rd_bank_i[p];
      end
      if (stage_rd_i) stage_bank_q <= stage_rd_addr_i[0];
    end
  end

  function automatic logic [RowW-1:0] bank_data(logic [Banks-1:0][RowW-1:0] data, logic [BankW-1:0] bank);
    return bank < BankW'(Banks) ? data[IndexW'(bank)] : '0;
  endfunction

  logic [Lanes-1:0][RowW/2-1:0] word_coded;
  logic [AccBanks-1:0][RowW-1:0] acc_coded;
  logic [ReadPorts-1:0][RowW-1:0] out_coded;
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      word_coded[l] = (RowW / 2)'(bank_data(rd_data, word_bank_q[l]) >> (word_half_q[l] ? RowW / 2 : 0));
    end
    for (int unsigned j = 0; j < AccBanks; j++) begin
      acc_coded[j] = bank_data(rd_data, acc_bank(acc_group_q, j));
    end
    for (int unsigned p = 0; p < ReadPorts; p++) begin
      out_coded[p] = bank_data(rd_data, out_bank_q[p]);
    end
  end

  // Ports: lanes, accumulators, output unit, staging area
  localparam int unsigned Ports = Lanes + ReadPorts + 2;
  logic [Ports-1:0] corrected, wrong;
  for (genvar l = 0; l < Lanes; l++) begin : gen_word
    sb_decode #(
      .Code (Code),
      .Words(2)
    ) u_decode (
      .coded_i    (word_coded[l]),
      .data_o     (word_rd_data_o[l]),
      .corrected_o(corrected[l]),
      .error_o    (wrong[l])
    );
  end
  for (genvar p = 0; p < ReadPorts; p++) begin : gen_out
    sb_decode #(
      .Code (Code),
      .Words(4)
    ) u_decode (
      .coded_i    (out_coded[p]),
      .data_o     (out_rd_data_o[p]),
      .corrected_o(corrected[Lanes+p]),
      .error_o    (wrong[Lanes+p])
    );
  end
  sb_decode #(
    .Code (Code),
    .Words(4 * AccBanks)
  ) u_acc_decode (
    .coded_i    (acc_coded),
    .data_o     (acc_rd_data_o),
    .corrected_o(corrected[Ports-2]),
    .error_o    (wrong[Ports-2])
  );
  sb_decode #(
    .Code (Code),
    .Words(4)
  ) u_stage_decode (
    .coded_i    (rd_data[IndexW'(stage_bank_q)]),
    .data_o     (stage_rd_data_o),
    .corrected_o(corrected[Ports-1]),
    .error_o    (wrong[Ports-1])
  );

  // A port counts from its first read on: before, a latch holds nothing that was written.
  if (Code != sb_code_pkg::None) begin : gen_alarms
    logic [Ports-1:0] read, read_q;
    logic corrected_q, error_q;
    assign read        = {stage_rd_i, acc_rd_i, out_rd_i, word_rd_i};
    assign corrected_o = corrected_q;
    assign error_o     = error_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        read_q      <= '0;
        corrected_q <= 1'b0;
        error_q     <= 1'b0;
      end else begin
        if (en_i) read_q <= read_q | read;
        corrected_q <= |(corrected & read_q);
        error_q     <= |(wrong & read_q);
      end
    end
  end else begin : gen_no_alarms
    logic unused_found;
    assign unused_found = ^{corrected, wrong};
    assign corrected_o  = 1'b0;
    assign error_o      = 1'b0;
  end
endmodule
