// SPDX-License-Identifier: Apache-2.0
/// The design under test: every kind of storage that is awkward to list, to find again and to flip.
module awkward
  import awkward_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic  [5:0] source_address_o,
  input  logic [31:0] source_data_i,
  output logic        sink_we_o,
  output logic  [5:0] sink_address_o,
  output logic [63:0] sink_data_o,
  output logic        done_o,
  output logic        error_o,
  output logic [31:0] status_o,
  output logic [15:0] ops_done_o
);

  state_e            state;
  logic        [3:0] step;
  logic        [7:0] round;
  logic [3:0] [31:0] lane;
  logic       [71:0] past;
  logic              mismatch;

  control u_control (
    .clk_i,
    .rst_ni,
    .mismatch_i(mismatch),
    .state_o   (state),
    .step_o    (step),
    .address_o (source_address_o),
    .round_o   (round)
  );

  lanes u_lanes (
    .clk_i,
    .rst_ni,
    .coef_we_i(state == StCoef),
    .load_i   (state == StLoad),
    .work_i   (state == StWork),
    .index_i  (step[1:0]),
    .step_i   (step),
    .data_i   (source_data_i),
    .lane_o   (lane)
  );

  history u_history (
    .clk_i,
    .rst_ni,
    .push_i    (state == StFlush),
    .index_i   ({round[1:0], step[1:0]}),
    .data_i    (lane[step[1:0]]),
    .past_o    (past),
    .mismatch_o(mismatch)
  );

  assign sink_we_o      = state == StFlush;
  assign sink_address_o = {round[3:0], step[1:0]};
  assign sink_data_o    = {past[63:32] ^ {24'd0, past[71:64]}, lane[step[1:0]] ^ past[31:0]};
  assign done_o         = state == StDone || state == StFailed;
  assign error_o        = state == StFailed;
  assign status_o       = {16'd0, round, 5'd0, state};
  assign ops_done_o     = 16'(round);

endmodule
