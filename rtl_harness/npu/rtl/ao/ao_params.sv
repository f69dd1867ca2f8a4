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
  input  step_t              step_i,
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
  output logic signed [39:0] bias_o,
  output logic [31:0]        scale_o,
  output logic [5:0]         shift_o
);
  localparam int unsigned Bytes = 18;

  logic [Bytes*8-1:0] buffer_q;
  logic [4:0] level_q;
  logic [7:0] beats_q;        // beats to come
  logic [10:0] left_q;        // bytes of the stream that are left for the block
  logic [2:0] skip_q;         // bytes of the first beat that precede the block

  logic [31:0] first, available, wanted, taken;
  assign first     = 32'(step_i.oz0) * 32'd10;
  assign available = length_i > first ? length_i - first : '0;
  assign wanted    = 32'(step_i.bd) * 32'd10;
  assign taken     = available < wanted ? available : wanted;

  assign stream_start_o  = start_i && taken != '0;
  assign stream_offset_o = {first[31:3], 3'd0};
  assign stream_length_o = taken + 32'(first[2:0]);

  logic refill, pop;
  assign valid_o = level_q >= 5'd10 || beats_q == '0;
  assign pop     = valid_o && ready_i;

  logic [Bytes*8-1:0] remaining, added;
  logic [4:0] remaining_level;
  assign remaining       = pop ? buffer_q >> 80 : buffer_q;
  assign remaining_level = !pop ? level_q : (level_q > 5'd10 ? level_q - 5'd10 : '0);
  assign added           = (Bytes * 8)'(stream_data_i >> {skip_q, 3'd0});
  assign stream_ready_o  = remaining_level <= 5'd10;
  assign refill          = stream_valid_i && stream_ready_o && beats_q != '0;

  logic [79:0] record;
  always_comb begin
    record = buffer_q[79:0];
    for (int unsigned i = 0; i < 10; i++) begin
      if (left_q <= 11'(i)) record[8*i+:8] = '0;
    end
  end
  assign bias_o  = record[39:0];
  assign scale_o = record[71:40];
  assign shift_o = record[77:72];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      buffer_q <= '0;
      level_q  <= '0;
      beats_q  <= '0;
      left_q   <= '0;
      skip_q   <= '0;
    end else if (en_i) begin
      if (start_i) begin
        buffer_q <= '0;
        level_q  <= '0;
        beats_q  <= taken == '0 ? '0 : 8'((stream_length_o + 32'd7) >> 3);
        left_q   <= taken[10:0];
        skip_q   <= first[2:0];
      end else begin
        buffer_q <= remaining | (refill ? added << {remaining_level, 3'd0} : '0);
        level_q  <= remaining_level + (refill ? 5'd8 - 5'(skip_q) : 5'd0);
        if (pop) left_q <= left_q > 11'd10 ? left_q - 11'd10 : '0;
        if (refill) begin
          beats_q <= beats_q - 8'd1;
          skip_q  <= '0;
        end
      end
    end
  end

  logic unused_bits;
  assign unused_bits = ^record[79:78];
endmodule
