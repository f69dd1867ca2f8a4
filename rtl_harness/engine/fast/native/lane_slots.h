// SPDX-License-Identifier: Apache-2.0
// The lane slots: jobs of a sweep that go on in lanes, one in each.
#ifndef RESIL_VERILATED_LANE_SLOTS_H
#define RESIL_VERILATED_LANE_SLOTS_H

#include <array>
#include <bit>
#include <optional>

#include "job.h"
#include "lane_machines.h"

// What it costs to compare a machine with the golden run, in cycles of one machine in a lane.
inline constexpr uint64_t kLaneComparison = 44;
// Machines that have to go on together for lanes to be faster than the compiled model: a step of all takes as long as
// six of its cycles (NPU with 32 MACs, AVX-512).
inline constexpr int kLanesTogether = 6;
// In one step of so many a machine is compared with the compiled model, to 3 % of the time of lanes.
inline constexpr uint64_t kCompareEvery = 8;

// A job that goes on in a lane.
struct LaneSlot {
  Job job;
  uint64_t cycle;  // edges since reset
  uint64_t start;  // when it began to be simulated
  uint64_t check;  // when it is compared next
  bool moved = false;
  bool done = false;
  bool undefined = false;  // it cannot go on in the lane, and what was seen of it does not count
};

class LaneSlots {
 public:
  LaneSlots(Injector& injector, const LaneModel& model) : injector_(injector), machines_(injector, model) {}

  /// Leave all lanes.
  void clear();
  /// Let a job, whose state is the faulty instance's, go on in a lane; false if the lane model cannot be in that state.
  bool enter(Job& job, uint64_t start);
  /// Free a lane; what was in it is returned.
  Job release(int lane);
  /// Bring the faulty instance to where a lane is.
  void load_model(int lane);
  /// Go on until there is something to see to in a lane, or for a while.
  void step(uint64_t limit);
  /// Spread time over all jobs.
  void share(uint64_t nanoseconds);

  /// A lane was compared with the compiled model, and the two differ: nothing in a lane can be trusted, none is
  /// entered.
  bool differ() const { return differ_; }
  LaneSlot& at(int lane) { return *slots_[lane]; }
  LaneMachines& machines() { return machines_; }
  bool full() const { return watch_.busy == ~uint32_t{0}; }
  int taken() const { return std::popcount(watch_.busy); }
  /// A job is in one of the cycles `from` .. `to` - 1.
  bool between(uint64_t from, uint64_t to) const;
  /// The lane that has come least far.
  int slowest() const;
  /// There are lanes with something to see to.
  bool due() const { return due_ != 0; }
  /// The first of these, which is taken for seen to.
  int next_due();

 private:
  void await(int lane);
  uint64_t deadline(const LaneSlot& slot, uint64_t limit) const;
  int compared_next();
  bool agrees(int lane, uint64_t ran, const LanesSeen& seen);

  Injector& injector_;
  LaneMachines machines_;
  std::array<std::optional<LaneSlot>, kLaneCount> slots_;
  LanesWatch watch_{};
  uint32_t due_ = 0;
  uint64_t steps_ = 0;
  bool differ_ = false;
};

#endif
