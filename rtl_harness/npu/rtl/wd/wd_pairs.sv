// SPDX-License-Identifier: Apache-2.0
/// Pairs zero runs with the weights behind them: groups of up to `Rate` places, each a zero run (or
/// a piece of one) and its weight. A piece that goes on, and a run whose weight is not there yet,
/// end a group.
module wd_pairs
  import wd_pkg::*;
#(
  parameter int unsigned Rate = 4,
  localparam int unsigned RateW = $clog2(Rate + 1),
  localparam int unsigned PlaceW = $clog2(Rate * (MostZeros + 1) + 1)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           en_i,
  input  logic                           clear_i,

  input  logic                           slice_start_i,
  input  logic                           runs_first_i,  // of the slice that starts
  input  logic                           runs_on_i,     // of the slice that is decoded

  input  logic [RateW-1:0]               weight_count_i,  // in `weights_i`, oldest first
  input  logic [Rate-1:0][IndexBits-1:0] weights_i,
  output logic [RateW-1:0]               weight_pop_o,
  input  logic [RateW-1:0]               run_count_i,
  input  run_t [Rate-1:0]                runs_i,
  output logic [RateW-1:0]               run_pop_o,

  output logic                           dry_o,  // nothing can be paired, and no group waits
  output logic                           valid_o,
  input  logic                           ready_i,
  output logic [Rate-1:0]                has_weight_o,
  output logic [Rate-1:0][IndexBits-1:0] weights_o,
  output logic [Rate-1:0][PlaceW-1:0]    places_o,  // of the weights, from the group's beginning
  output logic [PlaceW-1:0]              length_o,  // without a weight at the end
  output logic                           weight_last_o  // a weight is at the end
);
  logic owed_d, owed_q;  // the next weight's run has been given
  logic valid_q;
  logic [Rate-1:0] has_weight_q;
  logic [Rate-1:0][IndexBits-1:0] weights_q;
  logic [Rate-1:0][PlaceW-1:0] places_q;
  logic [PlaceW-1:0] length_q;
  logic weight_last_q;

  // The zero run of each place
  logic [Rate-1:0] given;      // it needs none, or has been given
  logic [Rate-1:0] run_there;
  run_t [Rate-1:0] runs;
  always_comb begin
    for (int unsigned i = 0; i < Rate; i++) begin
      given[i]     = !runs_on_i || (i == 0 && owed_q);
      run_there[i] = run_count_i > RateW'(i);
      runs[i]      = runs_i[i];
      if (owed_q && i != 0) begin
        run_there[i] = run_count_i >= RateW'(i);
        runs[i]      = runs_i[i-1];
      end
      if (given[i]) runs[i] = '0;
    end
  end

  // Which places are filled: all up to one that ends the group.
  logic [Rate-1:0] filled, has_weight;
  always_comb begin
    logic go_on;
    go_on = 1'b1;
    for (int unsigned i = 0; i < Rate; i++) begin
      has_weight[i] = go_on && (given[i] || run_there[i]) && !runs[i].open
                   && weight_count_i > RateW'(i);
      filled[i]     = has_weight[i] || (go_on && !given[i] && run_there[i]);
      go_on         = has_weight[i];
    end
  end

  // Sums of runs and weights up to each place, in a tree.
  logic [Rate-1:0][PlaceW-1:0] places;
  always_comb begin
    for (int unsigned i = 0; i < Rate; i++) begin
      places[i] = PlaceW'(runs[i].zeros) + (i == 0 ? '0 : PlaceW'(1));
    end
    for (int unsigned step = 1; step < Rate; step *= 2) begin
      for (int unsigned i = 0; i < Rate; i++) begin
        if ((i & step) != 0) places[i] = places[i] + places[(i&~(step-1))-1];
      end
    end
  end

  logic [PlaceW-1:0] length;
  logic weight_last, take;
  always_comb begin
    length       = '0;
    weight_last  = 1'b0;
    weight_pop_o = '0;
    run_pop_o    = '0;
    owed_d       = owed_q;
    for (int unsigned i = 0; i < Rate; i++) begin
      if (filled[i]) begin
        length      = places[i];
        weight_last = has_weight[i];
        owed_d      = !has_weight[i] && !runs[i].open;
        if (has_weight[i]) weight_pop_o = RateW'(i + 1);
        if (runs_on_i)     run_pop_o = owed_q ? RateW'(i) : RateW'(i + 1);
      end
    end
    if (!take) begin
      weight_pop_o = '0;
      run_pop_o    = '0;
    end
  end
  assign take  = filled[0] && (!valid_q || ready_i);
  assign dry_o = !filled[0] && !valid_q;

  assign valid_o       = valid_q;
  assign has_weight_o  = has_weight_q;
  assign weights_o     = weights_q;
  assign places_o      = places_q;
  assign length_o      = length_q;
  assign weight_last_o = weight_last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owed_q        <= 1'b0;
      valid_q       <= 1'b0;
      has_weight_q  <= '0;
      weights_q     <= '0;
      places_q      <= '0;
      length_q      <= '0;
      weight_last_q <= 1'b0;
    end else if (en_i && clear_i) begin
      owed_q  <= 1'b0;
      valid_q <= 1'b0;
    end else if (en_i) begin
      if (slice_start_i) owed_q <= !runs_first_i;
      if (!valid_q || ready_i) valid_q <= filled[0];
      if (take) begin
        owed_q        <= owed_d;
        has_weight_q  <= has_weight;
        weights_q     <= weights_i;
        places_q      <= places;
        length_q      <= length;
        weight_last_q <= weight_last;
      end
    end
  end
endmodule
