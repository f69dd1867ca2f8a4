// SPDX-License-Identifier: Apache-2.0
/// Joins the OFM writer and the copy on the AXI write channels, burst by burst.
///
/// With Parity addresses and beats are given along with the check bits that were made before they were registered, and
/// answers are checked where they are used.
module dma_wr_port
  import axi_pkg::*;
  import npu_pkg::*;
#(
  parameter bit Parity = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  // 0: OFM writer, goes first; 1: copy. All beats of a burst are there when it is offered.
  input  logic   [1:0] valid_i,
  output logic   [1:0] take_o,
  input  burst_t [1:0] burst_i,
  output logic   [1:0] pop_o,
  input  logic   [1:0][63:0] data_i,
  input  logic   [1:0][7:0]  strb_i,
  output logic   [1:0] idle_o,
  output logic        bus_error_o,
  output logic        parity_error_o,
  // AXI
  output logic        aw_valid_o,
  input  logic        aw_ready_i,
  output axi_aw_t     aw_o,
  output axi_ax_check_t aw_check_o,
  output logic        w_valid_o,
  input  logic        w_ready_i,
  output axi_w_t      w_o,
  output axi_w_check_t w_check_o,
  input  logic        b_valid_i,
  output logic        b_ready_o,
  input  axi_b_t      b_i,
  input  axi_b_check_t b_check_i
);
  localparam logic [3:0] MaxOnWay = 4'd15;

  logic aw_valid_q, active_q, pick_q, w_valid_q;
  burst_t aw_q;
  logic [4:0] left_q;  // beats of the burst to come, minus one
  axi_w_t w_q;
  logic b_valid_q, b_bad_q, b_pick_q;
  logic [1:0][3:0] on_way_q;

  logic pick, take, pop, last;
  assign last   = left_q == '0;
  assign pop    = active_q && (!w_valid_q || w_ready_i);
  assign pick   = !valid_i[0];
  assign take   = |valid_i && (!active_q || (pop && last)) && (!aw_valid_q || aw_ready_i)
                  && on_way_q[pick] != MaxOnWay;
  assign take_o = {take && pick, take && !pick};
  assign pop_o  = {pop && pick_q, pop && !pick_q};

  assign aw_valid_o  = aw_valid_q;
  assign aw_o        = '{id: {2'd0, pick_q}, addr: {aw_q.word, 3'd0}, len: 8'(aw_q.len), size: AxiSize8,
                         burst: AxiIncr, cache: AxiCache, prot: AxiProt};
  assign w_valid_o   = w_valid_q;
  assign w_o         = w_q;
  assign b_ready_o   = 1'b1;
  assign bus_error_o = b_valid_q && b_bad_q;
  assign idle_o      = {on_way_q[1] == '0, on_way_q[0] == '0};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_valid_q <= 1'b0;
      active_q   <= 1'b0;
      pick_q     <= 1'b0;
      w_valid_q  <= 1'b0;
      aw_q       <= '0;
      left_q     <= '0;
      w_q        <= '0;
      b_valid_q  <= 1'b0;
      b_bad_q    <= 1'b0;
      b_pick_q   <= 1'b0;
      on_way_q   <= '0;
    end else if (en_i) begin
      if (take) begin
        aw_valid_q <= 1'b1;
        aw_q       <= burst_i[pick];
        pick_q     <= pick;
      end else if (aw_ready_i) begin
        aw_valid_q <= 1'b0;
      end
      if (take) begin
        active_q <= 1'b1;
        left_q   <= burst_i[pick].len;
      end else if (pop) begin
        active_q <= !last;
        left_q   <= left_q - 5'd1;
      end
      if (pop) begin
        w_valid_q <= 1'b1;
        w_q       <= '{data: data_i[pick_q], strb: strb_i[pick_q], last: last};
      end else if (w_ready_i) begin
        w_valid_q <= 1'b0;
      end
      b_valid_q <= b_valid_i;
      b_bad_q   <= b_i.resp != AxiOkay;
      b_pick_q  <= b_i.id[0];
      for (int unsigned i = 0; i < 2; i++) begin
        on_way_q[i] <= on_way_q[i] + 4'(take_o[i]) - 4'(b_valid_q && b_pick_q == i[0]);
      end
    end
  end

  if (Parity) begin : gen_parity
    axi_aw_t next;
    assign next = '{id: {2'd0, pick}, addr: {burst_i[pick].word, 3'd0}, len: 8'(burst_i[pick].len), size: AxiSize8,
                    burst: AxiIncr, cache: AxiCache, prot: AxiProt};

    axi_ax_check_t aw_check_q;
    axi_w_check_t w_check_q;
    axi_b_check_t wanted;
    logic b_valid_check_q, b_good_check_q, b_pick_check_q, b_wrong_q, error_q;
    assign aw_check_o     = aw_check_q;
    assign w_check_o      = w_check_q;
    assign wanted         = b_check(b_valid_i, b_i);
    assign parity_error_o = error_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        aw_check_q      <= '{valid: 1'b1, addr: '0, default: 1'b0};
        w_check_q       <= '{valid: 1'b1, data: '0, default: 1'b0};
        b_valid_check_q <= 1'b1;
        b_good_check_q  <= 1'b1;
        b_pick_check_q  <= 1'b1;
        b_wrong_q       <= 1'b0;
        error_q         <= 1'b0;
      end else if (en_i) begin
        if (take) aw_check_q <= aw_check(1'b1, next);
        else if (aw_ready_i) aw_check_q.valid <= 1'b1;
        if (pop) w_check_q <= w_check(1'b1, {data_i[pick_q], strb_i[pick_q], last});
        else if (w_ready_i) w_check_q.valid <= 1'b1;
        b_valid_check_q <= b_check_i.valid;
        b_good_check_q  <= b_i.resp == AxiOkay;
        b_pick_check_q  <= !b_i.id[0];
        b_wrong_q       <= b_valid_i && (b_check_i.id != wanted.id || b_check_i.resp != wanted.resp);
        error_q         <= b_wrong_q || b_valid_q == b_valid_check_q
                           || (b_valid_q && (b_good_check_q == b_bad_q || b_pick_check_q == b_pick_q));
      end
    end
    logic unused_wanted;
    assign unused_wanted = wanted.valid;
  end else begin : gen_no_parity
    logic unused_check;
    assign unused_check   = ^b_check_i;
    assign aw_check_o     = '0;
    assign w_check_o      = '0;
    assign parity_error_o = 1'b0;
  end
endmodule
