// SPDX-License-Identifier: Apache-2.0
// Words of 32 machines: a net of one bit is a mask, a wider one a vector with an element for each machine.
#ifndef RESIL_LANES_LANES_H
#define RESIL_LANES_LANES_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#define RESIL_AVX512 1
#endif
#if defined(RESIL_AVX512) || defined(__AVX2__)
#include <immintrin.h>
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

// ---- masks: comparisons to them, choices by them; what of all this has instructions of its own

#if defined(RESIL_AVX512)
#include "lanes_avx512.h"
#elif defined(__AVX2__)
#include "lanes_avx2.h"
#else
#include "lanes_plain.h"
#endif

#if defined(RESIL_AVX512) || defined(__AVX2__)
template <>
struct Converted<V64, V16> {
  static INLINED V64 of(const V16& x) { return Converted<V64, V32>::of(Converted<V32, V16>::of(x)); }
};
template <>
struct Converted<V64, V8> {
  static INLINED V64 of(const V8& x) { return Converted<V64, V32>::of(Converted<V32, V8>::of(x)); }
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

template <class T>
INLINE T chosen(M m, uint64_t bits) {
  return choose(m, all<T>(bits), all<T>(0));
}

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
