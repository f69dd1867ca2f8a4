// SPDX-License-Identifier: Apache-2.0
// A sweep, as its parts share it: the order of the work (sweep.cpp), jobs along the gates (sweep_follow.cpp), in the compiled
// model (sweep_simulate.cpp) and in lanes (sweep_lanes.cpp).
#ifndef RESIL_VERILATED_SWEEP_STATE_H
#define RESIL_VERILATED_SWEEP_STATE_H

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "boundary.h"
#include "job.h"
#include "ripple.h"
#include "lane_slots.h"
#include "sweep.h"

// A difference of more registers than this is not worth following along the gates.
inline constexpr size_t kFewRegisters = 32;
inline constexpr size_t kFewBytes = 4096;
inline constexpr uint64_t kNever = ~uint64_t{0};

enum class Simulated { kEnded, kGoesOn, kElsewhere };  // in a lane, or merged
enum class Arrival { kEnded, kSmall, kStays };

// Gives the faulty instance its state, of which it may have no more than the cycle.
using Store = std::function<void()>;

// An injection whose cycle has not come yet.
struct Waiting {
  uint64_t id;
  uint64_t cycle;
  Difference d;
};

struct Sweep {
  Campaign& campaign;
  Network network;
  std::optional<Boundary> boundary;
  Window window;
  Ripple ripple;
  uint64_t limit = 0;
  uint32_t shortcuts = 0;
  std::deque<Waiting> waiting;
  std::deque<Job> parked, current;
  std::deque<std::pair<Job, uint64_t>> merged;  // and with which
  // States in which jobs of this window began to be simulated, for long, and which job it was.
  std::unordered_map<Prospect, uint64_t, Prospect::Hash> known;
  uint64_t windows = 0;  // loaded so far
  Job ended;  // whose event is out
  std::vector<char> found;
  std::optional<Seats> seats;  // if there is a lane model
  bool lanes_differ = false;
  SweepTimes times{};

  Sweep(Campaign& owner, const Circuit& circuit, const Boundaries* boundaries)
      : campaign(owner),
        network(circuit),
        boundary(boundaries ? std::optional<Boundary>(std::in_place, owner, *boundaries) : std::nullopt),
        window(owner, network),
        ripple(network, window),
        found(owner.registers.bytes()) {}

  uint64_t last() const { return campaign.timeline.length() - 1; }
  bool follows() const { return shortcuts & kForesight; }
  bool leaves() const { return boundary && (shortcuts & kLeave); }
  bool inside(uint64_t cycle) const { return cycle < window.last() || window.last() == last(); }

  // What was injected has an effect at once: only the model tells which, and an equal difference of another job had none.
  bool makes_edge(const Job& job) const { return job.fresh && network.makes_edge(job.d); }

  // A job that could leave has no window to go on in: of the golden run it has fallen behind, or the windows are past it.
  // The operation that a job is in ends before the watchdog expires, if it goes on as in the golden run.
  bool on_time(const Job& job) const { return campaign.watchdog.on_time(job.pace.moved, job.cycle + 1, now(job)); }
  // Edges since reset in the run of a job.
  uint64_t now(const Job& job) const { return job.cycle + 1 + static_cast<uint64_t>(job.shift); }
  bool is_late(const Job& job) const { return job.shift != job.leave->shift || job.cycle < window.first(); }
  bool may_follow(const Job& job) const {
    return follows() && job.cycle >= window.first() && job.apart >= job.stint && on_time(job);
  }

  // ---- the order of the work

