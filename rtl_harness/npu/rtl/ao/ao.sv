/// Output unit: turns a block's accumulators into OFM bytes in the staging area.
///
/// Four channels at a time: their parameters, then each pixel's accumulators, one a cycle.
module ao
  import npu_pkg::*;
#(
  parameter int unsigned SbBanks = 16,
  localparam int unsigned AccAddrW = $clog2(SbBanks) - 1 + 7
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                en_i,
  input  op_t                 op_i,
  input  logic                valid_i,  // the step is known
  input  logic                ready_i,  // its accumulators are complete, the staging area is free
  input  step_t               step_i,
  input  logic                acc_buffer_i,
  output logic                done_o,
  // Scale stream
  output logic                scale_start_o,
  output logic                scale_stop_o,
  output logic [31:0]         scale_offset_o,
  output logic [31:0]         scale_length_o,
  input  logic                scale_valid_i,
  output logic                scale_ready_o,
  input  logic [63:0]         scale_data_i,
  input  logic                scale_idle_i,
  // Shared buffer
  output logic                acc_rd_o,
  output logic [AccAddrW-1:0] acc_rd_addr_o,
  input  logic [127:0]        acc_rd_data_i,
  output logic                stage_wr_o,
  output logic [8:0]          stage_wr_addr_o,
  output logic [31:0]         stage_wr_data_o
);
  typedef enum logic [2:0] {
    Idle,
    Load,
    Pixels,
    Switch,
    Drain,
    Done
  } state_e;

  state_e state_q;
  logic [7:0] channel_q;      // first channel of the group
  logic [1:0] lane_q;
  logic [12:0] pixel_q;
  logic [8:0] unit_q;         // accumulator row and staging address of the pixel
  logic [2:0] drain_q;

  logic [3:0][39:0] bias_q;
  logic [3:0][31:0] scale_q;
  logic [3:0][5:0] shift_q;

  logic [7:0] left;
  logic [1:0] last_lane;
  logic [12:0] npix;
  logic last_pixel, last_group;
  assign left       = step_i.bd - channel_q;
  assign last_lane  = left > 8'd4 ? 2'd3 : 2'(left - 8'd1);
  assign npix       = 13'(step_i.bw) * 13'(step_i.bh);
  assign last_pixel = pixel_q == npix - 13'd1;
  assign last_group = left <= 8'd4;

  // Parameters
  logic begin_block, param_valid, param_ready;
  logic signed [39:0] param_bias;
  logic [31:0] param_scale;
  logic [5:0] param_shift;
  assign begin_block  = state_q == Idle && valid_i && scale_idle_i;
  assign param_ready  = state_q == Load;
  assign scale_stop_o = state_q == Done;
  ao_params u_params (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .start_i        (begin_block),
    .step_i         (step_i),
    .length_i       (op_i.scale.length),
    .stream_start_o (scale_start_o),
    .stream_offset_o(scale_offset_o),
    .stream_length_o(scale_length_o),
    .stream_valid_i (scale_valid_i),
    .stream_ready_o (scale_ready_o),
    .stream_data_i  (scale_data_i),
    .valid_o        (param_valid),
    .ready_i        (param_ready),
    .bias_o         (param_bias),
    .scale_o        (param_scale),
    .shift_o        (param_shift)
  );

  // Accumulators: one read a pixel, one lane a cycle
  logic [5:0] acc_half, acc_first;
  assign acc_half  = (6'(SbBanks) - op_i.ab_start) >> 2;
  assign acc_first = (op_i.ab_start + 6'd1) >> 1;

  logic go;
  assign go            = state_q == Pixels && ready_i;
  assign acc_rd_o      = go && lane_q == '0;
  assign acc_rd_addr_o = {(AccAddrW - 7)'(acc_first + (acc_buffer_i ? acc_half : '0)), 7'd0}
                         + AccAddrW'(unit_q);

  logic lane_valid_q, lane_last_q;
  logic [1:0] lane_at_q;
  logic [8:0] lane_unit_q;
  logic scaled_valid;
  logic [7:0] scaled;
  ao_scale u_scale (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (en_i),
    .op_i   (op_i),
    .valid_i(lane_valid_q),
    .acc_i  (acc_rd_data_i[32*lane_at_q+:32]),
    .bias_i (bias_q[lane_at_q]),
    .scale_i(scale_q[lane_at_q]),
    .shift_i(shift_q[lane_at_q]),
    .valid_o(scaled_valid),
    .value_o(scaled)
  );

  // The position of each value travels beside it through the three stages.
  logic [2:0] last_q;
  logic [2:0][1:0] at_q;
  logic [2:0][8:0] place_q;
  logic [31:0] piece_q, piece;
  always_comb begin
    piece = at_q[2] == '0 ? '0 : piece_q;
    piece[8*at_q[2]+:8] = scaled;
  end
  assign stage_wr_o      = scaled_valid && last_q[2];
  assign stage_wr_addr_o = place_q[2];
  assign stage_wr_data_o = piece;

  assign done_o = state_q == Done;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      channel_q    <= '0;
      lane_q       <= '0;
      pixel_q      <= '0;
      unit_q       <= '0;
      drain_q      <= '0;
      bias_q       <= '0;
      scale_q      <= '0;
      shift_q      <= '0;
      lane_valid_q <= 1'b0;
      lane_last_q  <= 1'b0;
      lane_at_q    <= '0;
      lane_unit_q  <= '0;
      last_q       <= '0;
      at_q         <= '0;
      place_q      <= '0;
      piece_q      <= '0;
    end else if (en_i) begin
      unique case (state_q)
        Idle: begin
          if (begin_block) begin
            state_q   <= Load;
            channel_q <= '0;
            lane_q    <= '0;
            pixel_q   <= '0;
            unit_q    <= '0;
          end
        end
        Load: begin
          if (param_valid) begin
            bias_q[lane_q]  <= param_bias;
            scale_q[lane_q] <= param_scale;
            shift_q[lane_q] <= param_shift;
            lane_q          <= lane_q == last_lane ? '0 : lane_q + 2'd1;
            if (lane_q == last_lane) state_q <= Pixels;
          end
        end
        Pixels: begin
          if (go) begin
            lane_q <= lane_q == last_lane ? '0 : lane_q + 2'd1;
            if (lane_q == last_lane) begin
              unit_q  <= unit_q + 9'd1;
              pixel_q <= last_pixel ? '0 : pixel_q + 13'd1;
              if (last_pixel) state_q <= Switch;
            end
          end
        end
        // The last value reads its parameters in this cycle.
        Switch: begin
          channel_q <= channel_q + 8'd4;
          drain_q   <= 3'd3;
          state_q   <= last_group ? Drain : Load;
        end
        Drain: begin
          drain_q <= drain_q - 3'd1;
          if (drain_q == '0) state_q <= Done;
        end
        Done: state_q <= Idle;
        default: state_q <= Idle;
      endcase

      lane_valid_q <= go;
      if (go) begin
        lane_at_q   <= lane_q;
        lane_last_q <= lane_q == last_lane;
        lane_unit_q <= unit_q;
      end
      last_q  <= {last_q[1:0], lane_valid_q && lane_last_q};
      at_q    <= {at_q[1:0], lane_at_q};
      place_q <= {place_q[1:0], lane_unit_q};
      if (scaled_valid) piece_q <= piece;
    end
  end
endmodule
