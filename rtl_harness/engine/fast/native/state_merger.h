// SPDX-License-Identifier: Apache-2.0
// Jobs that come to the same state: one goes on for all.
//
// States are compared where windows meet, and where a job begins to be simulated; in every cycle it would cost more
// than what it saves.
#ifndef RESIL_VERILATED_STATE_MERGER_H
#define RESIL_VERILATED_STATE_MERGER_H

#include <deque>
#include <unordered_map>
#include <utility>

#include "sweep_context.h"

class StateMerger {
 public:
  explicit StateMerger(const SweepContext& sweep) : sweep_(sweep) {}

  void clear();
  /// A window is loaded: states of jobs that began to be simulated in the one before are forgotten.
  void begin_window() { known_.clear(); }

  /// Of parked jobs in the same state keep one. What they have reported may differ, but not of which kinds it is: then
  /// whatever alarm is news for one that goes on for others is news for these, too.
  void merge(std::deque<Job>& parked);
  /// A job is about to be simulated: true if another one began in this state, with which it is then merged.
  bool joins(Job& job, const Prospect& began);
  /// A job has been simulated for long, and began in this state.
  void keep(Job& job, Prospect&& began);

  /// The next job that was merged, and with which; nothing if there is none.
  std::optional<std::pair<Job, uint64_t>> next();

 private:
  const SweepContext& sweep_;
  std::unordered_map<Prospect, uint64_t, Prospect::Hash> known_;
  std::deque<std::pair<Job, uint64_t>> merged_;
};

#endif
