// SPDX-License-Identifier: Apache-2.0
/// Writes OFM blocks from the staging area to memory.
///
/// The output unit puts a block into the staging area in rows of up to 16 bytes: for each group of 16
/// channels, for each pixel, the group's bytes. A row that would leave the region is dropped and sets the
/// error.
module dma_ofm
  import npu_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         en_i,
  input  op_t          op_i,
  input  region_t      region_i,
  input  logic         valid_i,
  input  step_t        step_i,
  output logic         done_o,
  output logic         idle_o,
  output logic         address_error_o,
  // Staging area: 128 rows
  input  logic         row_put_i,
  output logic         full_o,      // no room beside what may be on its way
  output logic         rd_o,
  output logic [6:0]   rd_addr_o,
  input  logic [127:0] rd_data_i,
  // Write bursts
  output logic         burst_valid_o,
  input  logic         burst_take_i,
  output burst_t       burst_o,
  input  logic         beat_pop_i,
  output logic [63:0]  beat_data_o,
  output logic [7:0]   beat_strb_o
);
  localparam logic [7:0] FullLevel = 8'd112;  // rows
  localparam logic [7:0] GroupDepth = 8'd16;  // channels
  localparam logic [6:0] RowBytes = 7'd16;

  typedef enum logic [2:0] {
    Idle,
    Group,
    Locate,
    Walk,
    Flush,
    Done
  } state_e;

  state_e state_q;
  logic [6:0] x_q, y_q;
  logic [7:0] channel_q;        // first of the group
  logic last_group_q;
  logic [6:0] bytes_q;          // of a pixel in the group
  logic [6:0] left_q;           // of these, from this row on
  logic [31:0] group_q;         // offset of the group from the first channel
  logic [7:0] level_q;
  logic [6:0] head_q;

  logic begin_group, located, located_q, next, wrap;
  logic [31:0] offset, first_channel;
  dma_position u_position (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .fmap_i         (op_i.ofm),
    .start_i        (begin_group),
    .x_i            (step_i.ox0),
    .y_i            (step_i.oy0),
    .z_i            (step_i.oz0),
    .ready_o        (located),
    .next_i         (next),
    .again_i        (1'b0),
    .wrap_i         (wrap),
    .offset_o       (offset),
    .first_channel_o(first_channel)
  );

  // The row at hand
  logic [7:0] channels_left;
  logic last_row;
  logic [4:0] row_bytes;
  assign channels_left = step_i.bd - channel_q;
  assign row_bytes     = last_row ? left_q[4:0] : RowBytes[4:0];

  logic go, step, last_x, last_y;
  assign step        = state_q == Walk && go;
  assign last_row    = left_q <= RowBytes;
  assign last_x      = x_q == step_i.bw - 7'd1;
  assign last_y      = y_q == step_i.bh - 7'd1;
  assign next        = step && last_row && !last_x;
  assign wrap        = step && last_row && last_x;
  assign begin_group = (state_q == Idle && valid_i) || state_q == Group;

  // Its offset in the region; then its data, its address, and whether it leaves the region
  logic at_valid_q, wait_q;
  logic [31:0] at_q;
  logic [4:0] at_bytes_q;
  logic leaves, row_ready, row_load, merging, flush;
  assign leaves   = leaves_region(region_i, at_q, 32'(at_bytes_q));
  assign rd_o     = at_valid_q && !wait_q && level_q != '0;
  assign row_load = wait_q && row_ready;
  assign go       = !at_valid_q || row_load;
  assign flush    = state_q == Flush && !at_valid_q;

  logic beat_valid, beat_ready, collecting, sent;
  logic [28:0] beat_word;
  logic [63:0] beat_data;
  logic [7:0] beat_strb;
  dma_merge u_merge (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .en_i        (en_i),
    .valid_i     (wait_q && !leaves),
    .ready_o     (row_ready),
    .addr_i      (region_i.base + at_q),
    .bytes_i     (at_bytes_q),
    .data_i      (rd_data_i),
    .flush_i     (flush),
    .busy_o      (merging),
    .beat_valid_o(beat_valid),
    .beat_ready_i(beat_ready),
    .beat_word_o (beat_word),
    .beat_data_o (beat_data),
    .beat_strb_o (beat_strb)
  );
  dma_collect #(
    .Depth(12)
  ) u_collect (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .en_i         (en_i),
    .valid_i      (beat_valid),
    .ready_o      (beat_ready),
    .word_i       (beat_word),
    .data_i       (beat_data),
    .strb_i       (beat_strb),
    .flush_i      (flush && !merging),
    .open_o       (collecting),
    .empty_o      (sent),
    .burst_valid_o(burst_valid_o),
    .burst_take_i (burst_take_i),
    .burst_o      (burst_o),
    .beat_pop_i   (beat_pop_i),
    .beat_data_o  (beat_data_o),
    .beat_strb_o  (beat_strb_o)
  );

  logic error_q;
  assign address_error_o = error_q;
  assign rd_addr_o       = head_q;
  assign full_o          = level_q > FullLevel;
  assign done_o          = state_q == Done;
  assign idle_o          = state_q == Idle && sent;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      x_q        <= '0;
      y_q        <= '0;
      channel_q  <= '0;
      last_group_q <= 1'b0;
      bytes_q    <= '0;
      left_q     <= '0;
      located_q  <= 1'b0;
      group_q    <= '0;
      level_q    <= '0;
      head_q     <= '0;
      at_valid_q <= 1'b0;
      at_q       <= '0;
      at_bytes_q <= '0;
      wait_q     <= 1'b0;
      error_q    <= 1'b0;
    end else if (en_i) begin
      level_q <= level_q + 8'(row_put_i) - 8'(rd_o);
      if (rd_o) head_q <= head_q + 7'd1;
      if (rd_o) wait_q <= 1'b1;
      else if (row_load) wait_q <= 1'b0;
      error_q   <= row_load && leaves;
      located_q <= located;
      if (go) begin
        at_valid_q <= state_q == Walk;
        at_q       <= offset + first_channel + group_q + 32'(bytes_q - left_q);
        at_bytes_q <= row_bytes;
      end

      unique case (state_q)
        Idle: begin
          x_q       <= '0;
          y_q       <= '0;
          channel_q <= '0;
          group_q   <= '0;
          if (valid_i) state_q <= Locate;
        end
        Group: state_q <= Locate;
        Locate: begin
          last_group_q <= channels_left <= GroupDepth;
          bytes_q      <= 7'(channels_left > GroupDepth ? GroupDepth : channels_left) << op_i.ofm.log2_bytes;
          left_q       <= bytes_q;
          if (located_q) state_q <= Walk;
        end
        Walk: begin
          if (step) left_q <= last_row ? bytes_q : left_q - RowBytes;
          if (next) x_q <= x_q + 7'd1;
          if (wrap) begin
            x_q <= '0;
            y_q <= last_y ? '0 : y_q + 7'd1;
            if (last_y) begin
              channel_q <= channel_q + GroupDepth;
              group_q   <= group_q + (op_i.ofm.brick ? op_i.ofm.stride_c : 32'd16 << op_i.ofm.log2_bytes);
              state_q   <= last_group_q ? Flush : Group;
            end
          end
        end
        Flush: if (!at_valid_q && !merging && !collecting) state_q <= Done;
        Done: state_q <= Idle;
        default: state_q <= Idle;
      endcase
    end
  end
endmodule
