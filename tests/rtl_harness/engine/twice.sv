// SPDX-License-Identifier: Apache-2.0
// A small closed design whose host makes two inferences of the same input: eight words, each scaled and added up.

module twice_core (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        table_write_i,
  input  logic [1:0]  table_index_i,
  input  logic        scale_write_i,
  input  logic [7:0]  data_i,
  input  logic        start_i,
  input  logic [7:0]  word_i,
  output logic [2:0]  index_o,
  output logic        busy_o,
  output logic        idle_o,
  output logic        halt_o,
  output logic [15:0] sum_o,
  output logic        alarm_o,
  output logic [3:0]  mark_o
);
  // The table is written once, the scale before every inference.
  logic [7:0] table_q [4];
  logic [3:0] scale_q;
  logic parity_q, busy_q;
  logic [2:0] index_q;
  logic [15:0] sum_q;
  logic [7:0] seen_q;
  logic [1:0] wait_q;    // cycles that the core makes its host wait: none, but for a fault
  logic late_q;          // it did, which the next inference tells
  logic skip_q;          // the host takes the inference for done: never, but for a fault
  logic halt_q;          // the host does not begin another one: likewise
  logic [3:0] unread_q;  // written once, and nobody looks at where it goes

  assign mark_o  = unread_q;
  assign index_o = index_q;
  assign busy_o  = busy_q;
  assign idle_o  = (!busy_q && wait_q == '0 && index_q == '0) || skip_q;
  assign halt_o  = halt_q;
  assign sum_o   = sum_q + 16'(table_q[index_q[1:0]]) + 16'(word_i) * 16'(scale_q);
  assign alarm_o = (busy_q && (^scale_q) != parity_q) || (start_i && late_q);

  always_ff @(posedge clk_i) begin
    if (table_write_i) table_q[table_index_i] <= data_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scale_q  <= '0;
      parity_q <= 1'b0;
      busy_q   <= 1'b0;
      index_q  <= '0;
      sum_q    <= '0;
      seen_q   <= '0;
      wait_q   <= '0;
      late_q   <= 1'b0;
      skip_q   <= 1'b0;
      halt_q   <= 1'b0;
      unread_q <= '0;
    end else begin
      if (wait_q != '0) begin
        wait_q <= wait_q - 2'd1;
        late_q <= 1'b1;
      end
      skip_q <= 1'b0;
      if (table_write_i) unread_q <= data_i[3:0];
      if (scale_write_i) begin
        scale_q  <= data_i[3:0];
        parity_q <= ^data_i[3:0];
      end
      if (start_i) begin
        busy_q  <= 1'b1;
        index_q <= '0;
        sum_q   <= '0;
      end else if (busy_q) begin
        index_q <= index_q + 3'd1;
        sum_q   <= sum_o;
        seen_q  <= word_i;
        if (index_q == 3'd7) busy_q <= 1'b0;
      end
    end
  end
endmodule

module twice #(
  parameter int unsigned Inferences = 2
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic       done_o,
  output logic       alarm_o,
  output logic [7:0] inferences_o,
  output logic [3:0] mark_o,
  output logic [15:0] read_o  // a memory that nobody reads has no gates
);
  typedef enum logic [2:0] {Fill, Scale, Start, Run, Count, Done} state_e;

  logic [7:0] in_q [8];
  logic [15:0] out_q [8];
  string file;
  initial begin
    for (int i = 0; i < 8; i++) in_q[i] = '0;
    for (int i = 0; i < 8; i++) out_q[i] = '0;
    if ($value$plusargs("input=%s", file)) $readmemh(file, in_q);
    if ($value$plusargs("output=%s", file)) $readmemh(file, out_q);
  end

  state_e state_q;
  logic [1:0] fill_q;
  logic [7:0] inferences_q;
  logic busy, idle, halt;
  logic [2:0] index;
  logic [15:0] sum;

  twice_core u_core (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .table_write_i(state_q == Fill),
    .table_index_i(fill_q),
    .scale_write_i(state_q == Scale),
    .data_i       (state_q == Fill ? 8'd17 + 8'(fill_q) : 8'd5),
    .start_i      (state_q == Start),
    .word_i       (in_q[index]),
    .index_o      (index),
    .busy_o       (busy),
    .idle_o       (idle),
    .halt_o       (halt),
    .sum_o        (sum),
    .alarm_o      (alarm_o),
    .mark_o       (mark_o)
  );

  assign done_o       = state_q == Done;
  assign inferences_o = inferences_q;
  assign read_o       = out_q[index];

  always_ff @(posedge clk_i) begin
    if (busy) out_q[index] <= sum;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Fill;
      fill_q       <= '0;
      inferences_q <= '0;
    end else begin
      unique case (state_q)
        Fill: begin
          fill_q <= fill_q + 2'd1;
          if (fill_q == 2'd3) state_q <= Scale;
        end
        Scale: if (!halt) state_q <= Start;
        Start: state_q <= Run;
        Run: if (idle) state_q <= Count;
        Count: begin
          inferences_q <= inferences_q + 8'd1;
          state_q      <= inferences_q + 8'd1 == 8'(Inferences) ? Done : Scale;
        end
        default: ;
      endcase
    end
  end
endmodule
