/// Lays weights and zero runs out in stream order as vectors. When the stream has ended, completes
/// the vector in hand with zeros and goes on with vectors of zeros.
module wd_packer
  import wd_pkg::*;
#(
  parameter int unsigned VecWeights = 32,
  parameter int unsigned ShortWeights = 4,
  parameter int unsigned Rate = 4,
  localparam int unsigned RateW = $clog2(Rate + 1)
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            en_i,
  input  logic                            clear_i,
  input  logic                            short_i,       // vectors of `ShortWeights`

  input  logic                            slice_start_i,
  input  logic                            runs_first_i,  // of the slice that starts
  input  logic                            runs_on_i,     // of the slice that is decoded
  input  logic                            ended_i,       // nothing more comes into the queues

  input  logic [RateW-1:0]                weight_count_i,  // in `weights_i`, oldest first
  input  logic [Rate-1:0][IndexBits-1:0]  weights_i,
  output logic [RateW-1:0]                weight_pop_o,
  input  logic [RateW-1:0]                run_count_i,
  input  run_t [Rate-1:0]                 runs_i,
  output logic [RateW-1:0]                run_pop_o,

  output logic                            vec_valid_o,
  input  logic                            vec_ready_i,
  output logic [VecWeights*IndexBits-1:0] vec_o,
  output logic                            error_o
);
  // Up to 64 zeros of the next vectors.
  localparam int unsigned FillW = $clog2(VecWeights + 64 + 1);
  localparam int unsigned SlotW = $clog2(VecWeights);

  logic [FillW-1:0] full;  // weights of a vector
  assign full = short_i ? FillW'(ShortWeights) : FillW'(VecWeights);

  logic [VecWeights-1:0][IndexBits-1:0] next_d, next_q, vec_q;
  logic [FillW-1:0] filled_d, filled_q;  // weights in `next_q`; above full: zeros after it
  logic incomplete_d, incomplete_q;      // `next_q` lacks weights
  logic run_due_d, run_due_q;            // a run comes next, else a weight
  logic vec_valid_q, vec_incomplete_q, error_q;

  logic move, blocked, dry;
  assign move    = filled_q >= full && (!vec_valid_q || vec_ready_i);
  assign blocked = filled_q >= full && !move;
  assign dry     = run_due_q ? run_count_i == '0 : weight_count_i == '0;

  always_comb begin
    next_d       = move ? '0 : next_q;
    filled_d     = move ? filled_q - full : filled_q;
    incomplete_d = incomplete_q && !move;
    run_due_d    = run_due_q;
    weight_pop_o = '0;
    run_pop_o    = '0;

    if (!blocked && filled_d < full && dry && ended_i) begin
      filled_d     = full;
      incomplete_d = 1'b1;
    end else if (!blocked) begin
      for (int unsigned k = 0; k < Rate; k++) begin
        if (run_due_d && filled_d < full && run_pop_o < run_count_i) begin
          filled_d  = filled_d + FillW'(runs_i[run_pop_o].zeros);
          run_due_d = runs_i[run_pop_o].open;
          run_pop_o = run_pop_o + RateW'(1);
        end
        if (!run_due_d && filled_d < full && weight_pop_o < weight_count_i) begin
          next_d[filled_d[SlotW-1:0]] = weights_i[weight_pop_o];
          filled_d     = filled_d + FillW'(1);
          run_due_d    = runs_on_i;
          weight_pop_o = weight_pop_o + RateW'(1);
        end
      end
    end

    if (slice_start_i) run_due_d = runs_first_i;
  end

  assign vec_valid_o = vec_valid_q;
  assign vec_o       = vec_q;
  assign error_o     = error_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_q           <= '0;
      filled_q         <= '0;
      incomplete_q     <= 1'b0;
      run_due_q        <= 1'b0;
      vec_q            <= '0;
      vec_valid_q      <= 1'b0;
      vec_incomplete_q <= 1'b0;
      error_q          <= 1'b0;
    end else if (en_i && clear_i) begin
      next_q           <= '0;
      filled_q         <= '0;
      incomplete_q     <= 1'b0;
      run_due_q        <= 1'b0;
      vec_valid_q      <= 1'b0;
      vec_incomplete_q <= 1'b0;
      error_q          <= 1'b0;
    end else if (en_i) begin
      next_q       <= next_d;
      filled_q     <= filled_d;
      incomplete_q <= incomplete_d;
      run_due_q    <= run_due_d;
      if (move) begin
        vec_q            <= next_q;
        vec_valid_q      <= 1'b1;
        vec_incomplete_q <= incomplete_q;
      end else if (vec_ready_i) begin
        vec_valid_q <= 1'b0;
      end
      if (vec_valid_q && vec_ready_i && vec_incomplete_q) error_q <= 1'b1;
    end
  end
endmodule
