/// Finds the next `Rate` quotients in the codes of a chunk, and how many codes go up to the end of
/// each.
module wd_scan
  import wd_pkg::*;
#(
  parameter int unsigned Rate = 4
) (
  input  logic [ChunkCodes-1:0] some_i,   // codes of at least 1
  input  logic [ChunkCodes-1:0] more_i,   // codes of 2
  input  logic [ChunkCodes-1:0] ends_i,   // codes that end a quotient
  input  logic [4:0]            carry_i,  // added to the first quotient
  output logic [Rate-1:0][4:0]  quotients_o,
  output logic [Rate-1:0][3:0]  used_o
);
  always_comb begin
    logic [3:0] found;
    logic [4:0] quotient;
    found       = '0;
    quotient    = carry_i;
    quotients_o = '0;
    used_o      = '0;
    for (int unsigned i = 0; i <= ChunkCodes; i++) begin
      if (i < ChunkCodes) quotient = quotient + 5'(some_i[i]) + 5'(more_i[i]);
      if (i == ChunkCodes || ends_i[i]) begin
        for (int unsigned k = 0; k < Rate; k++) begin
          if (found == 4'(k)) begin
            quotients_o[k] = quotient;
            used_o[k]      = i == ChunkCodes ? 4'(i) : 4'(i + 1);
          end
        end
        found    = found + 4'd1;
        quotient = '0;
      end
    end
  end
endmodule
