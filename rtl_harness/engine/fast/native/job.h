// SPDX-License-Identifier: Apache-2.0
// One injection of a sweep.
#ifndef RESIL_VERILATED_JOB_H
#define RESIL_VERILATED_JOB_H

#include <ctime>

#include <optional>

#include "activity.h"
#include "difference.h"
#include "injector_api.h"
#include "repetition.h"
#include "watchdog.h"

// Cycles of simulation before a difference is followed along the gates again; twice as many each time that it gets less
// far than this along them.
inline constexpr uint64_t kStint = 32;

// Adds the processor time that it lives to a sum, in nanoseconds.
class Timer {
 public:
  explicit Timer(uint64_t& sum) : sum_(sum), begin_(now()) {}
  ~Timer() { sum_ += now() - begin_; }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  static uint64_t now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  }

  uint64_t& sum_;
  uint64_t begin_;
};

// What a run differed by at the end of an operation.
struct Departure {
  uint64_t operation;
  int64_t shift;
  Difference d;
};

// What decides how a run goes on, and what is still to be learnt of it: runs of which all of this is equal end alike.
struct Prospect {
  uint64_t cycle;    // as of a job
  int64_t shift;
  Pace pace;         // of no watchdog, if none looks at it
  uint64_t awaited;  // alarms that are news
  bool noted;        // whether it is known what it damaged first
  Difference d;
  bool operator==(const Prospect&) const = default;

  struct Hash {
    size_t operator()(const Prospect& p) const {
      uint64_t h = p.cycle * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(p.shift) + p.pace.moved + p.awaited + p.noted;
      for (const ByteDifference& b : p.d) h = (h ^ (b.offset << 8 ^ b.mask)) * 0x9e3779b97f4a7c15 + (h >> 29);
      return h;
    }
  };
};

struct Job {
  uint64_t id;
  uint64_t cycle;  // of the golden run, whose state after this cycle's edge differs by `d`
  int64_t shift = 0;
  Pace pace;
  Difference d;
  bool fresh = true;  // the difference is what was injected
  bool small = true;  // enough to be followed along the gates
  uint64_t stint = kStint;
  uint64_t apart = 0;  // cycles that it was simulated since it was followed last
  uint64_t nanoseconds = 0;
  uint64_t simulated = 0;
  bool in_lane = false;  // it was in one
  bool spent = false;    // it ends as the golden run but for alarms that are still up
  uint64_t known = 0;    // number of the window in which others may have been found to be in a state it had
  Reported reported = kNothingReported;  // in the cycles before `cycle`, and in those that were simulated
  Repetition repetition;
  Holds held;              // bits that are held, of whoever made the job
  uint64_t free = 0;       // edges from which on the golden run has their values
  std::optional<Departure> leave;  // the last boundary, if the run could have left there
  std::optional<Departure> noted;  // the first

  // It was simulated for so many cycles.
  void ran(uint64_t cycles) {
    cycle += cycles;
    simulated += cycles;
    apart += cycles;
  }
};

#endif
