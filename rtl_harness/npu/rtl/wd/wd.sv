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
  localparam int unsigned BufferBits  = BeatBits + (FieldsBits > BeatBits ? FieldsBits : BeatBits);
  localparam int unsigned CountW      = $clog2(BufferBits + 1);
  localparam int unsigned RateW       = $clog2(Rate + 1);
  localparam int unsigned IndexCountW = $clog2(IndexDepth + 1);
  localparam int unsigned RunCountW   = $clog2(RunDepth + 1);

  logic clear, idle, ended, bits_ready;
  assign clear      = start_i || stop_i;
  assign in_ready_o = bits_ready && !start_i;

  logic [BufferBits-1:0] bits;
  logic [CountW-1:0] bit_count, take;
  logic bits_last;

  wd_bits #(
    .Size (BufferBits)
  ) u_bits (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .en_i       (en_i),
    .clear_i    (clear),
    .drop_i     (idle || ended),
    .in_valid_i (in_valid_i),
    .in_ready_o (bits_ready),
    .in_data_i  (in_data_i),
    .in_last_i  (in_last_i),
    .bits_o     (bits),
    .count_o    (bit_count),
    .last_o     (bits_last),
    .take_i     (take)
  );

  header_t header;
  logic unused_header;
  assign header = header_t'(bits[HeaderBits-1:0]);
  assign unused_header = ^{header.newpal, header.wtrunc, header.wdiv, header.length_m1,
                           header.zdiv};

  logic palette_load, palette_write;
  logic [4:0] palette_first;
  logic [5:0] palette_size;
  logic [3:0] entry_bits, index_bits;
  logic [Rate-1:0][IndexBits-1:0] palette_entries, indices, weights;

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
    .write_i      (palette_write),
    .first_i      (palette_first),
    .entries_i    (palette_entries),
    .size_o       (palette_size),
    .entry_bits_o (entry_bits),
    .index_bits_o (index_bits),
    .indices_i    (indices),
    .weights_o    (weights)
  );

  logic slice_start, runs_first, runs_on;
  logic [Rate-1:0][IndexBits-1:0] new_indices;
  run_t [Rate-1:0] new_runs, runs;
  logic [RateW-1:0] index_push, index_pop, run_push, run_pop;
  logic [IndexCountW-1:0] index_count, index_free;
  logic [RunCountW-1:0] run_count, run_free;
  logic [RateW-1:0] index_heads, index_room, run_heads, run_room;

  assign index_free  = IndexCountW'(IndexDepth) - index_count;
  assign run_free    = RunCountW'(RunDepth) - run_count;
  assign index_heads = index_count < IndexCountW'(Rate) ? RateW'(index_count) : RateW'(Rate);
  assign index_room  = index_free < IndexCountW'(Rate) ? RateW'(index_free) : RateW'(Rate);
  assign run_heads   = run_count < RunCountW'(Rate) ? RateW'(run_count) : RateW'(Rate);
  assign run_room    = run_free < RunCountW'(Rate) ? RateW'(run_free) : RateW'(Rate);

  wd_control #(
    .Rate (Rate),
    .Size (BufferBits)
  ) u_control (
    .clk_i             (clk_i),
    .rst_ni            (rst_ni),
    .en_i              (en_i),
    .start_i           (start_i),
    .stop_i            (stop_i),
    .idle_o            (idle),
    .ended_o           (ended),
    .bits_i            (bits),
    .count_i           (bit_count),
    .last_i            (bits_last),
    .take_o            (take),
    .palette_load_o    (palette_load),
    .palette_write_o   (palette_write),
    .palette_first_o   (palette_first),
    .palette_entries_o (palette_entries),
    .palette_size_i    (palette_size),
    .entry_bits_i      (entry_bits),
    .index_bits_i      (index_bits),
    .drained_i         (index_count == '0 && run_count == '0),
    .slice_start_o     (slice_start),
    .runs_first_o      (runs_first),
    .runs_on_o         (runs_on),
    .index_room_i      (index_room),
    .index_push_o      (index_push),
    .indices_o         (new_indices),
    .run_room_i        (run_room),
    .run_push_o        (run_push),
    .runs_o            (new_runs)
  );

  wd_queue #(
    .Width (IndexBits),
    .Depth (IndexDepth),
    .Push  (Rate),
    .Pop   (Rate)
  ) u_indices (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .en_i    (en_i),
    .clear_i (clear),
    .push_i  (index_push),
    .items_i (new_indices),
    .pop_i   (index_pop),
    .items_o (indices),
    .count_o (index_count)
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

  wd_packer #(
    .VecWeights   (VecWeights),
    .ShortWeights (ShortWeights),
    .Rate         (Rate)
  ) u_packer (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .clear_i        (clear),
    .short_i        (short_i),
    .slice_start_i  (slice_start),
    .runs_first_i   (runs_first),
    .runs_on_i      (runs_on),
    .ended_i        (ended),
    .weight_count_i (index_heads),
    .weights_i      (weights),
    .weight_pop_o   (index_pop),
    .run_count_i    (run_heads),
    .runs_i         (runs),
    .run_pop_o      (run_pop),
    .vec_valid_o    (vec_valid_o),
    .vec_ready_i    (vec_ready_i),
    .vec_o          (vec_o),
    .error_o        (error_o)
  );
endmodule
