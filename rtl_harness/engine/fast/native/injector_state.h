// SPDX-License-Identifier: Apache-2.0
// A campaign, as injection and foresight share it.
#ifndef RESIL_VERILATED_CAMPAIGN_STATE_H
#define RESIL_VERILATED_CAMPAIGN_STATE_H

#include <algorithm>
#include <bit>

#include "activity.h"
#include "injector.h"
#include "golden.h"
#include "instance.h"
#include "repetition.h"
#include "watchdog.h"

// What a comparison with the golden run costs, in cycles of the compiled model.
inline constexpr uint64_t kComparison = 2;

// When a run that has lived so long is compared again, in cycles from now, where a comparison costs as much as `cost` cycles. What
// has lived long is likely to live on: the chance to come to an end falls as 1 / lived, and a comparison every
// sqrt(2 cost lived) cycles is then the cheapest. `edges`: its place in the golden run, whose registers are kept at
// multiples of powers of two.
inline uint64_t next_comparison(uint64_t lived, uint64_t edges, uint64_t cost) {
  uint64_t pause = 1;
  while (4 * pause * pause <= 2 * cost * lived) pause *= 2;
  return pause - edges % pause;
}

// The registers of the golden run when an operation had ended.
struct GoldenBoundary {
  uint64_t edges;
  uint64_t operation;  // value of the operation counter from then on
  std::vector<char> registers;
};

// A run of the faulty instance.
struct Run {
  uint64_t start;  // edges after which it began to be simulated
  uint64_t check;  // when it is compared next
  uint64_t limit;
  uint64_t moved;        // edges after which the operation counter moved last
  uint64_t skipped = 0;  // cycles of a loop that are left out
  Told told = kNothingTold;
};

// Why a run has halted.
enum class Halt { kDetected, kDone, kPaused, kFinished, kLimit, kReleased, kMoved, kCheck };

struct Campaign {
  Instance* origin;
  Instance* cursor;
  Instance* faulty;
  Registers registers;
  MemoryHistory memories;
  Timeline timeline;
  Milestones milestones;
  std::vector<GoldenBoundary> boundaries;
  Activity activity;
  Watchdog watchdog;
  uint64_t detects;  // alarms of either kind, a bit for each
  uint64_t corrects;
  uint64_t pause = 0;  // edges after which the first of two inferences of the golden run had ended; 0 if there is one
  uint64_t usual = 0;  // alarms that the golden run raises: they tell nothing of a fault
  bool ends_at_detection = false;

  // Alarms whose rise is still news in a run that has told so much.
  uint64_t awaited(const Told& told) const {
    return ((told.detected.alarm < 0 ? detects : 0) | (told.corrected.alarm < 0 ? corrects : 0)) & ~usual;
  }

  // A run that has told so much goes no further.
  bool is_enough(const Told& told) const { return ends_at_detection && told.detected.alarm >= 0; }

  // Keep which alarms are up in the present cycle of `faulty`, so many cycles of which were left out. To be called in
  // each cycle of a run that is not known to raise none.
  void latch(Told& told, uint64_t skipped = 0) const {
    const uint64_t up = faulty->outputs.alarms & awaited(told);
    if (!up) return;
    tell(told, up, faulty->cycle - 1 + skipped);
  }

  // Keep which alarms, of those that are news, were up in a cycle.
  void tell(Told& told, uint64_t up, uint64_t cycle) const {
    if (up & detects) told.detected = {std::countr_zero(up & detects), cycle};
    if (up & corrects) told.corrected = {std::countr_zero(up & corrects), cycle};
  }

  // Bring `cursor` to the state after `edges` edges.
  void seek(uint64_t edges) {
    if (cursor->cycle > edges) cursor->copy(*origin);
    cursor->select();
    while (cursor->cycle < edges) cursor->rise();
  }

  bool apply(const Flip* flips, uint64_t count) {
    char* const state = faulty->state();
    for (uint64_t i = 0; i < count; ++i) state[flips[i].offset] ^= static_cast<char>(flips[i].mask);
    faulty->settle();
    const char* const before = cursor->state();
    return std::all_of(flips, flips + count, [&](const Flip& flip) {
      return ((state[flip.offset] ^ before[flip.offset]) & flip.mask) == flip.mask;
    });
  }

  // Set the held bits of `faulty` and what depends on them; false if one does not stay so.
  bool hold(Holds held) {
    char* const state = faulty->state();
    const auto kept = [&](const Hold& hold) { return ((state[hold.offset] ^ hold.value) & hold.mask) == 0; };
    if (std::ranges::all_of(held, kept)) return true;
    for (const Hold& hold : held) {
      char& byte = state[hold.offset];
      byte = static_cast<char>((byte & ~hold.mask) | hold.value);
    }
    faulty->settle();
    return std::ranges::all_of(held, kept);
  }

  // One cycle; bits that are held are held after either edge. False if one was not to be held.
  bool rise(Holds held) {
    if (!held.empty() && faulty->clock_high) {
      faulty->fall();
      if (!hold(held)) return false;
    }
    faulty->rise();
    return held.empty() || hold(held);
  }

