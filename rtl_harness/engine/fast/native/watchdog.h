// SPDX-License-Identifier: Apache-2.0
// A watchdog that each end of an operation restarts: how long a run may go on without one.
#ifndef RESIL_VERILATED_WATCHDOG_H
#define RESIL_VERILATED_WATCHDOG_H

#include <algorithm>
#include <vector>

#include "injector_api.h"
#include "difference.h"

// The counter of operations in a run of a sweep.
struct Pace {
  uint64_t moved = 0;  // edges after which it moved last
  // The same in the last cycle whose outputs the model has shown, or is known to show, and the value then. Along the
  // gates that may be the cycle before: a reset that a register makes in this one reaches the counter at once, and
  // gates do not show it.
  uint64_t before = 0;
  uint64_t value = 0;

  /// The model shows a value after so many edges.
  void show(uint64_t edges, uint64_t shown) {
    moved = shown == value ? before : edges;
    before = moved;
    value = shown;
  }
  bool operator==(const Pace&) const = default;
};

// The counter of operations is looked at once a cycle, with the other outputs; it moves where it is not what it was a
// cycle before, or at the release of reset. A run in which it has not moved for as many cycles as are allowed, and
// which is not done then, is at its end. `moved` is always the number of edges after which a run's counter moved last,
// 0 if it never did.
//
// A run whose state is that of the golden run `shift` cycles earlier does from there on what that did. Its counter
// moves next when the golden one did, but for the shift. Until then it is within an operation of which it may have
// spent more cycles, or fewer, than the golden run had at that point: how long that one takes, only `moved` says. All
// later ones lie between two moves of the golden run, or its last one and its end, and are as long as there: not longer
// than the longest of them, and more is allowed. So whether the watchdog expires on the way is decided by that one
// operation.
class Watchdog {
 public:
  /// Begin to remember a golden run, in which the counter was `value` at the release of reset.
  void begin(uint64_t value) {
    moves_ = {{0, value}};
    end_ = 0;
  }
  /// The golden run's counter has moved to `value`.
  void record(uint64_t edges, uint64_t value) { moves_.push_back({edges, value}); }
  void finish(uint64_t edges) { end_ = edges; }

  /// Allow so many cycles between two moves.
  void allow(uint64_t cycles) { allowance_ = cycles; }
  bool on() const { return allowance_ != kEver; }
  /// The counter's bits are these of the state.
  void see(std::vector<OperationBit> bits) { bits_ = std::move(bits); }

  /// Edges after which a run that goes on like this is at its end: this watchdog's or that of the whole run.
  uint64_t deadline(uint64_t moved, uint64_t limit) const {
    return allowance_ < limit - std::min(moved, limit) ? moved + allowance_ : limit;
  }
  /// A run after `cycle` edges is where the golden one was after `edges`, and its next move, or its end, comes in time.
  bool on_time(uint64_t moved, uint64_t edges, uint64_t cycle) const {
    return !on() || next(edges) + (cycle - edges) <= moved + allowance_;
  }
  /// Where the counter last moved in a run that was the golden one until after `edges` edges the counter became
  /// `value`.
  uint64_t struck(uint64_t edges, uint64_t value) const {
    Pace pace = golden(edges - 1);
    pace.show(edges, value);
    return pace.moved;
  }
  /// The pace of the golden run.
  Pace golden(uint64_t edges) const { return {last(edges).edges, last(edges).edges, last(edges).value}; }
  /// What the counter shows in a state that differs by `d` from the golden one after `edges` edges.
  uint64_t value(uint64_t edges, const Difference& d) const {
    uint64_t found = last(edges).value;
    if (d.empty()) return found;
    for (const OperationBit& bit : bits_) {
      if (bit.offset < d.front().offset || bit.offset > d.back().offset) continue;
      const auto at = std::lower_bound(d.begin(), d.end(), ByteDifference{bit.offset, 0}, by_offset);
      if (at != d.end() && at->offset == bit.offset && (at->mask & bit.mask)) found ^= uint64_t{1} << bit.place;
    }
    return found;
  }

 private:
  struct Move {
    uint64_t edges;
    uint64_t value;
  };

  static constexpr uint64_t kEver = ~uint64_t{0};

  std::vector<Move>::const_iterator after(uint64_t edges) const {
    return std::upper_bound(moves_.begin(), moves_.end(), edges,
                            [](uint64_t at, const Move& move) { return at < move.edges; });
  }
  const Move& last(uint64_t edges) const { return *std::prev(after(edges)); }
  uint64_t next(uint64_t edges) const {
    const auto found = after(edges);
    return found == moves_.end() ? end_ : found->edges;
  }

  uint64_t allowance_ = kEver;
  uint64_t end_ = 0;
  std::vector<Move> moves_{{0, 0}};
  std::vector<OperationBit> bits_;
};

#endif
