// SPDX-License-Identifier: Apache-2.0
// What is remembered of the golden run: a hash of the registers in every cycle, and every change of the memories.
#ifndef RESIL_VERILATED_GOLDEN_HISTORY_H
#define RESIL_VERILATED_GOLDEN_HISTORY_H

#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "injector_api.h"
#include "difference.h"
#include "spent_alarms.h"
#include "written_blocks.h"

// 128 bits, so that unequal states never meet by chance.
struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Digest&) const = default;
};

// Collects the pieces that hold registers into one buffer and hashes it; bits of alarms count as they are in the golden
// run.
class Registers {
 public:
  explicit Registers(std::vector<Piece> pieces);
  Digest digest(const char* state);
  /// The digest of registers that were gathered already.
  Digest digest_row(const char* row);
  /// That digest, of the registers that were hashed last, with the bits of alarms as they are.
  Digest with_alarms(const Digest& digest) const;

  /// Let these bits of alarms count as they are in the golden run.
  void spend(const std::vector<AlarmBit>& bits);
  const SpentAlarms& spent() const { return spent_; }

  /// Copy all registers to `to`, one piece after the other, and back.
  void gather(const char* state, char* to) const;
  void scatter(const char* from, char* state) const;
  /// What was gathered for the last digest.
  const char* gathered() const { return reinterpret_cast<const char*>(buffer_.data()); }
  size_t bytes() const { return bytes_; }
  /// Place of a byte of the state among those that are gathered, and back. Throws if it is no register.
  size_t position(uint64_t offset) const;
  uint64_t offset(size_t position) const;
  /// Likewise; nothing if it is no register.
  std::optional<size_t> find(uint64_t offset) const;

 private:
  Digest digest_gathered();

  std::vector<Piece> pieces_;
  std::vector<size_t> starts_;  // of the pieces among what is gathered
  size_t bytes_ = 0;
  std::vector<uint64_t> buffer_;
  SpentAlarms spent_;
};

// The contents of all memories in any cycle of the golden run, one at a time: `seek` moves between cycles.
class MemoryHistory {
  // Edges whose changed blocks are kept together.
  static constexpr uint64_t kStretch = 256;

 public:
  /// `pieces` are those beside the large ones, which are `followed`.
  MemoryHistory(std::vector<Piece> pieces, const FollowedInstances& followed);

  /// Contents before the first cycle, which are the origin's.
  void begin(const Instance& golden);
  /// Contents after `edges` edges; called for every edge in turn.
  void record(const Instance& golden, uint64_t edges);
  void seek(uint64_t edges);
  bool equals(const Instance& instance);
  /// Add what differs from an instance, in the cycle that was sought last.
  void difference(const Instance& instance, Difference& found) const;
  /// Set the memories of an instance to those of the cycle that was sought last.
  void restore(Instance& instance) const;
  /// The memories one after the other, in that cycle, and where a byte of the state lies among them.
  const char* image() const { return image_.data(); }
  size_t position(uint64_t offset) const;
  /// Hash of all memories of any state of one instance. Of equal states it may differ if the instance has written more in
  /// between; of states that differ it does.
  Digest digest(const Instance& instance) const;
  uint64_t bytes() const;
  /// Edges, and byte of the state, of each byte that was another one before edges `from` .. `to`, by edges.
  std::vector<std::pair<uint64_t, uint64_t>> changes(uint64_t from, uint64_t to) const;

 private:
  struct Change {
    uint64_t edges;
    uint64_t position;  // in image_
    uint64_t before;
    uint64_t after;
  };

  // Bytes of the state and where they are in the image.
  struct Span {
    uint64_t offset;
    size_t position;
    uint64_t bytes;
  };

  bool differs(const char* state, const Span& span) const;
  // Note what has changed in a part of the memories; false if nothing has.
  bool note(const char* state, const Span& span, uint64_t edges);
  // A block of the large memories.
  Span block(size_t number) const;
  // Call `visit(span)` for what can differ between any golden state and an instance, ascending within a memory, until it
  // is false. Returns whether it never was.
  template <typename Visit>
  bool each_span(const Instance& instance, Visit&& visit) const;
  // Likewise for the first pieces as a whole.
  template <typename Visit>
  bool each_piece(size_t count, Visit&& visit) const;
  // Likewise for what can differ between the cycle that was sought last and an instance, which is less if the instance
  // is known to have had the contents of some cycle.
  template <typename Visit>
  bool each_stale(const Instance& instance, Visit&& visit) const;
  // The blocks that the golden run has changed between two cycles, and perhaps some more.
  BlockSet changed_between(uint64_t one, uint64_t other) const;

  const FollowedInstances& followed_;
  const size_t small_;                // pieces before the large ones
  std::vector<Piece> pieces_;
  std::vector<size_t> positions_;     // of pieces in the image
  BlockSet changed_;                  // blocks that the golden run has changed
  std::vector<std::vector<size_t>> changed_in_;  // those that it has changed in each kStretch edges
  std::vector<char> image_;  // the pieces one after the other, each padded to eight bytes
  std::vector<Change> changes_;
  size_t next_ = 0;  // changes before this one are in image_
  uint64_t edges_ = 0;  // whose contents image_ has
  Span last_difference_{};
};

// The registers of the golden run in cycles at equal distances; the longer the run, the greater they are.
class Milestones {
 public:
  void begin(size_t row_bytes);
  /// The registers after `edges` edges; called for every edge in turn.
  void record(const Registers& registers, const char* state, uint64_t edges);
  /// The registers after `edges` edges; null if they were not kept.
  const char* find(uint64_t edges) const;
  uint64_t bytes() const { return rows_.size(); }

 private:
  static constexpr size_t kMostBytes = size_t{64} << 20;
  size_t row_bytes_ = 0;
  uint64_t distance_ = 32;
  std::vector<char> rows_;
};

// The hash of every cycle and where to find a hash again.
class Timeline {
 public:
  void record(const Digest& digest);
  bool matches(const Digest& digest, uint64_t edges) const;
  /// Number of edges after which the golden run had these registers; 0 if it never had.
  uint64_t find(const Digest& digest) const;
  uint64_t length() const { return digests_.size(); }
  uint64_t bytes() const;

 private:
  std::vector<Digest> digests_;  // [edges - 1]
  std::unordered_map<uint64_t, uint32_t> first_;
};

#endif
