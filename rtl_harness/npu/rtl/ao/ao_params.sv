// SPDX-License-Identifier: Apache-2.0
/// Unpacks the scale stream: ten bytes a channel, bias (40 bits), scale (32), shift (6).
///
/// The stream is requested for a block's channels; bytes beyond its length read as zero.
module ao_params
  import npu_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  logic               start_i,
  input  logic [15:0]        channel_i,  // first of the block
  input  logic [7:0]         depth_i,    // channels of the block
  input  logic [31:0]        length_i,   // bytes of the whole scale stream
  // Stream request and beats
  output logic               stream_start_o,
  output logic [31:0]        stream_offset_o,
  output logic [31:0]        stream_length_o,
  input  logic               stream_valid_i,
  output logic               stream_ready_o,
  input  logic [63:0]        stream_data_i,
  // One channel
  output logic               valid_o,
  input  logic               ready_i,
  output logic [39:0]        bias_o,
  output logic [31:0]        scale_o,
  output logic [5:0]         shift_o
);
  typedef enum logic [1:0] {
    Run,      // unpacks what was asked for
    Measure,  // how much of the stream there is for the block
    Ask
  } state_e;

  localparam int unsigned Record = 10;      // bytes of a channel
  localparam int unsigned Beat = 8;         // bytes of a beat
  localparam int unsigned Bytes = Record + Beat;

  state_e state_q;
  logic [19:0] first_q;       // byte of the stream with which the block begins
  logic [10:0] left_q;        // bytes of the stream that are left for the block
  logic [Bytes*8-1:0] buffer_q;
  logic [4:0] level_q;
  logic [7:0] beats_q;        // beats to come
  logic [2:0] skip_q;         // bytes of the first beat that precede the block

  // Request
  logic signed [32:0] available;
  logic [11:0] length;
  assign available       = $signed({1'b0, length_i}) - $signed(33'(first_q));
  assign length          = 12'(left_q) + 12'(first_q[2:0]);
  assign stream_start_o  = state_q == Ask && left_q != '0;
  assign stream_offset_o = {12'd0, first_q[19:3], 3'd0};
  assign stream_length_o = 32'(length);

  // Buffer
  logic refill, pop;
  logic [Bytes*8-1:0] remaining, added;
  logic [4:0] remaining_level;
  assign valid_o         = state_q == Run && (level_q >= 5'(Record) || beats_q == '0);
  assign pop             = valid_o && ready_i;
  assign remaining       = pop ? buffer_q >> 8 * Record : buffer_q;
  assign remaining_level = !pop ? level_q : (level_q > 5'(Record) ? level_q - 5'(Record) : '0);
  assign added           = (Bytes * 8)'(stream_data_i >> {skip_q, 3'd0});
  assign stream_ready_o  = state_q == Run && (level_q <= 5'(Record) || ready_i);
  assign refill          = stream_valid_i && stream_ready_o && beats_q != '0;

  logic [8*Record-1:0] record;
  always_comb begin
    record = buffer_q[8*Record-1:0];
    for (int unsigned i = 0; i < Record; i++) begin
      if (left_q <= 11'(i)) record[8*i+:8] = '0;
    end
  end
  assign bias_o  = record[39:0];
  assign scale_o = record[71:40];
  assign shift_o = record[77:72];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Run;
      first_q  <= '0;
      buffer_q <= '0;
      level_q  <= '0;
      beats_q  <= '0;
      left_q   <= '0;
      skip_q   <= '0;
    end else if (en_i) begin
      unique case (state_q)
        Run: begin
          if (start_i) begin
            state_q <= Measure;
            first_q <= 20'(channel_i) * 20'(Record);
            left_q  <= 11'(depth_i) * 11'(Record);
          end else begin
            buffer_q <= remaining | (refill ? added << {remaining_level, 3'd0} : '0);
            level_q  <= remaining_level + (refill ? 5'(Beat) - 5'(skip_q) : 5'd0);
            if (pop) left_q <= left_q > 11'(Record) ? left_q - 11'(Record) : '0;
            if (refill) begin
              beats_q <= beats_q - 8'd1;
              skip_q  <= '0;
            end
          end
        end
        Measure: begin
          state_q <= Ask;
          if (available <= 0) left_q <= '0;
          else if (available < 33'(left_q)) left_q <= available[10:0];
        end
        Ask: begin
          state_q  <= Run;
          buffer_q <= '0;
          level_q  <= '0;
          beats_q  <= left_q == '0 ? '0 : 8'((length + 12'(Beat - 1)) / 12'(Beat));
          skip_q   <= first_q[2:0];
        end
        default: state_q <= Run;
      endcase
    end
  end

  logic unused_bits;
  assign unused_bits = ^record[79:78];
endmodule
