/// Walks through the stream: slice headers, palettes, and for each chunk its unary part, followed
/// by the remainders of the chunk before. Fills the queues of indices and of pieces of zero runs.
module wd_control
  import wd_pkg::*;
#(
  parameter int unsigned Rate = 4,
  parameter int unsigned Size = 128,
  localparam int unsigned CountW = $clog2(Size + 1),
  localparam int unsigned RateW = $clog2(Rate + 1)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           en_i,
  input  logic                           start_i,
  input  logic                           stop_i,
  output logic                           idle_o,
  output logic                           ended_o,  // nothing more will be pushed

  input  logic [Size-1:0]                bits_i,
  input  logic [CountW-1:0]              count_i,
  input  logic                           last_i,
  output logic [CountW-1:0]              take_o,

  output logic                           palette_load_o,
  output logic                           palette_write_o,
  output logic [4:0]                     palette_first_o,
  output logic [Rate-1:0][IndexBits-1:0] palette_entries_o,
  input  logic [5:0]                     palette_size_i,
  input  logic [3:0]                     entry_bits_i,
  input  logic [3:0]                     index_bits_i,

  input  logic                           drained_i,  // both queues are empty
  output logic                           slice_start_o,
  output logic                           runs_first_o,  // of the slice that starts
  output logic                           runs_on_o,     // of the slice that is decoded

  input  logic [RateW-1:0]               index_room_i,
  output logic [RateW-1:0]               index_push_o,
  output logic [Rate-1:0][IndexBits-1:0] indices_o,
  input  logic [RateW-1:0]               run_room_i,
  output logic [RateW-1:0]               run_push_o,
  output run_t [Rate-1:0]                runs_o
);
  typedef enum logic [2:0] {
    Idle    = 3'd0,
    Header  = 3'd1,
    Palette = 3'd2,
    Unary   = 3'd3,
    Weights = 3'd4,
    Runs    = 3'd5,
    Ended   = 3'd6
  } state_e;

  state_e state_d, state_q;
  slice_t slice_d, slice_q;
  logic [4:0] first_entry_d, first_entry_q;
  logic [15:0] weights_left_d, weights_left_q, runs_left_d, runs_left_q;
  logic [4:0] carry_d, carry_q;
  // The chunk of which only the unary part is read.
  weight_chunk_t next_weights_d, next_weights_q;
  run_chunk_t next_runs_d, next_runs_q;

  header_t header;
  logic unused_header;
  assign header = header_t'(bits_i[HeaderBits-1:0]);
  assign unused_header = ^{header.dirofs, header.palbits_m2};

  // From an end code to the next byte, where the count of bits left is a multiple of 8.
  logic [2:0] padding;
  assign padding = count_i[2:0] - 3'(ZdivBits);

  logic uncompressed;
  logic [3:0] index_shift;
  assign uncompressed = slice_q.wdiv == WdivUncompressed;
  assign index_shift  = uncompressed ? index_bits_i : 4'(slice_q.wdiv);

  logic [3:0] field_width;
  logic [Rate-1:0][IndexBits-1:0] fields;
  logic [Rate-1:0] complete;
  assign field_width = state_q == Palette ? entry_bits_i
                     : state_q == Runs    ? 4'(slice_q.zdiv[1:0])
                                          : index_shift;

  wd_fields #(
    .Rate (Rate),
    .Size (Size)
  ) u_fields (
    .bits_i     (bits_i),
    .count_i    (count_i),
    .width_i    (field_width),
    .fields_o   (fields),
    .complete_o (complete)
  );

  // The unary part of a chunk lies behind the remainders of the chunk before the last. It is read
  // together with the last of them if it is there already.
  logic last_values, read_unary, unary_there, unary_overlong;
  logic [CountW-1:0] values_bits, unary_first;
  logic [5:0] unary_length;
  logic [3:0] value_fields_left;
  weight_chunk_t unary_weights;
  run_chunk_t unary_runs;
  logic [15:0] unary_weights_left, unary_runs_left;
  logic [4:0] unary_carry;

  assign values_bits = CountW'(value_fields_left) * CountW'(field_width);
  assign unary_first = state_q == Unary ? '0 : values_bits;
  assign unary_there = unary_first + CountW'(unary_length) <= count_i;

  wd_unary u_unary (
    .bits_i         (HeaderBits'(bits_i >> unary_first)),
    .slice_i        (slice_q),
    .long_index_i   (uncompressed && index_bits_i > 4'd5),
    .weights_left_i (weights_left_q),
    .runs_left_i    (runs_left_q),
    .carry_i        (carry_q),
    .length_o       (unary_length),
    .overlong_o     (unary_overlong),
    .weights_o      (unary_weights),
    .runs_o         (unary_runs),
    .weights_left_o (unary_weights_left),
    .runs_left_o    (unary_runs_left),
    .carry_o        (unary_carry)
  );

  logic value_runs_left, values_done, value_missing;
  logic [RateW-1:0] value_fields;

  wd_values #(
    .Rate (Rate)
  ) u_values (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .load_i         (read_unary),
    .weights_i      (next_weights_q),
    .runs_i         (next_runs_q),
    .wtrunc_i       (slice_q.wtrunc),
    .index_shift_i  (index_shift),
    .run_shift_i    (slice_q.zdiv[1:0]),
    .pass_weights_i (state_q == Weights),
    .pass_runs_i    (state_q == Runs),
    .fields_i       (fields),
    .complete_i     (complete),
    .runs_left_o    (value_runs_left),
    .done_o         (values_done),
    .missing_o      (value_missing),
    .fields_used_o  (value_fields),
    .fields_left_o  (value_fields_left),
    .index_room_i   (index_room_i),
    .index_push_o   (index_push_o),
    .indices_o      (indices_o),
    .run_room_i     (run_room_i),
    .run_push_o     (run_push_o),
    .runs_o         (runs_o)
  );

  logic [5:0] entries_left;
  logic last_entries, entries_complete;
  assign entries_left     = palette_size_i - 6'(first_entry_q);
  assign last_entries     = entries_left <= 6'(Rate);
  always_comb begin
    entries_complete = 1'b1;
    for (int unsigned k = 0; k < Rate; k++) begin
      if (6'(k) < entries_left && !complete[k]) entries_complete = 1'b0;
    end
  end

  logic slice_done;
  assign slice_done = weights_left_q == '0 && runs_left_q == '0
                   && next_weights_q.left == '0 && next_runs_q.left == '0;
  assign last_values = values_done && (state_q == Runs || state_q == Weights && !value_runs_left);
  assign read_unary  = (state_q == Unary || last_values && !slice_done)
                    && unary_there && !unary_overlong;

  state_e after_unary;
  assign after_unary = next_weights_q.left != '0 ? Weights
                     : next_runs_q.left != '0    ? Runs
                     : slice_done                ? Header
                                                 : Unary;

  logic starved;  // the state cannot go on for want of bits
  always_comb begin
    state_d         = state_q;
    slice_d         = slice_q;
    first_entry_d   = first_entry_q;
    weights_left_d  = weights_left_q;
    runs_left_d     = runs_left_q;
    carry_d         = carry_q;
    next_weights_d  = next_weights_q;
    next_runs_d     = next_runs_q;
    take_o          = '0;
    palette_load_o  = 1'b0;
    palette_write_o = 1'b0;
    slice_start_o   = 1'b0;
    starved         = 1'b0;

    unique case (state_q)
      Header: begin
        if (count_i < CountW'(ZdivBits)) begin
          starved = 1'b1;
        end else if (header.zdiv == ZdivEnd) begin
          take_o = CountW'(ZdivBits) + CountW'(padding);
        end else if (header.zdiv[2] && header.zdiv != ZdivOff) begin
          state_d = Ended;
        end else if (count_i < CountW'(PlainHeaderBits)) begin
          starved = 1'b1;
        end else if (header.wdiv == WdivReserved) begin
          state_d = Ended;
        end else if (header.newpal && count_i < CountW'(HeaderBits)) begin
          starved = 1'b1;
        end else if (drained_i) begin
          take_o         = header.newpal ? CountW'(HeaderBits) : CountW'(PlainHeaderBits);
          palette_load_o = header.newpal;
          slice_start_o  = 1'b1;
          slice_d        = '{newpal: header.newpal, wtrunc: header.wtrunc, wdiv: header.wdiv,
                             zdiv: header.zdiv};
          first_entry_d  = '0;
          weights_left_d = 16'(header.length_m1) + 16'd1;
          runs_left_d    = weights_left_d + 16'(header.newpal);
          if (header.zdiv == ZdivOff) runs_left_d = '0;
          carry_d        = '0;
          next_weights_d = '0;
          next_runs_d    = '0;
          state_d        = header.newpal && header.palsize_m1 != '0 ? Palette : Unary;
        end
      end
      Palette: begin
        starved = !entries_complete;
        if (entries_complete) begin
          palette_write_o = 1'b1;
          first_entry_d   = first_entry_q + 5'(Rate);
          take_o          = CountW'(last_entries ? entries_left : 6'(Rate)) * CountW'(entry_bits_i);
          if (last_entries) state_d = Unary;
        end
      end
      Unary: begin
        starved = !unary_there;
        if (unary_there && unary_overlong) state_d = Ended;
      end
      Weights, Runs: begin
        starved = value_missing;
        take_o  = CountW'(value_fields) * CountW'(field_width);
        if (last_values)      state_d = slice_done ? Header : Unary;
        else if (values_done) state_d = Runs;
      end
      default: ;
    endcase

    if (read_unary) begin
      take_o         = take_o + CountW'(unary_length);
      next_weights_d = unary_weights;
      next_runs_d    = unary_runs;
      weights_left_d = unary_weights_left;
      runs_left_d    = unary_runs_left;
      carry_d        = unary_carry;
      state_d        = after_unary;
    end
    if (starved && last_i) state_d = Ended;
    if (start_i) state_d = Header;
    else if (stop_i) state_d = Idle;
  end

  assign idle_o            = state_q == Idle;
  assign ended_o           = state_q == Ended;
  assign palette_first_o   = first_entry_q;
  assign palette_entries_o = fields;
  assign runs_first_o      = header.newpal && header.zdiv != ZdivOff;
  assign runs_on_o         = slice_q.zdiv != ZdivOff;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Idle;
      slice_q        <= '0;
      first_entry_q  <= '0;
      weights_left_q <= '0;
      runs_left_q    <= '0;
      carry_q        <= '0;
      next_weights_q <= '0;
      next_runs_q    <= '0;
    end else if (en_i) begin
      state_q        <= state_d;
      slice_q        <= slice_d;
      first_entry_q  <= first_entry_d;
      weights_left_q <= weights_left_d;
      runs_left_q    <= runs_left_d;
      carry_q        <= carry_d;
      next_weights_q <= next_weights_d;
      next_runs_q    <= next_runs_d;
    end
  end
endmodule
