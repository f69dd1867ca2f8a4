// SPDX-License-Identifier: Apache-2.0
// Which blocks of large memories an instance may have written since it was a copy of the origin.
//
// To compare, copy or hash all of a memory of 64 MiB for a cycle, or for a fault, would cost more than to simulate it. So
// the pages of such memories are read-only for this process: the first write to one is a page fault, which notes the page
// and lets the write through. Dirty bits of the operating system would do the same, but need rights that a user has not.
//
// An instance that was put into the golden state of a cycle differs from that of another cycle in what either has written
// in between, however much both have written before.
#ifndef RESIL_VERILATED_WRITTEN_BLOCKS_H
#define RESIL_VERILATED_WRITTEN_BLOCKS_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "injector_api.h"
#include "instance.h"

inline constexpr uint64_t kBlockBytes = 4096;

// A set of blocks.
class BlockSet {
 public:
  explicit BlockSet(size_t blocks = 0) : words_((blocks + 63) / 64) {}
  void add(size_t block) { words_[block / 64] |= uint64_t{1} << block % 64; }
  uint64_t word(size_t i) const { return words_[i]; }
  void clear() { words_.assign(words_.size(), 0); }

 private:
  std::vector<uint64_t> words_;
};

// The large memories of a design, and their blocks: numbered through all of them, in the order of the pieces.
class LargeMemories {
 public:
  explicit LargeMemories(std::vector<Piece> pieces);

  const std::vector<Piece>& pieces() const { return pieces_; }
  size_t blocks() const { return blocks_; }
  /// The number of the first block of a piece, by its place among the pieces.
  size_t first(size_t piece) const { return first_[piece]; }
  /// The piece that a block is of, by its place, and the bytes of the state that the block is.
  size_t piece(size_t number) const;
  Piece block(size_t number) const;
  /// Call `visit(block)`, ascending, for the blocks that are in one of two sets, until it is false. Returns whether it
  /// never was.
  template <typename Visit>
  bool each_in(const BlockSet& one, const BlockSet& other, Visit&& visit) const {
    for (size_t i = 0; i < (blocks_ + 63) / 64; ++i) {
      for (uint64_t left = one.word(i) | other.word(i); left; left &= left - 1) {
        if (!visit(64 * i + static_cast<size_t>(std::countr_zero(left)))) return false;
      }
    }
    return true;
  }

 private:
  std::vector<Piece> pieces_;
  std::vector<size_t> first_;
  size_t blocks_ = 0;
};

// What one instance has written. Only its own thread writes to the instance.
class WrittenBlocks {
 public:
  /// Nothing is written yet, but for what lies on no whole page of its own: that counts as written.
  WrittenBlocks(char* state, const LargeMemories& memories);
  ~WrittenBlocks();
  WrittenBlocks(const WrittenBlocks&) = delete;
  WrittenBlocks& operator=(const WrittenBlocks&) = delete;

  const BlockSet& blocks() const { return blocks_; }
  /// Note a write to this address; false if it is none of these memories.
  bool note(const char* address);

  /// The instance has the golden contents after `edges` edges.
  void sync(uint64_t edges);
  /// The edges of the last `sync`; nothing if there was none, or it holds no longer.
  std::optional<uint64_t> synced() const { return synced_; }
  void forget() { synced_.reset(); }
  /// What may have been written since then.
  const BlockSet& since() const { return since_; }

  /// Call `visit(block)`, true if it was changed, for the blocks that may have been written since it was called last.
  template <typename Visit>
  void each_recent(Visit&& visit) {
    for (const size_t block : always_) visit(block);
    while (taken_ < noted_) recent_.push_back({pages_noted_[taken_++], 0});
    noted_ = taken_ = 0;
    size_t kept = 0;
    for (Recent& recent : recent_) {
      const Page& page = pages_[recent.page];
      bool changed = false;
      for (size_t block = page.first; block <= page.last; ++block) changed |= visit(block);
      recent.quiet = changed ? 0 : recent.quiet + 1;
      if (recent.quiet > kQuiet) {
        close({&recent.page, 1});
      } else {
        recent_[kept++] = recent;
      }
    }
    recent_.resize(kept);
  }

 private:
  // A page is closed again when it was not changed in so many calls: a page fault costs as much as some looks at it.
  static constexpr uint32_t kQuiet = 64;
  // So many pages stay open at a sync: to copy them costs less than a page fault for each that is written again.
  static constexpr size_t kMostOpen = 64;
  struct Page {
    char* begin;
    size_t first, last;  // blocks
    bool open;
    size_t place = 0;  // among the open ones
  };
  struct Recent {
    size_t page;
    uint32_t quiet;
  };

  void protect();
  void open_all();
  // Pages that lie one after the other.
  void close(std::span<const size_t> run);
  void close_all();
  // Keep which pages are open; the blocks of those that are count as written.
  void opened(size_t page);
  void closed(size_t page);

  char* state_;
  size_t place_ = 0;  // among those that are asked at a page fault; beyond all if there is none
  const LargeMemories& memories_;
  BlockSet blocks_;
  std::vector<size_t> always_;  // blocks that are not wholly on pages of their own
  std::vector<Page> pages_;
  std::vector<size_t> first_page_;  // by piece
  std::vector<size_t> pages_noted_;
  size_t noted_ = 0, taken_ = 0;
  std::vector<Recent> recent_;
  std::vector<size_t> pages_open_;  // the first `open_`
  size_t open_ = 0;
  std::optional<uint64_t> synced_;
  BlockSet since_;
};

// The instances of one golden run whose large memories are followed. These are not part of what an instance copies by
// itself (resil_keep); they are copied here.
class FollowedInstances {
 public:
  /// Nothing is ever written of the origin.
  FollowedInstances(const Instance& origin, std::vector<Piece> large) : origin_(origin), memories_(std::move(large)) {}

  const LargeMemories& memories() const { return memories_; }
  /// Follow an instance that has the contents of the origin.
  void follow(Instance& instance);
  /// What an instance may have written since it had the contents of the origin; nothing known if `knows` is false.
  const BlockSet& written(const Instance& instance) const;
  bool knows(const Instance& instance) const { return &instance == &origin_ || find(instance); }
  WrittenBlocks* find(const Instance& instance) const;
  /// No instance is known any more to have the contents of a cycle.
  void forget() const;
  /// Make `to` continue exactly where `from` is, with its large memories.
  void copy(Instance& to, const Instance& from) const;

 private:
  const Instance& origin_;
  LargeMemories memories_;
  BlockSet none_{memories_.blocks()};
  std::vector<std::pair<const Instance*, std::unique_ptr<WrittenBlocks>>> written_;
};

#endif
