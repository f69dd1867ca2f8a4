// SPDX-License-Identifier: Apache-2.0
// Memory in large pages where the system has them: gates of a whole design are met all over it, and small pages miss.
#ifndef RESIL_LOGIC_LARGE_PAGES_H
#define RESIL_LOGIC_LARGE_PAGES_H

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <new>

template <typename T>
struct LargePages {
  using value_type = T;
  static constexpr size_t kPage = size_t{2} << 20;

  LargePages() = default;
  template <typename U>
  LargePages(const LargePages<U>&) {}

  T* allocate(size_t count) {
    const size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
    void* const made = std::aligned_alloc(kPage, bytes ? bytes : kPage);
    if (!made) throw std::bad_alloc();
#ifdef __linux__
    madvise(made, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(made);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }
  bool operator==(const LargePages&) const { return true; }
};

#endif
