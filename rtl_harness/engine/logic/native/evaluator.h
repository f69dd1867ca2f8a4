// SPDX-License-Identifier: Apache-2.0
// 512 machines along the gates that differ from the golden run in one of them, a cycle at a time.
//
// Selective evaluation. Of each net is kept in which machines it differs from the golden run. A gate is evaluated where
// one of its inputs differs and one has changed, in the golden run or in how it differs, in the order of the gates
// (levelised); gates of a fanout-free region are evaluated as one. What is equal to the golden run costs nothing, and neither does what stands still.
#ifndef RESIL_LOGIC_EVALUATOR_H
#define RESIL_LOGIC_EVALUATOR_H

#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "golden.h"
#include "lanes.h"
#include "large_pages.h"
#include "overlay.h"

/// A pin that is held: the machines in which it is 0, and in which it is 1.
struct Held {
  PinKind kind;
  int32_t at;
  int32_t column;
  uint32_t slot;  // of an open pin: which of those of its machine it is
  Lanes zero, one;

  Lanes lanes() const { return zero | one; }
  bool is(const Held& other) const {
    return kind == other.kind && at == other.at && column == other.column && slot == other.slot;
  }
};

/// A flip-flop that differs, and in which machines.
struct Stored {
  uint32_t flip_flop;
  Lanes d;
};

class Evaluator {
 public:
  Evaluator(const Design& design, const Regions& regions, const Golden& golden, const Memories& memories);

  /// Begin with a row in which flip-flops differ as in `state`. What is held must stay where it is until `leave`.
  /// `kept`: what nets with an open pin had in the row before, by slot; it is kept up to date.
  void enter(uint64_t r, const std::vector<Stored>& state, std::vector<Held>& held, std::vector<Lanes>& kept,
             const Overlay& overlay);
  /// Flip-flops take what they take at the next edge, and the row is the next one. `dense`: take all of them.
  void step(const Lanes& live, bool dense);
  /// All nets of the row, but for asynchronous loads. `written`: memories that have been written to.
  void settle(uint64_t written);
  /// What is stored of a flip-flop differs otherwise.
  void store(uint32_t flip_flop, const Lanes& d);
  /// What is stored, in the order of flip-flops; the evaluator is left empty.
  std::vector<Stored> leave(const Lanes& live);

  const Lanes& differs(int32_t net) const { return differs_[net]; }
  const Lanes& stored(uint32_t flip_flop) const { return stored_[flip_flop]; }
  const std::vector<uint32_t>& touched_flip_flops() const { return stored_touched_; }
  bool golden(int32_t net) const { return Golden::bit(row_, net); }
  Lanes value(int32_t net) const { return differs_[net] ^ spread(golden(net)); }
  /// Machines of which some net differs, or has differed since `enter`.
  Lanes strayed() const;
  /// Machines in which an asynchronous load acts on a flip-flop, of those in which it does on others.
  Lanes loading(uint32_t flip_flop, const Lanes& acting) const;
  bool holds_loads() const { return !held_loads_.empty(); }
  /// Take the write ports of which something differs: their number, and whether that has changed.
  template <typename Take>
  void each_write(Take&& take) {
    each_marked(regions_.first_write(), design_.writes.size(), [&](size_t port) { writing_[port] = 2; });
    for (size_t port = 0; port < writing_.size(); ++port) {
      if (!writing_[port]) continue;
      const bool changed = writing_[port] == 2;
      writing_[port] = take(port, changed) ? 1 : 0;
    }
  }
  /// What a machine has on nets, as a number.
  uint64_t number(const int32_t* nets, int32_t count, unsigned machine) const {
    uint64_t found = 0;
    for (int32_t i = 0; i < count; ++i) {
      found |= uint64_t{golden(nets[i]) != lane(differs_[nets[i]], machine)} << i;
    }
    return found;
  }
  /// Take machines apart by what they have on nets: for each number, in which of `which` it is there.
  template <typename Take>
  void each_number(const int32_t* nets, int32_t count, Lanes which, Take&& take) const {
    while (any(which)) {
      unsigned word = 0;
      while (!which[word]) ++word;
      const uint64_t found = number(nets, count, 64 * word + static_cast<unsigned>(std::countr_zero(which[word])));
      Lanes same = which;
      for (int32_t i = 0; i < count; ++i) same &= ~(value(nets[i]) ^ spread(found >> i & 1));
      which &= ~same;
      take(found, same);
    }
  }
  uint64_t evaluations = 0;

