// SPDX-License-Identifier: Apache-2.0
// Models of the cells of the built-in table, and others, as cell libraries have them: gates, assignments, registers,
// delays and timing checks.
`timescale 1ns / 1ps
`celldefine
module INV (Y, A);
  output Y;
  input A;
  not #(0.1) u_y (Y, A);
  specify
    (A => Y) = (0.1, 0.2);
  endspecify
endmodule
`endcelldefine
module BUF (output Y, input A);
  buf (Y, A);
endmodule
module NAND2 (output Y, input A, B);
  nand (Y, A, B);
endmodule
module NOR2 (output Y, input A, B);
  assign Y = !(A || B);
endmodule
module AND2 (output Y, input A, B);
  wire n;
  NAND2 u_n (.Y(n), .A(A), .B(B));
  INV u_i (.Y(Y), .A(n));
endmodule
module OR2 (output reg Y, input A, B);
  always @(A or B)
    case ({A, B})
      2'b00: Y = 1'b0;
      default: Y = 1'b1;
    endcase
endmodule
module XOR2 (output Y, input A, B);
  xor (Y, A, B);
endmodule
module XNOR2 (output Y, input A, B);
  assign Y = A ? B : !B;
endmodule
module NAND3 (output Y, input A, B, C);
  nand (Y, A, B, C);
endmodule
module NOR3 (output Y, input A, B, C);
  nor (Y, A, B, C);
endmodule
module AOI21 (output Y, input A, B, C);
  wire n;
  and (n, A, B);
  nor (Y, n, C);
endmodule
module OAI21 (output Y, input A, B, C);
  assign Y = ~((A | B) & C);
endmodule
module MUX2 (output Y, input A, B, S);
  assign Y = S ? B : A;
endmodule
module LATCH (output reg Q, input D, E);
  always @* if (E) Q = D;
endmodule

module SDFFR (Q, QN, C, D, R, SE, SI);
  output Q, QN;
  input C, D, R, SE, SI;
  reg q, notifier;
  wire d;
  assign d = SE ? SI : D;
  always @(posedge C or negedge R)
    if (!R) q <= #1 1'b0;
    else q <= #1 d;
  buf (Q, q);
  not (QN, q);
  specify
    $setup(D, posedge C, 0.1, notifier);
  endspecify
endmodule
module SDFFS (output Q, QN, input C, D, S, SE, SI);
  reg q;
  wire d, clear;
  MUX2 u_d (.Y(d), .A(D), .B(SI), .S(SE));
  not (clear, S);
  always_ff @(posedge C or posedge clear)
    if (clear) q <= 1'b1;
    else q <= d;
  assign Q = q;
  assign QN = ~q;
endmodule

// Not in the table.
module FALLS (output reg Q, input CN, D, E, P);
  always @(negedge CN or posedge P)
    if (P) Q <= 1'b1;
    else if (E) Q <= D;
endmodule
module SYNC (output QN, input C, D, R);
  reg IQ;
  always @(posedge C) IQ <= R ? 1'b0 : ~D;
  assign QN = IQ;
endmodule
module HALF (output S, CO, input A, B);
  XOR2 u_s (S, A, B);
  AND2 u_c (CO, A, B);
endmodule
module FULL (output S, CO, input A, B, CI);
  assign {CO, S} = A + B + CI;
endmodule
module GATED (output GCK, input CK, TE, EN);
  reg l;
  always @(CK or EN or TE) if (!CK) l <= EN | TE;
  and (GCK, CK, l);
endmodule
module PLAIN_GATE (output GCK, input CK, EN);
  reg l;
  wire ckn;
  not (ckn, CK);
  always_latch if (ckn) l = EN;
  assign GCK = l & CK;
endmodule
module LOW_LATCH (output Q, QN, input GN, D, SE, SI);
  reg q;
  always_latch if (!GN) q <= SE ? SI : D;
  assign Q = q;
  assign QN = ~q;
endmodule
module ENABLED_LATCH (output reg Q, input G, E, D);
  always_latch if (G & E) Q = D;
endmodule
module TIEHI (output Y);
  assign Y = 1'b1;
endmodule
module FILL ();
endmodule


// With tables.
primitive u_table (q, a);
  output q;
  input a;
  table
    0 : 1;
    1 : 0;
  endtable
endprimitive
module FROM_TABLE (output Y, input A);
  u_table u_y (Y, A);
endmodule
module WITH_TABLE_BELOW (output Y, input A);
  wire n;
  FROM_TABLE u_t (n, A);
  not (Y, n);
endmodule
primitive u_mux (y, a, b, s);
  output y;
  input a, b, s;
  table
    0 ? 0 : 0;
    1 ? 0 : 1;
    ? 0 1 : 0;
    ? 1 1 : 1;
    0 0 x : 0;
    1 1 x : 1;
  endtable
endprimitive
primitive u_flop (q, clear, set, clock, data, notifier);
  output q;
  reg q;
  input clear, set, clock, data, notifier;
  initial q = 1'b0;
  table
    // clear set clock data notifier : before : after
    ? 0 r 0 ? : ? : 0;
    0 ? r 1 ? : ? : 1;
    ? 0 * 0 ? : 0 : 0;  // less pessimism
    0 ? * 1 ? : 1 : 1;
    ? ? n ? ? : ? : -;
    ? ? b * ? : ? : -;
    1 0 ? ? ? : ? : 0;
    (?0) 0 b ? ? : 0 : 0;
    0 1 ? ? ? : ? : 1;
    0 (?0) b ? ? : 1 : 1;
    ? ? ? ? * : ? : x;
  endtable
endprimitive
primitive u_falls (q, c, d, r);
  output reg q;
  input c, d, r;
  table
    f 0 ? : ? : 0;
    (10) 1 ? : ? : 1;
    p ? ? : ? : -;
    ? * 0 : ? : -;
    ? ? (?0) : ? : -;
    ? ? 1 : ? : 0;
  endtable
endprimitive
primitive u_toggle (q, c, e, r);
  output reg q;
  input c, e, r;
  table
    r 1 0 : 0 : 1;
    r 1 0 : 1 : 0;
    r 0 0 : ? : -;
    r ? 1 : ? : 0;
    f ? ? : ? : -;
    ? * ? : ? : -;
    ? ? * : ? : -;
  endtable
endprimitive
primitive u_enabled (q, c, d, e);
  output reg q;
  input c, d, e;
  table
    r 0 ? : ? : 0;
    r 1 ? : ? : 1;
    f ? ? : ? : -;
    ? * ? : ? : -;
    ? ? * : ? : -;
    ? ? 0 : ? : -;  // goes before edges
  endtable
endprimitive
primitive u_never_reset (q, c);
  output reg q;
  input c;
  initial q = 1'b0;
  table
    r : 0 : 1;
    r : 1 : 0;
    f : ? : -;
  endtable
endprimitive
primitive u_latch (q, d, g, r);
  output q;
  reg q;
  input d, g, r;
  table
    ? 0 0 : ? : -;
    0 1 ? : ? : 0;
    1 1 0 : ? : 1;
    0 x ? : 0 : 0;
    ? ? 1 : ? : 0;
  endtable
endprimitive
module TABLE_MUX (output Y, input A, B, S);
  u_mux u_y (Y, A, B, S);
endmodule
`define NONE
`celldefine
module TABLE_DFFR (Q, QN, C, D, RN, SE, SI);
  output Q, QN;
  input C, D, RN, SE, SI;
  reg NOTIFIER;
  supply0 none, low;
  wire d, q;
  u_mux `NONE u_d (d, D, SI, SE);
  not (clear, RN);
  u_flop
    (q, clear,
     none, C, d, NOTIFIER);
  buf (Q, q), (unused, low);
  not (QN, q);
  specify
    $setuphold (posedge C, D, 0, 0, NOTIFIER);
  endspecify
