// SPDX-License-Identifier: Apache-2.0
/// Hsiao's code: every column of its check matrix has an odd number of ones, those of data bits three or more.
///
/// So one wrong bit gives an odd syndrome, two an even one that is not zero. The columns are taken by weight, then by
/// value: as few ones as there can be. The code of zeros is zero.
package resil_code_pkg;

  /// Check bits for a word of `width` bits.
  function automatic int unsigned check_bits(int unsigned width);
    int unsigned bits = 3;
    while ((1 << (bits - 1)) - bits < width) bits++;
    return bits;
  endfunction

  /// The row of the check matrix that makes check bit `number`: the data bits (up to 64) that it looks at.
  function automatic logic [63:0] row(int unsigned width, int unsigned number);
    int unsigned bits = check_bits(width);
    int unsigned place = 0;
    logic [63:0] found = '0;
    for (int unsigned weight = 3; weight <= bits; weight += 2) begin
      for (int unsigned column = 0; column < (1 << bits); column++) begin
        if ($countones(column) == weight && place < width) begin
          found[place] = column[number];
          place++;
        end
      end
    end
    return found;
  endfunction

endpackage
