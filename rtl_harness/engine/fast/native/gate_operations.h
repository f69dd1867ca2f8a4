// SPDX-License-Identifier: Apache-2.0
// What the operations of gates are, as `rtl_harness/engine/fast/gates` numbers them: 0 .. 11, and a memory's read port.
#ifndef RESIL_VERILATED_GATE_OPERATIONS_H
#define RESIL_VERILATED_GATE_OPERATIONS_H

#include <cstdint>

/// Of a read port `a` is its number, and its data are its outputs.
inline constexpr int32_t kRead = 12;

// A word of a gate's output, a cycle or a machine in each bit: an integer, or a vector of integers.
template <typename Word>
inline Word evaluated(int32_t operation, const Word& a, const Word& b, const Word& s) {
  switch (operation) {
    case 0: return a;
    case 1: return ~a;
    case 2: return a & b;
    case 3: return ~(a & b);
    case 4: return a | b;
    case 5: return ~(a | b);
    case 6: return a ^ b;
    case 7: return ~(a ^ b);
    case 8: return a & ~b;
    case 9: return a | ~b;
    case 10: return (s & b) | (~s & a);
    default: return ~((s & b) | (~s & a));
  }
}

#endif
