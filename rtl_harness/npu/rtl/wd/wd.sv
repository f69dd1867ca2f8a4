// SPDX-License-Identifier: Apache-2.0
/// Weight decoder: turns a compressed weight stream into vectors of weights. After the stream's end
/// it gives vectors of zeros without limit; `error_o` rises when a vector that lacks weights is
/// taken.
module wd
  import wd_pkg::*;
#(
  parameter int unsigned VecWeights = 32,  // weights per vector
  parameter int unsigned ShortWeights = 4,  // the same if `short_i`
  parameter int unsigned Rate = 4          // weights and runs decoded per cycle at most: 2, 4 or 8
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            en_i,
  input  logic                            start_i,  // forget everything, begin a new stream
  input  logic                            stop_i,   // forget everything, become idle
  input  logic                            short_i,  // stable while a stream is decoded

  input  logic                            in_valid_i,
  output logic                            in_ready_o,
  input  logic [BeatBits-1:0]             in_data_i,
  input  logic                            in_last_i,

  output logic                            vec_valid_o,
  input  logic                            vec_ready_i,
  output logic [VecWeights*IndexBits-1:0] vec_o,
  output logic                            error_o
);
  localparam int unsigned FieldsBits  = Rate * IndexBits;
  // Room for a beat while there are not enough bits for a step, also if each takes a beat's bits
  localparam int unsigned BufferBits  = (FieldsBits > BeatBits ? 3 : 2) * BeatBits;
  localparam int unsigned CountW      = $clog2(BufferBits + 1);
  localparam int unsigned RateW       = $clog2(Rate + 1);
  localparam int unsigned PlaceW      = $clog2(Rate * (MostZeros + 1) + 1);
  localparam int unsigned IndexCountW = $clog2(IndexDepth + 1);
  localparam int unsigned RunCountW   = $clog2(RunDepth + 1);

  logic clear, idle, ended, bits_ready;
  assign clear      = start_i || stop_i;
  assign in_ready_o = bits_ready && !start_i;

  logic [BufferBits-1:0] bits;
  logic [CountW-1:0] bit_count, take_bits;
  logic [3:0] take_more;
  logic bits_last, take;

  wd_bits #(
    .Size (BufferBits)
  ) u_bits (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .en_i        (en_i),
    .clear_i     (clear),
    .drop_i      (idle || ended),
    .in_valid_i  (in_valid_i),
    .in_ready_o  (bits_ready),
    .in_data_i   (in_data_i),
    .in_last_i   (in_last_i),
    .bits_o      (bits),
    .count_o     (bit_count),
    .last_o      (bits_last),
    .take_i      (take),
    .take_bits_i (take_bits),
    .take_more_i (take_more)
  );

  header_t header;
  logic unused_header;
  assign header = header_t'(bits[HeaderBits-1:0]);
  assign unused_header = ^{header.newpal, header.wtrunc, header.wdiv, header.length_m1,
                           header.zdiv};

  logic palette_load, drained, slice_start, runs_first, runs_on, truncated;
  logic [3:0] entry_bits, index_bits;
  logic step_valid, step_ready, step_unary, reserved;
  piece_t step_piece;
  logic [FieldsBits-1:0] step_fields;
  codes_t step_codes;

  wd_control #(
    .Rate (Rate),
    .Size (BufferBits)
  ) u_control (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .start_i        (start_i),
    .stop_i         (stop_i),
    .idle_o         (idle),
    .ended_o        (ended),
    .bits_i         (bits),
    .count_i        (bit_count),
    .last_i         (bits_last),
    .take_o         (take),
    .take_bits_o    (take_bits),
    .take_more_o    (take_more),
    .palette_load_o (palette_load),
    .entry_bits_i   (entry_bits),
    .index_bits_i   (index_bits),
    .drained_i      (drained),
    .slice_start_o  (slice_start),
    .runs_first_o   (runs_first),
    .runs_on_o      (runs_on),
    .truncated_o    (truncated),
    .valid_o        (step_valid),
    .ready_i        (step_ready),
    .piece_o        (step_piece),
    .fields_o       (step_fields),
    .unary_o        (step_unary),
    .codes_o        (step_codes),
    .reserved_i     (reserved)
  );

  logic entries, values_empty, values_valid, values_ready, values_runs, values_open;
  logic [3:0] values_count;
  logic [Rate-1:0][IndexBits-1:0] values;

  wd_values #(
    .Rate (Rate)
  ) u_values (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .en_i          (en_i),
    .clear_i       (clear),
    .slice_start_i (slice_start),
    .truncated_i   (truncated),
    .valid_i       (step_valid),
    .ready_o       (step_ready),
    .piece_i       (step_piece),
    .fields_i      (step_fields),
    .unary_i       (step_unary),
    .codes_i       (step_codes),
    .reserved_o    (reserved),
    .empty_o       (values_empty),
    .entries_o     (entries),
    .valid_o       (values_valid),
    .ready_i       (values_ready),
    .runs_o        (values_runs),
    .count_o       (values_count),
    .open_o        (values_open),
    .values_o      (values)
  );

  logic pushed_valid, pushed_ready, pushed_runs, pushed_open;
  logic [3:0] pushed_count;
  logic [Rate-1:0][IndexBits-1:0] pushed;

  wd_palette #(
    .Rate (Rate)
  ) u_palette (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .en_i         (en_i),
    .clear_i      (clear),
    .load_i       (palette_load),
    .dirofs_i     (header.dirofs),
    .palsize_m1_i (header.palsize_m1),
    .palbits_m2_i (header.palbits_m2),
    .entry_bits_o (entry_bits),
    .index_bits_o (index_bits),
    .entries_i    (entries),
    .valid_i      (values_valid),
    .ready_o      (values_ready),
    .runs_i       (values_runs),
    .count_i      (values_count),
    .open_i       (values_open),
    .values_i     (values),
    .valid_o      (pushed_valid),
    .ready_i      (pushed_ready),
    .runs_o       (pushed_runs),
    .count_o      (pushed_count),
    .open_o       (pushed_open),
    .values_o     (pushed)
  );

  logic [IndexCountW-1:0] weight_count;
  logic [RunCountW-1:0] run_count;
  logic [RateW-1:0] weight_push, weight_pop, weight_heads, run_push, run_pop, run_heads;
  logic [Rate-1:0][IndexBits-1:0] weights;
  run_t [Rate-1:0] new_runs, runs;

  assign pushed_ready = pushed_runs ? 5'(pushed_count) <= 5'(RunDepth) - 5'(run_count)
                                    : 5'(pushed_count) <= 5'(IndexDepth) - 5'(weight_count);
  assign weight_push  = pushed_valid && pushed_ready && !pushed_runs ? RateW'(pushed_count) : '0;
  assign run_push     = pushed_valid && pushed_ready && pushed_runs ? RateW'(pushed_count) : '0;
  assign weight_heads = weight_count < IndexCountW'(Rate) ? RateW'(weight_count) : RateW'(Rate);
  assign run_heads    = run_count < RunCountW'(Rate) ? RateW'(run_count) : RateW'(Rate);
  always_comb begin
    for (int unsigned k = 0; k < Rate; k++) begin
      new_runs[k].zeros = pushed[k][6:0];
      new_runs[k].open  = pushed_open && pushed_count == 4'(k + 1);
    end
  end

  wd_queue #(
    .Width (IndexBits),
    .Depth (IndexDepth),
    .Push  (Rate),
    .Pop   (Rate)
  ) u_weights (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .en_i    (en_i),
    .clear_i (clear),
    .push_i  (weight_push),
    .items_i (pushed),
    .pop_i   (weight_pop),
    .items_o (weights),
    .count_o (weight_count)
  );

  wd_queue #(
    .Width ($bits(run_t)),
    .Depth (RunDepth),
    .Push  (Rate),
    .Pop   (Rate)
  ) u_runs (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .en_i    (en_i),
    .clear_i (clear),
    .push_i  (run_push),
    .items_i (new_runs),
    .pop_i   (run_pop),
    .items_o (runs),
    .count_o (run_count)
  );

  logic passed_on, dry, group_valid, group_ready, weight_last;
  logic [Rate-1:0] has_weight;
  logic [Rate-1:0][IndexBits-1:0] group_weights;
  logic [Rate-1:0][PlaceW-1:0] places;
  logic [PlaceW-1:0] length;
  assign passed_on = values_empty && !pushed_valid;
  assign drained   = passed_on && weight_count == '0 && run_count == '0;

  wd_pairs #(
    .Rate (Rate)
  ) u_pairs (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .clear_i        (clear),
    .slice_start_i  (slice_start),
    .runs_first_i   (runs_first),
    .runs_on_i      (runs_on),
    .weight_count_i (weight_heads),
    .weights_i      (weights),
    .weight_pop_o   (weight_pop),
    .run_count_i    (run_heads),
    .runs_i         (runs),
    .run_pop_o      (run_pop),
    .dry_o          (dry),
    .valid_o        (group_valid),
    .ready_i        (group_ready),
    .has_weight_o   (has_weight),
    .weights_o      (group_weights),
    .places_o       (places),
    .length_o       (length),
    .weight_last_o  (weight_last)
  );

  wd_packer #(
    .VecWeights   (VecWeights),
    .ShortWeights (ShortWeights),
    .Rate         (Rate)
  ) u_packer (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .en_i          (en_i),
    .clear_i       (clear),
    .short_i       (short_i),
    .end_i         (ended && passed_on && dry),
    .valid_i       (group_valid),
    .ready_o       (group_ready),
    .has_weight_i  (has_weight),
    .weights_i     (group_weights),
    .places_i      (places),
    .length_i      (length),
    .weight_last_i (weight_last),
    .vec_valid_o   (vec_valid_o),
    .vec_ready_i   (vec_ready_i),
    .vec_o         (vec_o),
    .error_o       (error_o)
  );
endmodule
