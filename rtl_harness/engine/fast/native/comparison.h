// SPDX-License-Identifier: Apache-2.0
// When a run is compared with the golden one next.
#ifndef RESIL_VERILATED_COMPARISON_H
#define RESIL_VERILATED_COMPARISON_H

#include <cstdint>

// What a comparison with the golden run costs, in cycles of the compiled model.
inline constexpr uint64_t kComparison = 2;

// When a run that has lived so long is compared again, in cycles from now, where a comparison costs as much as `cost`
// cycles. What has lived long is likely to live on: the chance to come to an end falls as 1 / lived, and a comparison
// every sqrt(2 cost lived) cycles is then the cheapest; one in every cycle would cost more than the simulation.
// `edges`: its place in the golden run, whose registers are kept at multiples of powers of two.
inline uint64_t next_comparison(uint64_t lived, uint64_t edges, uint64_t cost) {
  uint64_t pause = 1;
  while (4 * pause * pause <= 2 * cost * lived) pause *= 2;
  return pause - edges % pause;
}

#endif
