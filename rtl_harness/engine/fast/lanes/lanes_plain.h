// SPDX-License-Identifier: Apache-2.0
// Masks and shifts without instructions of any processor. Part of lanes.h.
#ifndef RESIL_LANES_LANES_PLAIN_H
#define RESIL_LANES_LANES_PLAIN_H

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
