// SPDX-License-Identifier: Apache-2.0
// Masks, shifts and changes of width with AVX-512. Part of lanes.h.
#ifndef RESIL_LANES_LANES_AVX512_H
#define RESIL_LANES_LANES_AVX512_H

INLINE __m256i z(const B8& x) { return reinterpret_cast<__m256i>(x); }
INLINE __m512i z(const B16& x) { return reinterpret_cast<__m512i>(x); }
INLINE __m512i z(const B32& x) { return reinterpret_cast<__m512i>(x); }
INLINE __m512i z(const B64& x) { return reinterpret_cast<__m512i>(x); }

#define COMPARISON(NAME, SIGN, CODE)                                                                          \
  INLINE M NAME(const V8& x, const V8& y) { return _mm256_cmp_##SIGN##8_mask(z(x.a), z(y.a), CODE); }        \
  INLINE M NAME(const V16& x, const V16& y) { return _mm512_cmp_##SIGN##16_mask(z(x.a), z(y.a), CODE); }     \
  INLINE M NAME(const V32& x, const V32& y) {                                                                \
    return static_cast<M>(_mm512_cmp_##SIGN##32_mask(z(x.a), z(y.a), CODE)) |                                \
           static_cast<M>(_mm512_cmp_##SIGN##32_mask(z(x.b), z(y.b), CODE)) << 16;                           \
  }                                                                                                          \
  INLINE M NAME(const V64& x, const V64& y) {                                                                \
    return static_cast<M>(_mm512_cmp_##SIGN##64_mask(z(x.a), z(y.a), CODE)) |                                \
           static_cast<M>(_mm512_cmp_##SIGN##64_mask(z(x.b), z(y.b), CODE)) << 8 |                           \
           static_cast<M>(_mm512_cmp_##SIGN##64_mask(z(x.c), z(y.c), CODE)) << 16 |                          \
           static_cast<M>(_mm512_cmp_##SIGN##64_mask(z(x.d), z(y.d), CODE)) << 24;                           \
  }
COMPARISON(equal, epu, _MM_CMPINT_EQ)
COMPARISON(below, epu, _MM_CMPINT_LT)
COMPARISON(less, epi, _MM_CMPINT_LT)
#undef COMPARISON

INLINE M test(const V8& x, uint64_t bits) {
  return _mm256_test_epi8_mask(z(x.a), _mm256_set1_epi8(static_cast<char>(bits)));
}
INLINE M test(const V16& x, uint64_t bits) {
  return _mm512_test_epi16_mask(z(x.a), _mm512_set1_epi16(static_cast<short>(bits)));
}
INLINE M test(const V32& x, uint64_t bits) {
  const __m512i y = _mm512_set1_epi32(static_cast<int>(bits));
  return static_cast<M>(_mm512_test_epi32_mask(z(x.a), y)) | static_cast<M>(_mm512_test_epi32_mask(z(x.b), y)) << 16;
}
INLINE M test(const V64& x, uint64_t bits) {
  const __m512i y = _mm512_set1_epi64(static_cast<long long>(bits));
  return static_cast<M>(_mm512_test_epi64_mask(z(x.a), y)) | static_cast<M>(_mm512_test_epi64_mask(z(x.b), y)) << 8 |
         static_cast<M>(_mm512_test_epi64_mask(z(x.c), y)) << 16 |
         static_cast<M>(_mm512_test_epi64_mask(z(x.d), y)) << 24;
}

INLINE V8 choose(M m, const V8& x, const V8& y) {
  return {reinterpret_cast<B8>(_mm256_mask_blend_epi8(m, z(y.a), z(x.a)))};
}
INLINE V16 choose(M m, const V16& x, const V16& y) {
  return {reinterpret_cast<B16>(_mm512_mask_blend_epi16(m, z(y.a), z(x.a)))};
}
INLINE V32 choose(M m, const V32& x, const V32& y) {
  return {reinterpret_cast<B32>(_mm512_mask_blend_epi32(static_cast<__mmask16>(m), z(y.a), z(x.a))),
          reinterpret_cast<B32>(_mm512_mask_blend_epi32(static_cast<__mmask16>(m >> 16), z(y.b), z(x.b)))};
}
INLINE V64 choose(M m, const V64& x, const V64& y) {
  return {reinterpret_cast<B64>(_mm512_mask_blend_epi64(static_cast<__mmask8>(m), z(y.a), z(x.a))),
          reinterpret_cast<B64>(_mm512_mask_blend_epi64(static_cast<__mmask8>(m >> 8), z(y.b), z(x.b))),
          reinterpret_cast<B64>(_mm512_mask_blend_epi64(static_cast<__mmask8>(m >> 16), z(y.c), z(x.c))),
          reinterpret_cast<B64>(_mm512_mask_blend_epi64(static_cast<__mmask8>(m >> 24), z(y.d), z(x.d)))};
}

// Shifts by an amount of each machine; amounts of the element's width or more give 0.
INLINE V8 shifted_left(const V8& x, const V8& n) {
  const __m512i wide = _mm512_sllv_epi16(_mm512_cvtepu8_epi16(z(x.a)), _mm512_cvtepu8_epi16(z(n.a)));
  return {reinterpret_cast<B8>(_mm512_cvtepi16_epi8(wide))};
}
INLINE V8 shifted_right(const V8& x, const V8& n) {
  const __m512i wide = _mm512_srlv_epi16(_mm512_cvtepu8_epi16(z(x.a)), _mm512_cvtepu8_epi16(z(n.a)));
  return {reinterpret_cast<B8>(_mm512_cvtepi16_epi8(wide))};
}
#define SHIFT(NAME, CODE)                                                                                          \
  INLINE V16 NAME(const V16& x, const V16& n) {                                                                    \
    return {reinterpret_cast<B16>(_mm512_##CODE##v_epi16(z(x.a), z(n.a)))};                                        \
  }                                                                                                                \
  INLINE V32 NAME(const V32& x, const V32& n) {                                                                    \
    return {reinterpret_cast<B32>(_mm512_##CODE##v_epi32(z(x.a), z(n.a))),                                         \
            reinterpret_cast<B32>(_mm512_##CODE##v_epi32(z(x.b), z(n.b)))};                                        \
  }                                                                                                                \
  INLINE V64 NAME(const V64& x, const V64& n) {                                                                    \
    return {reinterpret_cast<B64>(_mm512_##CODE##v_epi64(z(x.a), z(n.a))),                                         \
            reinterpret_cast<B64>(_mm512_##CODE##v_epi64(z(x.b), z(n.b))),                                         \
            reinterpret_cast<B64>(_mm512_##CODE##v_epi64(z(x.c), z(n.c))),                                         \
            reinterpret_cast<B64>(_mm512_##CODE##v_epi64(z(x.d), z(n.d)))};                                        \
  }
SHIFT(shifted_left, sll)
SHIFT(shifted_right, srl)
#undef SHIFT

template <class T>
INLINE T made(__m512i x) {
  return reinterpret_cast<T>(x);
}
template <>
struct Converted<V16, V8> {
  static INLINED V16 of(const V8& x) { return {made<B16>(_mm512_cvtepu8_epi16(z(x.a)))}; }
};
template <>
struct Converted<V32, V8> {
  static INLINED V32 of(const V8& x) {
    return {made<B32>(_mm512_cvtepu8_epi32(_mm256_castsi256_si128(z(x.a)))),
            made<B32>(_mm512_cvtepu8_epi32(_mm256_extracti128_si256(z(x.a), 1)))};
  }
};
template <>
struct Converted<V32, V16> {
  static INLINED V32 of(const V16& x) {
    return {made<B32>(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(z(x.a)))),
            made<B32>(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(z(x.a), 1)))};
  }
};
template <>
struct Converted<V64, V32> {
  static INLINED V64 of(const V32& x) {
    return {made<B64>(_mm512_cvtepu32_epi64(_mm512_castsi512_si256(z(x.a)))),
            made<B64>(_mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(z(x.a), 1))),
            made<B64>(_mm512_cvtepu32_epi64(_mm512_castsi512_si256(z(x.b)))),
            made<B64>(_mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(z(x.b), 1)))};
  }
};
template <>
struct Converted<V8, V16> {
  static INLINED V8 of(const V16& x) { return {reinterpret_cast<B8>(_mm512_cvtepi16_epi8(z(x.a)))}; }
};
template <>
struct Converted<V16, V32> {
  static INLINED V16 of(const V32& x) {
    return {made<B16>(_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(z(x.a))),
                                         _mm512_cvtepi32_epi16(z(x.b)), 1))};
  }
};
template <>
struct Converted<V32, V64> {
  static INLINED V32 of(const V64& x) {
    return {made<B32>(_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(z(x.a))),
                                         _mm512_cvtepi64_epi32(z(x.b)), 1)),
            made<B32>(_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(z(x.c))),
                                         _mm512_cvtepi64_epi32(z(x.d)), 1))};
  }
};

#endif
