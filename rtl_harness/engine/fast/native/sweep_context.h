// SPDX-License-Identifier: Apache-2.0 What all parts of a sweep look at: the design, the window of the golden run,
// where runs may leave, and what is allowed.
#ifndef RESIL_VERILATED_SWEEP_CONTEXT_H
#define RESIL_VERILATED_SWEEP_CONTEXT_H

#include <optional>

#include "boundary.h"
#include "injector.h"
#include "job.h"
#include "sweep_api.h"
#include "window.h"

inline constexpr uint64_t kNever = ~uint64_t{0};

// A difference of more registers than this is not worth following along the gates.
inline constexpr size_t kFewRegisters = 32;
inline constexpr size_t kFewBytes = 4096;

class SweepContext {
 public:
  SweepContext(Injector& injector, const Circuit& circuit, const Boundaries* boundaries)
      : injector_(injector),
        network_(circuit),
        boundary_(boundaries ? std::optional<Boundary>(std::in_place, injector.golden(), injector.alarms(), *boundaries) : std::nullopt),
        window_(injector.golden(), network_) {}
  SweepContext(const SweepContext&) = delete;
  SweepContext& operator=(const SweepContext&) = delete;

  void begin(uint64_t limit, uint32_t shortcuts, bool second) {
    limit_ = limit;
    shortcuts_ = shortcuts;
    second_ = second;
  }
  /// Load the window that begins with a cycle.
  void load(uint64_t first);

  Injector& injector() { return injector_; }
  const Injector& injector() const { return injector_; }
  GoldenRun& golden() { return injector_.golden(); }
  const GoldenRun& golden() const { return injector_.golden(); }
  FaultyRun& run() { return injector_.run(); }
  const Instance& faulty() const { return injector_.run().instance(); }
  const Watchdog& watchdog() const { return injector_.watchdog(); }
  const Network& network() const { return network_; }
  Window& window() { return window_; }
  const Window& window() const { return window_; }
  Boundary& boundary() { return *boundary_; }
  const Boundary& boundary() const { return *boundary_; }
  SweepTimes& times() { return times_; }
  const SweepTimes& times() const { return times_; }

  uint64_t limit() const { return limit_; }
  uint32_t shortcuts() const { return shortcuts_; }
  bool follows() const { return shortcuts_ & kForesight; }
  bool leaves() const { return boundary_ && (shortcuts_ & kLeave); }
  bool merges() const { return shortcuts_ & kSeen; }
  bool repeats() const { return shortcuts_ & kRepetition; }
  /// Windows that have been loaded so far.
  uint64_t windows() const { return windows_; }
  /// The jobs are in the second of two inferences.
  bool second() const { return second_; }
  /// The last cycle of the golden run, or of its first inference where jobs pause at the end of that.
  uint64_t last() const { return (golden().pause() && !second_ ? golden().pause() : golden().length()) - 1; }
  bool inside(uint64_t cycle) const { return cycle < window_.last() || window_.last() == last(); }

  /// What was injected has an effect at once: only the model says which, and an equal difference of another job had
  /// none.
  bool makes_edge(const Job& job) const { return job.fresh && network_.makes_edge(job.d); }
  /// Alarms that are news in the run of a job.
  uint64_t awaited(const Job& job) const { return injector_.alarms().awaited(job.reported); }
  /// A job differs from the golden run in nothing but bits that keep up alarms which are no news.
  bool spent(const Job& job) const {
    return !job.fresh && golden().registers().spent().are_spent(job.d, awaited(job));
  }
  /// Edges since reset in the run of a job.
  uint64_t now(const Job& job) const { return job.cycle + 1 + static_cast<uint64_t>(job.shift); }
  /// The operation that a job is in ends before the watchdog expires, if it goes on as in the golden run.
  bool on_time(const Job& job) const { return watchdog().on_time(job.pace.moved, job.cycle + 1, now(job)); }
  /// A job that could leave has no window to go on in: of the golden run it has fallen behind, or the windows are past
  /// it.
  bool is_late(const Job& job) const { return job.shift != job.leave->shift || job.cycle < window_.first(); }
  bool may_follow(const Job& job) const {
    return follows() && job.cycle >= window_.first() && job.apart >= job.stint && on_time(job);
  }
  bool is_small(const Difference& d) const;
  /// With what a difference would leave at boundary `i`; nothing if no external memory is part of it.
  std::optional<Departure> departure(const Difference& d, size_t i, int64_t shift) const;
  Prospect prospect(const Job& job) const {
    const Pace pace = watchdog().on() ? job.pace : Pace{};
    return {job.cycle, job.shift, pace, awaited(job), job.noted.has_value(), job.d};
  }

 private:
  Injector& injector_;
  Network network_;
  std::optional<Boundary> boundary_;
  Window window_;
  uint64_t limit_ = 0;
  uint32_t shortcuts_ = 0;
  bool second_ = false;
  uint64_t windows_ = 0;
  SweepTimes times_{};
};

#endif
