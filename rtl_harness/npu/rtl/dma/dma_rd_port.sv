/// Joins the read clients on one AXI port: addresses by fixed priority, beats by identifier.
module dma_rd_port
  import npu_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_ni,
  input  logic    en_i,
  input  logic    [NumRdClients-1:0] valid_i,
  output logic    [NumRdClients-1:0] ready_o,
  input  logic    [NumRdClients-1:0][31:0] addr_i,
  input  logic    [NumRdClients-1:0][7:0] len_i,
  output logic    [NumRdClients-1:0] r_valid_o,
  input  logic    [NumRdClients-1:0] r_ready_i,
  output logic    bus_error_o,
  // AXI
  output logic    ar_valid_o,
  input  logic    ar_ready_i,
  output axi_ar_t ar_o,
  input  logic    r_valid_axi_i,
  output logic    r_ready_axi_o,
  input  axi_r_t  r_i
);
  logic ar_valid_q;
  axi_ar_t ar_q;
  assign ar_valid_o = ar_valid_q;
  assign ar_o       = ar_q;

  logic free;
  assign free = !ar_valid_q || ar_ready_i;

  axi_ar_t pick;
  logic any;
  always_comb begin
    pick    = '0;
    any     = 1'b0;
    ready_o = '0;
    for (int unsigned i = 0; i < NumRdClients; i++) begin
      if (valid_i[i] && !any) begin
        any        = 1'b1;
        pick       = '{id: 3'(i), addr: addr_i[i], len: len_i[i]};
        ready_o[i] = free;
      end
    end
  end

  always_comb begin
    r_valid_o     = '0;
    r_ready_axi_o = 1'b1;
    for (int unsigned i = 0; i < NumRdClients; i++) begin
      if (r_i.id == 3'(i)) begin
        r_valid_o[i]  = r_valid_axi_i;
        r_ready_axi_o = r_ready_i[i];
      end
    end
  end
  assign bus_error_o = r_valid_axi_i && r_ready_axi_o && r_i.resp != 2'b00;

  logic unused_last;
  assign unused_last = r_i.last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_valid_q <= 1'b0;
      ar_q       <= '0;
    end else if (en_i && free) begin
      ar_valid_q <= any;
      if (any) ar_q <= pick;
    end
  end
endmodule
