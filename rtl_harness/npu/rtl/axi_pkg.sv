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

endpackage
