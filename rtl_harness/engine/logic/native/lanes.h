// SPDX-License-Identifier: Apache-2.0
// A bit for each of 512 faulty machines. The compiler makes of it what the processor has: results are the same.
#ifndef RESIL_LOGIC_LANES_H
#define RESIL_LOGIC_LANES_H

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <bit>
#include <cstdint>

constexpr unsigned kLanes = 512;
constexpr unsigned kLaneWords = kLanes / 64;

typedef uint64_t Lanes __attribute__((vector_size(kLanes / 8)));

inline Lanes spread(bool bit) { return Lanes{} - static_cast<uint64_t>(bit); }

inline bool any(const Lanes& a) {
#ifdef __AVX512F__
  return _mm512_test_epi64_mask((__m512i)a, (__m512i)a) != 0;
#else
  uint64_t found = 0;
  for (unsigned i = 0; i < kLaneWords; ++i) found |= a[i];
  return found != 0;
#endif
}

inline bool lane(const Lanes& a, unsigned i) { return a[i / 64] >> (i % 64) & 1; }
inline void set_lane(Lanes& a, unsigned i) { a[i / 64] |= uint64_t{1} << (i % 64); }

inline void clear_lane(Lanes& a, unsigned i) { a[i / 64] &= ~(uint64_t{1} << (i % 64)); }

inline unsigned count(const Lanes& a) {
  unsigned found = 0;
  for (unsigned i = 0; i < kLaneWords; ++i) found += static_cast<unsigned>(std::popcount(a[i]));
  return found;
}

template <typename Take>
inline void each_lane(const Lanes& a, Take&& take) {
  for (unsigned i = 0; i < kLaneWords; ++i) {
    for (uint64_t left = a[i]; left; left &= left - 1) take(64 * i + static_cast<unsigned>(std::countr_zero(left)));
  }
}

#endif
