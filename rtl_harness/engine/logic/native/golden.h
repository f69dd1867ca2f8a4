// SPDX-License-Identifier: Apache-2.0
// The run without a fault along the gates: the value of every net after each edge, and what is written to memories.
//
// Row `r` is the state after `r` edges, once it has settled; row 0 is that at the release of reset. A run whose state
// does not change any more has its last row for ever. Rows are kept as long as they fit; those that are gone are simulated
// once more, from the first one on.
#ifndef RESIL_LOGIC_GOLDEN_H
#define RESIL_LOGIC_GOLDEN_H

#include <algorithm>
#include <deque>
#include <memory>

#include "regions.h"

/// A word that a write port writes in a cycle.
struct Written {
  uint32_t port;
  uint32_t memory;
  uint64_t word;
  const uint8_t* before;  // its bytes
  const uint8_t* after;
};

class Golden {
 public:
  /// `kept`: bytes that rows may take which nobody has asked for.
  Golden(const Design& design, uint64_t kept);

  /// Let rows `from` to before `to` be known, and those before `from` be gone if they do not fit.
  void need(uint64_t from, uint64_t to);
  /// Go on to where it is done; false if it is not after `limit` edges.
  bool finish(uint64_t limit);
  /// Edges to the end.
  uint64_t length() const { return length_; }

  const uint64_t* row(uint64_t r) const { return at(r).nets.get(); }
  /// The row at its end, and the bytes of a memory then.
  const uint64_t* last() const { return last_.data(); }
  const std::vector<std::vector<uint8_t>>& last_memories() const { return last_memories_; }
  static bool bit(const uint64_t* row, int64_t net) { return row[net / 64] >> (net % 64) & 1; }
  /// Word that a read port reads in a row, counted from the memory's first; beyond its end there is none.
  uint64_t read_word(uint64_t r, size_t port) const { return at(r).reads[port]; }
  /// What is written at the edge after a row.
  const Written* writes_begin(uint64_t r) const { return at(r).writes.data(); }
  const Written* writes_end(uint64_t r) const { return at(r).writes.data() + at(r).writes.size(); }
  const std::vector<std::vector<uint8_t>>& initial() const { return initial_; }
  /// Which regions have an input that is not what it was in the row before, of the rows that `prepare` was given but the
  /// first.
  const uint64_t* changed(uint64_t r) const { return changed_.data() + (r - changed_from_) * changed_words_; }
  /// Make what `changed` gives, for rows from `from` to before `to`; those are known.
  void prepare(uint64_t from, uint64_t to, const Regions& regions);
  uint64_t number(const uint64_t* row, const std::vector<int32_t>& nets) const;
  /// Alarms that are up in any row from 1 to the end.
  uint64_t alarms() const { return alarms_; }
  /// Whether a net had a value in a row from 0 to the end.
  bool had(int64_t net, bool value) const { return bit((value ? ones_ : zeros_).data(), net); }

 private:
  struct Row {
    std::unique_ptr<uint64_t[]> nets;
    std::vector<uint64_t> reads;  // word that each port reads
    std::vector<Written> writes;
    std::vector<uint8_t> bytes;   // of these
  };

  const Row& at(uint64_t r) const {
    if (r < first_) gone();
    return rows_[std::min<uint64_t>(r - first_, rows_.size() - 1)];
  }
  [[noreturn]] static void gone();
  uint64_t known() const { return first_ + rows_.size(); }
  size_t words() const { return (design_.nets + 63) / 64; }
  size_t size(const Row& row) const;
  void start();
  void forget(uint64_t before);
  void settle();
  void evaluate();
  void set(int32_t net, uint8_t value);
  void mark(size_t gate) { dirty_[gate / 64] |= uint64_t{1} << (gate % 64); }
  bool load();
  void note();
  bool step();
  uint64_t address(const MemoryPort& port) const;

  const Design& design_;
  std::vector<uint8_t> value_;
  std::vector<uint64_t> dirty_;  // gates of which an input has changed
  std::vector<std::vector<uint8_t>> initial_, memories_;
  uint64_t kept_;
  std::deque<Row> rows_;
  uint64_t first_ = 0;      // number of the first of them
  uint64_t bytes_ = 0;      // that they take
  std::vector<uint64_t> reading_;  // words that ports read in the present row
  std::vector<uint64_t> last_;
  std::vector<std::vector<uint8_t>> last_memories_;
  std::vector<uint64_t> ones_, zeros_;  // nets that were 1, and 0
  uint64_t length_ = 0;
  uint64_t alarms_ = 0;
  bool still_ = false;
  std::vector<uint64_t> changed_;
  uint64_t changed_from_ = 0;
  size_t changed_words_ = 0;
};

/// The memories of the golden run, in a row that can be gone through forwards and backwards.
class Memories {
 public:
  Memories(const Design& design, const Golden& golden)
      : design_(design), golden_(golden), images_(golden.initial()) {}
  void seek(uint64_t r);
  uint64_t row() const { return row_; }
  /// Take one write of the present row; the row counts as left when `leave` is called.
  void apply(const Written& w) { put(w, w.after); }
  /// All of a memory.
  const std::vector<uint8_t>& image(size_t memory) const { return images_[memory]; }
  void leave() { ++row_; }
  /// A word; null beyond the memory's end.
  const uint8_t* word(uint32_t memory, uint64_t word) const {
    const Memory& m = design_.memories[memory];
    return word < m.words ? images_[memory].data() + word * m.entry_bytes : nullptr;
  }

 private:
  void put(const Written& w, const uint8_t* from);

  const Design& design_;
  const Golden& golden_;
  std::vector<std::vector<uint8_t>> images_;
  uint64_t row_ = 0;
};

#endif
