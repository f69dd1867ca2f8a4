// SPDX-License-Identifier: Apache-2.0
// Jobs of a sweep in the compiled model, and when they are as the golden run again.
#ifndef RESIL_VERILATED_MODEL_SIMULATOR_H
#define RESIL_VERILATED_MODEL_SIMULATOR_H

#include <functional>

#include "job_ends.h"
#include "lane_slots.h"
#include "state_merger.h"

enum class Simulated { kEnded, kGoesOn, kElsewhere };  // in a lane, or merged

// Gives the faulty instance its state, of which it may have no more than the cycle.
using Store = std::function<void()>;

class ModelSimulator {
 public:
  ModelSimulator(SweepContext& sweep, JobEnds& ends, StateMerger& merger)
      : sweep_(sweep), ends_(ends), merger_(merger), found_(sweep.golden().registers().bytes()) {}

  /// Let jobs that are simulated for long go on in lanes.
  void use(LaneSlots& slots) { slots_ = &slots; }

  /// Simulate a job until it is small, beyond the window if need be, or to its end; or for a while, and let it go on in
  /// a lane.
  Simulated simulate(Job& job, SweepEvent& event);
  /// Simulate a job that the instance stands for, as `simulate`. One that is `young` may go on in a lane; `began`, if
  /// given, is the state in which it was at `start`.
  Simulated go_on(Job& job, SweepEvent& event, uint64_t start, uint64_t check, bool young,
                  std::optional<Prospect> began);
  /// Simulate a job to its end, for the golden run has ended; true.
  bool finish(Job& job, SweepEvent& event);
  /// Simulate to the end without the golden run beside it; of a loop, so many cycles long, only what is needed of it.
  bool run_out(Job& job, SweepEvent& event, uint64_t period = 0);

  /// The registers are those of a golden cycle, of this window or later: from there on the job is a difference of
  /// memories.
  bool rejoin(Job& job, const Digest& now, const Store& store);
  /// Cycles since the job was in its present state before; 0 if it is not known to have been.
  uint64_t repeats(Job& job, const Digest& now, const Store& store) const;
  /// Of the registers that were gathered last, few enough bytes are not those of the golden run in the job's cycle for
  /// the job to be small. Where more are, nothing else has to be compared.
  bool nearly(const Job& job) const;
  /// Work out the difference in the job's cycle, whose golden registers are known.
  void compare(Job& job);
  /// An operation has ended in the faulty instance: true if all that matters is as in the golden run.
  bool at_boundary(Job& job, uint64_t operation);

 private:
  static Simulated ended_as(bool ended) { return ended ? Simulated::kEnded : Simulated::kGoesOn; }
  // Bring the faulty instance to the state of a job; false if a bit that was injected did not hold.
  bool restore(Job& job);
  // The golden registers in the job's cycle; null if they were not kept.
  const char* golden_row(const Job& job) const;
  // Work out the difference from these golden registers, and the golden memories in the job's cycle.
  void compare(Job& job, const char* row);
  // The instance stands where its first inference has ended: let the job be a difference from where the golden one has.
  void pause(Job& job);

  SweepContext& sweep_;
  JobEnds& ends_;
  StateMerger& merger_;
  LaneSlots* slots_ = nullptr;
  std::vector<char> found_;
};

#endif
