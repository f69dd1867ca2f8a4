// Words of 32 machines: a net of one bit is a mask, a wider one a vector with an element for each machine.
#ifndef RESIL_LANES_LANES_H
#define RESIL_LANES_LANES_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define RESIL_AVX512 1
#endif

inline constexpr int kMachines = 32;
using M = uint32_t;

typedef uint8_t B8 __attribute__((vector_size(32), may_alias));
typedef uint16_t B16 __attribute__((vector_size(64), may_alias));
typedef uint32_t B32 __attribute__((vector_size(64), may_alias));
typedef uint64_t B64 __attribute__((vector_size(64), may_alias));

struct alignas(32) V8 {
  using E = uint8_t;
  using S = int8_t;
  B8 a;
};
struct alignas(64) V16 {
  using E = uint16_t;
  using S = int16_t;
  B16 a;
};
struct alignas(64) V32 {
  using E = uint32_t;
  using S = int32_t;
  B32 a, b;
};
struct alignas(64) V64 {
  using E = uint64_t;
  using S = int64_t;
  B64 a, b, c, d;
};

#define INLINED inline __attribute__((always_inline))
#define INLINE static INLINED

template <class T>
INLINE typename T::E* elements(T& v) {
  return reinterpret_cast<typename T::E*>(&v);
}
template <class T>
INLINE const typename T::E* elements(const T& v) {
  return reinterpret_cast<const typename T::E*>(&v);
}

INLINE V8 all(V8*, uint64_t x) { return {B8{} + static_cast<uint8_t>(x)}; }
INLINE V16 all(V16*, uint64_t x) { return {B16{} + static_cast<uint16_t>(x)}; }
INLINE V32 all(V32*, uint64_t x) {
  const B32 v = B32{} + static_cast<uint32_t>(x);
  return {v, v};
}
INLINE V64 all(V64*, uint64_t x) {
  const B64 v = B64{} + x;
  return {v, v, v, v};
}
template <class T>
INLINE T all(uint64_t x) {
  return all(static_cast<T*>(nullptr), x);
}

#define EACH_OPERATION(OP)                                                                   \
  INLINE V8 operator OP(const V8& x, const V8& y) { return {x.a OP y.a}; }                   \
  INLINE V16 operator OP(const V16& x, const V16& y) { return {x.a OP y.a}; }                \
  INLINE V32 operator OP(const V32& x, const V32& y) { return {x.a OP y.a, x.b OP y.b}; }    \
  INLINE V64 operator OP(const V64& x, const V64& y) {                                       \
    return {x.a OP y.a, x.b OP y.b, x.c OP y.c, x.d OP y.d};                                 \
  }
EACH_OPERATION(+)
EACH_OPERATION(-)
EACH_OPERATION(*)
EACH_OPERATION(&)
EACH_OPERATION(|)
EACH_OPERATION(^)
#undef EACH_OPERATION

#define EACH_SHIFT(OP)                                                                       \
  INLINE V8 operator OP(const V8& x, int n) { return {x.a OP n}; }                           \
  INLINE V16 operator OP(const V16& x, int n) { return {x.a OP n}; }                         \
  INLINE V32 operator OP(const V32& x, int n) { return {x.a OP n, x.b OP n}; }               \
  INLINE V64 operator OP(const V64& x, int n) { return {x.a OP n, x.b OP n, x.c OP n, x.d OP n}; }
EACH_SHIFT(<<)
EACH_SHIFT(>>)
#undef EACH_SHIFT

// ---- masks: comparisons to them, choices by them

#ifdef RESIL_AVX512

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

#else

