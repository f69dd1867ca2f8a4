// SPDX-License-Identifier: Apache-2.0
// Memories of 512 machines: copy on write, a word at a time. What is not here is as in the golden run.
#ifndef RESIL_LOGIC_OVERLAY_H
#define RESIL_LOGIC_OVERLAY_H

#include <memory>
#include <unordered_map>

#include "design.h"
#include "lanes.h"

/// For each bit of a word the machines in which it is not the golden one.
using Block = std::unique_ptr<Lanes[]>;

class Overlay {
 public:
  explicit Overlay(const Design& design) : design_(&design), words_(design.memories.size()) {}

  bool empty(size_t memory) const { return words_[memory].empty(); }
  const std::unordered_map<uint64_t, Block>& words(size_t memory) const { return words_[memory]; }
  Lanes* find(size_t memory, uint64_t word) const {
    if (words_[memory].empty()) return nullptr;
    const auto found = words_[memory].find(word);
    return found == words_[memory].end() ? nullptr : found->second.get();
  }
  Lanes* make(size_t memory, uint64_t word) {
    Block& block = words_[memory][word];
    if (!block) block = std::make_unique<Lanes[]>(design_->widths[memory]);
    return block.get();
  }
  /// Forget what differs in no machine of `live`.
  void prune(const Lanes& live) {
    for (size_t memory = 0; memory < words_.size(); ++memory) {
      std::erase_if(words_[memory], [&](auto& entry) {
        Lanes left = {};
        for (uint32_t i = 0; i < design_->widths[memory]; ++i) left |= entry.second[i] &= live;
        return !any(left);
      });
    }
  }

 private:
  const Design* design_;
  std::vector<std::unordered_map<uint64_t, Block>> words_;
};

#endif
