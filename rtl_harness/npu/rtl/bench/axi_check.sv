// SPDX-License-Identifier: Apache-2.0
/// The far end of an AXI port with parity: checks what the master gives, and makes the check bits of the answers.
///
/// What lies behind, a memory or a bus, has none of its own: its answers are taken for what they are.
module axi_check
  import axi_pkg::*;
(
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          ar_valid_i,
  input  axi_ar_t       ar_i,
  input  axi_ax_check_t ar_check_i,
  input  logic          r_valid_i,
  input  axi_r_t        r_i,
  output axi_r_check_t  r_check_o,
  input  logic          aw_valid_i,
  input  axi_aw_t       aw_i,
  input  axi_ax_check_t aw_check_i,
  input  logic          w_valid_i,
  input  axi_w_t        w_i,
  input  axi_w_check_t  w_check_i,
  input  logic          b_valid_i,
  input  axi_b_t        b_i,
  output axi_b_check_t  b_check_o,
  output logic          error_o
);
  // The first bit of each is that of VALID, which counts in each cycle.
  axi_ax_check_t ar_wrong, aw_wrong;
  axi_w_check_t w_wrong;
  assign ar_wrong = ar_check_i ^ ar_check(ar_valid_i, ar_i);
  assign aw_wrong = aw_check_i ^ aw_check(aw_valid_i, aw_i);
  assign w_wrong  = w_check_i ^ w_check(w_valid_i, w_i);

  assign r_check_o = r_check(r_valid_i, r_i);
  assign b_check_o = b_check(b_valid_i, b_i);

  logic error_q;
  assign error_o = error_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) error_q <= 1'b0;
    else begin
      error_q <= ar_wrong.valid || (ar_valid_i && ar_wrong != '0) || aw_wrong.valid
                 || (aw_valid_i && aw_wrong != '0) || w_wrong.valid || (w_valid_i && w_wrong != '0);
    end
  end
endmodule
