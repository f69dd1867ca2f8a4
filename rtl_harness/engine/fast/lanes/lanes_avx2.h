// SPDX-License-Identifier: Apache-2.0
// Masks, shifts and changes of width with AVX2. Part of lanes.h.
#ifndef RESIL_LANES_LANES_AVX2_H
#define RESIL_LANES_LANES_AVX2_H

// Part `i` of a word of 32 machines: 32 bytes of it.
template <class T>
INLINE __m256i part(const T& x, int i) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(&x) + i);
}
template <class T>
INLINE void set_part(T& x, int i, __m256i value) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(&x) + i, value);
}

// Two parts in which all that was packed lies in pairs of halves, in order again.
INLINE __m256i ordered(__m256i x) { return _mm256_permute4x64_epi64(x, 0xd8); }

// From elements that are all ones or zero to a mask.
INLINE M mask_of(const V8& x) { return static_cast<M>(_mm256_movemask_epi8(part(x, 0))); }
INLINE M mask_of(const V16& x) {
  return static_cast<M>(_mm256_movemask_epi8(ordered(_mm256_packs_epi16(part(x, 0), part(x, 1)))));
}
INLINE M mask_of(const V32& x) {
  M m = 0;
  for (int i = 0; i < 4; ++i) m |= static_cast<M>(_mm256_movemask_ps(_mm256_castsi256_ps(part(x, i)))) << 8 * i;
  return m;
}
INLINE M mask_of(const V64& x) {
  M m = 0;
  for (int i = 0; i < 8; ++i) m |= static_cast<M>(_mm256_movemask_pd(_mm256_castsi256_pd(part(x, i)))) << 4 * i;
  return m;
}

// And back, for part `i`.
INLINE __m256i ones_of(const V8*, M m, int) {
  const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(m)), byte);
  return _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit);
}
INLINE __m256i ones_of(const V16*, M m, int i) {
  const __m256i bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
  return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(static_cast<short>(m >> 16 * i)), bit), bit);
}
INLINE __m256i ones_of(const V32*, M m, int i) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(m >> 8 * i)), bit), bit);
}
INLINE __m256i ones_of(const V64*, M m, int i) {
  const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
  return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(static_cast<long long>(m >> 4 * i)), bit), bit);
}

template <class T>
INLINE T choose(M m, const T& x, const T& y) {
  T r;
  for (size_t i = 0; i < sizeof(T) / 32; ++i) {
    const int k = static_cast<int>(i);
    set_part(r, k, _mm256_blendv_epi8(part(y, k), part(x, k), ones_of(&x, m, k)));
  }
  return r;
}

// GCC compares vectors without sign, too, by what AVX2 has.
INLINE V8 as_word(decltype(B8{} == B8{}) x) { return {reinterpret_cast<B8>(x)}; }
INLINE V16 as_word(decltype(B16{} == B16{}) x) { return {reinterpret_cast<B16>(x)}; }
#define COMPARISON(NAME, OP, E8, E16, E32, E64)                                                              \
  INLINE M NAME(const V8& x, const V8& y) { return mask_of(as_word((E8)x.a OP (E8)y.a)); }                   \
  INLINE M NAME(const V16& x, const V16& y) { return mask_of(as_word((E16)x.a OP (E16)y.a)); }               \
  INLINE M NAME(const V32& x, const V32& y) {                                                                \
    return mask_of(V32{(B32)((E32)x.a OP (E32)y.a), (B32)((E32)x.b OP (E32)y.b)});                           \
  }                                                                                                          \
  INLINE M NAME(const V64& x, const V64& y) {                                                                \
    return mask_of(V64{(B64)((E64)x.a OP (E64)y.a), (B64)((E64)x.b OP (E64)y.b), (B64)((E64)x.c OP (E64)y.c), \
                       (B64)((E64)x.d OP (E64)y.d)});                                                        \
  }
typedef int8_t S8 __attribute__((vector_size(32), may_alias));
typedef int16_t S16 __attribute__((vector_size(64), may_alias));
typedef int32_t S32 __attribute__((vector_size(64), may_alias));
typedef int64_t S64 __attribute__((vector_size(64), may_alias));
COMPARISON(equal, ==, B8, B16, B32, B64)
COMPARISON(below, <, B8, B16, B32, B64)
COMPARISON(less, <, S8, S16, S32, S64)
#undef COMPARISON

