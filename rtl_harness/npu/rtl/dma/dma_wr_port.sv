/// Joins the OFM writer and the copy on the AXI write channels; one beat a burst.
module dma_wr_port
  import npu_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  // 0: OFM writer, goes first; 1: copy
  input  logic [1:0]  valid_i,
  output logic [1:0]  ready_o,
  input  logic [1:0][31:0] addr_i,
  input  logic [1:0][63:0] data_i,
  input  logic [1:0][7:0]  strb_i,
  output logic [1:0]  idle_o,
  output logic        bus_error_o,
  // AXI
  output logic        aw_valid_o,
  input  logic        aw_ready_i,
  output axi_aw_t     aw_o,
  output logic        w_valid_o,
  input  logic        w_ready_i,
  output axi_w_t      w_o,
  input  logic        b_valid_i,
  output logic        b_ready_o,
  input  axi_b_t      b_i
);
  localparam int unsigned MaxOnWay = 31;

  logic aw_valid_q, w_valid_q, pick_q;
  logic [31:0] addr_q;
  logic [63:0] data_q;
  logic [7:0] strb_q;
  logic [1:0][4:0] on_way_q;

  logic free, pick, take;
  assign free = (!aw_valid_q || aw_ready_i) && (!w_valid_q || w_ready_i);
  assign pick = !valid_i[0];
  assign take = free && |valid_i && on_way_q[pick] != 5'(MaxOnWay);
  assign ready_o = take ? (pick ? 2'b10 : 2'b01) : 2'b00;

  assign aw_valid_o = aw_valid_q;
  assign aw_o       = '{id: {2'd0, pick_q}, addr: addr_q, len: 8'd0};
  assign w_valid_o  = w_valid_q;
  assign w_o        = '{data: data_q, strb: strb_q, last: 1'b1};
  assign b_ready_o  = 1'b1;
  assign bus_error_o = b_valid_i && b_i.resp != 2'b00;
  assign idle_o     = {on_way_q[1] == '0, on_way_q[0] == '0};

  logic unused_id;
  assign unused_id = |b_i.id[2:1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_valid_q <= 1'b0;
      w_valid_q  <= 1'b0;
      pick_q     <= 1'b0;
      addr_q     <= '0;
      data_q     <= '0;
      strb_q     <= '0;
      on_way_q   <= '0;
    end else if (en_i) begin
      if (aw_ready_i) aw_valid_q <= 1'b0;
      if (w_ready_i) w_valid_q <= 1'b0;
      if (take) begin
        aw_valid_q <= 1'b1;
        w_valid_q  <= 1'b1;
        pick_q     <= pick;
        addr_q     <= addr_i[pick];
        data_q     <= data_i[pick];
        strb_q     <= strb_i[pick];
      end
      for (int unsigned i = 0; i < 2; i++) begin
        on_way_q[i] <= on_way_q[i] + 5'(take && pick == i[0])
                       - 5'(b_valid_i && b_i.id[0] == i[0]);
      end
    end
  end
endmodule
