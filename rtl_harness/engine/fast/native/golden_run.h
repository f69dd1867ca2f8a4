// SPDX-License-Identifier: Apache-2.0
// The run without a fault: simulated once, remembered, and gone through again.
//
// A copy of the state of every cycle would take gigabytes. Kept are a hash of the registers, changes of the memories,
// and registers now and then; what lies between is simulated again by the cursor, in the order of the cycles. Of long
// runs not all changes of memories are kept either: see MemoryHistory.
#ifndef RESIL_VERILATED_GOLDEN_RUN_H
#define RESIL_VERILATED_GOLDEN_RUN_H

#include <memory>

#include "golden_history.h"
#include "instance.h"

// The registers when an operation had ended.
struct GoldenBoundary {
  uint64_t edges;
  uint64_t operation;  // value of the operation counter from then on
  std::vector<char> registers;
};

class GoldenRun {
 public:
  /// The instances stay the caller's. `origin` has just come out of reset.
  /// `large` are memories that are followed, beside the other ones.
  GoldenRun(Instance& origin, Instance& cursor, std::vector<Piece> registers, std::vector<Piece> memories,
            std::vector<Piece> large)
      : origin_(origin),
        cursor_(cursor),
        followed_(origin, std::move(large)),
        registers_(std::move(registers)),
        memories_(std::move(memories), followed_,
                  [this](const std::vector<char>& row, uint64_t first, uint64_t last) { simulate_again(row, first, last); }) {
    follow(cursor);
  }
  GoldenRun(const GoldenRun&) = delete;
  GoldenRun& operator=(const GoldenRun&) = delete;

  /// Simulate and remember it. With `several` inferences note where the first has ended.
  RunStop record(uint64_t limit, bool several);
  /// Bring the cursor to the state after `edges` edges.
  void seek(uint64_t edges);
  /// Bring the cursor to a cycle before its own, without beginning anew where registers were kept.
  void rewind(uint64_t edges);

  /// Follow an instance from where it is the origin's copy; it is the one that is selected while memories are sought.
  void follow(Instance& instance) {
    instance.copy(origin_);
    followed_.follow(instance);
    selected_ = &instance;
  }
  /// Make `to`, another one of these instances, continue where the cursor is.
  void copy_cursor(Instance& to);
  /// Make `to` continue exactly where `from`, another one of these instances or the origin, is.
  void copy(Instance& to, const Instance& from) const { followed_.copy(to, from); }

  const Instance& origin() const { return origin_; }
  Instance& cursor() { return cursor_; }
  /// What reads and compares storage; memories are those of the cycle that was sought in them last.
  Registers& registers() { return registers_; }
  const Registers& registers() const { return registers_; }
  MemoryHistory& memories() { return memories_; }
  const MemoryHistory& memories() const { return memories_; }

  /// The registers at its end.
  const std::vector<char>& last_registers() const { return last_registers_; }

  uint64_t length() const { return timeline_.length(); }
  const Timeline& timeline() const { return timeline_; }
  const Milestones& milestones() const { return milestones_; }
  const std::vector<GoldenBoundary>& boundaries() const { return boundaries_; }
  /// Value of the operation counter at the release of reset.
  uint64_t first_operation() const { return first_operation_; }
  /// Edges after which the first of two inferences had ended; 0 if there is one.
  uint64_t pause() const { return pause_; }
  /// The registers then.
  const std::vector<char>& pause_registers() const { return pause_registers_; }
  /// Alarms that it raises, a bit for each.
  uint64_t alarms() const { return alarms_; }
  uint64_t bytes() const { return timeline_.bytes() + memories_.bytes() + milestones_.bytes(); }

 private:
  // For `memories_`, in an instance of its own: neither the cursor nor a run that is compared moves.
  void simulate_again(const std::vector<char>& row, uint64_t first, uint64_t last);

  Instance& origin_;
  Instance& cursor_;
  Instance* selected_ = nullptr;
  std::unique_ptr<Instance, void (*)(Instance*)> again_{nullptr, resil_destroy};
  FollowedInstances followed_;
  Registers registers_;
  MemoryHistory memories_;
  Timeline timeline_;
  Milestones milestones_;
  std::vector<GoldenBoundary> boundaries_;
  uint64_t first_operation_ = 0;
  uint64_t pause_ = 0;
  std::vector<char> last_registers_;
  std::vector<char> pause_registers_;
  uint64_t alarms_ = 0;
};

#endif