template <class T>
INLINE M test(const T& x, uint64_t bits) {
  return ~equal(x & all<T>(bits), all<T>(0));
}

// ---- between widths

template <>
struct Converted<V16, V8> {
  static INLINED V16 of(const V8& x) {
    V16 r;
    set_part(r, 0, _mm256_cvtepu8_epi16(_mm256_castsi256_si128(part(x, 0))));
    set_part(r, 1, _mm256_cvtepu8_epi16(_mm256_extracti128_si256(part(x, 0), 1)));
    return r;
  }
};
template <>
struct Converted<V32, V16> {
  static INLINED V32 of(const V16& x) {
    V32 r;
    for (int i = 0; i < 2; ++i) {
      set_part(r, 2 * i, _mm256_cvtepu16_epi32(_mm256_castsi256_si128(part(x, i))));
      set_part(r, 2 * i + 1, _mm256_cvtepu16_epi32(_mm256_extracti128_si256(part(x, i), 1)));
    }
    return r;
  }
};
template <>
struct Converted<V32, V8> {
  static INLINED V32 of(const V8& x) { return Converted<V32, V16>::of(Converted<V16, V8>::of(x)); }
};
template <>
struct Converted<V64, V32> {
  static INLINED V64 of(const V32& x) {
    V64 r;
    for (int i = 0; i < 4; ++i) {
      set_part(r, 2 * i, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(part(x, i))));
      set_part(r, 2 * i + 1, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(part(x, i), 1)));
    }
    return r;
  }
};
template <>
struct Converted<V8, V16> {
  static INLINED V8 of(const V16& x) {
    const __m256i low = _mm256_set1_epi16(0xff);
    V8 r;
    set_part(r, 0, ordered(_mm256_packus_epi16(_mm256_and_si256(part(x, 0), low), _mm256_and_si256(part(x, 1), low))));
    return r;
  }
};
template <>
struct Converted<V16, V32> {
  static INLINED V16 of(const V32& x) {
    const __m256i low = _mm256_set1_epi32(0xffff);
    V16 r;
    for (int i = 0; i < 2; ++i) {
      const __m256i a = _mm256_and_si256(part(x, 2 * i), low), b = _mm256_and_si256(part(x, 2 * i + 1), low);
      set_part(r, i, ordered(_mm256_packus_epi32(a, b)));
    }
    return r;
  }
};
template <>
struct Converted<V32, V64> {
  static INLINED V32 of(const V64& x) {
    V32 r;
    for (int i = 0; i < 4; ++i) {
      const __m256 a = _mm256_castsi256_ps(part(x, 2 * i)), b = _mm256_castsi256_ps(part(x, 2 * i + 1));
      set_part(r, i, ordered(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88))));
    }
    return r;
  }
};

// ---- shifts by an amount of each machine; amounts of the element's width or more give 0

#define SHIFT(NAME, CODE)                                                                                    \
  INLINE V32 NAME(const V32& x, const V32& n) {                                                              \
    V32 r;                                                                                                   \
    for (int i = 0; i < 4; ++i) set_part(r, i, _mm256_##CODE##v_epi32(part(x, i), part(n, i)));              \
    return r;                                                                                                \
  }                                                                                                          \
  INLINE V64 NAME(const V64& x, const V64& n) {                                                              \
    V64 r;                                                                                                   \
    for (int i = 0; i < 8; ++i) set_part(r, i, _mm256_##CODE##v_epi64(part(x, i), part(n, i)));              \
    return r;                                                                                                \
  }                                                                                                          \
  INLINE V16 NAME(const V16& x, const V16& n) {                                                              \
    return Converted<V16, V32>::of(NAME(Converted<V32, V16>::of(x), Converted<V32, V16>::of(n)));            \
  }                                                                                                          \
  INLINE V8 NAME(const V8& x, const V8& n) {                                                                 \
    return Converted<V8, V16>::of(NAME(Converted<V16, V8>::of(x), Converted<V16, V8>::of(n)));               \
  }
SHIFT(shifted_left, sll)
SHIFT(shifted_right, srl)
#undef SHIFT

#endif