  // The number of edges after which the golden run had these registers; 0 if none is known, or if the run would end beyond
  // `limit` or in the operation that it is in, whose counter `moved` last, or that was before `from` edges.
  uint64_t recognised(const Digest& now, uint64_t edges, uint64_t limit, uint64_t moved, uint32_t shortcuts,
                      uint64_t from = 0) const {
    if (!((shortcuts & kSameCycle) && timeline.matches(now, edges))) {
      edges = shortcuts & kShiftedCycle ? timeline.find(now) : 0;
    }
    // The limit is that of the inference that is under way.
    const uint64_t end = edges < pause ? pause : timeline.length();
    if (edges && !watchdog.on_time(moved, edges, faulty->cycle)) return 0;
    return edges == 0 || edges < from || end + faulty->cycle - edges > limit ? 0 : edges;
  }

  // Take `faulty` on to the next comparison, or until something happens. A run halts where the first of two inferences has
  // ended, unless it `paused` there already, and, if that is wanted, where an operation has ended.
  Halt advance(Run& run, Holds held = {}, bool paused = false, bool operations = false) {
    uint64_t operation = faulty->outputs.operation;
    uint64_t deadline = watchdog.deadline(run.moved, run.limit);
    while (true) {
      if (is_enough(run.told)) return Halt::kDetected;
      if (faulty->cycle > 0 && faulty->outputs.done) return Halt::kDone;
      if (pause && !paused && faulty->outputs.inferences > 0) return Halt::kPaused;
      if (faulty->outputs.finished) return Halt::kFinished;
      if (faulty->cycle + run.skipped >= deadline) return Halt::kLimit;
      if (!rise(held)) return Halt::kReleased;
      latch(run.told, run.skipped);
      if (faulty->outputs.operation != operation) {
        operation = faulty->outputs.operation;
        run.moved = faulty->cycle + run.skipped;
        deadline = watchdog.deadline(run.moved, run.limit);
        if (operations) return Halt::kMoved;
      }
      if (faulty->cycle >= run.check && !faulty->outputs.done) return Halt::kCheck;
    }
  }

  // Run `faulty` on to its end. With held bits the golden run is rejoined only where that has their value from then on:
  // after `from` edges. What `result` has as told is what the run has told up to its present cycle, and as moved where
  // the operation counter moved last. Of cycles that are left out, those behind a rejoined golden state raise no alarm that counts, and those of a loop, `period` cycles long
  // if it is known already, none that was not up in the loop before.
  void run(uint64_t limit, uint32_t shortcuts, InjectionResult& result, Holds held = {}, uint64_t from = 0,
           bool paused = false, uint64_t period = 0) {
    Run run{faulty->cycle, shortcuts ? faulty->cycle + 1 : ~uint64_t{0}, limit, result.moved, 0, result.told};
    Repetition repetition;
    // Where the counter stands still in the loop, the watchdog will bite. Else it is restarted in every round as in the one
    // before, in all of which it did not.
    const auto skip = [&] {
      const bool still = faulty->cycle - run.moved >= period;
      const uint64_t end = still ? watchdog.deadline(run.moved, limit) : limit;
      run.skipped = (end - faulty->cycle) / period * period;
      if (!still) run.moved += run.skipped;
    };
    if (period) skip();
    Halt halt;
    while ((halt = advance(run, held, paused)) == Halt::kCheck) {
      run.check = faulty->cycle + next_comparison(faulty->cycle - run.start, faulty->cycle, kComparison);
      const Digest now = registers.digest(faulty->state());
      if (const uint64_t edges = recognised(now, faulty->cycle, limit, run.moved, shortcuts, from)) {
        memories.seek(edges);
        if (memories.equals(faulty->state())) {
          result.stop = kRejoined;
          result.shift = static_cast<int64_t>(faulty->cycle) - static_cast<int64_t>(edges);
          break;
        }
      }
      if ((shortcuts & kRepetition) && run.skipped == 0) {
        period = repetition.period(faulty->cycle, watchdog.on() ? run.moved : 0, now,
                                   [&] { return memories.digest(faulty->state()); });
        if (period) skip();
      }
    }
    if (halt != Halt::kCheck) result.stop = stop_of(halt);
    result.told = run.told;
    result.moved = run.moved;
    result.simulated = faulty->cycle - run.start;
    result.end_cycle = faulty->cycle + run.skipped;
    if (result.stop == kRejoined) result.end_cycle = timeline.length() + static_cast<uint64_t>(result.shift);
  }

  static InjectionStop stop_of(Halt halt) {
    switch (halt) {
      case Halt::kDetected: return kDetected;
      case Halt::kDone: return kRanToDone;
      case Halt::kPaused: return kPaused;
      case Halt::kFinished: return kFinished;
      case Halt::kReleased: return kNotApplied;
      default: return kRanToLimit;
    }
  }
};

#endif
