// See sweep.h.

#include "sweep.h"

#include <deque>
#include <optional>
#include <unordered_map>

#include "boundary.h"
#include "job.h"
#include "ripple.h"
#include "seats.h"

namespace {

// A difference of more registers than this is not worth following along the gates.
constexpr size_t kFewRegisters = 32;
constexpr size_t kFewBytes = 4096;
// Gates to evaluate before a difference that keeps changing is simulated instead, and how that grows with each cycle.
constexpr uint64_t kEffort = 400;
constexpr uint64_t kEffortPerCycle = 10;
// What following costs, in simulated cycles: to go from one to the other and back, and by the gates. A difference that gets
// less far was followed in vain.
constexpr uint64_t kChange = 32;
constexpr uint64_t kGatesPerCycle = 10;
// Cycles of simulation after which a job goes on in a lane, and machines that have to go on together for lanes to be faster
// than the compiled model.
constexpr uint64_t kAlone = 128;
constexpr int kTogether = 8;
// To compare a machine with the golden run costs as much as some 30 cycles in a lane: what has lived so long is compared
// less often.
constexpr uint64_t kOld = 1024;
constexpr uint64_t kNever = ~uint64_t{0};

enum class Simulated { kEnded, kGoesOn, kInLane };
enum class Arrival { kEnded, kSmall, kStays };

}  // namespace

struct Sweep {
  Campaign& campaign;
  Network network;
  std::optional<Boundary> boundary;
  Window window;
  Ripple ripple;
  uint64_t limit = 0;
  uint32_t shortcuts = 0;
  std::deque<Job> waiting, parked, current;
  std::deque<std::pair<Job, uint64_t>> merged;  // and with which
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

  void next(SweepEvent& event) {
    while (true) {
      if (!merged.empty()) {
        ended = std::move(merged.front().first);
        event.other = merged.front().second;
        merged.pop_front();
        return emit(event, kMerged);
      }
      if (seats && rides()) {
        if (ride(event)) return;
        continue;
      }
      if (current.empty()) {
        if (upcoming() == kNever) return;
        open();
        continue;
      }
      Job job = std::move(current.front());
      current.pop_front();
      if (advance(job, event)) return;
    }
  }

  // The lanes go on next: they are full, or nothing else is left to do, or the next window would pass some of them. Where
  // so few are taken that it is not worth it, it does: these go on without windows.
  bool rides() const {
    if (lanes_differ) return seats->taken() > 0;
    if (seats->due() || seats->full()) return true;
    if (!current.empty() || seats->taken() == 0) return false;
    const uint64_t first = upcoming();
    return first == kNever || (seats->taken() >= kTogether && seats->between(window.first(), first));
  }

  // Load the next window that has something to do.
  void open() {
    if (shortcuts & kSeen) merge();
    load(std::min(upcoming(), last()));
    std::deque<Job> later;
    for (Job& job : parked) (inside(job.cycle) ? current : later).push_back(std::move(job));
    parked = std::move(later);
    while (!waiting.empty() && inside(waiting.front().cycle)) {
      current.push_back(std::move(waiting.front()));
      waiting.pop_front();
    }
  }

  // The first cycle that a window is needed for.
  uint64_t upcoming() const {
    uint64_t first = waiting.empty() ? kNever : waiting.front().cycle;
    for (const Job& job : parked) first = std::min(first, job.cycle);
    return first;
  }

  void load(uint64_t first) {
    const Timer timer(times.loading);
    const uint64_t before = campaign.cursor->cycle;
    window.load(first);
    times.golden_cycles += campaign.cursor->cycle - std::min(before, campaign.cursor->cycle);
  }

  bool inside(uint64_t cycle) const { return cycle < window.last() || window.last() == last(); }

  // Of parked jobs in the same state go on with one. What they have told may differ, but not of which kinds it is: then
  // whatever alarm is news for one that goes on for others is news for these, too.
  void merge() {
    std::unordered_map<uint64_t, size_t> seen;
    std::deque<Job> kept;
    for (Job& job : parked) {
      if (job.small) {
        const auto [at, fresh] = seen.emplace(hash(job), kept.size());
        const Job* const other = fresh ? nullptr : &kept[at->second];
        if (other && other->cycle == job.cycle && other->shift == job.shift && other->d == job.d &&
            campaign.awaited(other->told) == campaign.awaited(job.told)) {
          merged.emplace_back(std::move(job), other->id);
          continue;
        }
      }
      kept.push_back(std::move(job));
    }
    parked = std::move(kept);
  }

