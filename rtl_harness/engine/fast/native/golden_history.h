// SPDX-License-Identifier: Apache-2.0
// What is remembered of the golden run: a hash of the registers in every cycle, and every change of the memories.
#ifndef RESIL_VERILATED_GOLDEN_HISTORY_H
#define RESIL_VERILATED_GOLDEN_HISTORY_H

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
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

// How much of what is remembered is kept at once; what is more is simulated again when it is asked for.
struct HistoryBounds {
  uint64_t bytes = uint64_t{512} << 20;  // of single changes of memories, and of those from checkpoint to checkpoint
  uint64_t segment = uint64_t{1} << 16;  // edges from checkpoint to checkpoint, at first
};

// The contents of all memories in any cycle of the golden run, one at a time: `seek` moves between cycles.
//
// Every change of every cycle of a long run would take gigabytes. The run is divided into segments. What changes from the
// beginning of each to its end is always there; the single changes in it are, of long runs, only of some segments.
// Those of others are found by simulating the segment again, from the registers at its beginning.
class MemoryHistory {
  // Edges whose changed blocks are kept together.
  static constexpr uint64_t kStretch = 256;

 public:
  /// Simulates a segment again, from the registers after `first` edges and the memories as they are here then; calls
  /// `again` for every edge up to `last`.
  using Recall = std::function<void(const std::vector<char>& registers, uint64_t first, uint64_t last)>;

  /// `pieces` are those beside the large ones, which are `followed`.
  MemoryHistory(std::vector<Piece> pieces, const FollowedInstances& followed, Recall recall);

  void bound(const HistoryBounds& bounds) { bounds_ = bounds; }
  /// Contents before the first cycle, which are the origin's.
  void begin(const Instance& golden, const Registers& registers);
  /// Contents after `edges` edges; called for every edge in turn.
  void record(const Instance& golden, const Registers& registers, uint64_t edges);
  /// Likewise in a segment that is simulated again.
  void again(const Instance& golden, uint64_t edges);
  /// Throws if what is simulated again is not what was recorded.
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
  /// Segments that were simulated again.
  uint64_t recalled() const { return recalled_; }
  /// Edges, and byte of the state, of each byte that was another one before edges `from` .. `to`, by edges.
  std::vector<std::pair<uint64_t, uint64_t>> changes(uint64_t from, uint64_t to);

 private:
  struct Change {
    uint32_t edges;  // since the beginning of the segment
    uint32_t word;   // of eight bytes, in image_
    uint64_t before;
    uint64_t after;
  };

  struct Segment {
    uint64_t first = 0;           // edges at its beginning
    std::vector<char> registers;  // then
    std::vector<Change> changes = {};  // single ones, by edges
    bool known = true;                 // these are there
    std::vector<Change> whole = {};    // from its beginning to its end, by word; of the last segment none
    uint64_t used = 0;                 // when its single changes were asked for last
  };

  // Bytes of the state and where they are in the image.
  struct Span {
    uint64_t offset;
    size_t position;
    uint64_t bytes;
  };

  bool differs(const char* state, const Span& span) const;
  // Note what has changed in a part of the memories, in a segment; false if nothing has.
  bool note(const char* state, const Span& span, uint64_t edges, Segment& segment);
  void note_all(const Instance& golden, uint64_t edges, Segment& segment);
  static std::vector<Change> joined(const std::vector<Change>& changes);
  void close(const Instance& golden, const Registers& registers, uint64_t edges);
  void merge_pairs();
  void drop(Segment& segment);
  // Drop single changes until they are few enough, those of the segment at `place` last.
  void make_room(size_t place);
  // The segment in which the contents after `edges` edges are found.
  size_t segment_of(uint64_t edges) const;
  void to_next_segment();
  void to_previous_segment();
  // Find the single changes of the segment at whose beginning the image is; then it is at its end.
  void recall();
  void apply(const Change& change, uint64_t value) { std::memcpy(image_.data() + 8 * uint64_t{change.word}, &value, 8); }
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
  Recall recall_;
  HistoryBounds bounds_;
  std::vector<Segment> segments_;
  uint64_t length_ = 0;        // edges of a segment
  uint64_t single_bytes_ = 0, whole_bytes_ = 0;
  uint64_t uses_ = 0, recalled_ = 0;
  size_t segment_ = 0;  // whose contents image_ has
  size_t next_ = 0;     // changes of it before this one are in image_
  uint64_t edges_ = 0;
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

// The hash of every cycle and where to find a hash again: some 24 bytes for a cycle.
class Timeline {
 public:
  /// Throws beyond 2^32 - 1 cycles.
  void record(const Digest& digest);
  bool matches(const Digest& digest, uint64_t edges) const { return edges >= 1 && edges <= length_ && at(edges) == digest; }
  /// Number of edges after which the golden run first had these registers; 0 if it never had.
  uint64_t find(const Digest& digest) const { return length_ ? slots_[slot(digest)] : 0; }
  uint64_t length() const { return length_; }
  uint64_t bytes() const { return chunks_.size() * kChunk * sizeof(Digest) + slots_.size() * sizeof(uint32_t); }

 private:
  static constexpr uint64_t kChunk = uint64_t{1} << 12;  // hashes that lie together: nothing is copied when more come

  const Digest& at(uint64_t edges) const { return chunks_[(edges - 1) / kChunk][(edges - 1) % kChunk]; }
  // Where the edges of a hash are, or would be.
  size_t slot(const Digest& digest) const;

  std::vector<std::unique_ptr<Digest[]>> chunks_;
  uint64_t length_ = 0;
  std::vector<uint32_t> slots_;  // edges, 0 where there are none; open addressing
  uint64_t taken_ = 0;
};

#endif
