// SPDX-License-Identifier: Apache-2.0
/// Output unit: turns accumulators or operands into OFM elements, in rows of the staging area.
///
/// For each group of 16 channels of the block: each pixel, `Rate` channels a cycle; one a cycle with a look-up
/// table. The parameters of the next group's channels come meanwhile. Nothing holds up what has been taken from the shared buffer: up to
/// twelve rows are on their way to the staging area.
module ao
  import npu_pkg::*;
#(
  parameter int unsigned UblkW  = 1,
  parameter int unsigned UblkH  = 1,
  parameter int unsigned UblkD  = 4,
  parameter int unsigned Banks  = 16,
  parameter int unsigned Usable = 16,
  parameter int unsigned Rate   = 1   // 1, 2 or 4
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         en_i,
  input  op_t          op_i,
  input  logic         valid_i,  // the step is known
  input  logic         ready_i,  // its accumulators, or operands, are there
  input  step_t        step_i,
  input  logic         acc_buffer_i,
  input  logic         ifm_buffer_i,
  output logic         done_o,
  // Scale stream
  output logic         scale_start_o,
  output logic [31:0]  scale_offset_o,
  output logic [31:0]  scale_length_o,
  input  logic         scale_valid_i,
  output logic         scale_ready_o,
  input  logic [63:0]  scale_data_i,
  input  logic         scale_idle_i,
  // Shared buffer: accumulators or first operand, second operand, table
  output logic [2:0]   rd_o,
  output logic [2:0][5:0] rd_bank_o,
  output logic [2:0][5:0] rd_row_o,
  input  logic [2:0][127:0] rd_data_i,
  // Staging area
  input  logic         stage_full_i,
  output logic         stage_wr_o,
  output logic [6:0]   stage_wr_addr_o,
  output logic [127:0] stage_wr_data_o
);
  // Stages that an element is in after it was taken: its sources, six of arithmetic, value, table entry
  localparam int unsigned Source = 1;
  localparam int unsigned Arithmetic = 2;
  localparam int unsigned Value = 8;
  localparam int unsigned Entry = 9;

  // Walk
  logic start, next_group, loaded, take;
  logic [3:0] channel;
  logic [1:0] log2_rate, more;
  logic [5:0] bw_m1, bh_m1;
  logic odd_x, odd_y, last_channel, last_x, last_y;
  ao_walk #(
    .Rate(Rate)
  ) u_walk (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .en_i          (en_i),
    .op_i          (op_i),
    .valid_i       (valid_i),
    .ready_i       (ready_i),
    .step_i        (step_i),
    .scale_idle_i  (scale_idle_i),
    .stage_full_i  (stage_full_i),
    .loaded_i      (loaded),
    .start_o       (start),
    .next_o        (next_group),
    .take_o        (take),
    .channel_o     (channel),
    .log2_rate_o   (log2_rate),
    .more_o        (more),
    .bw_m1_o       (bw_m1),
    .bh_m1_o       (bh_m1),
    .odd_x_o       (odd_x),
    .odd_y_o       (odd_y),
    .last_channel_o(last_channel),
    .last_x_o      (last_x),
    .last_y_o      (last_y),
    .done_o        (done_o)
  );

  // Fetch
  logic [1:0][5:0] bank, row;
  logic [1:0][3:0] at_byte;
  ao_fetch #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Usable(Usable)
  ) u_fetch (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .en_i          (en_i),
    .op_i          (op_i),
    .start_i       (start),
    .depth_i       (step_i.bd),
    .acc_buffer_i  (acc_buffer_i),
    .ifm_buffer_i  (ifm_buffer_i),
    .next_i        (take),
    .channel_i     (channel),
    .log2_rate_i   (log2_rate),
    .bw_m1_i       (bw_m1),
    .bh_m1_i       (bh_m1),
    .odd_x_i       (odd_x),
    .odd_y_i       (odd_y),
    .last_channel_i(last_channel),
    .last_x_i      (last_x),
    .last_y_i      (last_y),
    .bank_o        (bank),
    .row_o         (row),
    .byte_o        (at_byte)
  );
  logic table_rd;
  logic [5:0] table_bank, table_row;
  assign rd_o      = {table_rd, take && op_i.ifm2_used, take};
  assign rd_bank_o = {table_bank, bank};
  assign rd_row_o  = {table_row, row};

  // What goes through the stages beside the elements
  typedef struct packed {
    logic [1:0] more;
    logic       row_ends;
  } place_t;

  logic [Entry:Source] valid_q;
  place_t [Entry:Source] place_q;
  place_t place;
  logic [3:0] reached;  // byte of a row after the last element
  assign reached = (channel + 4'(more) + 4'd1) << op_i.ofm.log2_bytes;
  assign place   = '{more: more, row_ends: reached == '0 || last_channel};

  logic [3:0] channel_q;
  logic [1:0][3:0] byte_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= '0;
      place_q   <= '0;
      channel_q <= '0;
      byte_q    <= '0;
    end else if (en_i) begin
      valid_q <= {valid_q[Entry-1:Source], take};
      place_q <= {place_q[Entry-1:Source], place};
      if (take) begin
        channel_q <= channel;
        byte_q    <= at_byte;
      end
    end
  end

  // Parameters of the group's channels
  logic [Rate-1:0][39:0] bias;
  logic [Rate-1:0][31:0] scale;
  logic [Rate-1:0][5:0] shift;
  ao_channels #(
    .Rate(Rate)
  ) u_channels (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .op_i           (op_i),
    .start_i        (start),
    .first_i        (step_i.oz0),
    .depth_i        (step_i.bd),
    .stream_start_o (scale_start_o),
    .stream_offset_o(scale_offset_o),
    .stream_length_o(scale_length_o),
    .stream_valid_i (scale_valid_i),
    .stream_ready_o (scale_ready_o),
    .stream_data_i  (scale_data_i),
    .loaded_o       (loaded),
    .next_i         (next_group),
    .channel_i      (channel_q),
    .bias_o         (bias),
    .scale_o        (scale),
    .shift_o        (shift)
  );

  // Scale and shift of averages that leave the padding out
  logic [32:0] average_factor;
  logic [5:0] average_shift;
  ao_window u_window (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .en_i    (en_i),
    .op_i    (op_i),
    .start_i (start),
    .ox0_i   (step_i.ox0),
    .oy0_i   (step_i.oy0),
    .take_i  (take),
    .next_i  (take && last_channel),
    .last_x_i(last_x),
    .last_y_i(last_y),
    .taken_i (valid_q[Arithmetic:Source]),
    .factor_o(average_factor),
    .shift_o (average_shift)
  );

  // Lanes
  logic signed [16:0] low, high;
  logic [Rate-1:0][31:0] value;
  ao_bounds u_bounds (
    .op_i  (op_i),
    .low_o (low),
    .high_o(high)
  );
  for (genvar r = 0; r < Rate; r++) begin : gen_lane
    // Elements of the lanes follow one another in a row, the first one's place a multiple of their number.
    logic [1:0][3:0] lane_byte;
    assign lane_byte[0] = byte_q[0]
                          | 4'(r << (op_i.kind == Elementwise ? op_i.ifm.log2_bytes : 2'd2));
    assign lane_byte[1] = byte_q[1] | (op_i.broadcast_c ? 4'd0 : 4'(r << op_i.ifm2.log2_bytes));

    logic signed [32:0] first, second;
    logic [5:0] channel_shift;
    ao_source u_source (
      .clk_i   (clk_i),
      .rst_ni  (rst_ni),
      .en_i    (en_i),
      .op_i    (op_i),
      .valid_i (valid_q[Source]),
      .data_i  (rd_data_i[1:0]),
      .byte_i  (lane_byte),
      .bias_i  (bias[r]),
      .scale_i (scale[r]),
      .shift_i (shift[r]),
      .first_o (first),
      .second_o(second),
      .shift_o (channel_shift)
    );
    ao_element u_element (
      .clk_i           (clk_i),
      .rst_ni          (rst_ni),
      .en_i            (en_i),
      .op_i            (op_i),
      .valid_i         (valid_q[Value-1:Arithmetic]),
      .first_i         (first),
      .second_i        (second),
      .shift_i         (channel_shift),
      .average_factor_i(average_factor),
      .average_shift_i (average_shift),
      .low_i           (low),
      .high_i          (high),
      .value_o         (value[r])
    );
  end

  // Table, one element a cycle, and rows
  logic [31:0] entry;
  ao_lookup #(
    .Banks(Banks)
  ) u_lookup (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .en_i     (en_i),
    .op_i     (op_i),
    .valid_i  (valid_q[Value]),
    .index_i  (value[0][15:0]),
    .rd_o     (table_rd),
    .rd_bank_o(table_bank),
    .rd_row_o (table_row),
    .rd_data_i(rd_data_i[2]),
    .entry_o  (entry)
  );
  logic [Rate-1:0][31:0] stored;
  place_t stored_place;
  always_comb begin
    stored = value;
    if (op_i.table_used) stored[0] = entry;
  end
  assign stored_place = op_i.table_used ? place_q[Entry] : place_q[Value];
  ao_pack #(
    .Rate(Rate)
  ) u_pack (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .en_i        (en_i),
    .log2_bytes_i(op_i.ofm.log2_bytes),
    .valid_i     (op_i.table_used ? valid_q[Entry] : valid_q[Value]),
    .more_i      (stored_place.more),
    .row_ends_i  (stored_place.row_ends),
    .value_i     (stored),
    .wr_o        (stage_wr_o),
    .wr_addr_o   (stage_wr_addr_o),
    .wr_data_o   (stage_wr_data_o)
  );
endmodule