  void next(SweepEvent& event);
  // Load the next window that has something to do.
  void open();
  // The first cycle that a window is needed for.
  uint64_t upcoming() const;
  void load(uint64_t first);
  // Of parked jobs in the same state go on with one. What they have told may differ, but not of which kinds it is: then
  // whatever alarm is news for one that goes on for others is news for these, too.
  void merge();
  Prospect prospect(const Job& job) const {
    const Pace pace = campaign.watchdog.on() ? job.pace : Pace{};
    return {job.cycle, job.shift, pace, campaign.awaited(job.told), job.noted.has_value(), job.d};
  }
  bool end(Job& job, SweepEvent& event, SweepEventKind kind);
  void emit(SweepEvent& event, SweepEventKind kind);
  // Take a job to the end of the window; true if it ended before that.
  bool advance(Job& job, SweepEvent& event);
  // Do a part of the work on a job. An event that it raises is told the time afterwards.
  template <typename Work>
  bool timed(Job& job, uint64_t& sum, Work&& work) {
    uint64_t spent = 0;
    const uint64_t before = job.nanoseconds;
    const bool result = [&] {
      const Timer timer(spent);
      return work();
    }();
    sum += spent;
    job.nanoseconds = ended.nanoseconds = before + spent;
    return result;
  }

  // ---- along the gates

  // Follow a job along the gates; false if it has to be simulated now.
  bool follow(Job& job);
  bool is_small(const Difference& d) const;
  // A job whose difference stayed the same has come from a cycle: its operation counter moved when the golden one did.
  void pass(Job& job, uint64_t from) const;
  // The job's difference is that of all cycles `from` .. `to`: see whether it could leave at a boundary among them.
  void note(Job& job, uint64_t from, uint64_t to);
  void depart(Job& job, size_t i, int64_t shift);
  std::optional<Departure> departure(const Difference& d, size_t i, int64_t shift) const;

  // ---- in the compiled model

  // Bring the faulty instance to the state of a job; false if a bit that was injected did not hold.
  bool restore(Job& job);
  bool finish(Job& job, SweepEvent& event);
  // Simulate to the end without the golden run beside it; of a loop, so many cycles long, only what is needed of it.
  bool run_out(Job& job, SweepEvent& event, uint64_t period = 0);
  // Simulate a job until it is small, beyond the window if need be, or to its end; or for a while, and let it go on in a
  // lane.
  Simulated simulate(Job& job, SweepEvent& event);
  static Simulated ended_as(bool ended) { return ended ? Simulated::kEnded : Simulated::kGoesOn; }
  // One that is `young` may go on in a lane; `began`, if given, is the state in which it was at `start`.
  Simulated go_on(Job& job, SweepEvent& event, uint64_t start, uint64_t check, bool young, std::optional<Prospect> began);
  // The golden registers in the job's cycle; null if they were not kept.
  const char* golden_row(const Job& job) const;
  // The registers are those of a golden cycle, of this window or later: from there on the job is a difference of memories.
  bool rejoin(Job& job, const Digest& now, const Store& store);
  // Cycles since the job was in its present state before; 0 if it is not known to have been.
  uint64_t repeats(Job& job, const Digest& now, const Store& store) const;
  // The registers of the faulty instance are almost those of the golden run in the job's cycle.
  bool nearly(const Job& job) const;
  // Work out the difference in the job's cycle, whose golden registers are known.
  void compare(Job& job);
  // An operation has ended in the faulty instance: true if all that matters is as in the golden run.
  bool at_boundary(Job& job, uint64_t operation);

  // ---- in lanes

  // The lanes go on next: they are full, or nothing else is left to do, or the next window would pass some of them. Where
  // so few are taken that it is not worth it, it does: these go on without windows.
  bool rides() const;
  // Take the jobs in lanes on until there is something to see to, and see to it; true if one ended.
  bool ride(SweepEvent& event);
  // Nothing in a lane can be trusted.
  bool spoil(SweepEvent& event);
  // Take one on in the compiled model: there are too few for lanes, or the lane model does not know how it goes on.
  bool alight(int lane, SweepEvent& event);
  // A job is small again: true if that is its end.
  bool requeue(Job& job, SweepEvent& event);
  // See to what has happened in a lane.
  Arrival see_to(int lane, SweepEvent& event);
};

#endif
