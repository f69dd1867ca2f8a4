/// The palette: turns `Rate` indices into weights. Entries are written in groups of `Rate`.
module wd_palette
  import wd_pkg::*;
#(
  parameter int unsigned Rate = 4
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           en_i,
  input  logic                           clear_i,
  input  logic                           load_i,    // begin a new palette
  input  logic [4:0]                     dirofs_i,
  input  logic [4:0]                     palsize_m1_i,
  input  logic [2:0]                     palbits_m2_i,
  input  logic                           write_i,   // entries first_i .. first_i + Rate - 1
  input  logic [4:0]                     first_i,   // a multiple of Rate
  input  logic [Rate-1:0][IndexBits-1:0] entries_i,
  output logic [5:0]                     size_o,
  output logic [3:0]                     entry_bits_o,
  output logic [3:0]                     index_bits_o,  // width of an uncompressed index
  input  logic [Rate-1:0][IndexBits-1:0] indices_i,
  output logic [Rate-1:0][IndexBits-1:0] weights_o
);
  localparam int unsigned Entries = 32;

  logic [Entries-1:0][IndexBits-1:0] entries_q;
  logic [4:0] dirofs_q, palsize_m1_q;
  logic [2:0] palbits_m2_q;

  assign size_o       = palsize_m1_q == '0 ? '0 : 6'(palsize_m1_q) + 6'd1;
  assign entry_bits_o = 4'(palbits_m2_q) + 4'd2;

  always_comb begin
    index_bits_o = entry_bits_o;
    for (int unsigned i = 0; i < 5; i++) begin
      if (palsize_m1_q[i]) index_bits_o = 4'(i + 1);
    end
  end

  for (genvar k = 0; k < Rate; k++) begin : gen_weight
    logic [IndexBits-1:0] direct, value;
    assign direct = indices_i[k] - IndexBits'(size_o) + IndexBits'(dirofs_q);
    assign value  = indices_i[k] < IndexBits'(size_o) ? entries_q[indices_i[k][4:0]] : direct;
    assign weights_o[k] = value[0] ? -IndexBits'(value[8:1]) : IndexBits'(value[8:1]);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      entries_q <= '0;
    end else if (en_i && write_i) begin
      for (int unsigned e = 0; e < Entries; e++) begin
        if (first_i == 5'(e - e % Rate)) entries_q[e] <= entries_i[e%Rate];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dirofs_q     <= '0;
      palsize_m1_q <= '0;
      palbits_m2_q <= '0;
    end else if (en_i && clear_i) begin
      dirofs_q     <= '0;
      palsize_m1_q <= '0;
      palbits_m2_q <= '0;
    end else if (en_i && load_i) begin
      dirofs_q     <= dirofs_i;
      palsize_m1_q <= palsize_m1_i;
      palbits_m2_q <= palbits_m2_i;
    end
  end
endmodule