  uint64_t hash(const Job& job) const {
    uint64_t h = job.cycle * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(job.shift) + campaign.awaited(job.told);
    for (const ByteDifference& b : job.d) h = (h ^ (b.offset << 8 ^ b.mask)) * 0x9e3779b97f4a7c15 + (h >> 29);
    return h;
  }

  bool end(Job& job, SweepEvent& event, SweepEventKind kind) {
    ended = std::move(job);
    emit(event, kind);
    return true;
  }

  void emit(SweepEvent& event, SweepEventKind kind) {
    event.kind = kind;
    event.job = ended.id;
    event.simulated = ended.simulated;
    event.in_lane = ended.in_lane;
    event.told = ended.told;
    if (kind == kVanished) {
      event.shift = ended.shift;
      event.end_cycle = campaign.timeline.length() + static_cast<uint64_t>(ended.shift);
    } else if (kind == kLeft) {
      event.shift = ended.leave->shift;
      event.end_cycle = campaign.timeline.length() + static_cast<uint64_t>(ended.leave->shift);
      event.operation = ended.leave->operation;
      event.bytes = ended.leave->d.data();
      event.byte_count = ended.leave->d.size();
    }
    if (ended.noted) {
      event.noted_operation = ended.noted->operation;
      event.noted = ended.noted->d.data();
      event.noted_count = ended.noted->d.size();
    }
  }

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

  // Take a job to the end of the window; true if it ended before that.
  bool advance(Job& job, SweepEvent& event) {
    while (true) {
      if (job.d.empty()) return end(job, event, kVanished);
      if (job.cycle >= window.last()) {
        if (window.last() == last()) return timed(job, times.simulating, [&] { return finish(job, event); });
        parked.push_back(std::move(job));
        return false;
      }
      if (follows() && job.small && timed(job, times.following, [&] { return follow(job); })) continue;
      if (job.leave) return end(job, event, kLeft);
      Simulated now{};
      timed(job, times.simulating, [&] { return (now = simulate(job, event)) == Simulated::kEnded; });
      if (now != Simulated::kGoesOn) return now == Simulated::kEnded;
    }
  }

  // Follow a job along the gates; false if it has to be simulated now.
  bool follow(Job& job) {
    const uint64_t began = job.cycle;
    job.apart = 0;
    const uint64_t effort = ripple.effort();
    uint64_t span = 16;
    while (job.cycle < window.last()) {
      const size_t lane = job.cycle - window.first();
      const size_t stop = std::min<size_t>(lane + span, window.lanes() - 1);
      const size_t at = ripple.follow(job.d, lane, stop, campaign.awaited(job.told));
      note(job, job.cycle, window.first() + at);
      if (ripple.alarmed()) job.leave.reset();
      job.cycle = window.first() + at;
      if (at == stop) {
        span = kLanes;
        continue;
      }
      if (!ripple.wild()) {
        ripple.step(job.d, at);
        job.fresh = false;
        ++job.cycle;
        span = std::max<uint64_t>(4, std::min<uint64_t>(64, 2 * (at - lane)));
        if (job.d.empty()) return true;
        job.small = is_small(job.d);
        const uint64_t allowed = kEffort + kEffortPerCycle * (job.cycle - began);
        if (job.small && ripple.effort() - effort < allowed) {
          note(job, job.cycle, job.cycle);
          continue;
        }
      }
      const bool in_vain = job.cycle - began < kChange + (ripple.effort() - effort) / kGatesPerCycle;
      job.stint = in_vain ? std::min(kLongStint, 2 * job.stint) : kShortStint;
      return false;
    }
    return true;
  }

  bool is_small(const Difference& d) const {
    if (d.size() > kFewBytes) return false;
    size_t registers = 0;
    for (const ByteDifference& byte : d) registers += network.memory(byte.offset) < 0;
    return registers <= kFewRegisters;
  }

  // The job's difference is that of all cycles `from` .. `to`: see whether it could leave at a boundary among them.
  void note(Job& job, uint64_t from, uint64_t to) {
    if (!leaves()) return;
    const auto [begin, stop] = boundary->between(from, to);
    if (begin == stop) return;
    depart(job, stop - 1, job.shift);
    if (!job.noted && job.leave) {
      for (size_t i = begin; i < stop && !job.noted; ++i) {
        if (boundary->permits(job.d, i)) job.noted = departure(job.d, i, job.shift);
      }
    }
  }

  void depart(Job& job, size_t i, int64_t shift) {
    job.leave.reset();
    if (!boundary->permits(job.d, i)) return;
    job.leave = departure(job.d, i, shift);
    if (job.leave->d.empty()) job.leave.reset();
  }

