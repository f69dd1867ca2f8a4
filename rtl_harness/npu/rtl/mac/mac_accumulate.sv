// SPDX-License-Identifier: Apache-2.0
/// Adds dot products to accumulators, or takes the maximum: reads a row, and writes it back in the next cycle.
/// A row that is read while it is written is forwarded.
module mac_accumulate #(
  parameter int unsigned Lanes = 1,
  parameter int unsigned UblkD = 4,
  localparam int unsigned AccBanks = Lanes * UblkD / 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  logic        max_i,
  input  logic        halves_i,       // a dot product has half of the channels, with eight of them:
  input  logic        half_i,         // the upper half
  // A group of pixels, and its dot products
  input  logic        valid_i,
  input  logic        clear_i,
  input  logic        lower_clear_i,  // the lower half of the lanes
  input  logic [Lanes-1:0] absent_i,
  input  logic [11:0] acc_i,
  input  logic [Lanes-1:0][UblkD-1:0][31:0] dot_i,
  // Shared buffer
  output logic        rd_o,
  output logic [11:0] rd_row_o,
  input  logic [AccBanks*128-1:0] rd_data_i,
  output logic        wr_o,
  output logic [11:0] wr_row_o,
  output logic [AccBanks*128-1:0] wr_data_o
);
  localparam logic [31:0] Lowest = 32'h8000_0000;
  localparam int unsigned DotW = 22;   // what a dot product of 8-bit elements needs

  logic add_q, clear_q, forward_q;
  logic [Lanes-1:0] absent_q;
  logic [11:0] acc_q;
  logic [Lanes-1:0][UblkD-1:0][DotW-1:0] dot_q;
  logic [Lanes-1:0][31:DotW] dot_high_q;  // of the first channel: it may be a sum of 32-bit elements
  logic [Lanes-1:0][UblkD-1:0][31:0] sum_q;

  logic forward;
  assign rd_o     = valid_i && !(clear_i && lower_clear_i) && !forward;  // no row is read while it is written
  assign rd_row_o = acc_i;
  assign forward  = add_q && acc_q == acc_i;

  logic [Lanes-1:0] clear;
  if (Lanes > 2) begin : gen_lower
    logic lower_clear_q;
    assign clear = {{Lanes / 2{clear_q}}, {Lanes / 2{lower_clear_q}}};
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) lower_clear_q <= 1'b0;
      else if (en_i && valid_i) lower_clear_q <= lower_clear_i;
    end
  end else begin : gen_no_lower
    assign clear = {Lanes{clear_q}};
  end

  logic [UblkD-1:0] other;  // channels that the dot product has not
  if (UblkD > 4) begin : gen_half
    logic half_q;
    assign other = !halves_i ? '0 : (half_q ? UblkD'(4'hF) : {{UblkD - 4{1'b1}}, 4'h0});
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) half_q <= 1'b0;
      else if (en_i && valid_i) half_q <= half_i;
    end
  end else begin : gen_no_half
    logic unused_half;
    assign unused_half = halves_i ^ half_i;
    assign other = '0;
  end

  logic [Lanes-1:0][UblkD-1:0][31:0] dot, old, sum;
  assign old = forward_q ? sum_q : rd_data_i;
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      for (int unsigned c = 0; c < UblkD; c++) begin
        dot[l][c] = c == 0 ? {dot_high_q[l], dot_q[l][c]} : 32'($signed(dot_q[l][c]));
        if (max_i) begin
          sum[l][c] = clear[l] ? Lowest : old[l][c];
          if (!absent_q[l] && !other[c] && $signed(dot[l][c]) > $signed(sum[l][c])) sum[l][c] = dot[l][c];
        end else begin
          sum[l][c] = (clear[l] ? '0 : old[l][c]) + dot[l][c];
        end
      end
    end
  end
  assign wr_o      = add_q;
  assign wr_row_o  = acc_q;
  assign wr_data_o = sum;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      add_q      <= 1'b0;
      clear_q    <= 1'b0;
      forward_q  <= 1'b0;
      absent_q   <= '0;
      acc_q      <= '0;
      dot_q      <= '0;
      dot_high_q <= '0;
      sum_q      <= '0;
    end else if (en_i) begin
      add_q <= valid_i;
      if (valid_i) begin
        clear_q   <= clear_i;
        forward_q <= forward;
        absent_q  <= absent_i;
        acc_q     <= acc_i;
        for (int unsigned l = 0; l < Lanes; l++) begin
          for (int unsigned c = 0; c < UblkD; c++) dot_q[l][c] <= dot_i[l][c][DotW-1:0];
          dot_high_q[l] <= dot_i[l][0][31:DotW];
        end
        if (forward) sum_q <= sum;
      end
    end
  end
endmodule
