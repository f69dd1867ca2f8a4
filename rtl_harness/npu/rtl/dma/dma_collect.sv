/// Collects beats to write bursts: a burst is offered when all its beats are here.
///
/// A burst has at most `Depth` beats and crosses no 4 KiB border.
module dma_collect
  import npu_pkg::*;
#(
  parameter int unsigned Depth = 16  // beats
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  // Beats
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [28:0] word_i,
  input  logic [63:0] data_i,
  input  logic [7:0]  strb_i,
  input  logic        flush_i,   // no beat comes for now
  output logic        open_o,    // a burst is not yet offered
  output logic        empty_o,
  // Bursts
  output logic        burst_valid_o,
  input  logic        burst_take_i,
  output burst_t      burst_o,
  input  logic        beat_pop_i,
  output logic [63:0] beat_data_o,
  output logic [7:0]  beat_strb_o
);
  localparam int unsigned PageWordW = 9;  // of a beat in its 4 KiB
  localparam logic [4:0] LastLen = 5'(Depth - 1);

  logic open_q;
  logic [28:0] last_q;  // last beat of the open burst
  logic [4:0] len_q;    // its beats, minus one
  logic valid_q;
  burst_t burst_q;

  logic none, full, push;
  fifo #(
    .Width(72),
    .Depth(Depth)
  ) u_beats (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (en_i),
    .clear_i(1'b0),
    .push_i (push),
    .data_i ({strb_i, data_i}),
    .pop_i  (beat_pop_i),
    .data_o ({beat_strb_o, beat_data_o}),
    .empty_o(none),
    .full_o (full)
  );

  // The next beat belongs to the open burst, or closes it.
  logic joins, ends, close;
  assign joins   = open_q && word_i == last_q + 29'd1 && word_i[PageWordW-1:0] != '0
                   && len_q != LastLen;
  assign ends    = len_q == LastLen;
  assign ready_o = !full && (!open_q || joins);
  assign push    = valid_i && ready_o;
  assign close   = open_q && !valid_q && !push && (valid_i || flush_i || ends);

  assign open_o        = open_q;
  assign empty_o       = none && !open_q && !valid_q;
  assign burst_valid_o = valid_q;
  assign burst_o       = burst_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q  <= 1'b0;
      last_q  <= '0;
      len_q   <= '0;
      valid_q <= 1'b0;
      burst_q <= '0;
    end else if (en_i) begin
      if (push) begin
        open_q <= 1'b1;
        last_q <= word_i;
        len_q  <= open_q ? len_q + 5'd1 : '0;
      end else if (close) begin
        open_q <= 1'b0;
      end
      if (close) begin
        valid_q <= 1'b1;
        burst_q <= '{
            word: last_q - 29'(len_q),
            len: len_q
        };
      end else if (burst_take_i) begin
        valid_q <= 1'b0;
      end
    end
  end
endmodule