  std::optional<Departure> departure(const Difference& d, size_t i, int64_t shift) const {
    Departure made{boundary->operation(i), shift, boundary->external(d)};
    if (made.d.empty()) return std::nullopt;
    return made;
  }

  // Bring the faulty instance to the state of a job; false if a bit that was injected did not hold.
  bool restore(Job& job) {
    Instance& faulty = *campaign.faulty;
    faulty.copy(*campaign.cursor);
    char* const state = faulty.state();
    campaign.registers.scatter(window.row(job.cycle), state);
    campaign.memories.seek(job.cycle + 1);
    campaign.memories.restore(state);
    for (const ByteDifference& byte : job.d) state[byte.offset] ^= static_cast<char>(byte.mask);
    faulty.cycle = job.cycle + 1 + static_cast<uint64_t>(job.shift);
    std::vector<char> wanted;
    if (job.fresh) {
      for (const ByteDifference& byte : job.d) wanted.push_back(state[byte.offset]);
    }
    faulty.select();
    faulty.settle();
    for (size_t i = 0; i < wanted.size(); ++i) {
      if ((wanted[i] ^ state[job.d[i].offset]) & job.d[i].mask) return false;
    }
    job.fresh = false;
    campaign.latch(job.told);
    return true;
  }

  bool finish(Job& job, SweepEvent& event) {
    return restore(job) ? run_out(job, event) : end(job, event, kStopped);
  }

  // Simulate to the end without the golden run beside it.
  bool run_out(Job& job, SweepEvent& event) {
    InjectionResult result{};
    result.told = job.told;
    campaign.run(limit, shortcuts & (kSameCycle | kShiftedCycle | kRepetition), result);
    job.simulated += result.simulated;
    job.told = result.told;
    if (result.stop == kRejoined) {
      job.shift = result.shift;
      return end(job, event, kVanished);
    }
    event.stop = result.stop;
    event.end_cycle = result.end_cycle;
    return end(job, event, kStopped);
  }

  // Simulate a job until it is small, beyond the window if need be, or to its end; or for a while, and let it go on in a
  // lane.
  Simulated simulate(Job& job, SweepEvent& event) {
    if (!restore(job)) return ended_as(end(job, event, kStopped));
    const uint64_t start = campaign.faulty->cycle;
    job.small = false;
    return go_on(job, event, start, start + 1, seats && !lanes_differ);
  }

  static Simulated ended_as(bool ended) { return ended ? Simulated::kEnded : Simulated::kGoesOn; }

  Simulated go_on(Job& job, SweepEvent& event, uint64_t start, uint64_t check, bool may_board) {
    Instance& faulty = *campaign.faulty;
    uint64_t operation = faulty.outputs.operation;
    while (true) {
      if (faulty.outputs.done || faulty.outputs.finished || faulty.cycle >= limit) {
        return ended_as(run_out(job, event));
      }
      faulty.rise();
      campaign.latch(job.told);
      ++job.cycle;
      ++job.simulated;
      ++job.apart;
      if (leaves() && faulty.outputs.operation != operation) {
        operation = faulty.outputs.operation;
        if (at_boundary(job, operation)) return ended_as(is_late(job) && end(job, event, kLeft));
      }
      if (faulty.cycle < check || faulty.outputs.done) continue;
      check = next(job, faulty.cycle, start);
      const Digest now = campaign.registers.digest(faulty.state());
      const auto here = [] {};
      if (rejoin(job, now, here)) return Simulated::kGoesOn;
      if (may_follow(job) && nearly(job) && (compare(job), job.small)) return Simulated::kGoesOn;
      if ((shortcuts & kRepetition) && job.repetition.found(campaign, now, here)) return ended_as(run_out(job, event));
      if (may_board && faulty.cycle - start >= kAlone) {
        may_board = false;
        if (seats->board(job, start, check)) return Simulated::kInLane;
      }
    }
  }

  // A job that could leave has no window to go on in: of the golden run it has fallen behind, or the windows are past it.
  bool is_late(const Job& job) const { return job.shift != job.leave->shift || job.cycle < window.first(); }

  bool may_follow(const Job& job) const { return follows() && job.cycle >= window.first() && job.apart >= job.stint; }

  // When a job that has come to `cycle` is compared again.
  static uint64_t next(const Job& job, uint64_t cycle, uint64_t start) {
    const uint64_t lived = cycle - start;
    return lived < kSparsest ? start + next_check(lived) : cycle + kSparsest - (job.cycle + 1) % kSparsest;
  }

  // ---- in lanes

