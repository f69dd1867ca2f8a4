// SPDX-License-Identifier: Apache-2.0
// Sets of cycles of a window, a bit for each place.
#ifndef RESIL_VERILATED_CYCLE_SETS_H
#define RESIL_VERILATED_CYCLE_SETS_H

#include <cstddef>
#include <cstdint>

inline constexpr size_t kSetWords = 8;
static_assert(kSetWords <= 8, "a bit of a byte for each");
inline constexpr size_t kWindowCycles = 64 * kSetWords;

struct CycleSet {
  uint64_t word[kSetWords];
  bool at(size_t place) const { return word[place / 64] >> place % 64 & 1; }
};

inline bool operator==(const CycleSet& x, const CycleSet& y) {
  uint64_t differing = 0;
  for (size_t k = 0; k < kSetWords; ++k) differing |= x.word[k] ^ y.word[k];
  return differing == 0;
}

inline bool any(const CycleSet& x) {
  uint64_t found = 0;
  for (size_t k = 0; k < kSetWords; ++k) found |= x.word[k];
  return found != 0;
}

inline CycleSet both(const CycleSet& x, const CycleSet& y) {
  CycleSet z;
  for (size_t k = 0; k < kSetWords; ++k) z.word[k] = x.word[k] & y.word[k];
  return z;
}

inline CycleSet without(const CycleSet& x, const CycleSet& y) {
  CycleSet z;
  for (size_t k = 0; k < kSetWords; ++k) z.word[k] = x.word[k] & ~y.word[k];
  return z;
}

// Add `more`; true if there was something to add.
inline bool join(CycleSet& x, const CycleSet& more) {
  uint64_t fresh = 0;
  for (size_t k = 0; k < kSetWords; ++k) {
    fresh |= more.word[k] & ~x.word[k];
    x.word[k] |= more.word[k];
  }
  return fresh != 0;
}

inline void set(CycleSet& x, size_t place) { x.word[place / 64] |= uint64_t{1} << place % 64; }

// The first `count` cycles.
inline CycleSet first_cycles(size_t count) {
  CycleSet x{};
  for (size_t k = 0; k < kSetWords; ++k) {
    if (count >= 64 * (k + 1)) {
      x.word[k] = ~uint64_t{0};
    } else if (count > 64 * k) {
      x.word[k] = (uint64_t{1} << (count - 64 * k)) - 1;
    }
  }
  return x;
}

// What is so in a cycle is so in the next; `first` says it of the first one.
inline CycleSet later(const CycleSet& x, bool first) {
  CycleSet y;
  uint64_t carry = first;
  for (size_t k = 0; k < kSetWords; ++k) {
    y.word[k] = x.word[k] << 1 | carry;
    carry = x.word[k] >> 63;
  }
  return y;
}

// What is so in a cycle was so in the one before; `last` says it of cycle `count` - 1.
inline CycleSet earlier(const CycleSet& x, bool last, size_t count) {
  CycleSet y;
  for (size_t k = 0; k < kSetWords; ++k) y.word[k] = x.word[k] >> 1 | (k + 1 < kSetWords ? x.word[k + 1] << 63 : 0);
  if (last) set(y, count - 1);
  return y;
}

// What is so in a cycle is so in the next one, too, as long as it is `kept`: through runs of these by doubling steps.
inline void fill_later(CycleSet& x, const CycleSet& kept) {
  uint64_t carry = 0;
  for (size_t k = 0; k < kSetWords; ++k) {
    uint64_t on = x.word[k] | carry, way = kept.word[k] << 1;
    for (int step = 1; step < 64; step *= 2) {
      on |= way & (on << step);
      way &= way << step;
    }
    x.word[k] = on;
    carry = (on & kept.word[k]) >> 63;
  }
}

// Likewise backwards.
inline void fill_earlier(CycleSet& x, const CycleSet& kept) {
  uint64_t carry = 0;
  for (size_t k = kSetWords; k-- > 0;) {
    uint64_t on = x.word[k] | ((carry << 63) & kept.word[k]), way = kept.word[k];
    for (int step = 1; step < 64; step *= 2) {
      on |= way & (on >> step);
      way &= way >> step;
    }
    x.word[k] = on;
    carry = on & 1;
  }
}

#endif