template <class T, class F>
INLINE M compared(const T& x, const T& y, F&& f) {
  M m = 0;
  for (int i = 0; i < kMachines; ++i) m |= static_cast<M>(f(elements(x)[i], elements(y)[i])) << i;
  return m;
}
template <class T>
INLINE M equal(const T& x, const T& y) {
  return compared(x, y, [](auto p, auto q) { return p == q; });
}
template <class T>
INLINE M below(const T& x, const T& y) {
  return compared(x, y, [](auto p, auto q) { return p < q; });
}
template <class T>
INLINE M less(const T& x, const T& y) {
  return compared(x, y, [](auto p, auto q) { return static_cast<typename T::S>(p) < static_cast<typename T::S>(q); });
}
template <class T>
INLINE M test(const T& x, uint64_t bits) {
  return compared(x, x, [bits](auto p, auto) { return (p & static_cast<decltype(p)>(bits)) != 0; });
}
template <class T>
INLINE T choose(M m, const T& x, const T& y) {
  T r;
  for (int i = 0; i < kMachines; ++i) {
    const auto one = static_cast<typename T::E>(-static_cast<typename T::S>(m >> i & 1));
    elements(r)[i] = static_cast<typename T::E>((elements(x)[i] & one) | (elements(y)[i] & ~one));
  }
  return r;
}
template <class T>
INLINE T shifted_left(const T& x, const T& n) {
  T r;
  for (int i = 0; i < kMachines; ++i) {
    const auto by = elements(n)[i];
    elements(r)[i] = by < 8 * sizeof(by) ? static_cast<typename T::E>(elements(x)[i] << by) : 0;
  }
  return r;
}
template <class T>
INLINE T shifted_right(const T& x, const T& n) {
  T r;
  for (int i = 0; i < kMachines; ++i) {
    const auto by = elements(n)[i];
    elements(r)[i] = by < 8 * sizeof(by) ? static_cast<typename T::E>(elements(x)[i] >> by) : 0;
  }
  return r;
}

#endif

template <class T>
INLINE T chosen(M m, uint64_t bits) {
  return choose(m, all<T>(bits), all<T>(0));
}

// ---- between widths: elements are cut, or filled with zeros

template <class T, class F>
struct Converted {
  static INLINED T of(const F& x) {
    T r;
    for (int i = 0; i < kMachines; ++i) elements(r)[i] = static_cast<typename T::E>(elements(x)[i]);
    return r;
  }
};
template <class T>
struct Converted<T, T> {
  static INLINED const T& of(const T& x) { return x; }
};
#ifdef RESIL_AVX512
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
struct Converted<V64, V16> {
  static INLINED V64 of(const V16& x) { return Converted<V64, V32>::of(Converted<V32, V16>::of(x)); }
};
template <>
struct Converted<V64, V8> {
  static INLINED V64 of(const V8& x) { return Converted<V64, V32>::of(Converted<V32, V8>::of(x)); }
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
template <>
struct Converted<V8, V32> {
  static INLINED V8 of(const V32& x) { return Converted<V8, V16>::of(Converted<V16, V32>::of(x)); }
};
template <>
struct Converted<V16, V64> {
  static INLINED V16 of(const V64& x) { return Converted<V16, V32>::of(Converted<V32, V64>::of(x)); }
};
template <>
struct Converted<V8, V64> {
  static INLINED V8 of(const V64& x) { return Converted<V8, V16>::of(Converted<V16, V64>::of(x)); }
};
#endif

template <class T, class F>
INLINE T as(const F& x) {
  return Converted<T, F>::of(x);
}

/// The low `Width` bits of an element, with their sign.
template <int Width, class T>
INLINE T extended(const T& x) {
  constexpr uint64_t sign = uint64_t{1} << (Width - 1);
  return (x ^ all<T>(sign)) - all<T>(sign);
}

/// Rounds towards minus infinity; `x` has `Width` bits, and its sign is above them already.
template <class T>
INLINE T shifted_right_signed(const T& x, const T& n) {
  T r;
  for (int i = 0; i < kMachines; ++i) {
    const auto by = elements(n)[i] < 8 * sizeof(typename T::E) ? elements(n)[i] : 8 * sizeof(typename T::E) - 1;
    elements(r)[i] = static_cast<typename T::E>(static_cast<typename T::S>(elements(x)[i]) >> by);
  }
  return r;
}

/// Parity of each element.
template <class T>
INLINE M parity(const T& x) {
  M m = 0;
  for (int i = 0; i < kMachines; ++i) {
    m |= static_cast<M>(__builtin_parityll(elements(x)[i])) << i;
  }
  return m;
}

using U128 = unsigned __int128;
using S128 = __int128;

/// Bits [at, at + 64) of a word of `Limbs` limbs, zero beyond them.
template <int Limbs>
INLINE uint64_t limb_at(const uint64_t* word, int64_t at) {
  if (at <= -64 || at >= 64 * Limbs) return 0;
  const int64_t i = at >> 6;
  const int n = static_cast<int>(at & 63);
  const uint64_t low = i >= 0 ? word[i] : 0;
  if (n == 0) return low;
  const uint64_t high = i + 1 < Limbs ? word[i + 1] : 0;
  return low >> n | high << (64 - n);
}

#endif
