/// Orders the work of one step: for each weight vector, the groups of pixels it applies to.
///
/// A group is `UblkW` by `UblkH` pixels, which the array computes together, a lane each. Gives, a cycle ahead
/// of the data, the shared-buffer address of each lane's IFM word and the accumulator row of the group.
module mac_sequencer
  import npu_pkg::*;
#(
  parameter int unsigned UblkW = 1,
  parameter int unsigned UblkH = 1,
  parameter int unsigned UblkD = 4,
  localparam int unsigned Lanes = UblkW * UblkH,
  localparam int unsigned ShiftW = $clog2(UblkW),
  localparam int unsigned ShiftH = $clog2(UblkH)
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  op_t         op_i,
  input  logic        valid_i,
  input  step_t       step_i,
  input  logic [5:0]  ifm_bank_i,    // first bank of the IFM buffer
  output logic        done_o,
  // Weight vectors
  input  logic        vec_valid_i,
  output logic        vec_ready_o,
  // One multiply-accumulate of a vector with a group of pixels
  output logic        issue_o,
  output logic [Lanes-1:0] absent_o,   // lanes with padding, or no pixel
  output logic        clear_o,         // accumulators start anew
  output logic [7:0]  channels_o,      // IFM channels of the word that exist
  output logic        half_o,          // depthwise with four channels: the word's upper half
  output logic [Lanes-1:0][5:0] bank_o,
  output logic [Lanes-1:0][6:0] addr_o,
  output logic [11:0] acc_row_o        // counted from the buffer's first
);
  typedef enum logic [1:0] {
    Idle,
    Run,
    Drain
  } state_e;

  state_e state_q;
  logic [1:0] drain_q;
  logic [3:0] z_q;         // IFM word within the pixel
  logic [5:0] u_q;         // group of UblkD OFM channels
  logic [3:0] tx_q, ty_q;
  logic [6:0] element_q;   // tap, in the order of the weights
  logic [6:0] px_q, py_q;
  logic [11:0] acc_q, group_acc_q;

  logic by_channel;        // an OFM channel has one IFM channel
  logic weighted;
  assign by_channel = op_i.kind != Conv && op_i.kind != ReduceSum;
  assign weighted   = op_i.kind == Conv || op_i.kind == Depthwise;

  logic [4:0] words;       // of a pixel in the piece
  logic [5:0] groups;
  assign words  = 5'(((10'(step_i.zc) << op_i.ifm.log2_bytes) + 10'd7) >> 3);
  assign groups = op_i.kind == ReduceSum ? 6'd1
                  : 6'((9'(step_i.bd) + 9'(UblkD - 1)) >> $clog2(UblkD));

  // Convolutions pad the taps to a multiple of four: part kernel first and depthwise.
  logic [6:0] taps, taps_padded;
  logic real_tap, real_word;
  assign taps        = 7'(step_i.th * 7'(step_i.tw));
  assign taps_padded = (op_i.kind == Conv && op_i.part_kernel) || op_i.kind == Depthwise
                       ? (taps + 7'd3) & 7'h7C : taps;
  assign real_tap    = element_q < taps;
  assign real_word   = 5'(z_q) < words;

  logic last_px, last_py, last_pixel, last_element, last_z, last_group, last_vector;
  assign last_px      = px_q + 7'(UblkW) >= step_i.bw;
  assign last_py      = py_q + 7'(UblkH) >= step_i.bh;
  assign last_pixel   = (last_px && last_py) || !real_tap || !real_word;
  assign last_element = element_q == taps_padded - 7'd1;
  assign last_group   = u_q == groups - 6'd1;
  logic z_inner;           // the IFM words are the innermost loop, else the outermost
  assign z_inner = op_i.kind == Conv ? !op_i.part_kernel : op_i.kind == ReduceSum;
  always_comb begin
    last_z = 1'b1;
    if (op_i.kind == Conv) last_z = op_i.part_kernel ? 5'(z_q) == words - 5'd1 : z_q == 4'd3;
    else if (op_i.kind == ReduceSum) last_z = 5'(z_q) == words - 5'd1;
  end
  assign last_vector = last_element && last_z && last_group;

  logic run;
  assign run         = state_q == Run && (vec_valid_i || !weighted);
  assign vec_ready_o = state_q == Run && last_pixel && weighted;
  assign issue_o     = run && real_tap && real_word;
  assign clear_o     = step_i.first && element_q == '0 && z_q == '0;
  assign done_o      = state_q == Drain && drain_q == '0;
  assign acc_row_o   = acc_q;

  // The IFM word: of the walk for convolutions, that of the OFM channels otherwise
  logic [4:0] word;
  logic [15:0] channels_from;  // channels from the word's first to the last that exists, minus one
  assign word          = by_channel ? (UblkD == 4 ? 5'(u_q >> 1) : 5'(u_q)) : 5'(z_q);
  assign half_o        = UblkD == 4 && u_q[0];
  assign channels_from = op_i.ifm_d_m1 - step_i.iz0 - ({8'd0, word, 3'd0} >> op_i.ifm.log2_bytes);
  assign channels_o    = channels_from >= 16'd7 ? 8'hFF : 8'((9'd2 << channels_from[2:0]) - 9'd1);

  // Lanes: a piece is spread over the lanes' banks so that a group's pixels never meet in one.
  logic [7:0] pitch_pixels;
  logic [11:0] pitch;
  assign pitch_pixels = 8'((9'(step_i.iw) + 9'(UblkW - 1)) >> ShiftW);
  assign pitch        = 12'(pitch_pixels) * 12'(words);
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    localparam logic [6:0] LaneX = 7'(l % UblkW);
    localparam logic [6:0] LaneY = 7'(l / UblkW);

    logic signed [18:0] ix, iy;
    assign ix = step_i.ix0 + 19'(9'(px_q + LaneX) * 9'(op_i.stride_x)) + (19'(tx_q) << op_i.dilate_x);
    assign iy = step_i.iy0 + 19'(9'(py_q + LaneY) * 9'(op_i.stride_y)) + (19'(ty_q) << op_i.dilate_y);

    logic padding, between, outside;
    assign padding = ix < 0 || iy < 0 || ix >= $signed({1'b0, op_i.ifm_w})
                     || iy >= $signed({1'b0, op_i.ifm_h});
    assign between = op_i.upscale_zeros && (ix[0] || iy[0]);
    assign outside = px_q + LaneX >= step_i.bw || py_q + LaneY >= step_i.bh;
    assign absent_o[l] = padding || between || outside;

    logic [7:0] x, y;
    assign x = 8'((ix >>> op_i.upscale) - ifm_origin(op_i, step_i.ix0));
    assign y = 8'((iy >>> op_i.upscale) - ifm_origin(op_i, step_i.iy0));

    logic [1:0] lane;
    logic [11:0] at;
    assign lane = ifm_lane(x, y, op_i.stride_x, op_i.stride_y, UblkW, UblkH);
    assign at   = 12'(y >> ShiftH) * pitch + 12'(x >> ShiftW) * 12'(words) + 12'(word);
    assign bank_o[l] = ifm_bank_i + 6'(12'(at[11:7]) * 12'(Lanes)) + 6'(lane);
    assign addr_o[l] = at[6:0];
  end

  logic last_tx;
  assign last_tx = tx_q == step_i.tw - 4'd1;

  // Accumulator rows of a channel group
  logic [11:0] rows;
  assign rows = ((12'(step_i.bw) + 12'(UblkW - 1)) >> ShiftW)
                * ((12'(step_i.bh) + 12'(UblkH - 1)) >> ShiftH);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      drain_q     <= '0;
      z_q         <= '0;
      u_q         <= '0;
      tx_q        <= '0;
      ty_q        <= '0;
      element_q   <= '0;
      px_q        <= '0;
      py_q        <= '0;
      acc_q       <= '0;
      group_acc_q <= '0;
    end else if (en_i) begin
      unique case (state_q)
        Idle: begin
          if (valid_i) begin
            state_q     <= Run;
            drain_q     <= 2'd2;
            z_q         <= '0;
            u_q         <= '0;
            tx_q        <= '0;
            ty_q        <= '0;
            element_q   <= '0;
            px_q        <= '0;
            py_q        <= '0;
            acc_q       <= '0;
            group_acc_q <= '0;
          end
        end

        Run: begin
          if (run && !last_pixel) begin
            acc_q <= acc_q + 12'd1;
            px_q  <= last_px ? '0 : px_q + 7'(UblkW);
            if (last_px) py_q <= py_q + 7'(UblkH);
          end
          if (run && last_pixel) begin
            px_q  <= '0;
            py_q  <= '0;
            acc_q <= group_acc_q;
            if (z_inner && !last_z) begin
              z_q <= z_q + 4'd1;
            end else begin
              if (z_inner) z_q <= '0;
              if (!last_element) begin
                element_q <= element_q + 7'd1;
                tx_q      <= last_tx ? '0 : tx_q + 4'd1;
                if (last_tx) ty_q <= ty_q + 4'd1;
              end else begin
                element_q <= '0;
                tx_q      <= '0;
                ty_q      <= '0;
                if (!last_group) begin
                  u_q         <= u_q + 6'd1;
                  group_acc_q <= group_acc_q + rows;
                  acc_q       <= group_acc_q + rows;
                end else begin
                  u_q         <= '0;
                  group_acc_q <= '0;
                  acc_q       <= '0;
                  if (!z_inner) z_q <= z_q + 4'd1;
                end
              end
            end
            if (last_vector) state_q <= Drain;
          end
        end

        Drain: begin
          drain_q <= drain_q - 2'd1;
          if (done_o) state_q <= Idle;
        end

        default: state_q <= Idle;
      endcase
    end
  end
endmodule
