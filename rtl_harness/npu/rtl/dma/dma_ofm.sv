/// Writes OFM blocks from the staging area to memory, merging bytes into 64-bit beats.
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
  // Write beats
  output logic         wr_valid_o,
  input  logic         wr_ready_i,
  output logic [31:0]  wr_addr_o,
  output logic [63:0]  wr_data_o,
  output logic [7:0]   wr_strb_o
);
  typedef enum logic [2:0] {
    Idle,
    Locate,
    Fetch,
    Latch,
    Walk,
    Flush
  } state_e;

  state_e state_q;
  logic [6:0] x_q, y_q;
  logic [7:0] channel_q;        // first of the group
  logic [5:0] row_q;            // bytes of the group in rows before this one
  logic [4:0] byte_q;           // bytes of the row that are merged
  logic [31:0] group_q;         // offset of the group from the first channel
  logic [7:0] level_q;
  logic [6:0] head_q;
  logic [127:0] data_q;

  logic begin_group, located, next, wrap;
  logic [31:0] offset, first_channel;
  dma_position u_position (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .en_i    (en_i),
    .fmap_i  (op_i.ofm),
    .start_i (begin_group),
    .x_i     (step_i.ox0),
    .y_i     (step_i.oy0),
    .z_i     (step_i.oz0),
    .ready_o (located),
    .next_i  (next),
    .wrap_i  (wrap),
    .offset_o(offset),
    .first_channel_o(first_channel)
  );

  // The row at hand
  logic [7:0] channels_left;
  logic [6:0] group_bytes, row_left;
  logic [4:0] row_bytes;
  logic [31:0] row_at;
  logic leaves;
  assign channels_left = step_i.bd - channel_q;
  assign group_bytes   = (channels_left > 8'd16 ? 7'd16 : 7'(channels_left)) << op_i.ofm.log2_bytes;
  assign row_left      = group_bytes - 7'(row_q);
  assign row_bytes     = row_left > 7'd16 ? 5'd16 : row_left[4:0];
  assign row_at        = offset + first_channel + group_q + 32'(row_q);
  assign leaves        = leaves_region(region_i, row_at, 32'(row_bytes));

  // The bytes of it that go into one beat
  logic [31:0] addr;
  logic [4:0] bytes_left;
  logic [3:0] to_beat, bytes;
  assign addr       = region_i.base + row_at + 32'(byte_q);
  assign bytes_left = row_bytes - byte_q;
  assign to_beat    = 4'd8 - 4'(addr[2:0]);
  assign bytes      = bytes_left < 5'(to_beat) ? bytes_left[3:0] : to_beat;

  logic [63:0] piece_data;
  logic [7:0] piece_strb;
  always_comb begin
    piece_strb = 8'((9'd1 << bytes) - 9'd1) << addr[2:0];
    piece_data = 64'(data_q >> {byte_q, 3'd0}) << {addr[2:0], 3'd0};
    for (int unsigned i = 0; i < 8; i++) begin
      if (!piece_strb[i]) piece_data[8*i+:8] = '0;
    end
  end

  logic beat_valid_q;
  logic [28:0] beat_addr_q;
  logic [63:0] beat_data_q;
  logic [7:0] beat_strb_q;

  function automatic logic [63:0] merged(logic [63:0] old, logic [63:0] add, logic [7:0] strb);
    for (int unsigned i = 0; i < 8; i++) begin
      merged[8*i+:8] = strb[i] ? add[8*i+:8] : old[8*i+:8];
    end
  endfunction

  logic merge, same_beat, stall, last_bytes, row_ends;
  assign merge      = state_q == Walk && !leaves;
  assign same_beat  = beat_valid_q && beat_addr_q == addr[31:3];
  assign stall      = merge && beat_valid_q && !same_beat && !wr_ready_i;
  assign wr_valid_o = (merge && beat_valid_q && !same_beat) || (state_q == Flush && beat_valid_q);
  assign wr_addr_o  = {beat_addr_q, 3'd0};
  assign wr_data_o  = beat_data_q;
  assign wr_strb_o  = beat_strb_q;
  assign last_bytes = bytes_left == 5'(bytes);
  assign row_ends   = state_q == Walk && (leaves || (!stall && last_bytes));
  assign address_error_o = state_q == Walk && leaves;

  logic last_row, last_x, last_y, last_group;
  assign last_row   = row_left <= 7'd16;
  assign last_x     = x_q == step_i.bw - 7'd1;
  assign last_y     = y_q == step_i.bh - 7'd1;
  assign last_group = channels_left <= 8'd16;
  assign next       = row_ends && last_row && !last_x;
  assign wrap       = row_ends && last_row && last_x;
  assign begin_group = (state_q == Idle && valid_i) || (wrap && last_y && !last_group);

  assign rd_o      = state_q == Fetch && level_q != '0;
  assign rd_addr_o = head_q;
  assign full_o    = level_q > 8'd112;
  assign done_o    = state_q == Flush && (!beat_valid_q || wr_ready_i);
  assign idle_o    = state_q == Idle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      x_q          <= '0;
      y_q          <= '0;
      channel_q    <= '0;
      row_q        <= '0;
      byte_q       <= '0;
      group_q      <= '0;
      level_q      <= '0;
      head_q       <= '0;
      data_q       <= '0;
      beat_valid_q <= 1'b0;
      beat_addr_q  <= '0;
      beat_data_q  <= '0;
      beat_strb_q  <= '0;
    end else if (en_i) begin
      level_q <= level_q + 8'(row_put_i) - 8'(rd_o);
      if (rd_o) head_q <= head_q + 7'd1;

      unique case (state_q)
        Idle: begin
          x_q       <= '0;
          y_q       <= '0;
          channel_q <= '0;
          row_q     <= '0;
          byte_q    <= '0;
          group_q   <= '0;
          if (valid_i) state_q <= Locate;
        end
        Locate: if (located) state_q <= Fetch;
        Fetch:  if (rd_o) state_q <= Latch;
        Latch: begin
          data_q  <= rd_data_i;
          state_q <= Walk;
        end
        Walk: begin
          if (!stall) byte_q <= byte_q + 5'(bytes);
          if (row_ends) begin
            byte_q  <= '0;
            row_q   <= last_row ? '0 : row_q + 6'd16;
            state_q <= Fetch;
            if (last_row) begin
              x_q <= last_x ? '0 : x_q + 7'd1;
              if (last_x) begin
                y_q <= last_y ? '0 : y_q + 7'd1;
                if (last_y) begin
                  channel_q <= channel_q + 8'd16;
                  group_q   <= group_q + (op_i.ofm.brick ? op_i.ofm.stride_c
                                                         : 32'd16 << op_i.ofm.log2_bytes);
                  state_q   <= last_group ? Flush : Locate;
                end
              end
            end
          end
        end
        Flush: if (done_o) state_q <= Idle;
        default: state_q <= Idle;
      endcase

      if (merge && !stall) begin
        beat_valid_q <= 1'b1;
        beat_addr_q  <= addr[31:3];
        beat_data_q  <= same_beat ? merged(beat_data_q, piece_data, piece_strb) : piece_data;
        beat_strb_q  <= same_beat ? beat_strb_q | piece_strb : piece_strb;
      end else if (wr_valid_o && wr_ready_i) begin
        beat_valid_q <= 1'b0;
      end
    end
  end
endmodule