  // Take the jobs in lanes on until there is something to see to, and see to it; true if one ended.
  bool ride(SweepEvent& event) {
    if (lanes_differ) return spoil(event);
    if (!seats->due() && seats->taken() < kTogether) return alight(event);
    while (!seats->due()) {
      uint64_t spent = 0;
      {
        const Timer timer(spent);
        lanes_differ = !seats->step(limit);
      }
      times.simulating += spent;
      seats->share(spent);
      if (lanes_differ) return false;
    }
    while (seats->due()) {
      const int lane = seats->next_due();
      Arrival now{};
      timed(seats->at(lane).job, times.simulating, [&] { return (now = see_to(lane, event)) == Arrival::kEnded; });
      if (now == Arrival::kStays) continue;
      Job job = seats->vacate(lane);
      if (now == Arrival::kEnded || requeue(job, event)) return true;
    }
    return false;
  }

  // Nothing in a lane can be trusted.
  bool spoil(SweepEvent& event) {
    Job job = seats->vacate(seats->slowest());
    return end(job, event, kSpoilt);
  }

  // There are too few for lanes: take one on in the compiled model.
  bool alight(SweepEvent& event) {
    const int lane = seats->slowest();
    const uint64_t start = seats->at(lane).start, check = seats->at(lane).check;
    Simulated now{};
    timed(seats->at(lane).job, times.simulating, [&] { return seats->arrive(lane), false; });
    Job job = seats->vacate(lane);
    timed(job, times.simulating, [&] { return (now = go_on(job, event, start, check, false)) == Simulated::kEnded; });
    return now == Simulated::kEnded || requeue(job, event);
  }

  // A job is small again: true if that is its end.
  bool requeue(Job& job, SweepEvent& event) {
    if (job.d.empty()) return end(job, event, kVanished);
    (inside(job.cycle) ? current : parked).push_back(std::move(job));
    return false;
  }

  // See to what has happened in a lane.
  Arrival see_to(int lane, SweepEvent& event) {
    Seat& seat = seats->at(lane);
    Job& job = seat.job;
    campaign.faulty->cycle = seat.cycle;
    bool stored = false;
    const auto store = [&] {
      if (!stored) seats->machines().store(lane);
      stored = true;
    };
    if (seat.moved && leaves()) {
      store();
      if (at_boundary(job, seats->machines().operation(lane))) {
        return is_late(job) && end(job, event, kLeft) ? Arrival::kEnded : Arrival::kSmall;
      }
    }
    if (!seat.done && seat.cycle < limit) {
      if (seat.cycle < seat.check) return Arrival::kStays;
      seat.check = next(job, seat.cycle, seat.start);
      if (seat.cycle - seat.start >= kOld) seat.check += kSeldom - (job.cycle + seat.check - seat.cycle + 1) % kSeldom;
      const Digest now = campaign.registers.digest_row(seats->machines().row(lane));
      if (rejoin(job, now, store)) return Arrival::kSmall;
      if (may_follow(job) && nearly(job)) {
        store();
        compare(job);
        if (job.small) return Arrival::kSmall;
      }
      if (!((shortcuts & kRepetition) && job.repetition.found(campaign, now, store))) return Arrival::kStays;
    }
    seats->arrive(lane);
    return run_out(job, event) ? Arrival::kEnded : Arrival::kSmall;
  }

  // The golden registers in the job's cycle; null if they were not kept.
  const char* golden_row(const Job& job) const {
    if (job.cycle >= window.first() && job.cycle <= window.last()) return window.row(job.cycle);
    return campaign.milestones.find(job.cycle + 1);
  }

  // The registers are those of a golden cycle, of this window or later: from there on the job is a difference of memories.
  // `store` gives the faulty instance its state, of which it may have no more than the cycle.
  template <typename Store>
  bool rejoin(Job& job, const Digest& now, Store&& store) {
    const Instance& faulty = *campaign.faulty;
    uint64_t cycle = job.cycle;
    if (!((shortcuts & kSameCycle) && campaign.timeline.matches(now, cycle + 1))) {
      if (!(shortcuts & kShiftedCycle)) return false;
      const uint64_t edges = campaign.timeline.find(now);
      if (edges == 0) return false;
      cycle = edges - 1;
    }
    const int64_t shift = static_cast<int64_t>(faulty.cycle) - static_cast<int64_t>(cycle + 1);
    if (static_cast<int64_t>(campaign.timeline.length()) + shift > static_cast<int64_t>(limit)) return false;
    campaign.memories.seek(cycle + 1);
    store();
    Difference d;
    if (follows() && cycle >= window.first() && job.apart >= job.stint) {
      campaign.memories.difference(faulty.state(), d);
      if (d.size() > kFewBytes) return false;
    } else if (!campaign.memories.equals(faulty.state())) {
      return false;
    }
    job.cycle = cycle;
    job.shift = shift;
    job.d = std::move(d);
    job.small = true;
    return true;
  }

