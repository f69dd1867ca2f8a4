// SPDX-License-Identifier: Apache-2.0
// A host behind each bus, and the registers that it writes: 8 words; word 7 counts down to 0 once it is written and
// then raises the interrupt; address 0x20 and above is an error.
module device (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        write_i,
  input  logic        read_i,
  input  logic  [5:2] address_i,
  input  logic [31:0] data_i,
  output logic [31:0] data_o,
  output logic        error_o,
  output logic        irq_o
);
  logic [7:0][31:0] word_q;
  logic armed_q;
  assign error_o = address_i[5];
  assign data_o  = error_o ? '1 : word_q[address_i[4:2]] + 32'(read_i);
  assign irq_o   = armed_q && word_q[7] == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q  <= '0;
      armed_q <= 1'b0;
    end else begin
      if (word_q[7] != '0) word_q[7] <= word_q[7] - 32'd1;
      if (write_i && !error_o) begin
        word_q[address_i[4:2]] <= data_i;
        if (address_i[4:2] == 3'd7) armed_q <= 1'b1;
      end
    end
  end
endmodule

module axil_host (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic        error_o,
  output logic [31:0] status_o,
  output logic [15:0] operations_o
);
  logic req_valid, req_write, rsp_valid, rsp_error, irq;
  logic [31:0] req_addr, req_data, rsp_data;
  logic awvalid, wvalid, bready, arvalid, rready;
  logic [31:0] awaddr, wdata, araddr, data;
  logic [3:0] wstrb;
  logic aw_q, w_q, ar_q, error, error_q, b_q, r_q, write;
  logic [31:0] aw_addr_q, w_data_q, ar_addr_q, data_q;
  logic [2:0] slow_q;

  resil_boot #(.Words(16), .PollInterval(3), .PlusArg("axil")) u_boot (
    .clk_i, .rst_ni, .irq_i({31'd0, irq}), .req_valid_o(req_valid), .req_write_o(req_write), .req_addr_o(req_addr),
    .req_data_o(req_data), .rsp_valid_i(rsp_valid), .rsp_data_i(rsp_data), .rsp_error_i(rsp_error),
    .done_o, .error_o, .status_o, .operations_o
  );
  resil_axil_master u_master (
    .clk_i, .rst_ni, .req_valid_i(req_valid), .req_write_i(req_write), .req_addr_i(req_addr),
    .req_data_i(req_data), .rsp_valid_o(rsp_valid), .rsp_data_o(rsp_data), .rsp_error_o(rsp_error),
    .awvalid_o(awvalid), .awready_i(!aw_q && slow_q[0]), .awaddr_o(awaddr),
    .wvalid_o(wvalid), .wready_i(!w_q && slow_q[1]), .wdata_o(wdata), .wstrb_o(wstrb),
    .bvalid_i(b_q), .bready_o(bready), .bresp_i({error_q, 1'b0}),
    .arvalid_o(arvalid), .arready_i(!ar_q && slow_q[2]), .araddr_o(araddr),
    .rvalid_i(r_q), .rready_o(rready), .rdata_i(data_q), .rresp_i({error_q, 1'b0})
  );
  // Takes address and data in any order, each at times of its own.
  assign write = aw_q && w_q && !b_q;
  device u_device (
    .clk_i, .rst_ni, .write_i(write), .read_i(1'b0), .address_i(aw_q ? aw_addr_q[5:2] : ar_addr_q[5:2]),
    .data_i(w_data_q), .data_o(data), .error_o(error), .irq_o(irq)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_q, w_q, ar_q, b_q, r_q, error_q} <= '0;
      {aw_addr_q, w_data_q, ar_addr_q, data_q} <= '0;
      slow_q <= 3'b110;
    end else begin
      slow_q <= {slow_q[1:0], slow_q[2] ^ slow_q[1]};
      if (awvalid && !aw_q && slow_q[0]) {aw_q, aw_addr_q} <= {1'b1, awaddr};
      if (wvalid && !w_q && slow_q[1]) {w_q, w_data_q} <= {&wstrb, wdata};
      if (arvalid && !ar_q && slow_q[2]) {ar_q, ar_addr_q} <= {1'b1, araddr};
      if (write) {b_q, error_q} <= {1'b1, error};
      if (ar_q && !r_q) {r_q, error_q, data_q} <= {1'b1, error, data};
      if (b_q && bready) {aw_q, w_q, b_q} <= '0;
      if (r_q && rready) {ar_q, r_q} <= '0;
    end
  end
endmodule

module apb_host (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic        error_o,
  output logic [31:0] status_o,
  output logic [15:0] operations_o
);
  logic req_valid, req_write, rsp_valid, rsp_error, irq, psel, penable, pwrite, error;
  logic [31:0] req_addr, req_data, rsp_data, paddr, pwdata, prdata;
  logic [3:0] pstrb;
  logic [1:0] slow_q;
  resil_boot #(.Words(16), .PollInterval(3), .PlusArg("apb")) u_boot (
    .clk_i, .rst_ni, .irq_i({31'd0, irq}), .req_valid_o(req_valid), .req_write_o(req_write), .req_addr_o(req_addr),
    .req_data_o(req_data), .rsp_valid_i(rsp_valid), .rsp_data_i(rsp_data), .rsp_error_i(rsp_error),
    .done_o, .error_o, .status_o, .operations_o
  );
  resil_apb_master u_master (
    .clk_i, .rst_ni, .req_valid_i(req_valid), .req_write_i(req_write), .req_addr_i(req_addr),
    .req_data_i(req_data), .rsp_valid_o(rsp_valid), .rsp_data_o(rsp_data), .rsp_error_o(rsp_error),
    .psel_o(psel), .penable_o(penable), .pwrite_o(pwrite), .paddr_o(paddr), .pwdata_o(pwdata), .pstrb_o(pstrb),
    .pready_i(slow_q == 2'd2), .prdata_i(prdata), .pslverr_i(error)
  );
  device u_device (
    .clk_i, .rst_ni, .write_i(psel && penable && pwrite && slow_q == 2'd2 && &pstrb), .read_i(1'b0),
    .address_i(paddr[5:2]), .data_i(pwdata), .data_o(prdata), .error_o(error), .irq_o(irq)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) slow_q <= '0;
    else slow_q <= psel && penable && slow_q != 2'd2 ? slow_q + 2'd1 : '0;
  end
endmodule
