// SPDX-License-Identifier: Apache-2.0
// A design that drives a bus of each kind: it writes a word and reads it back; an answer that is another is an error.
module many_buses (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        error_o,
  output logic  [4:0] right_o,

  output logic        data_req_o,
  input  logic        data_gnt_i,
  output logic [31:0] data_addr_o,
  output logic        data_we_o,
  output logic  [3:0] data_be_o,
  output logic [31:0] data_wdata_o,
  input  logic        data_rvalid_i,
  input  logic [31:0] data_rdata_i,
  input  logic        data_err_i,

  output logic [31:0] haddr_o,
  output logic  [1:0] htrans_o,
  output logic        hwrite_o,
  output logic  [2:0] hsize_o,
  output logic [31:0] hwdata_o,
  input  logic [31:0] hrdata_i,
  input  logic        hready_i,
  input  logic        hresp_i,

  output logic        tl_a_valid_o,
  input  logic        tl_a_ready_i,
  output logic  [2:0] tl_a_opcode_o,
  output logic  [1:0] tl_a_size_o,
  output logic  [7:0] tl_a_source_o,
  output logic [31:0] tl_a_address_o,
  output logic  [3:0] tl_a_mask_o,
  output logic [31:0] tl_a_data_o,
  input  logic        tl_d_valid_i,
  output logic        tl_d_ready_o,
  input  logic [31:0] tl_d_data_i,
  input  logic        tl_d_error_i,

  output logic        wb_cyc_o,
  output logic        wb_stb_o,
  output logic        wb_we_o,
  output logic [31:0] wb_adr_o,
  output logic  [3:0] wb_sel_o,
  output logic [31:0] wb_dat_o,
  input  logic [31:0] wb_dat_i,
  input  logic        wb_ack_i,

  output logic        ram_req_o,
  output logic        ram_we_o,
  output logic  [3:0] ram_be_o,
  output logic  [7:0] ram_addr_o,
  output logic [31:0] ram_wdata_o,
  input  logic [31:0] ram_rdata_i,

  output logic        out_tvalid_o,
  input  logic        out_tready_i,
  output logic [15:0] out_tdata_o,
  output logic        out_tlast_o
);
  localparam logic [31:0] Data = 32'h1ACE_C0DE;

  // Steps of each bus: 0 write, 1 its answer, 2 read, 3 its answer, 4 over.
  logic [2:0] obi_q, ahb_q, tl_q, wb_q, ram_q;
  logic [7:0] count_q;
  logic [4:0] right_q;

  assign data_req_o   = obi_q == 0 || obi_q == 2;
  assign data_we_o    = obi_q == 0;
  assign data_addr_o  = 32'd8;
  assign data_be_o    = '1;
  assign data_wdata_o = Data;

  assign htrans_o = ahb_q == 0 || ahb_q == 2 ? 2'd2 : 2'd0;
  assign hwrite_o = ahb_q == 0;
  assign haddr_o  = 32'd12;
  assign hsize_o  = 3'd2;
  assign hwdata_o = Data;

  assign tl_a_valid_o   = tl_q == 0 || tl_q == 2;
  assign tl_a_opcode_o  = tl_q == 0 ? 3'd0 : 3'd4;
  assign tl_a_size_o    = 2'd2;
  assign tl_a_source_o  = 8'd7;
  assign tl_a_address_o = 32'd16;
  assign tl_a_mask_o    = '1;
  assign tl_a_data_o    = Data;
  assign tl_d_ready_o   = 1'b1;

  assign wb_cyc_o = wb_q == 0 || wb_q == 2;
  assign wb_stb_o = wb_cyc_o;
  assign wb_we_o  = wb_q == 0;
  assign wb_adr_o = 32'd20;
  assign wb_sel_o = '1;
  assign wb_dat_o = Data;

  assign ram_req_o   = ram_q == 0 || ram_q == 2;
  assign ram_we_o    = ram_q == 0;
  assign ram_be_o    = '1;
  assign ram_addr_o  = 8'd6;
  assign ram_wdata_o = Data;

  assign out_tvalid_o = count_q < 8'd20;
  assign out_tdata_o  = {8'd0, count_q};
  assign out_tlast_o  = count_q == 8'd19;
  assign right_o      = right_q;
  assign error_o      = count_q == 8'd200 && right_q != '1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {obi_q, ahb_q, tl_q, wb_q, ram_q} <= '0;
      count_q <= '0;
      right_q <= '0;
    end else begin
      if (count_q != 8'd255 && (out_tready_i || count_q >= 8'd20)) count_q <= count_q + 8'd1;
      unique case (obi_q)
        0, 2: if (data_gnt_i) obi_q <= obi_q + 1;
        1: if (data_rvalid_i) obi_q <= 2;
        3: if (data_rvalid_i) begin
          obi_q <= 4;
          right_q[0] <= data_rdata_i == Data && !data_err_i;
        end
        default: ;
      endcase
      unique case (ahb_q)
        0, 2: if (hready_i) ahb_q <= ahb_q + 1;
        1: if (hready_i) ahb_q <= 2;
        3: if (hready_i) begin
          ahb_q <= 4;
          right_q[1] <= hrdata_i == Data && !hresp_i;
        end
        default: ;
      endcase
      unique case (tl_q)
        0, 2: if (tl_a_ready_i) tl_q <= tl_q + 1;
        1: if (tl_d_valid_i) tl_q <= 2;
        3: if (tl_d_valid_i) begin
          tl_q <= 4;
          right_q[2] <= tl_d_data_i == Data && !tl_d_error_i;
        end
        default: ;
      endcase
      unique case (wb_q)
        0, 2: if (wb_ack_i) begin
          wb_q <= wb_q + 2;
          if (wb_q == 2) right_q[3] <= wb_dat_i == Data;
        end
        default: ;
      endcase
      if (ram_q < 4) ram_q <= ram_q + 1;
      if (ram_q == 3) right_q[4] <= ram_rdata_i == Data;
    end
  end
endmodule
