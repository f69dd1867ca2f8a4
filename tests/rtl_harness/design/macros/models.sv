// SPDX-License-Identifier: Apache-2.0
// The macros as somebody would write them by hand.
module PLL (input logic REF, input logic EN, output logic OUT, output logic LOCK, output logic [3:0] VERSION);
  assign OUT     = REF;
  assign LOCK    = EN;
  assign VERSION = 4'd3;
endmodule

module RAM16X32 (
  input  logic        CLK,
  input  logic        CEN,
  input  logic        WEN,
  input  logic  [3:0] BWN,
  input  logic  [3:0] A,
  input  logic [31:0] D,
  output logic [31:0] Q,
  input  logic  [2:0] EMA
);
  logic [31:0] cells [0:15];
  logic [31:0] mask;
  string file;

  initial if ($value$plusargs("code=%s", file)) $readmemh(file, cells);
  assign mask = ~{{8{BWN[3]}}, {8{BWN[2]}}, {8{BWN[1]}}, {8{BWN[0]}}};
  always_ff @(posedge CLK) begin
    if (!CEN) begin
      if (!WEN) cells[A] <= (D & mask) | (cells[A] & ~mask);
      else Q <= cells[A];
    end
  end
endmodule

module RF8X16 (
  input  logic        WCK,
  input  logic        WE,
  input  logic  [2:0] WA,
  input  logic [15:0] D,
  input  logic  [2:0] RA,
  output logic [15:0] Q
);
  logic [15:0] cells [0:7];

  always_ff @(posedge WCK) if (WE) cells[WA] <= D;
  assign Q = cells[RA];
endmodule