 private:
  void mark(size_t target) {
    dirty_[target / 64] |= uint64_t{1} << (target % 64);
    sets_[target / Regions::kSet] |= uint64_t{1} << (target / 64 % 64);
  }
  template <typename Take>
  void each_marked(size_t first, size_t count, Take&& take) {
    for (size_t set = first / Regions::kSet; set < Regions::sets(first + count); ++set) {
      for (; sets_[set]; sets_[set] &= sets_[set] - 1) {
        const size_t word = 64 * set + static_cast<size_t>(std::countr_zero(sets_[set]));
        while (dirty_[word]) {
          const size_t bit = static_cast<size_t>(std::countr_zero(dirty_[word]));
          dirty_[word] &= dirty_[word] - 1;
          take(64 * word + bit - first);
        }
      }
    }
  }
  void hold(std::vector<Held>& held);
  void fetch(size_t word) const;
  void set(int32_t net, Lanes d);
  void assign(int32_t net, const Lanes& d);
  void set_held_sources();
  uint64_t sweep();
  void mark_dynamic();
  bool bridge();
  Lanes dynamic(uint32_t at, const Lanes& value);
  Lanes bridged(uint32_t at, const Lanes& value) const;
  Lanes otherwise(const Held& h, const Lanes& value);
  const std::vector<uint32_t>& path(const Held& h);
  void keep();
  void evaluate(size_t cell);
  void evaluate_region(size_t cell);
  void evaluate_held(size_t cell);
  void mark_reads(uint64_t written);
  void read(uint32_t port);
  Lanes taken(uint32_t flip_flop, const uint64_t* next);
  static Lanes forced(const Held& h, const Lanes& value) { return (value & ~h.zero) | h.one; }

  const Design& design_;
  const Regions& regions_;
  const Golden& golden_;
  const Memories& memories_;
  const Overlay* overlay_ = nullptr;
  const uint64_t* row_ = nullptr;
  uint64_t r_ = 0;
  bool entered_ = false;
  std::vector<Lanes, LargePages<Lanes>> differs_, stored_;
  std::vector<uint64_t> dirty_, sets_, involved_;
  std::vector<int32_t> touched_;
  std::vector<uint64_t> is_touched_;
  std::vector<uint32_t> stored_touched_;
  std::vector<uint64_t> is_stored_touched_;
  std::vector<uint8_t> reading_;  // read ports of which data may differ
  std::vector<uint8_t> writing_;  // write ports of which something differs: 2 if that has changed
  std::vector<Stored> next_;

  std::vector<Held>* held_ = nullptr;
  std::vector<uint64_t> is_held_, is_held_region_;  // nets; regions, each of one gate, with a held operand
  std::unordered_map<int32_t, uint32_t> held_nets_, held_data_, held_loads_;
  std::unordered_map<size_t, std::vector<uint32_t>> held_operands_;
  std::vector<int32_t> held_sources_;             // nets that no gate drives
  // Pins on whose nets values depend on what else a machine has: those of each net, and all; likewise of flip-flops.
  std::unordered_map<int32_t, std::vector<uint32_t>> dynamic_nets_, open_data_;
  std::vector<uint32_t> dynamic_, stored_pins_;
  std::vector<uint32_t> mate_;                    // of each held pin the other one of a wired bridge
  std::vector<Lanes> driven_;                     // of each what its net is driven to
  std::vector<Lanes>* kept_ = nullptr;
  std::map<std::pair<int32_t, int32_t>, std::vector<uint32_t>> paths_;
  std::vector<std::pair<int32_t, Lanes>> other_;  // nets of a path, with an operand taken as something else
};

#endif
