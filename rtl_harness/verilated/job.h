// One injection of a sweep.
#ifndef RESIL_VERILATED_JOB_H
#define RESIL_VERILATED_JOB_H

#include <ctime>

#include <optional>

#include "campaign_state.h"
#include "difference.h"

// Cycles of simulation before a difference is followed along the gates again: at first, and when that was in vain again
// and again.
inline constexpr uint64_t kShortStint = 8;
inline constexpr uint64_t kLongStint = 1024;

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

// Tells that an injection is in a state in which it was before. One earlier state is recent, the other ever further back.
// Memories are hashed only in states whose registers were seen before.
class Repetition {
 public:
  /// `now` are the registers of the faulty instance, to which `store` gives the memories if they are needed.
  template <typename Store>
  bool found(const Campaign& campaign, const Digest& now, Store&& store) {
    const uint64_t cycle = campaign.faulty->cycle;
    if (!begun_) begun_ = cycle;
    if (again(campaign, recent_, now, store) || again(campaign, old_, now, store)) return true;
    if (cycle >= recent_.lived + kRecent) recent_ = {cycle, now, std::nullopt};
    if (cycle - begun_ >= 2 * (old_.lived - std::min(old_.lived, begun_))) old_ = recent_;
    return false;
  }

 private:
  struct State {
    uint64_t lived = 0;
    Digest registers;
    std::optional<Digest> memories;
  };

  template <typename Store>
  static bool again(const Campaign& campaign, State& state, const Digest& now, Store&& store) {
    if (!state.lived || !(state.registers == now)) return false;
    store();
    const Digest memories = campaign.memories.digest(campaign.faulty->state());
    if (state.memories == memories) return true;
    state.memories = memories;
    return false;
  }

  static constexpr uint64_t kRecent = 256;
  uint64_t begun_ = 0;
  State recent_, old_;
};

struct Job {
  uint64_t id;
  uint64_t cycle;  // of the golden run, whose state after this cycle's edge differs by `d`
  int64_t shift = 0;
  Difference d;
  bool fresh = true;  // the difference is what was injected
  bool small = true;  // enough to be followed along the gates
  uint64_t stint = kShortStint;
  uint64_t apart = 0;  // cycles that it was simulated since it was followed last
  uint64_t nanoseconds = 0;
  uint64_t simulated = 0;
  bool in_lane = false;  // it was in one
  Told told = kNothingTold;  // in the cycles before `cycle`, and in those that were simulated
  Repetition repetition;
  std::optional<Departure> leave;  // the last boundary, if the run could have left there
  std::optional<Departure> noted;  // the first
};

#endif
