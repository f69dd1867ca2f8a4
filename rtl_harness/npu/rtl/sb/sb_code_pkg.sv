// SPDX-License-Identifier: Apache-2.0
/// Codes of the shared buffer's words: what check bits a word of 32 bits has, and which data bits each looks at.
///
/// SECDED is a Hsiao code of 39 bits: the columns of its check matrix have three ones for data bits, one for check
/// bits. So one wrong bit gives an odd syndrome, two an even one that is not zero. A word of zeros has check bits of
/// zero in either code.
package sb_code_pkg;

  localparam int unsigned None   = 0;
  localparam int unsigned Parity = 1;
  localparam int unsigned Secded = 2;
  localparam int unsigned Codes  = 3;

  localparam int unsigned SecdedBits = 7;
  localparam logic [SecdedBits-1:0][31:0] Rows = {
    32'hFFFC_0000,
    32'hF003_FF00,
    32'h0F03_C0FC,
    32'h88E2_38E3,
    32'h4499_269B,
    32'h2254_9556,
    32'h112C_4B2D
  };

  /// Check bits of a word.
  function automatic int unsigned check_bits(int unsigned code);
    return code == Secded ? SecdedBits : (code == Parity ? 1 : 0);
  endfunction

  /// The syndrome that a wrong data bit gives.
  function automatic logic [SecdedBits-1:0] column(int unsigned place);
    logic [SecdedBits-1:0] found;
    for (int unsigned b = 0; b < SecdedBits; b++) found[b] = Rows[b][place];
    return found;
  endfunction

endpackage
