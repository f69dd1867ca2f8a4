// SPDX-License-Identifier: Apache-2.0
// Injections into copies of one golden run, each by itself; and what sweeps build on.
#ifndef RESIL_VERILATED_INJECTOR_H
#define RESIL_VERILATED_INJECTOR_H

#include "faulty_run.h"

class Injector {
 public:
  Injector(Instance& origin, Instance& cursor, Instance& faulty, std::vector<Piece> registers,
           std::vector<Piece> memories, std::vector<Piece> large, AlarmFilter alarms)
      : golden_(origin, cursor, std::move(registers), std::move(memories), std::move(large)),
        alarms_(alarms),
        run_(golden_, faulty, alarms_, watchdog_) {
    golden_.follow(faulty);
  }
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;

  /// Simulate the golden run and remember it.
  RunStop record(uint64_t limit, bool several);

  /// See injector_api.h; what is returned is in `result`.
  void inject(const Flip* flips, uint64_t count, uint64_t cycle, uint64_t limit, uint32_t shortcuts,
              InjectionResult& result);
  void resume(uint64_t limit, uint32_t shortcuts, InjectionResult& result);
  void hold(Holds held, uint64_t limit, uint32_t shortcuts, InjectionResult& result);
  /// Let the faulty instance be where held bits begin to have an effect; false if the end is in `result`. The golden run
  /// has their values from after `free` edges on.
  bool begin_holding(Holds held, uint32_t shortcuts, uint64_t& free, InjectionResult& result);
  void watch(std::vector<Piece> pieces);
  /// Number of edges after which the golden run first has another value than the held one; `Span::kNever` if it never
  /// has.
  uint64_t first_effect(Holds held) const { return activity_.differs(held).first; }

  GoldenRun& golden() { return golden_; }
  const GoldenRun& golden() const { return golden_; }
  AlarmFilter& alarms() { return alarms_; }
  const AlarmFilter& alarms() const { return alarms_; }
  Watchdog& watchdog() { return watchdog_; }
  const Watchdog& watchdog() const { return watchdog_; }
  FaultyRun& run() { return run_; }
  const FaultyRun& run() const { return run_; }

 private:
  // Let the faulty instance be where the golden run is after so many edges.
  void begin(uint64_t edges);

  GoldenRun golden_;
  AlarmFilter alarms_;
  Watchdog watchdog_;
  Activity activity_;
  FaultyRun run_;
};

#endif
