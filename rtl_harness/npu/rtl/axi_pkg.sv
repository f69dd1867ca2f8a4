// SPDX-License-Identifier: Apache-2.0
/// The AXI4 ports: channels, constants of their addresses, identifiers of the read clients.
package axi_pkg;

  // AXI4 with 64-bit data, 32-bit addresses, INCR bursts of whole beats.
  typedef enum logic [2:0] {
    RdCommand = 3'd0,
    RdWeight  = 3'd1,
    RdScale   = 3'd2,
    RdIfm     = 3'd3,
    RdCopy    = 3'd4
  } rd_client_e;

  localparam int unsigned NumRdClients = 5;

  // What every address carries, see README.md section 7.
  localparam logic [2:0] AxiSize8 = 3'b011;   // beats of eight bytes
  localparam logic [1:0] AxiIncr  = 2'b01;
  localparam logic [3:0] AxiCache = 4'b0010;  // Normal Non-cacheable Non-bufferable
  localparam logic [2:0] AxiProt  = 3'b010;   // data, non-secure, unprivileged
  localparam logic [1:0] AxiOkay   = 2'b00;
  localparam logic [1:0] AxiSlvErr = 2'b10;

  typedef struct packed {
    logic [2:0]  id;
    logic [31:0] addr;
    logic [7:0]  len;
    logic [2:0]  size;
    logic [1:0]  burst;
    logic [3:0]  cache;
    logic [2:0]  prot;
  } axi_ar_t;

  typedef struct packed {
    logic [2:0]  id;
    logic [63:0] data;
    logic [1:0]  resp;
    logic        last;
  } axi_r_t;

  typedef struct packed {
    logic [2:0]  id;
    logic [31:0] addr;
    logic [7:0]  len;
    logic [2:0]  size;
    logic [1:0]  burst;
    logic [3:0]  cache;
    logic [2:0]  prot;
  } axi_aw_t;

  typedef struct packed {
    logic [63:0] data;
    logic [7:0]  strb;
    logic        last;
  } axi_w_t;

  typedef struct packed {
    logic [2:0] id;
    logic [1:0] resp;
  } axi_b_t;

  // Parity of the channels, each bit odd together with what it belongs to, as AMBA's Odd_Parity_Byte_All has it:
  // data and addresses by bytes, what else is constant in an address together. Of the handshakes VALID alone has one.
  typedef struct packed {
    logic       valid;  // in each cycle; the others count while it is there
    logic       id;
    logic [3:0] addr;
    logic       len;
    logic       ctl;    // size, burst, cache, prot
  } axi_ax_check_t;

  typedef struct packed {
    logic       valid;
    logic       id;
    logic [7:0] data;
    logic       resp;
    logic       last;
  } axi_r_check_t;

  typedef struct packed {
    logic       valid;
    logic [7:0] data;
    logic       strb;
    logic       last;
  } axi_w_check_t;

  typedef struct packed {
    logic valid;
    logic id;
    logic resp;
  } axi_b_check_t;

  function automatic logic [7:0] odd_bytes(logic [63:0] bits);
    logic [7:0] check;
    for (int unsigned i = 0; i < 8; i++) check[i] = ~^bits[8*i+:8];
    return check;
  endfunction

  function automatic axi_ax_check_t ar_check(logic valid, axi_ar_t ar);
    return '{valid: !valid, id: ~^ar.id, addr: 4'(odd_bytes(64'(ar.addr))), len: ~^ar.len,
             ctl: ~^{ar.size, ar.burst, ar.cache, ar.prot}};
  endfunction

  function automatic axi_ax_check_t aw_check(logic valid, axi_aw_t aw);
    return '{valid: !valid, id: ~^aw.id, addr: 4'(odd_bytes(64'(aw.addr))), len: ~^aw.len,
             ctl: ~^{aw.size, aw.burst, aw.cache, aw.prot}};
  endfunction

  function automatic axi_r_check_t r_check(logic valid, axi_r_t r);
    return '{valid: !valid, id: ~^r.id, data: odd_bytes(r.data), resp: ~^r.resp, last: !r.last};
  endfunction

  function automatic axi_w_check_t w_check(logic valid, axi_w_t w);
    return '{valid: !valid, data: odd_bytes(w.data), strb: ~^w.strb, last: !w.last};
  endfunction

  function automatic axi_b_check_t b_check(logic valid, axi_b_t b);
    return '{valid: !valid, id: ~^b.id, resp: ~^b.resp};
  endfunction

endpackage
