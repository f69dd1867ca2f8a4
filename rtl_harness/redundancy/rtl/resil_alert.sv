// SPDX-License-Identifier: Apache-2.0
/// Alarms of protected instances, a bit each, that stay until reset: minor if the error was corrected, else major.
///
/// They rise in the cycle of the error: one that makes the design say that it is done is reported along with that, not
/// a cycle later, when nobody looks any more. In reset they are low: copies may differ until they are clocked.
(* keep_hierarchy *)
module resil_alert #(
  parameter int unsigned Width = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] minor_i,
  input  logic [Width-1:0] major_i,
  output logic [Width-1:0] alert_minor_o,
  output logic [Width-1:0] alert_major_o
);

  (* keep *) logic [Width-1:0] minor_q, major_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      minor_q <= '0;
      major_q <= '0;
    end else begin
      minor_q <= minor_q | minor_i;
      major_q <= major_q | major_i;
    end
  end

  assign alert_minor_o = minor_q | (minor_i & {Width{rst_ni}});
  assign alert_major_o = major_q | (major_i & {Width{rst_ni}});

endmodule
