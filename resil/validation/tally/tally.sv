// SPDX-License-Identifier: Apache-2.0
/// A small design for validation: sums bytes by a gain of each lane, twice over; every register is modelled in
/// Python by `resil/validation/model.py`, which is the truth that engines are held against.
module tally (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic  [3:0] source_address_o,
  input  logic [15:0] source_data_i,
  output logic        sink_we_o,
  output logic  [1:0] sink_address_o,
  output logic [15:0] sink_data_o,
  output logic        done_o,
  output logic        error_o,
  output logic        mended_o,
  output logic  [7:0] status_o
);

  localparam logic [2:0] Idle = 3'd0, Gain = 3'd1, Load = 3'd2, Sum = 3'd3, Flush = 3'd4, Done = 3'd5;
  localparam logic [11:0] Most = 12'd1500;

  logic  [2:0] state_d, state_q;
  logic  [2:0] step_d, step_q;
  logic        round_d, round_q;
  logic  [1:0] gain_q [4];
  logic [16:0] buffer_q [64];
  logic [11:0] sum_q [4];
  logic        error_q;

  logic  [1:0] lane;
  logic  [5:0] place;
  logic [16:0] word;
  logic  [7:0] value;
  logic [11:0] kept, added;
  logic        odd, high;

  assign lane  = step_q[1:0];
  assign place = {gain_q[0], round_q, step_q};
  assign word  = buffer_q[place];
  assign value = word[15:8] ^ word[7:0];
  assign odd   = state_q == Sum && ^word;
  assign high  = (state_q == Sum || state_q == Flush) && sum_q[lane] > Most;
  assign kept  = high ? Most : sum_q[lane];
  assign added = kept + 12'(value) * 12'(gain_q[lane][0]) + 12'(value[7:1]) * 12'(gain_q[lane][1]);

  always_comb begin
    state_d = state_q;
    step_d  = step_q + 3'd1;
    round_d = round_q;
    unique case (state_q)
      Idle: begin
        state_d = Gain;
        step_d  = '0;
      end
      Gain:
      if (step_q == 3'd3) begin
        state_d = Load;
        step_d  = '0;
      end
      Load: if (step_q == 3'd7) state_d = Sum;
      Sum:
      if (step_q == 3'd7) begin
        round_d = ~round_q;
        state_d = round_q ? Flush : Load;
      end
      Flush: if (step_q == 3'd3) state_d = Done;
      Done: step_d = step_q;
      default: step_d = step_q;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      step_q  <= '0;
      round_q <= 1'b0;
      error_q <= 1'b0;
    end else begin
      state_q <= state_d;
      step_q  <= step_d;
      round_q <= round_d;
      error_q <= error_q | odd;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int i = 0; i < 4; i++) gain_q[i] <= '0;
    end else if (state_q == Gain) begin
      for (int i = 0; i < 4; i++) if (lane == 2'(i)) gain_q[i] <= source_data_i[1:0];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int i = 0; i < 4; i++) sum_q[i] <= '0;
    end else if (state_q == Sum) begin
      for (int i = 0; i < 4; i++) if (lane == 2'(i)) sum_q[i] <= added;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Load) buffer_q[place] <= {^source_data_i, source_data_i};
  end

  assign source_address_o = {round_q, step_q};
  assign sink_we_o        = state_q == Flush;
  assign sink_address_o   = lane;
  assign sink_data_o      = {4'd0, kept};
  assign done_o           = state_q == Done;
  assign error_o          = error_q;
  assign mended_o         = high;
  assign status_o         = {4'd0, error_q, state_q};

endmodule
