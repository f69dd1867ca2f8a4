// SPDX-License-Identifier: Apache-2.0
// How one state differs from another: the bytes that are not equal.
#ifndef RESIL_VERILATED_DIFFERENCE_H
#define RESIL_VERILATED_DIFFERENCE_H

#include <cstdint>
#include <vector>

extern "C" {

/// A byte of the state, counted from `resil_state`, and the bits that are inverted.
struct ByteDifference {
  uint64_t offset;
  uint32_t mask;
};
}

inline bool operator==(const ByteDifference& a, const ByteDifference& b) {
  return a.offset == b.offset && a.mask == b.mask;
}

inline bool by_offset(const ByteDifference& a, const ByteDifference& b) { return a.offset < b.offset; }

/// Ascending offsets, each once, no mask is zero.
using Difference = std::vector<ByteDifference>;

#endif
