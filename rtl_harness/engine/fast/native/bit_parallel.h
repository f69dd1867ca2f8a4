// SPDX-License-Identifier: Apache-2.0
// Bit-parallel simulation of gates: a bit for each cycle of a window, as vectors where the processor has them.
#ifndef RESIL_VERILATED_BIT_PARALLEL_H
#define RESIL_VERILATED_BIT_PARALLEL_H

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "cycle_sets.h"
#include "gate_operations.h"

// Words of a set, a bit for each, that hold a 1, or a 0.
inline uint8_t ones(const CycleSet& a) {
#ifdef __AVX512F__
  const __m512i all = _mm512_loadu_si512(a.word);
  return static_cast<uint8_t>(_mm512_test_epi64_mask(all, all));
#else
  unsigned found = 0;
  for (size_t k = 0; k < kSetWords; ++k) found |= unsigned{a.word[k] != 0} << k;
  return static_cast<uint8_t>(found);
#endif
}

inline uint8_t zeros(const CycleSet& a) {
#ifdef __AVX512F__
  return static_cast<uint8_t>(_mm512_cmpneq_epi64_mask(_mm512_loadu_si512(a.word), _mm512_set1_epi64(-1)));
#else
  unsigned found = 0;
  for (size_t k = 0; k < kSetWords; ++k) found |= unsigned{a.word[k] != ~uint64_t{0}} << k;
  return static_cast<uint8_t>(found);
#endif
}

// Exchange row i and column i of a matrix of 64 by 64 bits; halves first, then halves of these (Warren, "Hacker's
// Delight", 2nd ed., section 7-3).
inline void transpose_bits(uint64_t* rows) {
  uint64_t mask = 0x00000000ffffffff;
  for (unsigned j = 32; j; j >>= 1, mask ^= mask << j) {
    for (unsigned i = 0; i < 64; i = (i + j + 1) & ~j) {
      const uint64_t swapped = ((rows[i] >> j) ^ rows[i + j]) & mask;
      rows[i] ^= swapped << j;
      rows[i + j] ^= swapped;
    }
  }
}

// The output of a gate, and which words of it hold a 1, or a 0, a bit for each. Operations are those of `evaluated`.
#ifdef __AVX512F__
inline void evaluate_all(int32_t operation, CycleSet& to, const CycleSet& from_a, const CycleSet& from_b,
                         const CycleSet& select, uint8_t& ones_of, uint8_t& zeros_of) {
  const __m512i a = _mm512_loadu_si512(from_a.word), b = _mm512_loadu_si512(from_b.word);
  const __m512i s = _mm512_loadu_si512(select.word);
  const auto chosen = [&]<int kTable>() { return _mm512_ternarylogic_epi64(s, b, a, kTable); };
  __m512i y;
  switch (operation) {
    case 0: y = a; break;
    case 1: y = chosen.operator()<0x55>(); break;
    case 2: y = _mm512_and_si512(a, b); break;
    case 3: y = chosen.operator()<0x77>(); break;
    case 4: y = _mm512_or_si512(a, b); break;
    case 5: y = chosen.operator()<0x11>(); break;
    case 6: y = _mm512_xor_si512(a, b); break;
    case 7: y = chosen.operator()<0x99>(); break;
    case 8: y = _mm512_andnot_si512(b, a); break;
    case 9: y = chosen.operator()<0xbb>(); break;
    case 10: y = chosen.operator()<0xca>(); break;
    default: y = chosen.operator()<0x35>(); break;
  }
  _mm512_storeu_si512(to.word, y);
  ones_of = static_cast<uint8_t>(_mm512_test_epi64_mask(y, y));
  zeros_of = static_cast<uint8_t>(_mm512_cmpneq_epi64_mask(y, _mm512_set1_epi64(-1)));
}
#else
template <typename Function>
void each_word(CycleSet& y, const CycleSet& a, const CycleSet& b, Function&& function) {
  for (size_t k = 0; k < kSetWords; ++k) y.word[k] = function(a.word[k], b.word[k]);
}

// The commonest gates have loops of their own, which the compiler makes vectors of.
inline void evaluate_all(int32_t operation, CycleSet& y, const CycleSet& a, const CycleSet& b, const CycleSet& s,
                         uint8_t& ones_of, uint8_t& zeros_of) {
  switch (operation) {
    case 1: each_word(y, a, b, [](uint64_t p, uint64_t) { return ~p; }); break;
    case 2: each_word(y, a, b, [](uint64_t p, uint64_t q) { return p & q; }); break;
    case 4: each_word(y, a, b, [](uint64_t p, uint64_t q) { return p | q; }); break;
    case 6: each_word(y, a, b, [](uint64_t p, uint64_t q) { return p ^ q; }); break;
    case 10:
      for (size_t k = 0; k < kSetWords; ++k) y.word[k] = (s.word[k] & b.word[k]) | (~s.word[k] & a.word[k]);
      break;
    default:
      for (size_t k = 0; k < kSetWords; ++k) y.word[k] = evaluated(operation, a.word[k], b.word[k], s.word[k]);
  }
  ones_of = ones(y);
  zeros_of = zeros(y);
}
#endif
#endif
