// SPDX-License-Identifier: Apache-2.0
// How jobs of a sweep end: the one that has ended last, and the event that reports it.
#ifndef RESIL_VERILATED_JOB_ENDS_H
#define RESIL_VERILATED_JOB_ENDS_H

#include "sweep_context.h"

class JobEnds {
 public:
  explicit JobEnds(const SweepContext& sweep) : sweep_(sweep) {}

  /// A job has ended; what is reported of it goes into the event, and holds until the next one ends. Always true.
  bool end(Job& job, SweepEvent& event, SweepEventKind kind);
  /// Time spent on the job that has ended last.
  uint64_t nanoseconds() const { return last_.nanoseconds; }

  /// Do a part of the work on a job. An event that it raises is given the time afterwards.
  template <typename Work>
  bool timed(Job& job, uint64_t& sum, Work&& work) {
    uint64_t spent = 0;
    const uint64_t before = job.nanoseconds;
    const bool result = [&] {
      const Timer timer(spent);
      return work();
    }();
    sum += spent;
    job.nanoseconds = last_.nanoseconds = before + spent;
    return result;
  }

 private:
  const SweepContext& sweep_;
  Job last_{};
};

#endif
