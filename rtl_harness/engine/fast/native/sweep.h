// SPDX-License-Identifier: Apache-2.0
// Concurrent fault simulation: all jobs of a sweep go through the golden run together, a window at a time.
//
// Simulated one by one, nearly all cycles would go into differences that stay as they are for thousands of cycles. Here
// each window is worked out once for all jobs in it, which are followed along its gates (gate_follower.h), simulated
// where they grow (model_simulator.h, lane_simulator.h), and merged where they meet (state_merger.h). This is the order
// of it.
#ifndef RESIL_VERILATED_SWEEP_H
#define RESIL_VERILATED_SWEEP_H

#include <deque>
#include <optional>

#include "gate_follower.h"
#include "lane_simulator.h"
#include "model_simulator.h"
#include "state_merger.h"

class Sweep {
 public:
  Sweep(Injector& injector, const Circuit& circuit, const Boundaries* boundaries)
      : context_(injector, circuit, boundaries),
        ends_(context_),
        merger_(context_),
        gates_(context_),
        model_(context_, ends_, merger_) {}

  /// Let jobs that are simulated for long go on in a lane model.
  void use(const LaneModel& lanes);
  bool lanes_differ() const { return lanes_ && lanes_->slots().differ(); }

  /// Storage that does nothing but keep alarms up, until the next call.
  const std::vector<AlarmBit>& alarm_storage();

  /// Begin anew, without jobs; with `second` in the second of two inferences.
  void begin(uint64_t limit, uint32_t shortcuts, bool second);
  /// Add a job; bytes may be given more than once.
  void add(uint64_t id, uint64_t cycle, Difference flips);
  /// Add a job that has paused at the end of the first inference.
  void resume(uint64_t id, Difference d, const Reported& reported);
  /// Go on until a job ends, or nothing is left to do.
  void next(SweepEvent& event);
  /// Time spent on the job that has ended last.
  uint64_t nanoseconds() const { return ends_.nanoseconds(); }
  const SweepTimes& times() const { return context_.times(); }

 private:
  // A job whose cycle has not come yet.
  struct Waiting {
    uint64_t id;
    uint64_t cycle;
    Difference d;
    bool fresh = true;
    Reported reported = kNothingReported;
  };

  // Load the next window that has something to do.
  void open();
  // The lanes go on next.
  bool lanes_are_next() const;
  // The first cycle that a window is needed for.
  uint64_t upcoming() const;
  // Take a job to the end of the window; true if it ended before that.
  bool advance(Job& job, SweepEvent& event);
  // Nothing differs but alarms that are still up: true, and the job has ended as the golden run.
  bool vanished(Job& job, SweepEvent& event);
  // The lanes go on; true if a job ended.
  bool advance_lanes(SweepEvent& event);

  SweepContext context_;
  JobEnds ends_;
  StateMerger merger_;
  GateFollower gates_;
  ModelSimulator model_;
  std::optional<LaneSimulator> lanes_;  // if there is a lane model
  std::deque<Waiting> waiting_;
  std::vector<AlarmBit> alarm_storage_;
  std::deque<Job> parked_, current_;  // until their window comes; in this one
};

#endif
