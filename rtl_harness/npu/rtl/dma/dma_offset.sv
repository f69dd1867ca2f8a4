/// Offset of a feature-map position, y stride_y + x stride_x + g stride_g modulo 2^32, bit by bit.
module dma_offset (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  logic        start_i,
  input  logic [31:0] base_i,
  input  logic [14:0] y_i,
  input  logic [14:0] x_i,
  input  logic [8:0]  g_i,
  input  logic [31:0] stride_y_i,
  input  logic [31:0] stride_x_i,
  input  logic [31:0] stride_g_i,
  output logic        valid_o,
  output logic [31:0] offset_o
);
  logic [14:0] y_q, x_q;
  logic [8:0] g_q;
  logic [4:0] bit_q;
  logic [31:0] sum_q;
  logic busy_q;

  logic none_left;
  assign none_left = {y_q, x_q, g_q} == '0;
  assign valid_o   = busy_q && none_left;
  assign offset_o  = sum_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      y_q    <= '0;
      x_q    <= '0;
      g_q    <= '0;
      bit_q  <= '0;
      sum_q  <= '0;
      busy_q <= 1'b0;
    end else if (en_i) begin
      if (start_i) begin
        y_q    <= y_i;
        x_q    <= x_i;
        g_q    <= g_i;
        bit_q  <= '0;
        sum_q  <= base_i;
        busy_q <= 1'b1;
      end else if (busy_q) begin
        if (none_left) begin
          busy_q <= 1'b0;
        end else begin
          y_q   <= y_q >> 1;
          x_q   <= x_q >> 1;
          g_q   <= g_q >> 1;
          bit_q <= bit_q + 5'd1;
          sum_q <= sum_q + (y_q[0] ? stride_y_i << bit_q : '0)
                   + (x_q[0] ? stride_x_i << bit_q : '0) + (g_q[0] ? stride_g_i << bit_q : '0);
        end
      end
    end
  end
endmodule
