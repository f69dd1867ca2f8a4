/// Orders the work of one step: for each weight vector, the pixels of the block it applies to.
///
/// Gives, a cycle ahead of the data, the shared-buffer addresses of IFM word and accumulators.
module mac_sequencer
  import npu_pkg::*;
#(
  parameter int unsigned IfmAddrW = 11,
  parameter int unsigned AccAddrW = 10
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                en_i,
  input  op_t                 op_i,
  input  logic                valid_i,
  input  step_t               step_i,
  input  logic [IfmAddrW-1:0] ifm_base_i,
  input  logic [AccAddrW-1:0] acc_base_i,
  output logic                done_o,
  // Weight vectors
  input  logic                vec_valid_i,
  output logic                vec_ready_o,
  // One multiply-accumulate of a vector with a pixel
  output logic                issue_o,
  output logic                padding_o,
  output logic                clear_o,       // accumulators start from zero
  output logic [7:0]          lanes_o,       // IFM channels that exist
  output logic [IfmAddrW-1:0] ifm_addr_o,
  output logic [AccAddrW-1:0] acc_addr_o
);
  typedef enum logic [1:0] {
    Idle,
    Run,
    Drain
  } state_e;

  state_e state_q;
  logic [1:0] drain_q;
  logic [2:0] z_q;    // IFM word within the pixel
  logic [5:0] u_q;    // group of four OFM channels
  logic [3:0] tx_q, ty_q;
  logic [6:0] px_q, py_q;
  logic [IfmAddrW-1:0] tap_row_q, tap_q, pixel_row_q, pixel_q;
  logic signed [16:0] ix_q, iy_q, tap_ix_q, tap_iy_q;
  logic [AccAddrW-1:0] acc_q, group_acc_q;

  logic [2:0] words;
  logic [5:0] groups;
  assign words  = 3'((step_i.zc + 6'd7) >> 3);
  assign groups = 6'((9'(step_i.bd) + 9'd3) >> 2);

  // Distances in words of the piece
  logic [IfmAddrW-1:0] row, down, across, tap_down, tap_across;
  assign row        = IfmAddrW'(step_i.iw) * IfmAddrW'(words);
  assign down       = row * IfmAddrW'(op_i.stride_y);
  assign across     = IfmAddrW'(op_i.stride_x) * IfmAddrW'(words);
  assign tap_down   = row << op_i.dilate_y;
  assign tap_across = IfmAddrW'(words) << op_i.dilate_x;

  // Part kernel first pads the taps to a multiple of four.
  logic [6:0] taps, taps_padded, element_q;
  logic real_tap, real_word;
  assign taps        = 7'(step_i.th * 7'(step_i.tw));
  assign taps_padded = op_i.part_kernel ? (taps + 7'd3) & 7'h7C : taps;
  assign real_tap    = element_q < taps;
  assign real_word   = z_q < words;

  logic last_px, last_py, last_pixel, last_element, last_z, last_group, last_vector;
  assign last_px      = px_q == step_i.bw - 7'd1;
  assign last_py      = py_q == step_i.bh - 7'd1;
  assign last_pixel   = (last_px && last_py) || !real_tap || !real_word;
  assign last_element = element_q == taps_padded - 7'd1;
  assign last_z       = z_q == (op_i.part_kernel ? words - 3'd1 : 3'd3);
  assign last_group   = u_q == groups - 6'd1;
  assign last_vector  = last_element && last_z && last_group;

  logic run;
  assign run         = state_q == Run && vec_valid_i;
  assign vec_ready_o = state_q == Run && last_pixel;
  assign issue_o     = run && real_tap && real_word;

  assign padding_o  = ix_q < 0 || ix_q >= $signed(op_i.ifm_w) || iy_q < 0 || iy_q >= $signed(op_i.ifm_h);
  assign clear_o    = step_i.first && element_q == '0 && z_q == '0;
  assign ifm_addr_o = ifm_base_i + tap_q + pixel_q + IfmAddrW'(z_q);
  assign acc_addr_o = acc_base_i + acc_q;

  logic [12:0] from_word;
  assign from_word = op_i.ifm_d_m1 - step_i.iz0 - {7'd0, z_q, 3'd0};  // channels after the first
  assign lanes_o   = from_word >= 13'd7 ? 8'hFF : 8'((9'd2 << from_word[2:0]) - 9'd1);

  assign done_o = state_q == Drain && drain_q == '0;

  // First accumulator row of the next group
  logic [AccAddrW-1:0] acc_next;
  assign acc_next = group_acc_q + AccAddrW'(step_i.bw) * AccAddrW'(step_i.bh);

  // The tap after this one
  logic last_tx;
  assign last_tx = tx_q == step_i.tw - 4'd1;

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
      tap_row_q   <= '0;
      tap_q       <= '0;
      pixel_row_q <= '0;
      pixel_q     <= '0;
      ix_q        <= '0;
      iy_q        <= '0;
      tap_ix_q    <= '0;
      tap_iy_q    <= '0;
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
            tap_row_q   <= '0;
            tap_q       <= '0;
            pixel_row_q <= '0;
            pixel_q     <= '0;
            ix_q        <= step_i.ix0;
            iy_q        <= step_i.iy0;
            tap_ix_q    <= step_i.ix0;
            tap_iy_q    <= step_i.iy0;
            acc_q       <= '0;
            group_acc_q <= '0;
          end
        end

        Run: begin
          if (run && !last_pixel) begin
            acc_q   <= acc_q + AccAddrW'(1);
            px_q    <= last_px ? '0 : px_q + 7'd1;
            pixel_q <= pixel_q + across;
            ix_q    <= ix_q + 17'(op_i.stride_x);
            if (last_px) begin
              py_q        <= py_q + 7'd1;
              pixel_row_q <= pixel_row_q + down;
              pixel_q     <= pixel_row_q + down;
              ix_q        <= tap_ix_q;
              iy_q        <= iy_q + 17'(op_i.stride_y);
            end
          end
          if (run && last_pixel) begin
            px_q        <= '0;
            py_q        <= '0;
            pixel_row_q <= '0;
            pixel_q     <= '0;
            ix_q        <= tap_ix_q;
            iy_q        <= tap_iy_q;
            acc_q       <= group_acc_q;
            if (!op_i.part_kernel && !last_z) begin
              z_q <= z_q + 3'd1;
            end else begin
              if (!op_i.part_kernel) z_q <= '0;
              if (!last_element) begin
                element_q <= element_q + 7'd1;
                tx_q      <= last_tx ? '0 : tx_q + 4'd1;
                tap_q     <= tap_q + tap_across;
                tap_ix_q  <= tap_ix_q + (17'd1 << op_i.dilate_x);
                ix_q      <= tap_ix_q + (17'd1 << op_i.dilate_x);
                if (last_tx) begin
                  ty_q      <= ty_q + 4'd1;
                  tap_row_q <= tap_row_q + tap_down;
                  tap_q     <= tap_row_q + tap_down;
                  tap_ix_q  <= step_i.ix0;
                  ix_q      <= step_i.ix0;
                  tap_iy_q  <= tap_iy_q + (17'd1 << op_i.dilate_y);
                  iy_q      <= tap_iy_q + (17'd1 << op_i.dilate_y);
                end
              end else begin
                element_q <= '0;
                tx_q      <= '0;
                ty_q      <= '0;
                tap_row_q <= '0;
                tap_q     <= '0;
                tap_ix_q  <= step_i.ix0;
                tap_iy_q  <= step_i.iy0;
                ix_q      <= step_i.ix0;
                iy_q      <= step_i.iy0;
                if (!last_group) begin
                  u_q         <= u_q + 6'd1;
                  group_acc_q <= acc_next;
                  acc_q       <= acc_next;
                end else begin
                  u_q         <= '0;
                  group_acc_q <= '0;
                  acc_q       <= '0;
                  if (op_i.part_kernel) z_q <= z_q + 3'd1;
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
