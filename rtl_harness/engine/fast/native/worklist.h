// SPDX-License-Identifier: Apache-2.0
// A worklist: which of many things are still to be done, in ascending or descending order.
//
// In the order of the gates each is done once all before it are; a queue would take one as often as an input changes.
#ifndef RESIL_VERILATED_WORKLIST_H
#define RESIL_VERILATED_WORKLIST_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

class Worklist {
 public:
  explicit Worklist(size_t count) : words_((count + 63) / 64) {}
  void mark(size_t i) {
    words_[i / 64] |= uint64_t{1} << i % 64;
    any_ = true;
  }
  bool any() const { return any_; }

  /// Do all that are marked; what is marked meanwhile is done, too, if it comes later in this order.
  template <typename Function>
  void ascending(Function&& function) {
    any_ = false;
    for (size_t k = 0; k < words_.size(); ++k) {
      while (words_[k]) {
        const int bit = std::countr_zero(words_[k]);
        words_[k] &= words_[k] - 1;
        function(64 * k + static_cast<size_t>(bit));
      }
    }
  }
  template <typename Function>
  void descending(Function&& function) {
    any_ = false;
    for (size_t k = words_.size(); k-- > 0;) {
      while (words_[k]) {
        const int bit = 63 - std::countl_zero(words_[k]);
        words_[k] &= ~(uint64_t{1} << bit);
        function(64 * k + static_cast<size_t>(bit));
      }
    }
  }

 private:
  std::vector<uint64_t> words_;
  bool any_ = false;
};

#endif