endmodule
`endcelldefine
module TABLE_DFFS (output Q, input C, D, SN);
  reg NOTIFIER;
  supply1 high;
  wire set, inverted;
  nand (set, SN, high);
  // Stored inverted.
  u_flop u_q (inverted, set, 1'b0, C, n, NOTIFIER), u_unused (x, 1'b0, 1'b0, C, D, NOTIFIER);
  u_table \is.this.named? (n, D);
  not (Q, inverted);
endmodule
module TABLE_FALLS (output Q, input CN, D, R);
  u_falls u_q (Q, CN, D, R);
endmodule
module TABLE_TOGGLE (output Q, input C, E, R);
  u_toggle u_q (Q, C, E, R);
endmodule
module TABLE_ENABLED (output Q, input C, D, E);
  u_enabled u_q (Q, C, D, E);
endmodule
module NEVER_RESET (output Q, input C);
  u_never_reset u_q (Q, C);
endmodule
module TABLE_LATCH (output Q, input G, D, R);
  u_latch u_q (Q, D, G, R);
endmodule
module TABLE_GATE (output GCK, input CK, EN);
  wire open, l;
  not (open, CK);
  u_latch u_l (l, EN, open, 1'b0);
  and (GCK, CK, l);
endmodule

`ifdef NOT_FOR_VERILATOR
module DELAYED_MUX (output Y, input A, B, S);
  u_mux (strong1, pull0) #(0.1, 0.2) u_y (Y, A, B, S);
