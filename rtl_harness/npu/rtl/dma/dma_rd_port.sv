// SPDX-License-Identifier: Apache-2.0
/// Joins the read clients on one AXI port: addresses by fixed priority, beats by identifier.
///
/// With Parity an address is given along with the check bits that were made before it was registered, and a beat is
/// checked where it is used, behind its register.
module dma_rd_port
  import axi_pkg::*;
  import npu_pkg::*;
#(
  parameter bit Parity = 1'b0
) (
  input  logic    clk_i,
  input  logic    rst_ni,
  input  logic    en_i,
  input  logic    [NumRdClients-1:0] valid_i,
  output logic    [NumRdClients-1:0] ready_o,
  input  burst_t  [NumRdClients-1:0] burst_i,
  output logic    [NumRdClients-1:0] r_valid_o,
  input  logic    [NumRdClients-1:0] r_ready_i,
  output logic    [63:0] r_data_o,  // zeros where the read failed
  output logic    bus_error_o,
  output logic    parity_error_o,
  // AXI
  output logic    ar_valid_o,
  input  logic    ar_ready_i,
  output axi_ar_t ar_o,
  output axi_ax_check_t ar_check_o,
  input  logic    r_valid_axi_i,
  output logic    r_ready_axi_o,
  input  axi_r_t  r_i,
  input  axi_r_check_t r_check_i
);
  logic ar_valid_q;
  logic [2:0] ar_id_q;
  burst_t ar_q;
  assign ar_valid_o = ar_valid_q;
  assign ar_o       = '{id: ar_id_q, addr: {ar_q.word, 3'd0}, len: 8'(ar_q.len), size: AxiSize8,
                        burst: AxiIncr, cache: AxiCache, prot: AxiProt};

  logic free, any;
  logic [2:0] id;
  burst_t pick;
  assign free = !ar_valid_q || ar_ready_i;
  always_comb begin
    pick    = '0;
    id      = '0;
    any     = 1'b0;
    ready_o = '0;
    for (int unsigned i = 0; i < NumRdClients; i++) begin
      if (valid_i[i] && !any) begin
        any        = 1'b1;
        id         = 3'(i);
        pick       = burst_i[i];
        ready_o[i] = free;
      end
    end
  end

  logic r_valid_q, r_bad_q, taken;
  logic [2:0] r_id_q;
  logic [63:0] r_data_q;
  always_comb begin
    r_valid_o = '0;
    taken     = 1'b1;
    for (int unsigned i = 0; i < NumRdClients; i++) begin
      if (r_id_q == 3'(i)) begin
        r_valid_o[i] = r_valid_q;
        taken        = r_ready_i[i];
      end
    end
  end
  assign r_data_o      = r_data_q;
  assign r_ready_axi_o = !r_valid_q || taken;
  assign bus_error_o   = r_valid_q && taken && r_bad_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_valid_q <= 1'b0;
      ar_id_q    <= '0;
      ar_q       <= '0;
      r_valid_q  <= 1'b0;
      r_bad_q    <= 1'b0;
      r_id_q     <= '0;
      r_data_q   <= '0;
    end else if (en_i) begin
      if (free) begin
        ar_valid_q <= any;
        if (any) begin
          ar_id_q <= id;
          ar_q    <= pick;
        end
      end
      if (r_ready_axi_o) begin
        r_valid_q <= r_valid_axi_i;
        if (r_valid_axi_i) begin
          r_bad_q  <= r_i.resp != AxiOkay;
          r_id_q   <= r_i.id;
          r_data_q <= r_i.resp == AxiOkay ? r_i.data : '0;
        end
      end
    end
  end

  if (Parity) begin : gen_parity
    axi_ar_t next;
    assign next = '{id: id, addr: {pick.word, 3'd0}, len: 8'(pick.len), size: AxiSize8, burst: AxiIncr,
                    cache: AxiCache, prot: AxiProt};

    axi_ax_check_t ar_check_q;
    axi_r_check_t wanted;
    logic r_valid_check_q, r_id_check_q, r_good_check_q, r_wrong_q, error_q;
    logic [7:0] r_data_check_q;
    assign ar_check_o     = ar_check_q;
    assign wanted         = r_check(r_valid_axi_i, r_i);
    assign parity_error_o = error_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        ar_check_q      <= '{valid: 1'b1, addr: '0, default: 1'b0};
        r_valid_check_q <= 1'b1;
        r_id_check_q    <= 1'b0;
        r_good_check_q  <= 1'b0;
        r_data_check_q  <= '0;
        r_wrong_q       <= 1'b0;
        error_q         <= 1'b0;
      end else if (en_i) begin
        if (free) begin
          if (any) ar_check_q <= ar_check(1'b1, next);
          else ar_check_q.valid <= 1'b1;
        end
        r_wrong_q <= 1'b0;
        if (r_ready_axi_o) begin
          r_valid_check_q <= r_check_i.valid;
          if (r_valid_axi_i) begin
            r_id_check_q   <= r_check_i.id;
            r_good_check_q <= r_i.resp == AxiOkay;
            r_data_check_q <= r_i.resp == AxiOkay ? r_check_i.data : '1;
            r_wrong_q      <= r_check_i.resp != wanted.resp || r_check_i.last != wanted.last;
          end
        end
        error_q <= r_wrong_q || r_valid_q == r_valid_check_q
                   || (r_valid_q && (r_id_check_q != ~^r_id_q || r_data_check_q != odd_bytes(r_data_q)
                                     || r_good_check_q == r_bad_q));
      end
    end
    logic unused_wanted;
    assign unused_wanted = ^{wanted.valid, wanted.id, wanted.data};
  end else begin : gen_no_parity
    logic unused_check;
    assign unused_check   = ^r_check_i;
    assign ar_check_o     = '0;
    assign parity_error_o = 1'b0;
  end
endmodule
