/// Walks through the stream: slice headers, palettes, and for each chunk its unary part, followed by
/// the remainders of the chunk before. Passes indices and pieces of zero runs on to their queues.
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
  // The chunk whose remainders are read, and the one after it, of which only the unary part is read.
  weight_chunk_t weights_d, weights_q, next_weights_d, next_weights_q;
  run_chunk_t runs_d, runs_q, next_runs_d, next_runs_q;

  header_t header;
  logic unused_header;
  assign header = header_t'(bits_i[HeaderBits-1:0]);
  assign unused_header = ^{header.dirofs, header.palbits_m2};

  // From an end code to the next byte: the count of bits left is a multiple of 8 at a byte's border.
  logic [2:0] padding;
  assign padding = count_i[2:0] - 3'(ZdivBits);

  logic uncompressed;
  logic [3:0] index_shift;
  assign uncompressed = slice_q.wdiv == WdivUncompressed;
  assign index_shift  = uncompressed ? index_bits_i : 4'(slice_q.wdiv);

  weight_chunk_t unary_weights;
  run_chunk_t unary_runs;
  logic [15:0] unary_weights_left, unary_runs_left;
  logic [4:0] unary_carry;
  logic [5:0] unary_length;
  logic unary_overlong;

  wd_unary u_unary (
    .bits_i         (bits_i[HeaderBits-1:0]),
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

  logic in_runs;
  logic [ChunkCodes-1:0] scan_some, scan_more, scan_ends;
  logic [Rate-1:0][4:0] quotients;
  logic [Rate-1:0][3:0] used;
  assign in_runs   = state_q == Runs;
  assign scan_some = in_runs ? runs_q.ones : weights_q.some;
  assign scan_more = in_runs ? '0 : weights_q.more;
  assign scan_ends = in_runs ? ~runs_q.ones : ~weights_q.more | {ChunkCodes{slice_q.wtrunc}};

  wd_scan #(
    .Rate (Rate)
  ) u_scan (
    .some_i      (scan_some),
    .more_i      (scan_more),
    .ends_i      (scan_ends),
    .carry_i     (in_runs ? '0 : weights_q.carry),
    .quotients_o (quotients),
    .used_o      (used)
  );

  logic [3:0] field_width;
  logic [Rate-1:0][IndexBits-1:0] fields;
  logic [Rate-1:0] complete;
  assign field_width = state_q == Palette ? entry_bits_i
                     : in_runs            ? 4'(slice_q.zdiv[1:0])
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

  // Values of the chunk that are passed on in this cycle: as many as are wanted, are there, and fit.
  logic [3:0] left, passed_codes;
  logic [RateW-1:0] room, passed, passed_fields;
  logic [Rate-1:0] open_piece;
  logic missing;  // the next value lacks bits

  assign left = in_runs ? runs_q.left : weights_q.left;
  assign room = in_runs ? run_room_i : index_room_i;

  always_comb begin
    logic go_on;
    go_on         = 1'b1;
    passed        = '0;
    passed_fields = '0;
    passed_codes  = '0;
    for (int unsigned k = 0; k < Rate; k++) begin
      open_piece[k] = in_runs && runs_q.open && runs_q.left == 4'(k + 1);
      go_on = go_on && 4'(k) < left && RateW'(k) < room && (complete[k] || open_piece[k]);
      if (go_on) begin
        passed       = RateW'(k + 1);
        passed_codes = used[k];
        if (!open_piece[k]) passed_fields = RateW'(k + 1);
      end
    end
  end
  assign missing = left != '0 && !complete[0] && !open_piece[0];

  for (genvar k = 0; k < Rate; k++) begin : gen_value
    assign indices_o[k]    = (IndexBits'(quotients[k]) << index_shift) | fields[k];
    assign runs_o[k].open  = open_piece[k];
    assign runs_o[k].zeros = (7'(quotients[k]) << slice_q.zdiv[1:0])
                           | (open_piece[k] ? '0 : fields[k][6:0]);
  end

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

  logic starved;  // the state cannot go on for want of bits
  state_e after_runs, after_weights, after_unary;
  assign after_runs    = slice_done ? Header : Unary;
  assign after_weights = runs_q.left != '0 ? Runs : after_runs;
  assign after_unary   = next_weights_q.left != '0 ? Weights
                       : next_runs_q.left != '0    ? Runs
                                                   : after_runs;

  always_comb begin
    state_d         = state_q;
    slice_d         = slice_q;
    first_entry_d   = first_entry_q;
    weights_left_d  = weights_left_q;
    runs_left_d     = runs_left_q;
    carry_d         = carry_q;
    weights_d       = weights_q;
    runs_d          = runs_q;
    next_weights_d  = next_weights_q;
    next_runs_d     = next_runs_q;
    take_o          = '0;
    palette_load_o  = 1'b0;
    palette_write_o = 1'b0;
    slice_start_o   = 1'b0;
    index_push_o    = '0;
    run_push_o      = '0;
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
          runs_left_d    = header.zdiv == ZdivOff ? '0
                                                  : 16'(header.length_m1) + 16'd1 + 16'(header.newpal);
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
        if (count_i < CountW'(unary_length)) begin
          starved = 1'b1;
        end else if (unary_overlong) begin
          state_d = Ended;
        end else begin
          take_o         = CountW'(unary_length);
          weights_d      = next_weights_q;
          runs_d         = next_runs_q;
          next_weights_d = unary_weights;
          next_runs_d    = unary_runs;
          weights_left_d = unary_weights_left;
          runs_left_d    = unary_runs_left;
          carry_d        = unary_carry;
          state_d        = after_unary;
        end
      end
      Weights: begin
        starved         = missing;
        take_o          = CountW'(passed_fields) * CountW'(field_width);
        index_push_o    = passed;
        weights_d.some  = weights_q.some >> passed_codes;
        weights_d.more  = weights_q.more >> passed_codes;
        weights_d.carry = passed == '0 ? weights_q.carry : '0;
        weights_d.left  = left - 4'(passed);
        if (weights_d.left == '0) state_d = after_weights;
      end
      Runs: begin
        starved     = missing;
        take_o      = CountW'(passed_fields) * CountW'(field_width);
        run_push_o  = passed;
        runs_d.ones = runs_q.ones >> passed_codes;
        runs_d.left = left - 4'(passed);
        if (runs_d.left == '0) state_d = after_runs;
      end
      default: ;
    endcase

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
      weights_q      <= '0;
      runs_q         <= '0;
      next_weights_q <= '0;
      next_runs_q    <= '0;
    end else begin
      state_q        <= state_d;
      slice_q        <= slice_d;
      first_entry_q  <= first_entry_d;
      weights_left_q <= weights_left_d;
      runs_left_q    <= runs_left_d;
      carry_q        <= carry_d;
      weights_q      <= weights_d;
      runs_q         <= runs_d;
      next_weights_q <= next_weights_d;
      next_runs_q    <= next_runs_d;
    end
  end
endmodule
