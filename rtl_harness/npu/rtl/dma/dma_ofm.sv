/// Writes one OFM block from the staging area to memory, merging bytes into 64-bit beats.
module dma_ofm
  import npu_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        en_i,
  input  op_t         op_i,
  input  region_t     region_i,
  input  logic        start_i,
  input  step_t       step_i,
  output logic        busy_o,
  output logic        address_error_o,
  // Staging area, address in units of four bytes
  output logic        rd_o,
  output logic [8:0]  rd_addr_o,
  input  logic [31:0] rd_data_i,
  // Write beats
  output logic        wr_valid_o,
  input  logic        wr_ready_i,
  output logic [31:0] wr_addr_o,
  output logic [63:0] wr_data_o,
  output logic [7:0]  wr_strb_o
);
  typedef enum logic [1:0] {
    Idle,
    Locate,
    Walk,
    Flush
  } state_e;

  state_e state_q;
  logic [6:0] x_q, y_q, bw_q, bh_q;
  logic [7:0] bd_q, c_q;         // channels of the block, and the next of them
  logic [3:0] phase_q;           // channel 0 of the block within its group of 16
  logic [31:0] row_q, pixel_q, group_q;
  logic [8:0] unit_q, pixel_unit_q;  // staging address of channel c, of channel 0
  logic [8:0] npix_q;               // pixels of the block, at most 512

  logic [31:0] step_x;
  assign step_x = op_i.ofm.brick ? 32'd16 : op_i.ofm.stride_x;

  logic located;
  logic [31:0] offset;
  dma_offset u_offset (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .en_i      (en_i),
    .start_i   (start_i),
    .base_i    (op_i.ofm.base + (op_i.ofm.brick ? '0 : 32'(step_i.oz0))),
    .y_i       (15'(step_i.oy0)),
    .x_i       (15'(step_i.ox0)),
    .g_i       (op_i.ofm.brick ? step_i.oz0[12:4] : '0),
    .stride_y_i(op_i.ofm.stride_y),
    .stride_x_i(step_x),
    .stride_g_i(op_i.ofm.stride_c),
    .valid_o   (located),
    .offset_o  (offset)
  );

  // The piece at hand: bytes of one staging unit, one segment and one beat.
  logic [3:0] in_group;          // position of channel c in its group of 16
  logic [7:0] channels_left;
  logic [4:0] group_left;
  logic [31:0] at, addr;
  logic [2:0] bytes;
  assign in_group      = phase_q + c_q[3:0];
  assign channels_left = bd_q - c_q;
  assign group_left    = 5'd16 - {1'b0, in_group};
  assign at            = pixel_q + group_q + (op_i.ofm.brick ? 32'(in_group) : 32'(c_q));
  assign addr          = region_i.base + at;
  always_comb begin
    bytes = 3'd4 - {1'b0, c_q[1:0]};
    if (channels_left < 8'(bytes)) bytes = channels_left[2:0];
    if (group_left < 5'(bytes)) bytes = group_left[2:0];
    if (4'd8 - 4'(addr[2:0]) < 4'(bytes)) bytes = 3'(4'd8 - 4'(addr[2:0]));
  end

  // A segment is checked at its first piece and dropped as a whole.
  logic [4:0] segment_bytes;
  logic segment_first, leaves, drop_q, drop;
  assign segment_bytes = channels_left < 8'(group_left) ? channels_left[4:0] : group_left;
  assign segment_first = c_q == '0 || in_group == '0;
  assign leaves        = {1'b0, at} + 33'(segment_bytes) > {1'b0, region_i.size};
  assign drop          = segment_first ? leaves : drop_q;

  // Two stages: read the staging area; merge into the beat.
  logic merge_q, merge_drop_q;
  logic [31:0] merge_addr_q;
  logic [2:0] merge_bytes_q;
  logic [1:0] merge_from_q;

  logic beat_q_valid;
  logic [28:0] beat_addr_q;
  logic [63:0] beat_data_q;
  logic [7:0] beat_strb_q;

  logic merge, other_beat, stall, go;
  assign merge      = merge_q && !merge_drop_q;
  assign other_beat = beat_q_valid && beat_addr_q != merge_addr_q[31:3];
  assign wr_valid_o = (merge && other_beat) || (state_q == Flush && !merge_q && beat_q_valid);
  assign wr_addr_o  = {beat_addr_q, 3'd0};
  assign wr_data_o  = beat_data_q;
  assign wr_strb_o  = beat_strb_q;
  assign stall      = merge && other_beat && !wr_ready_i;
  assign go         = state_q == Walk && !stall;
  assign rd_o       = go;
  assign rd_addr_o  = unit_q;
  assign address_error_o = go && segment_first && leaves;

  logic [31:0] piece;
  logic [63:0] piece_data;
  logic [7:0] piece_strb;
  always_comb begin
    piece      = rd_data_i >> {merge_from_q, 3'd0};
    piece_strb = 8'((8'd1 << merge_bytes_q) - 8'd1) << merge_addr_q[2:0];
    piece_data = 64'(piece) << {merge_addr_q[2:0], 3'd0};
    for (int unsigned i = 0; i < 8; i++) begin
      if (!piece_strb[i]) piece_data[8*i+:8] = '0;
    end
  end

  function automatic logic [63:0] merged(logic [63:0] old, logic [63:0] add, logic [7:0] strb);
    for (int unsigned i = 0; i < 8; i++) begin
      merged[8*i+:8] = strb[i] ? add[8*i+:8] : old[8*i+:8];
    end
  endfunction

  logic last_channel, last_x, last_y;
  assign last_channel = channels_left == 8'(bytes);
  assign last_x       = x_q == bw_q - 7'd1;
  assign last_y       = y_q == bh_q - 7'd1;

  logic next_unit, next_group;
  assign next_unit  = 3'(c_q[1:0]) + bytes == 3'd4;
  assign next_group = 5'(in_group) + 5'(bytes) == 5'd16;

  assign busy_o = state_q != Idle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      {x_q, y_q, bw_q, bh_q} <= '0;
      {bd_q, c_q}   <= '0;
      phase_q       <= '0;
      row_q         <= '0;
      pixel_q       <= '0;
      group_q       <= '0;
      unit_q        <= '0;
      pixel_unit_q  <= '0;
      npix_q        <= '0;
      drop_q        <= 1'b0;
      merge_q       <= 1'b0;
      merge_drop_q  <= 1'b0;
      merge_addr_q  <= '0;
      merge_bytes_q <= '0;
      merge_from_q  <= '0;
      beat_q_valid  <= 1'b0;
      beat_addr_q   <= '0;
      beat_data_q   <= '0;
      beat_strb_q   <= '0;
    end else if (en_i) begin
      unique case (state_q)
        Idle: begin
          if (start_i) begin
            state_q      <= Locate;
            x_q          <= '0;
            y_q          <= '0;
            bw_q         <= step_i.bw;
            bh_q         <= step_i.bh;
            bd_q         <= step_i.bd;
            c_q          <= '0;
            phase_q      <= step_i.oz0[3:0];
            npix_q       <= 9'(step_i.bw) * 9'(step_i.bh);
            unit_q       <= '0;
            pixel_unit_q <= '0;
            group_q      <= '0;
          end
        end
        Locate: begin
          if (located) begin
            row_q   <= offset;
            pixel_q <= offset;
            state_q <= Walk;
          end
        end
        Walk: begin
          if (go) begin
            drop_q <= drop;
            c_q    <= c_q + 8'(bytes);
            if (next_unit) unit_q <= unit_q + npix_q;
            if (next_group && op_i.ofm.brick) group_q <= group_q + op_i.ofm.stride_c;
            if (last_channel) begin
              c_q          <= '0;
              group_q      <= '0;
              unit_q       <= pixel_unit_q + 9'd1;
              pixel_unit_q <= pixel_unit_q + 9'd1;
              x_q          <= last_x ? '0 : x_q + 7'd1;
              pixel_q      <= pixel_q + step_x;
              if (last_x) begin
                y_q     <= y_q + 7'd1;
                row_q   <= row_q + op_i.ofm.stride_y;
                pixel_q <= row_q + op_i.ofm.stride_y;
                if (last_y) state_q <= Flush;
              end
            end
          end
        end
        Flush: begin
          if (!merge_q && (!beat_q_valid || wr_ready_i)) state_q <= Idle;
        end
        default: state_q <= Idle;
      endcase

      if (!stall) begin
        merge_q       <= go;
        merge_drop_q  <= drop;
        merge_addr_q  <= addr;
        merge_bytes_q <= bytes;
        merge_from_q  <= c_q[1:0];
      end
      if (merge && !stall) begin
        beat_q_valid <= 1'b1;
        beat_addr_q  <= merge_addr_q[31:3];
        beat_data_q  <= other_beat || !beat_q_valid
                        ? piece_data
                        : merged(beat_data_q, piece_data, piece_strb);
        beat_strb_q  <= other_beat || !beat_q_valid ? piece_strb : beat_strb_q | piece_strb;
      end else if (wr_valid_o && wr_ready_i) begin
        beat_q_valid <= 1'b0;
      end
    end
  end
endmodule
