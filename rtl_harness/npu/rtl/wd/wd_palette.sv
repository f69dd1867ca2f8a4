// SPDX-License-Identifier: Apache-2.0
/// The palette: turns indices into weights. Zero runs pass through.
module wd_palette
  import wd_pkg::*;
#(
  parameter int unsigned Rate = 4
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           en_i,
  input  logic                           clear_i,
  input  logic                           load_i,  // begin a new palette
  input  logic [4:0]                     dirofs_i,
  input  logic [4:0]                     palsize_m1_i,
  input  logic [2:0]                     palbits_m2_i,
  output logic [3:0]                     entry_bits_o,
  output logic [3:0]                     index_bits_o,  // width of an uncompressed index

  input  logic                           entries_i,  // `values_i` are the next entries
  input  logic                           valid_i,
  output logic                           ready_o,
  input  logic                           runs_i,  // zero runs, else indices
  input  logic [3:0]                     count_i,
  input  logic                           open_i,  // the last one is an open run
  input  logic [Rate-1:0][IndexBits-1:0] values_i,

  output logic                           valid_o,
  input  logic                           ready_i,
  output logic                           runs_o,
  output logic [3:0]                     count_o,
  output logic                           open_o,
  output logic [Rate-1:0][IndexBits-1:0] values_o
);
  localparam int unsigned Size = 32;

  logic [Size-1:0][IndexBits-1:0] entries_q;
  logic [4:0] first_q;  // of the next entries
  logic [5:0] size_q;
  logic [IndexBits-1:0] offset_q;  // of indices beyond the palette
  logic [3:0] entry_bits_q, index_bits_q;
  assign entry_bits_o = entry_bits_q;
  assign index_bits_o = index_bits_q;

  logic [5:0] size;
  logic [3:0] index_bits;
  assign size = palsize_m1_i == '0 ? '0 : 6'(palsize_m1_i) + 6'd1;
  always_comb begin
    index_bits = 4'(palbits_m2_i) + 4'd2;
    for (int unsigned i = 0; i < 5; i++) begin
      if (palsize_m1_i[i]) index_bits = 4'(i + 1);
    end
  end

  logic [Rate-1:0][IndexBits-1:0] weights;
  for (genvar k = 0; k < Rate; k++) begin : gen_weight
    logic [IndexBits-1:0] value;
    assign value = values_i[k] < IndexBits'(size_q) ? entries_q[values_i[k][4:0]]
                                                    : values_i[k] + offset_q;
    assign weights[k] = value[0] ? -IndexBits'(value[8:1]) : IndexBits'(value[8:1]);
  end

  logic valid_q, runs_q, open_q;
  logic [3:0] count_q;
  logic [Rate-1:0][IndexBits-1:0] values_q;
  assign ready_o  = !valid_q || ready_i;
  assign valid_o  = valid_q;
  assign runs_o   = runs_q;
  assign count_o  = count_q;
  assign open_o   = open_q;
  assign values_o = values_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      entries_q <= '0;
    end else if (en_i && entries_i) begin
      for (int unsigned e = 0; e < Size; e++) begin
        if (first_q == 5'(e - e % Rate)) entries_q[e] <= values_i[e%Rate];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q      <= '0;
      size_q       <= '0;
      offset_q     <= '0;
      entry_bits_q <= '0;
      index_bits_q <= '0;
    end else if (en_i && clear_i) begin
      size_q       <= '0;
      offset_q     <= '0;
      entry_bits_q <= 4'd2;
      index_bits_q <= 4'd2;
    end else if (en_i && load_i) begin
      first_q      <= '0;
      size_q       <= size;
      offset_q     <= IndexBits'(dirofs_i) - IndexBits'(size);
      entry_bits_q <= 4'(palbits_m2_i) + 4'd2;
      index_bits_q <= index_bits;
    end else if (en_i && entries_i) begin
      first_q <= first_q + 5'(Rate);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      runs_q   <= 1'b0;
      count_q  <= '0;
      open_q   <= 1'b0;
      values_q <= '0;
    end else if (en_i && clear_i) begin
      valid_q <= 1'b0;
    end else if (en_i && ready_o) begin
      valid_q <= valid_i;
      if (valid_i) begin
        runs_q   <= runs_i;
        count_q  <= count_i;
        open_q   <= open_i;
        values_q <= runs_i ? values_i : weights;
      end
    end
  end
endmodule
