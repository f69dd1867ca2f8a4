// SPDX-License-Identifier: Apache-2.0
/// Parameters of the channels of a group, read by all lanes at once.
///
/// Those of the next group come from the scale stream one after another, while this group's are in use.
module ao_channels
  import npu_pkg::*;
#(
  parameter int unsigned Rate = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  op_t         op_i,
  input  logic        start_i,        // a block begins
  input  logic [15:0] first_i,        // channel of the block
  input  logic [7:0]  depth_i,
  // Stream request and beats
  output logic        stream_start_o,
  output logic [31:0] stream_offset_o,
  output logic [31:0] stream_length_o,
  input  logic        stream_valid_i,
  output logic        stream_ready_o,
  input  logic [63:0] stream_data_i,
  // Channels of the group
  output logic        loaded_o,       // those of the next group are there
  input  logic        next_i,         // they take their place
  input  logic [3:0]  channel_i,      // of the first lane
  output logic [Rate-1:0][39:0] bias_o,
  output logic [Rate-1:0][31:0] scale_o,
  output logic [Rate-1:0][5:0]  shift_o
);
  logic valid, weighted;
  logic [39:0] bias;
  logic [31:0] scale;
  logic [5:0] shift;
  assign weighted = op_i.kind == Conv || op_i.kind == Depthwise;

  // The next group
  logic full_q, load, last;
  logic [3:0] at_q;
  logic [7:0] left_q;  // channels of the block to load
  assign load     = valid && !full_q && left_q != '0;
  assign last     = at_q == '1 || left_q == 8'd1;
  assign loaded_o = full_q;
  ao_params u_params (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .start_i        (start_i && weighted),
    .channel_i      (first_i),
    .depth_i        (depth_i),
    .length_i       (op_i.scale.length),
    .stream_start_o (stream_start_o),
    .stream_offset_o(stream_offset_o),
    .stream_length_o(stream_length_o),
    .stream_valid_i (stream_valid_i),
    .stream_ready_o (stream_ready_o),
    .stream_data_i  (stream_data_i),
    .valid_o        (valid),
    .ready_i        (load),
    .bias_o         (bias),
    .scale_o        (scale),
    .shift_o        (shift)
  );

  logic [15:0][39:0] bias_q, next_bias_q;
  logic [15:0][31:0] scale_q, next_scale_q;
  logic [15:0][5:0] shift_q, next_shift_q;

  for (genvar r = 0; r < Rate; r++) begin : gen_lane
    // Where several lanes work, the first one's channel is a multiple of their number.
    logic [3:0] channel;
    assign channel    = r == 0 ? channel_i : (channel_i & ~4'(Rate - 1)) | 4'(r);
    assign bias_o[r]  = bias_q[channel];
    assign scale_o[r] = scale_q[channel];
    assign shift_o[r] = shift_q[channel];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q       <= 1'b0;
      at_q         <= '0;
      left_q       <= '0;
      bias_q       <= '0;
      scale_q      <= '0;
      shift_q      <= '0;
      next_bias_q  <= '0;
      next_scale_q <= '0;
      next_shift_q <= '0;
    end else if (en_i) begin
      if (start_i && weighted) begin
        full_q <= 1'b0;
        at_q   <= '0;
        left_q <= depth_i;
      end else if (load) begin
        full_q <= last;
        at_q   <= last ? '0 : at_q + 4'd1;
        left_q <= left_q - 8'd1;
      end else if (next_i) begin
        full_q <= 1'b0;
      end
      if (load) begin
        next_bias_q[at_q]  <= bias;
        next_scale_q[at_q] <= scale;
        next_shift_q[at_q] <= shift;
      end
      if (next_i) begin
        bias_q  <= next_bias_q;
        scale_q <= next_scale_q;
        shift_q <= next_shift_q;
      end
    end
  end
endmodule
