// SPDX-License-Identifier: Apache-2.0
// Sets of cycles of a window, a bit for each.
#ifndef RESIL_VERILATED_LANES_OF_TIME_H
#define RESIL_VERILATED_LANES_OF_TIME_H

#include "window.h"

inline bool any(const Lanes& x) {
  uint64_t found = 0;
  for (size_t k = 0; k < kWords; ++k) found |= x.word[k];
  return found != 0;
}

inline Lanes both(const Lanes& x, const Lanes& y) {
  Lanes z;
  for (size_t k = 0; k < kWords; ++k) z.word[k] = x.word[k] & y.word[k];
  return z;
}

inline Lanes without(const Lanes& x, const Lanes& y) {
  Lanes z;
  for (size_t k = 0; k < kWords; ++k) z.word[k] = x.word[k] & ~y.word[k];
  return z;
}

// Add `more`; true if there was something to add.
inline bool join(Lanes& x, const Lanes& more) {
  uint64_t fresh = 0;
  for (size_t k = 0; k < kWords; ++k) {
    fresh |= more.word[k] & ~x.word[k];
    x.word[k] |= more.word[k];
  }
  return fresh != 0;
}

inline void set(Lanes& x, size_t lane) { x.word[lane / 64] |= uint64_t{1} << lane % 64; }

// The first `count` cycles.
inline Lanes first_lanes(size_t count) {
  Lanes x{};
  for (size_t k = 0; k < kWords; ++k) {
    if (count >= 64 * (k + 1)) {
      x.word[k] = ~uint64_t{0};
    } else if (count > 64 * k) {
      x.word[k] = (uint64_t{1} << (count - 64 * k)) - 1;
    }
  }
  return x;
}

// What is so in a cycle is so in the next; `first` says it of the first one.
inline Lanes later(const Lanes& x, bool first) {
  Lanes y;
  uint64_t carry = first;
  for (size_t k = 0; k < kWords; ++k) {
    y.word[k] = x.word[k] << 1 | carry;
    carry = x.word[k] >> 63;
  }
  return y;
}

// What is so in a cycle was so in the one before; `last` says it of cycle `count` - 1.
inline Lanes earlier(const Lanes& x, bool last, size_t count) {
  Lanes y;
  for (size_t k = 0; k < kWords; ++k) y.word[k] = x.word[k] >> 1 | (k + 1 < kWords ? x.word[k + 1] << 63 : 0);
  if (last) set(y, count - 1);
  return y;
}

// What is so in a cycle is so in the next one, too, as long as it is `kept`: through runs of these by doubling steps.
inline void fill_later(Lanes& x, const Lanes& kept) {
  uint64_t carry = 0;
  for (size_t k = 0; k < kWords; ++k) {
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
inline void fill_earlier(Lanes& x, const Lanes& kept) {
  uint64_t carry = 0;
  for (size_t k = kWords; k-- > 0;) {
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