  // The registers of the faulty instance are almost those of the golden run in the job's cycle.
  bool nearly(const Job& job) const {
    const char *const a = campaign.registers.gathered(), *const b = golden_row(job);
    if (!b) return false;
    size_t different = 0, at = 0;
    const size_t size = campaign.registers.bytes();
    for (; at + 8 <= size && different <= kFewRegisters; at += 8) different += std::memcmp(a + at, b + at, 8) != 0;
    return different <= kFewRegisters;
  }

  // Work out the difference in the job's cycle, whose golden registers are known.
  void compare(Job& job) {
    const char* const state = campaign.faulty->state();
    job.d.clear();
    campaign.registers.gather(state, found.data());
    const char* const row = golden_row(job);
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i] != row[i]) {
        job.d.push_back({campaign.registers.offset(i), static_cast<uint8_t>(found[i] ^ row[i])});
      }
    }
    campaign.memories.seek(job.cycle + 1);
    const auto registers = static_cast<std::ptrdiff_t>(job.d.size());
    campaign.memories.difference(state, job.d);
    std::inplace_merge(job.d.begin(), job.d.begin() + registers, job.d.end(), by_offset);
    job.small = is_small(job.d);
  }

  // An operation has ended in the faulty instance: true if all that matters is as in the golden run.
  bool at_boundary(Job& job, uint64_t operation) {
    const std::optional<size_t> i = boundary->find(operation);
    job.leave.reset();
    if (!i) return false;
    const Instance& faulty = *campaign.faulty;
    const uint64_t edges = boundary->edges(*i);
    const int64_t shift = static_cast<int64_t>(faulty.cycle) - static_cast<int64_t>(edges);
    if (static_cast<int64_t>(campaign.timeline.length()) + shift > static_cast<int64_t>(limit)) return false;
    Difference d;
    if (!boundary->registers(faulty.state(), *i, d)) return false;
    campaign.memories.seek(edges);
    campaign.memories.difference(faulty.state(), d);
    std::sort(d.begin(), d.end(), by_offset);
    if (!boundary->permits(d, *i)) return false;
    job.leave = departure(d, *i, shift);
    if (!job.leave) return false;
    if (!job.noted) job.noted = job.leave;
    if (shift == job.shift) {
      job.d = std::move(d);
      job.small = is_small(job.d);
    }
    return true;
  }
};

extern "C" {

int32_t resil_sweep_lanes(Sweep* self, const LaneModel* model) {
  return guarded(
      [&] {
        self->seats.emplace(self->campaign, *model);
        return 0;
      },
      -1);
}

int32_t resil_sweep_lanes_differ(const Sweep* self) { return self->lanes_differ; }

Sweep* resil_sweep_create(Campaign* campaign, const Circuit* circuit, const Boundaries* boundaries) {
  return guarded([&] { return new Sweep(*campaign, *circuit, boundaries); }, static_cast<Sweep*>(nullptr));
}

void resil_sweep_destroy(Sweep* self) { delete self; }

void resil_sweep_begin(Sweep* self, uint64_t limit, uint32_t shortcuts) {
  self->waiting.clear();
  self->parked.clear();
  self->current.clear();
  self->merged.clear();
  if (self->seats) self->seats->clear();
  self->limit = limit;
  self->shortcuts = shortcuts;
}

void resil_sweep_add(Sweep* self, uint64_t job, const Flip* flips, uint64_t count, uint64_t cycle) {
  Job made{job, cycle};
  for (uint64_t i = 0; i < count; ++i) made.d.push_back({flips[i].offset, flips[i].mask});
  std::sort(made.d.begin(), made.d.end(), by_offset);
  Difference joined;
  for (const ByteDifference& byte : made.d) {
    if (!joined.empty() && joined.back().offset == byte.offset) {
      joined.back().mask |= byte.mask;
    } else {
      joined.push_back(byte);
    }
  }
  made.d = std::move(joined);
  self->waiting.push_back(std::move(made));
}

void resil_sweep_next(Sweep* self, SweepEvent* event) {
  *event = {};
  event->kind = guarded(
      [&] {
        self->next(*event);
        event->nanoseconds = self->ended.nanoseconds;
        return event->kind;
      },
      static_cast<int32_t>(kSweepBroken));
}

void resil_sweep_times(const Sweep* self, SweepTimes* times) { *times = self->times; }
}
