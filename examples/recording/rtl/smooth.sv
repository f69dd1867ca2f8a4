// SPDX-License-Identifier: Apache-2.0
/// Smooths a stream of samples: each word that comes out is the scaled sum of the last four that went in.
module smooth (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       gain_we_i,
  input  logic [1:0] gain_i,
  input  logic       in_valid_i,
  output logic       in_ready_o,
  input  logic [7:0] in_data_i,
  output logic       out_valid_o,
  input  logic       out_ready_i,
  output logic [9:0] out_data_o,
  output logic       parity_error_o
);

  logic [1:0] gain_q;
  logic       take, taken_q, full;
  logic [9:0] sum;

  assign in_ready_o = !full && !taken_q;
  assign take       = in_valid_i && in_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      gain_q  <= '0;
      taken_q <= 1'b0;
    end else begin
      if (gain_we_i) gain_q <= gain_i;
      taken_q <= take;
    end
  end

  smooth_taps u_taps (
    .clk_i,
    .rst_ni,
    .shift_i (take),
    .sample_i(in_data_i),
    .sum_o   (sum),
    .error_o (parity_error_o)
  );

  smooth_queue u_queue (
    .clk_i,
    .rst_ni,
    .push_i (taken_q),
    .data_i (sum >> gain_q),
    .full_o (full),
    .valid_o(out_valid_o),
    .pop_i  (out_ready_i),
    .data_o (out_data_o)
  );

endmodule
