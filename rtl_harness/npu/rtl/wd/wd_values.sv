/// Completes the values of a chunk with their remainders, `Rate` per cycle: first its weight
/// indices, then the pieces of its zero runs.
module wd_values
  import wd_pkg::*;
#(
  parameter int unsigned Rate = 4,
  localparam int unsigned RateW = $clog2(Rate + 1)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           en_i,
  input  logic                           load_i,  // the next chunk
  input  weight_chunk_t                  weights_i,
  input  run_chunk_t                     runs_i,

  input  logic                           wtrunc_i,
  input  logic [3:0]                     index_shift_i,
  input  logic [1:0]                     run_shift_i,

  input  logic                           pass_weights_i,
  input  logic                           pass_runs_i,
  input  logic [Rate-1:0][IndexBits-1:0] fields_i,    // the next bits, cut to remainders
  input  logic [Rate-1:0]                complete_i,

  output logic                           runs_left_o,    // the chunk has zero runs to be passed
  output logic                           done_o,         // no more of its weights, or of its runs
  output logic                           missing_o,      // the next remainder lacks bits
  output logic [RateW-1:0]               fields_used_o,
  output logic [3:0]                     fields_left_o,  // of the weights, or of the runs

  input  logic [RateW-1:0]               index_room_i,
  output logic [RateW-1:0]               index_push_o,
  output logic [Rate-1:0][IndexBits-1:0] indices_o,
  input  logic [RateW-1:0]               run_room_i,
  output logic [RateW-1:0]               run_push_o,
  output run_t [Rate-1:0]                runs_o
);
  weight_chunk_t weights_d, weights_q;
  run_chunk_t runs_d, runs_q;

  logic [ChunkCodes-1:0] some, more, ends;
  logic [Rate-1:0][4:0] quotients;
  logic [Rate-1:0][3:0] used;
  assign some = pass_runs_i ? runs_q.ones : weights_q.some;
  assign more = pass_runs_i ? '0 : weights_q.more;
  assign ends = pass_runs_i ? ~runs_q.ones : ~weights_q.more | {ChunkCodes{wtrunc_i}};

  wd_scan #(
    .Rate (Rate)
  ) u_scan (
    .some_i      (some),
    .more_i      (more),
    .ends_i      (ends),
    .carry_i     (pass_runs_i ? '0 : weights_q.carry),
    .quotients_o (quotients),
    .used_o      (used)
  );

  // As many values are passed on as are wanted, are complete, and find room.
  logic [3:0] left, codes_used;
  logic [RateW-1:0] room, passed;
  logic [Rate-1:0] open_piece;  // has no remainder
  assign left = pass_runs_i ? runs_q.left : weights_q.left;
  assign room = pass_runs_i ? run_room_i : index_room_i;

  always_comb begin
    logic go_on;
    go_on         = pass_runs_i || pass_weights_i;
    passed        = '0;
    fields_used_o = '0;
    codes_used    = '0;
    for (int unsigned k = 0; k < Rate; k++) begin
      open_piece[k] = pass_runs_i && runs_q.open && left == 4'(k + 1);
      go_on = go_on && 4'(k) < left && RateW'(k) < room && (complete_i[k] || open_piece[k]);
      if (go_on) begin
        passed     = RateW'(k + 1);
        codes_used = used[k];
        if (!open_piece[k]) fields_used_o = RateW'(k + 1);
      end
    end
  end

  assign runs_left_o   = runs_q.left != '0;
  assign done_o        = left == 4'(passed);
  assign missing_o     = left != '0 && !complete_i[0] && !open_piece[0];
  assign fields_left_o = left - 4'(pass_runs_i && runs_q.open);
  assign index_push_o  = pass_weights_i ? passed : '0;
  assign run_push_o    = pass_runs_i ? passed : '0;

  for (genvar k = 0; k < Rate; k++) begin : gen_value
    assign indices_o[k]    = (IndexBits'(quotients[k]) << index_shift_i) | fields_i[k];
    assign runs_o[k].open  = open_piece[k];
    assign runs_o[k].zeros = (7'(quotients[k]) << run_shift_i)
                           | (open_piece[k] ? '0 : fields_i[k][6:0]);
  end

  always_comb begin
    weights_d = weights_q;
    runs_d    = runs_q;
    if (pass_weights_i && passed != '0) begin
      weights_d = '{some:  weights_q.some >> codes_used,
                    more:  weights_q.more >> codes_used,
                    carry: '0,
                    left:  left - 4'(passed)};
    end
    if (pass_runs_i && passed != '0) begin
      runs_d.ones = runs_q.ones >> codes_used;
      runs_d.left = left - 4'(passed);
    end
    if (load_i) begin
      weights_d = weights_i;
      runs_d    = runs_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      weights_q <= '0;
      runs_q    <= '0;
    end else if (en_i) begin
      weights_q <= weights_d;
      runs_q    <= runs_d;
    end
  end
endmodule
