// SPDX-License-Identifier: Apache-2.0
// A run with a fault in the compiled model, and when its end is known.
#ifndef RESIL_VERILATED_FAULTY_RUN_H
#define RESIL_VERILATED_FAULTY_RUN_H

#include "activity.h"
#include "alarm_filter.h"
#include "golden_run.h"
#include "watchdog.h"

// How far a run has come.
struct Progress {
  uint64_t start;  // edges after which it began to be simulated
  uint64_t check;  // when it is compared next
  uint64_t limit;
  uint64_t moved;        // edges after which the operation counter moved last
  uint64_t skipped = 0;  // cycles of a loop that are left out
  Reported reported = kNothingReported;
};

// Why a run has halted.
enum class Halt { kDetected, kDone, kPaused, kFinished, kLimit, kReleased, kMoved, kCheck };

// The shortcuts of a run that is simulated by itself.
inline constexpr uint32_t kByItself = kSameCycle | kShiftedCycle | kRepetition;

// Runs the faulty instance, one fault at a time.
class FaultyRun {
 public:
  FaultyRun(GoldenRun& golden, Instance& faulty, const AlarmFilter& alarms, const Watchdog& watchdog)
      : golden_(golden), faulty_(faulty), alarms_(alarms), watchdog_(watchdog) {}

  Instance& instance() { return faulty_; }
  const Instance& instance() const { return faulty_; }

  /// Invert bits of the instance, which is a copy of the cursor, and settle; false if one did not stay inverted.
  bool apply(const Flip* flips, uint64_t count);
  /// Set held bits and what depends on them; false if one does not stay so.
  bool hold(Holds held);
  /// One cycle; bits that are held are held after either edge. False if one was not to be held.
  bool rise(Holds held);
  /// Keep which alarms are up in the present cycle, so many cycles of which were left out. To be called in each cycle
  /// of a run that is not known to raise none.
  void latch(Reported& reported, uint64_t skipped = 0) const {
    const uint64_t up = faulty_.outputs.alarms & alarms_.awaited(reported);
    if (up) alarms_.report(reported, up, faulty_.cycle - 1 + skipped);
  }

  /// The number of edges after which the golden run had these registers; 0 if none is known, or if the run would end
  /// beyond `limit` or in the operation that it is in, whose counter `moved` last, or that was before `from` edges.
  uint64_t recognised(const Digest& now, uint64_t edges, uint64_t limit, uint64_t moved, uint32_t shortcuts,
                      uint64_t from = 0) const;
  /// Go on to the next comparison, or until something happens. A run halts where the first of two inferences has ended,
  /// unless it `paused` there already, and, if that is wanted, where an operation has ended.
  Halt advance(Progress& run, Holds held = {}, bool paused = false, bool operations = false);
  /// Run on to the end. With held bits the golden run is rejoined only where that has their value from then on: after
  /// `from` edges. What `result` has as reported is what the run has reported up to its present cycle, and as moved
  /// where the operation counter moved last. Of cycles that are left out, those behind a rejoined golden state raise no
  /// alarm that counts, and those of a loop, `period` cycles long if it is known already, none that was not up in the
  /// loop before.
  void finish(uint64_t limit, uint32_t shortcuts, InjectionResult& result, Holds held = {}, uint64_t from = 0,
              bool paused = false, uint64_t period = 0);

 private:
  void skip(Progress& run, uint64_t period) const;
  bool is_golden(const Digest& now, const Progress& run, uint32_t shortcuts, uint64_t from, InjectionResult& result);
  static InjectionStop stop_of(Halt halt);

  GoldenRun& golden_;
  Instance& faulty_;
  const AlarmFilter& alarms_;
  const Watchdog& watchdog_;
};

#endif
