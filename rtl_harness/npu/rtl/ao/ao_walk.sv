// SPDX-License-Identifier: Apache-2.0
/// Walk of the output unit through a block: for each group of 16 channels, once their parameters are there,
/// each row, each pixel, and of it a few channels a cycle.
module ao_walk
  import npu_pkg::*;
#(
  parameter int unsigned Rate = 1
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       en_i,
  input  op_t        op_i,
  input  logic       valid_i,        // the step is known
  input  logic       ready_i,        // its accumulators, or operands, are there
  input  step_t      step_i,
  input  logic       scale_idle_i,
  input  logic       stage_full_i,
  input  logic       loaded_i,       // the parameters of the next group are there
  output logic       start_o,        // a block begins
  output logic       next_o,         // they are those of the group from now on
  output logic       take_o,         // takes the elements at this place
  output logic [3:0] channel_o,      // within the group
  output logic [1:0] log2_rate_o,
  output logic [1:0] more_o,         // elements beside the first
  output logic [5:0] bw_m1_o,
  output logic [5:0] bh_m1_o,
  output logic       odd_x_o,
  output logic       odd_y_o,
  output logic       last_channel_o, // of the pixel
  output logic       last_x_o,
  output logic       last_y_o,
  output logic       done_o
);
  typedef enum logic [1:0] {
    Idle,
    Wait,  // for the group's parameters
    Walk,
    Switch
  } state_e;

  localparam logic [7:0] Group = 8'd16;  // channels

  state_e state_q;
  logic [7:0] left_q;      // channels of the block from this group on
  logic [3:0] c_q;         // channel within the group
  logic [5:0] x_q, y_q;
  logic [5:0] bw_m1, bh_m1;

  logic weighted, wide;
  assign weighted = op_i.kind == Conv || op_i.kind == Depthwise;
  assign wide     = op_i.kind == Elementwise
                    && (op_i.ifm.log2_bytes == 2'd2 || op_i.ifm2.log2_bytes == 2'd2);

  // Elements a cycle: one with a look-up table, and no more than half a row of a shared buffer bank
  logic [1:0] log2_rate;
  always_comb begin
    log2_rate = 2'($clog2(Rate));
    if (wide && log2_rate > 2'd1) log2_rate = 2'd1;
    if (op_i.table_used) log2_rate = 2'd0;
  end

  logic last_group, last_c, last_x, last_y;
  logic [4:0] channels, left;
  logic [2:0] rate;
  assign rate       = 3'd1 << log2_rate;
  assign last_group = left_q <= Group;
  assign channels   = last_group ? left_q[4:0] : 5'(Group);
  assign left       = channels - 5'(c_q);
  assign last_c     = left <= 5'(rate);
  assign bw_m1      = 6'(step_i.bw - 7'd1);
  assign bh_m1      = 6'(step_i.bh - 7'd1);
  assign last_x     = x_q == bw_m1;
  assign last_y     = y_q == bh_m1;

  assign start_o        = state_q == Idle && valid_i && scale_idle_i;
  assign next_o         = loaded_i && weighted && (state_q == Wait || (state_q == Switch && !last_group));
  assign take_o         = state_q == Walk && ready_i && !stage_full_i;
  assign channel_o      = c_q;
  assign log2_rate_o    = log2_rate;
  assign more_o         = 2'((last_c ? 3'(left) : rate) - 3'd1);
  assign bw_m1_o        = bw_m1;
  assign bh_m1_o        = bh_m1;
  assign odd_x_o        = x_q[0];
  assign odd_y_o        = y_q[0];
  assign last_channel_o = last_c;
  assign last_x_o       = last_x;
  assign last_y_o       = last_y;
  assign done_o         = state_q == Switch && last_group;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      left_q  <= '0;
      c_q     <= '0;
      x_q     <= '0;
      y_q     <= '0;
    end else if (en_i) begin
      unique case (state_q)
        Idle: begin
          if (start_o) begin
            state_q <= weighted ? Wait : Walk;
            left_q  <= step_i.bd;
            c_q     <= '0;
            x_q     <= '0;
            y_q     <= '0;
          end
        end
        Wait: if (loaded_i) state_q <= Walk;
        Walk: begin
          if (take_o) begin
            c_q <= last_c ? '0 : c_q + 4'(rate);
            if (last_c) begin
              x_q <= last_x ? '0 : x_q + 6'd1;
              if (last_x) begin
                y_q <= last_y ? '0 : y_q + 6'd1;
                if (last_y) state_q <= Switch;
              end
            end
          end
        end
        // The last elements come from the shared buffer, and their parameters are read, in this cycle.
        Switch: begin
          left_q  <= left_q - Group;
          state_q <= last_group ? Idle : (weighted && !loaded_i ? Wait : Walk);
        end
        default: state_q <= Idle;
      endcase
    end
  end
endmodule
