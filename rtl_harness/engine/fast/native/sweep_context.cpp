// SPDX-License-Identifier: Apache-2.0
// See sweep_context.h.

#include "sweep_context.h"

void SweepContext::load(uint64_t first) {
  const Timer timer(times_.loading);
  const uint64_t before = golden().cursor().cycle;
  ++windows_;
  window_.load(first, last() + 1);
  const uint64_t now = golden().cursor().cycle;
  times_.golden_cycles += now - std::min(before, now);
}

bool SweepContext::is_small(const Difference& d) const {
  if (d.size() > kFewBytes) return false;
  size_t registers = 0;
  for (const ByteDifference& byte : d) registers += network_.memory(byte.offset) < 0;
  return registers <= kFewRegisters;
}

std::optional<Departure> SweepContext::departure(const Difference& d, size_t i, int64_t shift) const {
  Departure made{boundary_->operation(i), shift, boundary_->external(d)};
  if (made.d.empty()) return std::nullopt;
  return made;
}
