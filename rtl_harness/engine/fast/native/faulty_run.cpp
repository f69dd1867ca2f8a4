// SPDX-License-Identifier: Apache-2.0
// See faulty_run.h.

#include "faulty_run.h"

#include <algorithm>

#include "comparison.h"
#include "repetition.h"

bool FaultyRun::apply(const Flip* flips, uint64_t count) {
  char* const state = faulty_.state();
  for (uint64_t i = 0; i < count; ++i) state[flips[i].offset] ^= static_cast<char>(flips[i].mask);
  faulty_.settle();
  const char* const before = golden_.cursor().state();
  return std::all_of(flips, flips + count, [&](const Flip& flip) {
    return ((state[flip.offset] ^ before[flip.offset]) & flip.mask) == flip.mask;
  });
}

bool FaultyRun::hold(Holds held) {
  char* const state = faulty_.state();
  const auto kept = [&](const Hold& hold) { return ((state[hold.offset] ^ hold.value) & hold.mask) == 0; };
  if (std::ranges::all_of(held, kept)) return true;
  for (const Hold& hold : held) {
    char& byte = state[hold.offset];
    byte = static_cast<char>((byte & ~hold.mask) | hold.value);
  }
  faulty_.settle();
  return std::ranges::all_of(held, kept);
}

bool FaultyRun::rise(Holds held) {
  if (!held.empty() && faulty_.clock_high) {
    faulty_.fall();
    if (!hold(held)) return false;
  }
  faulty_.rise();
  return held.empty() || hold(held);
}

uint64_t FaultyRun::recognised(const Digest& now, uint64_t edges, uint64_t limit, uint64_t moved, uint32_t shortcuts,
                               uint64_t from) const {
  if (!((shortcuts & kSameCycle) && golden_.timeline().matches(now, edges))) {
    edges = shortcuts & kShiftedCycle ? golden_.timeline().find(now) : 0;
  }
  // The limit is that of the inference that is under way.
  const uint64_t end = edges < golden_.pause() ? golden_.pause() : golden_.length();
  if (edges && !watchdog_.on_time(moved, edges, faulty_.cycle)) return 0;
  return edges == 0 || edges < from || end + faulty_.cycle - edges > limit ? 0 : edges;
}

Halt FaultyRun::advance(Progress& run, Holds held, bool paused, bool operations) {
  uint64_t operation = faulty_.outputs.operation;
  uint64_t deadline = watchdog_.deadline(run.moved, run.limit);
  while (true) {
    if (alarms_.is_enough(run.reported)) return Halt::kDetected;
    if (faulty_.cycle > 0 && faulty_.outputs.done) return Halt::kDone;
    if (golden_.pause() && !paused && faulty_.outputs.inferences > 0) return Halt::kPaused;
    if (faulty_.outputs.finished) return Halt::kFinished;
    if (faulty_.cycle + run.skipped >= deadline) return Halt::kLimit;
    if (!rise(held)) return Halt::kReleased;
    latch(run.reported, run.skipped);
    if (faulty_.outputs.operation != operation) {
      operation = faulty_.outputs.operation;
      run.moved = faulty_.cycle + run.skipped;
      deadline = watchdog_.deadline(run.moved, run.limit);
      if (operations) return Halt::kMoved;
    }
    if (faulty_.cycle >= run.check && !faulty_.outputs.done) return Halt::kCheck;
  }
}

// Leave out rounds of a loop. Where the counter stands still in it, the watchdog will bite. Else it is restarted in
// every round as in the one before, in all of which it did not.
void FaultyRun::skip(Progress& run, uint64_t period) const {
  const bool still = faulty_.cycle - run.moved >= period;
  const uint64_t end = still ? watchdog_.deadline(run.moved, run.limit) : run.limit;
  run.skipped = (end - faulty_.cycle) / period * period;
  if (!still) run.moved += run.skipped;
}

bool FaultyRun::is_golden(const Digest& now, const Progress& run, uint32_t shortcuts, uint64_t from,
                          InjectionResult& result) {
  const uint64_t edges = recognised(now, faulty_.cycle, run.limit, run.moved, shortcuts, from);
  if (!edges) return false;
  golden_.memories().seek(edges);
  if (!golden_.memories().equals(faulty_)) return false;
  const SpentAlarms& spent = golden_.registers().spent();
  if (spent.alarms() & alarms_.awaited(run.reported)) return false;
  result.spent = spent.any();
  result.stop = kRejoined;
  result.shift = static_cast<int64_t>(faulty_.cycle) - static_cast<int64_t>(edges);
  return true;
}

void FaultyRun::finish(uint64_t limit, uint32_t shortcuts, InjectionResult& result, Holds held, uint64_t from,
                       bool paused, uint64_t period) {
  shortcuts &= kByItself;
  Progress run{faulty_.cycle, shortcuts ? faulty_.cycle + 1 : ~uint64_t{0}, limit, result.moved, 0, result.reported};
  Repetition repetition;
  if (period) skip(run, period);
  Halt halt;
  while ((halt = advance(run, held, paused)) == Halt::kCheck) {
    run.check = faulty_.cycle + next_comparison(faulty_.cycle - run.start, faulty_.cycle, kComparison);
    const Digest now = golden_.registers().digest(faulty_.state());
    if (is_golden(now, run, shortcuts, from, result)) break;
    if ((shortcuts & kRepetition) && run.skipped == 0) {
      const Digest whole = golden_.registers().with_alarms(now);
      period = repetition.period(faulty_.cycle, watchdog_.on() ? run.moved : 0, whole,
                                 [&] { return golden_.memories().digest(faulty_); });
      if (period) skip(run, period);
    }
  }
  if (halt != Halt::kCheck) result.stop = stop_of(halt);
  result.reported = run.reported;
  result.moved = run.moved;
  result.simulated = faulty_.cycle - run.start;
  result.end_cycle = faulty_.cycle + run.skipped;
  if (result.stop == kRejoined) result.end_cycle = golden_.length() + static_cast<uint64_t>(result.shift);
}

InjectionStop FaultyRun::stop_of(Halt halt) {
  switch (halt) {
    case Halt::kDetected: return kDetected;
    case Halt::kDone: return kRanToDone;
    case Halt::kPaused: return kPaused;
    case Halt::kFinished: return kFinished;
    case Halt::kReleased: return kNotApplied;
    default: return kRanToLimit;
  }
}
