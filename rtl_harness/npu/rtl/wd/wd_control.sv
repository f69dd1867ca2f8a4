// SPDX-License-Identifier: Apache-2.0
/// Walks through the stream: slice headers, palettes, and for each chunk its unary part, followed
/// by the remainders of the chunk before. Cuts it into pieces of up to `Rate` fields.
module wd_control
  import wd_pkg::*;
#(
  parameter int unsigned Rate = 4,
  parameter int unsigned Size = 128,
  localparam int unsigned CountW = $clog2(Size + 1),
  localparam int unsigned FieldsBits = Rate * IndexBits
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  en_i,
  input  logic                  start_i,
  input  logic                  stop_i,
  output logic                  idle_o,
  output logic                  ended_o,  // nothing more will be passed on

  input  logic [Size-1:0]       bits_i,
  input  logic [CountW-1:0]     count_i,
  input  logic                  last_i,
  output logic                  take_o,
  output logic [CountW-1:0]     take_bits_o,
  output logic [3:0]            take_more_o,

  output logic                  palette_load_o,
  input  logic [3:0]            entry_bits_i,
  input  logic [3:0]            index_bits_i,

  input  logic                  drained_i,  // what was passed on has left the queues
  output logic                  slice_start_o,
  output logic                  runs_first_o,  // of the slice that starts
  output logic                  runs_on_o,     // of the slice that is decoded
  output logic                  truncated_o,

  output logic                  valid_o,
  input  logic                  ready_i,
  output piece_t                piece_o,
  output logic [FieldsBits-1:0] fields_o,
  output logic                  unary_o,  // `codes_o` lie before the piece
  output codes_t                codes_o,
  input  logic                  reserved_i  // such codes have been passed on: the stream has ended
);
  typedef enum logic [2:0] {
    Idle    = 3'd0,
    Header  = 3'd1,
    Palette = 3'd2,
    Chunks  = 3'd3,
    Ended   = 3'd4
  } state_e;

  state_e state_d, state_q;
  slice_t slice_d, slice_q;
  logic [5:0] entries_left_d, entries_left_q;
  logic [15:0] weights_left_d, weights_left_q, runs_left_d, runs_left_q;
  logic signed [LeadBits-1:0] lead_d, lead_q;
  values_t values_d, values_q;  // of the last chunk but one whose unary part was read
  values_t next_d, next_q;      // of the last one
  logic unary_read_d, unary_read_q;  // `next_q` is valid: the unary part before the values was read
  logic tail_d, tail_q;              // bits lack: field by field up to the first that lacks some

  header_t header;
  logic unused_header;
  assign header = header_t'(bits_i[HeaderBits-1:0]);
  assign unused_header = ^{header.dirofs, header.palbits_m2};

  logic uncompressed;
  logic [3:0] index_shift;
  assign uncompressed = slice_q.wdiv == WdivUncompressed;
  assign index_shift  = uncompressed ? index_bits_i : 4'(slice_q.wdiv);

  logic [4:0] unary_length;
  logic [3:0] second_length;
  values_t unary_values;
  logic [15:0] unary_weights_left, unary_runs_left;
  logic signed [LeadBits-1:0] unary_lead;

  wd_unary u_unary (
    .bits_i          (bits_i[HeaderBits-1:0]),
    .slice_i         (slice_q),
    .long_index_i    (uncompressed && index_bits_i > 4'd5),
    .weights_left_i  (weights_left_q),
    .runs_left_i     (runs_left_q),
    .lead_i          (lead_q),
    .length_o        (unary_length),
    .second_length_o (second_length),
    .codes_o         (codes_o),
    .values_o        (unary_values),
    .weights_left_o  (unary_weights_left),
    .runs_left_o     (unary_runs_left),
    .lead_o          (unary_lead)
  );

  // A step takes the next unary part, if it is due, and the piece behind it.
  logic unary_due, last_of_kind, enough;
  logic [4:0] first_bits;
  logic [3:0] more_bits;
  logic [5:0] left;
  logic [3:0] limit;
  logic [6:0] piece_bits;
  logic [CountW-1:0] step_bits;
  assign unary_due  = state_q == Chunks && !unary_read_q;
  assign first_bits = unary_due ? unary_length : '0;
  assign more_bits  = unary_due ? second_length : '0;

  always_comb begin
    piece_o.kind  = Runs;
    piece_o.width = 4'(slice_q.zdiv[1:0]);
    left          = 6'(values_q.runs);
    if (state_q == Palette) begin
      piece_o.kind  = Entries;
      piece_o.width = entry_bits_i;
      left          = entries_left_q;
    end else if (values_q.weights != '0) begin
      piece_o.kind  = Weights;
      piece_o.width = index_shift;
      left          = 6'(values_q.weights);
    end

    limit        = 4'(Rate);
    last_of_kind = left[5:$clog2(Rate)] == '0 || left == 6'(Rate);
    if (tail_q) begin
      limit        = {3'b000, unary_read_q};
      last_of_kind = left[5:1] == '0 && (unary_read_q || !left[0]);
    end
    piece_o.count = last_of_kind ? left[3:0] : limit;
    piece_o.open  = piece_o.kind == Runs && values_q.open && last_of_kind;
    piece_o.last  = last_of_kind && (piece_o.kind == Runs || values_q.runs == '0);
  end

  logic [8:0][6:0] widths;
  assign widths = multiples(piece_o.width);
  always_comb begin
    piece_bits = '0;
    for (int unsigned n = 1; n <= Rate; n++) begin
      piece_bits = piece_bits
                 | (piece_o.count != 4'(n) ? '0 : piece_o.open ? widths[n-1] : widths[n]);
    end
  end
  assign step_bits = CountW'(first_bits) + CountW'(piece_bits);

  // The piece's bits come last, so they are compared with what the unary part leaves.
  logic signed [CountW:0] behind_unary, spare;
  assign behind_unary = $signed({1'b0, count_i} - (CountW + 1)'(first_bits))
                      - $signed((CountW + 1)'(more_bits));
  assign spare        = behind_unary - $signed((CountW + 1)'(piece_bits));
  assign enough       = !spare[CountW];
  assign fields_o  = FieldsBits'((bits_i >> first_bits) >> more_bits);
  assign unary_o   = unary_due;

  logic slice_done;
  assign slice_done = weights_left_q == '0 && runs_left_q == '0 && unary_due
                   && values_q.weights == '0 && values_q.runs == '0;

  // From an end code to the next byte, where the count of bits left is a multiple of 8.
  logic [2:0] padding;
  assign padding = count_i[2:0] - 3'(ZdivBits);

  values_t values_unary;
  assign values_unary = unary_due ? unary_values : next_q;

  always_comb begin
    state_d        = state_q;
    slice_d        = slice_q;
    entries_left_d = entries_left_q;
    weights_left_d = weights_left_q;
    runs_left_d    = runs_left_q;
    lead_d         = lead_q;
    values_d       = values_q;
    next_d         = next_q;
    unary_read_d   = unary_read_q;
    tail_d         = tail_q;
    take_o         = 1'b0;
    take_bits_o    = step_bits;
    take_more_o    = more_bits;
    palette_load_o = 1'b0;
    slice_start_o  = 1'b0;
    valid_o        = 1'b0;

    unique case (state_q)
      Header: begin
        take_more_o = '0;
        if (count_i < CountW'(ZdivBits)) begin
          if (last_i) state_d = Ended;
        end else if (header.zdiv == ZdivEnd) begin
          take_o      = 1'b1;
          take_bits_o = CountW'(ZdivBits) + CountW'(padding);
        end else if (header.zdiv[2] && header.zdiv != ZdivOff) begin
          state_d = Ended;
        end else if (count_i < CountW'(PlainHeaderBits)) begin
          if (last_i) state_d = Ended;
        end else if (header.wdiv == WdivReserved) begin
          state_d = Ended;
        end else if (header.newpal && count_i < CountW'(HeaderBits)) begin
          if (last_i) state_d = Ended;
        end else if (drained_i) begin
          take_o         = 1'b1;
          take_bits_o    = header.newpal ? CountW'(HeaderBits) : CountW'(PlainHeaderBits);
          palette_load_o = header.newpal;
          slice_start_o  = 1'b1;
          slice_d        = '{wtrunc: header.wtrunc, wdiv: header.wdiv, zdiv: header.zdiv};
          entries_left_d = 6'(header.palsize_m1) + 6'd1;
          weights_left_d = 16'(header.length_m1) + 16'd1;
          runs_left_d    = 16'(header.length_m1) + (header.newpal ? 16'd2 : 16'd1);
          if (header.zdiv == ZdivOff) runs_left_d = '0;
          lead_d         = '0;
          values_d       = '0;
          unary_read_d   = 1'b0;
          tail_d         = 1'b0;
          state_d        = header.newpal && header.palsize_m1 != '0 ? Palette : Chunks;
        end
      end
      Palette: begin
        valid_o = enough;
        if (!enough && last_i) state_d = Ended;
        if (enough && ready_i) begin
          take_o         = 1'b1;
          entries_left_d = entries_left_q - 6'(Rate);
          if (last_of_kind) state_d = Chunks;
        end
      end
      Chunks: begin
        valid_o = enough && !slice_done;
        if (slice_done) begin
          state_d = Header;
        end else if (!enough && last_i) begin
          tail_d = 1'b1;
          if (tail_q) state_d = Ended;
        end else if (enough && ready_i) begin
          take_o = 1'b1;
          next_d = values_unary;
          if (unary_due) begin
            weights_left_d = unary_weights_left;
            runs_left_d    = unary_runs_left;
            lead_d         = unary_lead;
          end
          unary_read_d = !piece_o.last;
          if (piece_o.last) begin
            values_d = values_unary;
          end else if (piece_o.kind == Weights) begin
            values_d.weights = values_q.weights - piece_o.count;
          end else begin
            values_d.runs = values_q.runs - piece_o.count;
          end
        end
      end
      default: ;
    endcase

    if (reserved_i) state_d = Ended;
    if (start_i) state_d = Header;
    else if (stop_i) state_d = Idle;
  end

  assign idle_o       = state_q == Idle;
  assign ended_o      = state_q == Ended;
  assign runs_first_o = header.newpal && header.zdiv != ZdivOff;
  assign runs_on_o    = slice_q.zdiv != ZdivOff;
  assign truncated_o  = slice_q.wtrunc;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Idle;
      slice_q        <= '0;
      entries_left_q <= '0;
      weights_left_q <= '0;
      runs_left_q    <= '0;
      lead_q         <= '0;
      values_q       <= '0;
      next_q         <= '0;
      unary_read_q   <= 1'b0;
      tail_q         <= 1'b0;
    end else if (en_i) begin
      state_q        <= state_d;
      slice_q        <= slice_d;
      entries_left_q <= entries_left_d;
      weights_left_q <= weights_left_d;
      runs_left_q    <= runs_left_d;
      lead_q         <= lead_d;
      values_q       <= values_d;
      next_q         <= next_d;
      unary_read_q   <= unary_read_d;
      tail_q         <= tail_d;
    end
  end
endmodule
