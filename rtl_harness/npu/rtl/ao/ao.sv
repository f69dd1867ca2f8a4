/// Output unit: turns accumulators or operands into OFM elements, in rows of the staging area.
///
/// For each group of 16 channels of the block: the channels' parameters, then each pixel, `Rate` channels a
/// cycle; one a cycle with a look-up table.
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
  localparam int unsigned Stages = 6;  // of the arithmetic

  typedef enum logic [2:0] {
    Idle,
    Load,
    Walk,
    Switch,
    Done
  } state_e;

  // What travels beside the elements of one cycle
  typedef struct packed {
    logic [2:0] count;     // elements
    logic [3:0] from;      // byte of the first in its row
    logic       row_ends;
  } place_t;

  state_e state_q;
  logic [7:0] group_q;     // first channel of the group
  logic [4:0] c_q;         // channel within the group
  logic [6:0] x_q, y_q;

  logic weighted;
  assign weighted = op_i.kind == Conv || op_i.kind == Depthwise;

  logic [7:0] channels_left;
  logic [4:0] channels, left;
  logic [2:0] rate, count;
  logic wide;
  assign channels_left = step_i.bd - group_q;
  assign channels      = channels_left > 8'd16 ? 5'd16 : 5'(channels_left);
  assign left          = channels - c_q;
  assign wide          = op_i.kind == Elementwise
                         && (op_i.ifm.log2_bytes == 2'd2 || op_i.ifm2.log2_bytes == 2'd2);
  always_comb begin
    rate = 3'(Rate);
    if (wide && rate > 3'd2) rate = 3'd2;
    if (op_i.table_used) rate = 3'd1;
  end
  assign count = left < 5'(rate) ? 3'(left) : rate;

  logic go, last_c, last_x, last_y, last_group;
  assign go         = state_q == Walk && ready_i && !stage_full_i;
  assign last_c     = left <= 5'(rate);
  assign last_x     = x_q == step_i.bw - 7'd1;
  assign last_y     = y_q == step_i.bh - 7'd1;
  assign last_group = channels_left <= 8'd16;

  // Parameters of the group's channels
  logic begin_block, param_valid;
  logic signed [39:0] param_bias;
  logic [31:0] param_scale;
  logic [5:0] param_shift;
  logic [15:0][39:0] bias_q;
  logic [15:0][31:0] scale_q;
  logic [15:0][5:0] shift_q;
  assign begin_block = state_q == Idle && valid_i && scale_idle_i;
  ao_params u_params (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .en_i           (en_i),
    .start_i        (begin_block && weighted),
    .step_i         (step_i),
    .length_i       (op_i.scale.length),
    .stream_start_o (scale_start_o),
    .stream_offset_o(scale_offset_o),
    .stream_length_o(scale_length_o),
    .stream_valid_i (scale_valid_i),
    .stream_ready_o (scale_ready_o),
    .stream_data_i  (scale_data_i),
    .valid_o        (param_valid),
    .ready_i        (state_q == Load),
    .bias_o         (param_bias),
    .scale_o        (param_scale),
    .shift_o        (param_shift)
  );

  // Fetch
  logic [1:0][5:0] bank, row;
  logic [1:0][3:0] from_byte;
  ao_fetch #(
    .UblkW (UblkW),
    .UblkH (UblkH),
    .UblkD (UblkD),
    .Usable(Usable)
  ) u_fetch (
    .op_i        (op_i),
    .step_i      (step_i),
    .acc_buffer_i(acc_buffer_i),
    .ifm_buffer_i(ifm_buffer_i),
    .x_i         (x_q),
    .y_i         (y_q),
    .channel_i   (group_q + 8'(c_q)),
    .bank_o      (bank),
    .row_o       (row),
    .byte_o      (from_byte)
  );
  logic table_rd;
  logic [10:0] table_at;
  assign rd_o      = {table_rd, go && op_i.ifm2_used, go};
  assign rd_bank_o = {6'(Banks - 2) + 6'(table_at[10]), bank[1], bank[0]};
  assign rd_row_o  = {table_at[9:4], row[1], row[0]};

  // Pixels under the kernel, for averages that leave the padding out
  function automatic logic [6:0] under(logic [15:0] at, logic [1:0] stride, logic [6:0] pad,
                                       logic [6:0] last_tap, logic [17:0] limit);
    logic signed [19:0] first, from, to;
    first = 20'(20'(at) * 20'(stride)) - 20'(pad);
    from  = first < 0 ? '0 : first;
    to    = first + 20'(last_tap) + 20'd1;
    if (to > $signed(20'(limit))) to = $signed(20'(limit));
    return to > from ? 7'(to - from) : '0;
  endfunction
  logic [6:0] pixels;
  assign pixels = 7'(under(step_i.ox0 + 16'(x_q), op_i.stride_x, op_i.pad_left, op_i.taps_x_m1, op_i.ifm_w)
                     * under(step_i.oy0 + 16'(y_q), op_i.stride_y, op_i.pad_top, op_i.taps_y_m1,
                             op_i.ifm_h));

  // The fetched elements
  logic fetched_q;
  logic [1:0][3:0] fetched_byte_q;
  logic [3:0] fetched_c_q;
  logic [6:0] pixels_q;
  place_t [Stages:0] place_q;

  function automatic logic signed [32:0] element(logic [127:0] data, logic [3:0] from, logic [1:0] log2_bytes,
                                                 logic is_signed, logic [15:0] zero_point);
    logic [31:0] raw;
    logic signed [32:0] value;
    raw = 32'(data >> {from, 3'd0});
    unique case (log2_bytes)
      2'd0:    value = 33'($signed({is_signed && raw[7], raw[7:0]}));
      2'd1:    value = 33'($signed({is_signed && raw[15], raw[15:0]}));
      default: value = $signed({is_signed && raw[31], raw});
    endcase
    return value - 33'($signed(zero_point));
  endfunction

  logic signed [32:0] scalar;
  assign scalar = 33'($signed({op_i.ifm2_signed && op_i.ifm2_scalar[15], op_i.ifm2_scalar}))
                  - 33'($signed(op_i.ifm2_zero_point));

  logic [Rate-1:0] lane_valid;
  logic scaled_valid;
  logic [Rate-1:0][31:0] scaled;
  for (genvar r = 0; r < Rate; r++) begin : gen_lane
    logic signed [32:0] first, second, a, b;
    logic operands_valid;
    logic signed [35:0] value;
    logic signed [32:0] factor;
    logic [5:0] shift;
    logic [3:0] first_byte, second_byte, channel;
    assign first_byte  = fetched_byte_q[0] + 4'(r << op_i.ifm.log2_bytes);
    assign second_byte = fetched_byte_q[1]
                         + (op_i.broadcast_c ? 4'd0 : 4'(r << op_i.ifm2.log2_bytes));
    assign channel     = fetched_c_q + 4'(r);
    assign first       = element(rd_data_i[0], first_byte, op_i.ifm.log2_bytes, op_i.ifm_signed,
                                 op_i.ifm_zero_point);
    assign second      = op_i.ifm2_scalar_used
                         ? scalar
                         : element(rd_data_i[1], second_byte, op_i.ifm2.log2_bytes, op_i.ifm2_signed,
                                   op_i.ifm2_zero_point);
    assign a           = op_i.reversed ? second : first;
    assign b           = op_i.reversed ? first : second;

    ao_operands u_operands (
      .clk_i   (clk_i),
      .rst_ni  (rst_ni),
      .en_i    (en_i),
      .op_i    (op_i),
      .valid_i (fetched_q),
      .acc_i   (rd_data_i[0][32*((32'(fetched_byte_q[0][3:2])+r)%4)+:32]),
      .bias_i  (weighted ? bias_q[channel] : '0),
      .a_i     (a),
      .b_i     (b),
      .scale_i (scale_q[channel]),
      .shift_i (shift_q[channel]),
      .count_i (pixels_q),
      .valid_o (operands_valid),
      .value_o (value),
      .factor_o(factor),
      .shift_o (shift)
    );
    ao_scale u_scale (
      .clk_i   (clk_i),
      .rst_ni  (rst_ni),
      .en_i    (en_i),
      .op_i    (op_i),
      .valid_i (operands_valid),
      .value_i (value),
      .factor_i(factor),
      .shift_i (shift),
      .valid_o (lane_valid[r]),
      .value_o (scaled[r])
    );
  end

  // The lanes run in step.
  assign scaled_valid = &lane_valid;

  // Table: one element a cycle
  logic [7:0] index;
  assign index    = (op_i.ofm_signed || op_i.clip_int8) ? scaled[0][7:0] ^ 8'h80 : scaled[0][7:0];
  assign table_at = op_i.ofm.log2_bytes == 2'd2 ? {op_i.table_index[0], index, 2'd0}
                                                : {op_i.table_index, index};
  assign table_rd = scaled_valid && op_i.table_used;

  // Pack
  logic pack_q;
  logic [Rate-1:0][31:0] pack_value_q;
  place_t pack_place_q;
  logic [3:0] table_byte_q;
  logic [31:0] looked_up;
  logic [127:0] part_q, part, insert;
  assign looked_up = 32'(rd_data_i[2] >> {table_byte_q, 3'd0});
  always_comb begin
    insert = '0;
    for (int unsigned r = 0; r < Rate; r++) begin
      logic [31:0] value;
      value = op_i.table_used ? looked_up : pack_value_q[r];
      if (3'(r) < pack_place_q.count) begin
        unique case (op_i.ofm.log2_bytes)
          2'd0:    insert[8*r+:8] = value[7:0];
          2'd1:    insert[16*r+:16] = value[15:0];
          default: insert[32*r+:32] = value;
        endcase
      end
    end
    part = (pack_place_q.from == '0 ? '0 : part_q) | (insert << {pack_place_q.from, 3'd0});
  end
  logic [6:0] tail_q;
  assign stage_wr_o      = pack_q && pack_place_q.row_ends;
  assign stage_wr_addr_o = tail_q;
  assign stage_wr_data_o = part;

  assign done_o = state_q == Done;

  logic [3:0] reached;  // byte of a row after the last element
  assign reached = 4'(c_q + 5'(count)) << op_i.ofm.log2_bytes;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Idle;
      group_q        <= '0;
      c_q            <= '0;
      x_q            <= '0;
      y_q            <= '0;
      bias_q         <= '0;
      scale_q        <= '0;
      shift_q        <= '0;
      fetched_q      <= 1'b0;
      fetched_byte_q <= '0;
      fetched_c_q    <= '0;
      pixels_q       <= '0;
      place_q        <= '0;
      pack_q         <= 1'b0;
      pack_value_q   <= '0;
      pack_place_q   <= '0;
      table_byte_q   <= '0;
      part_q         <= '0;
      tail_q         <= '0;
    end else if (en_i) begin
      unique case (state_q)
        Idle: begin
          if (begin_block) begin
            state_q <= weighted ? Load : Walk;
            group_q <= '0;
            c_q     <= '0;
            x_q     <= '0;
            y_q     <= '0;
          end
        end
        Load: begin
          if (param_valid) begin
            bias_q[c_q[3:0]]  <= param_bias;
            scale_q[c_q[3:0]] <= param_scale;
            shift_q[c_q[3:0]] <= param_shift;
            c_q               <= c_q == channels - 5'd1 ? '0 : c_q + 5'd1;
            if (c_q == channels - 5'd1) state_q <= Walk;
          end
        end
        Walk: begin
          if (go) begin
            c_q <= last_c ? '0 : c_q + 5'(rate);
            if (last_c) begin
              x_q <= last_x ? '0 : x_q + 7'd1;
              if (last_x) begin
                y_q <= last_y ? '0 : y_q + 7'd1;
                if (last_y) state_q <= Switch;
              end
            end
          end
        end
        // The last elements are taken from the shared buffer, and their parameters read, in this cycle.
        Switch: begin
          group_q <= group_q + 8'd16;
          state_q <= last_group ? Done : (weighted ? Load : Walk);
        end
        Done:    state_q <= Idle;
        default: state_q <= Idle;
      endcase

      fetched_q <= go;
      if (go) begin
        fetched_byte_q <= from_byte;
        fetched_c_q    <= c_q[3:0];
        pixels_q       <= pixels;
      end
      place_q <= {place_q[Stages-1:0], place_t'{
          count: count,
          from: 4'(c_q << op_i.ofm.log2_bytes),
          row_ends: reached == '0 || last_c
      }};

      pack_q       <= scaled_valid;
      pack_value_q <= scaled;
      pack_place_q <= place_q[Stages];
      table_byte_q <= table_at[3:0];
      if (pack_q) part_q <= part;
      if (stage_wr_o) tail_q <= tail_q + 7'd1;
    end
  end
endmodule
