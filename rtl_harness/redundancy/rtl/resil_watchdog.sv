// SPDX-License-Identifier: Apache-2.0
/// expired_o reports that operation_i has stood still for Limit cycles while done_i is 0.
///
/// Any move restarts it, in whichever direction: it cannot distinguish a right end of an operation from a wrong one.
// SEC_CM: watchdog on operations
(* keep_hierarchy *)
module resil_watchdog #(
  parameter int unsigned Width = 1,  // bits of the counter of operations
  parameter int unsigned Limit = 1   // cycles, more than any operation takes
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] operation_i,
  input  logic             done_i,
  output logic             expired_o
);

  localparam int unsigned CountWidth = $clog2(Limit + 1);
  localparam logic [CountWidth-1:0] Last = CountWidth'(Limit);

  (* keep *) logic [Width-1:0] last_q;
  (* keep *) logic [CountWidth-1:0] still_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      last_q  <= '0;
      still_q <= '0;
    end else begin
      last_q <= operation_i;
      if (done_i || operation_i != last_q) still_q <= '0;
      else if (still_q != Last) still_q <= still_q + 1'b1;
    end
  end

  assign expired_o = still_q == Last;

endmodule
