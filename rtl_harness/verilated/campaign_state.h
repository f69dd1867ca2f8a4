// A campaign, as injection and foresight share it.
#ifndef RESIL_VERILATED_CAMPAIGN_STATE_H
#define RESIL_VERILATED_CAMPAIGN_STATE_H

#include <algorithm>
#include <bit>

#include "activity.h"
#include "campaign.h"
#include "golden.h"
#include "instance.h"

// Cycles from the flip to the next comparison: each of the first, then ever fewer, for a fault that has lived
// long is likely to live on.
inline constexpr uint64_t kDenseChecks = 16;
inline constexpr uint64_t kSparsest = 64;

inline uint64_t next_check(uint64_t lived) {
  return lived < kDenseChecks ? lived + 1 : lived + std::min(kSparsest, std::max<uint64_t>(lived / 8, 1));
}

// The registers of the golden run when an operation had ended.
struct GoldenBoundary {
  uint64_t edges;
  uint64_t operation;  // value of the operation counter from then on
  std::vector<char> registers;
};

// A state that a faulty run once had.
struct Loop {
  uint64_t lived = 0;
  Digest registers;
  Digest memories;
};

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
  uint64_t detects;  // alarms of either kind, a bit for each
  uint64_t corrects;
  uint64_t pause = 0;  // edges after which the first of two inferences of the golden run had ended; 0 if there is one
  uint64_t usual = 0;  // alarms that the golden run raises: they tell nothing of a fault

  // Alarms whose rise is still news in a run that has told so much.
  uint64_t awaited(const Told& told) const {
    return ((told.detected.alarm < 0 ? detects : 0) | (told.corrected.alarm < 0 ? corrects : 0)) & ~usual;
  }

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

  // The number of edges after which the golden run had the present state of `faulty`; 0 if none is known, or
  // if the run would end beyond `limit`, or that was before `from` edges.
  uint64_t rejoined(const Digest& now, uint64_t limit, uint32_t shortcuts, uint64_t from = 0) {
    uint64_t edges = 0;
    if ((shortcuts & kSameCycle) && timeline.matches(now, faulty->cycle)) {
      edges = faulty->cycle;
    } else if (shortcuts & kShiftedCycle) {
      edges = timeline.find(now);
    }
    // The limit is that of the inference that is under way.
    if (edges == 0 || edges < from) return 0;
    if ((edges < pause ? pause : timeline.length()) + faulty->cycle - edges > limit) return 0;
    memories.seek(edges);
    return memories.equals(faulty->state()) ? edges : 0;
  }

  // Run `faulty` on to its end. With held bits the golden run is rejoined only where that has their value from then on:
  // after `from` edges. What `result` has as told is what the run has told up to its present cycle. Of cycles that are
  // left out, those behind a rejoined golden state raise no alarm that counts, and those of a loop none that was not up in
  // the loop before. Where the first of two inferences has ended it comes back, unless it `paused` there already.
  void run(uint64_t limit, uint32_t shortcuts, InjectionResult& result, Holds held = {}, uint64_t from = 0,
           bool paused = false) {
    const uint64_t start = faulty->cycle;
    uint64_t check = start + 1;
    uint64_t skipped = 0;
    Loop loop;
    while (true) {
      if (faulty->cycle > 0 && faulty->outputs.done) {
        result.stop = kRanToDone;
        break;
      }
      if (pause && !paused && faulty->outputs.inferences > 0) {
        result.stop = kPaused;
        break;
      }
      if (faulty->outputs.finished) {
        result.stop = kFinished;
        break;
      }
      if (faulty->cycle + skipped >= limit) {
        result.stop = kRanToLimit;
        break;
      }
      if (!rise(held)) {
        result.stop = kNotApplied;
        break;
      }
      latch(result.told, skipped);
      if (!shortcuts || faulty->cycle < check || faulty->outputs.done) continue;
      check = start + next_check(faulty->cycle - start);
      const Digest now = registers.digest(faulty->state());
      if (const uint64_t edges = rejoined(now, limit, shortcuts, from)) {
        result.stop = kRejoined;
        result.shift = static_cast<int64_t>(faulty->cycle) - static_cast<int64_t>(edges);
        break;
      }
      if ((shortcuts & kRepetition) && skipped == 0) {
        if (const uint64_t period = repeats(loop, now, faulty->cycle - start)) {
          skipped = (limit - faulty->cycle) / period * period;
        }
      }
    }
    result.simulated = faulty->cycle - start;
    result.end_cycle = faulty->cycle + skipped;
    if (result.stop == kRejoined) result.end_cycle = timeline.length() + result.shift;
  }

  // Compare with the state in `loop`, which moves on at doubling distances; return the cycles in between if
  // nothing differs, else 0.
  uint64_t repeats(Loop& loop, const Digest& now, uint64_t lived) {
    const bool same = loop.lived > 0 && loop.registers == now;
    if (!same && lived < 2 * loop.lived) return 0;
    if (lived < kDenseChecks) return 0;
    const Digest held = memories.digest(faulty->state());
    if (same && loop.memories == held) return lived - loop.lived;
    if (lived >= 2 * loop.lived) loop = {lived, now, held};
    return 0;
  }
};

#endif