endmodule
module DELAYED_FALLS (output Q, input CN, D, R);
  u_falls #1 (Q, CN, D, R);
endmodule
module DRIVES_BACK (output Y, input A, B);
  and (Y, A, B);
  wire a;
  buf (a, A);
  buf (A, a);
endmodule
`endif

// Not understood.
module SET_AND_RESET (output reg Q, input C, D, R, S);
  always @(posedge C or negedge R or negedge S)
    if (!R) Q <= 1'b0;
    else if (!S) Q <= 1'b1;
    else Q <= D;
endmodule
module LOADED (output reg Q, input C, D, L, V);
  always @(posedge C or posedge L)
    if (L) Q <= V;
    else Q <= D;
endmodule
module TWO (output reg Q, R, input C, D, E);
  always @(posedge C) begin
    Q <= D;
    R <= E;
  end
endmodule
module VOTED (output Q, input C, D);
  reg [2:0] q;
  always @(posedge C) q <= {3{D}};
  assign Q = (q[0] & q[1]) | (q[0] & q[2]) | (q[1] & q[2]);
endmodule
module TWO_CLOCKS (output reg Q, input C, K, D);
  wire c;
  or (c, C, K);
  always @(posedge c) Q <= D;
endmodule
module KEEPER (output Q, QN, input S, R);
  nand (Q, S, QN);
  nand (QN, R, Q);
endmodule
module OFF (output Y, input A, E);
  bufif1 (Y, A, E);
endmodule
module OPEN (output Y, input A);
endmodule
module WIDE (output Y, input [1:0] A);
  assign Y = &A;
endmodule
module SIZED #(parameter Init = 1) (output Y, input A);
  assign Y = A ^ Init;
endmodule
module PAD (inout P, output Y);
  assign Y = P;
endmodule
`ifdef POWERED
module POWER (output Y, input A);
  assign Y = A;
endmodule
`endif
module TABLE_SET_AND_RESET (output Q, input C, D, R, S);
  reg NOTIFIER;
  u_flop u_q (Q, R, S, C, D, NOTIFIER);
endmodule
primitive u_both_edges (q, c, d);
  output reg q;
  input c, d;
  table
    * 0 : ? : 0;
    * 1 : ? : 1;
    ? * : ? : -;
  endtable
endprimitive
module BOTH_EDGES (output Q, input C, D);
  u_both_edges u_q (Q, C, D);
endmodule
primitive u_gap (q, c, d);
  output reg q;
  input c, d;
  table
    r 0 : ? : 0;
    r 1 : ? : 1;
    f ? : ? : -;
    0 * : ? : -;
  endtable
endprimitive
module GAP (output Q, input C, D);
  u_gap u_q (Q, C, D);
endmodule
primitive u_still (q, c, d);
  output reg q;
  input c, d;
  table
    r 0 : ? : 0;
    r 1 : ? : 1;
    f ? : ? : -;
  endtable
endprimitive
module STILL (output Q, input C, D);
  u_still u_q (Q, C, D);
endmodule
`define OF_A_MACRO u_mux u_y (Y, A, B, S);
module BY_MACRO (output Y, input A, B, S);
  `OF_A_MACRO
endmodule
module PULLED (output Y, input A);
  tri1 n;
  and (Y, A, n);
endmodule
module DRIVEN_TWICE (output Y, input A, B);
  wire n;
  assign n = A;
  assign n = B;
  buf (Y, n);
endmodule
module DRIVES_INPUT (output Y, input A, B);
  and (Y, A, B);
  not (A, B);
endmodule
module JOINS_INPUTS (output Y, input A, B);
  and (Y, A, B);
  assign A = B;
endmodule
module TIES_INPUT (output Y, input A, B);
  and (Y, A, B);
  assign A = 1'b1;
endmodule
