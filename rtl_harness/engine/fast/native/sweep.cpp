// SPDX-License-Identifier: Apache-2.0
// See sweep.h. The order of the work.

#include "sweep_state.h"

void Sweep::next(SweepEvent& event) {
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

void Sweep::open() {
  if (shortcuts & kSeen) merge();
  load(std::min(upcoming(), last()));
  std::deque<Job> later;
  for (Job& job : parked) (inside(job.cycle) ? current : later).push_back(std::move(job));
  parked = std::move(later);
  while (!waiting.empty() && inside(waiting.front().cycle)) {
    Job job{waiting.front().id, waiting.front().cycle};
    job.d = std::move(waiting.front().d);
    job.pace = campaign.watchdog.golden(job.cycle);
    const uint64_t value = campaign.watchdog.value(job.cycle + 1, job.d);
    if (value != job.pace.value) job.pace.moved = job.cycle + 1;
    current.push_back(std::move(job));
    waiting.pop_front();
  }
}

uint64_t Sweep::upcoming() const {
  uint64_t first = waiting.empty() ? kNever : waiting.front().cycle;
  for (const Job& job : parked) first = std::min(first, job.cycle);
  return first;
}

void Sweep::load(uint64_t first) {
  const Timer timer(times.loading);
  const uint64_t before = campaign.cursor->cycle;
  known.clear();
  ++windows;
  window.load(first);
  times.golden_cycles += campaign.cursor->cycle - std::min(before, campaign.cursor->cycle);
}

void Sweep::merge() {
  std::unordered_map<Prospect, uint64_t, Prospect::Hash> seen;
  std::deque<Job> kept;
  for (Job& job : parked) {
    if (job.small && !makes_edge(job)) {
      const auto [at, fresh] = seen.emplace(prospect(job), job.id);
      if (!fresh) {
        merged.emplace_back(std::move(job), at->second);
        continue;
      }
    }
    kept.push_back(std::move(job));
  }
  parked = std::move(kept);
}

bool Sweep::end(Job& job, SweepEvent& event, SweepEventKind kind) {
  ended = std::move(job);
  emit(event, kind);
  return true;
}

void Sweep::emit(SweepEvent& event, SweepEventKind kind) {
  event.kind = kind;
  event.job = ended.id;
  event.simulated = ended.simulated;
  event.in_lane = ended.in_lane;
  event.known = ended.known == windows;
  event.windows = windows;
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

bool Sweep::advance(Job& job, SweepEvent& event) {
  while (true) {
    if (job.d.empty()) return end(job, event, kVanished);
    if (job.cycle >= window.last()) {
      if (window.last() == last()) return timed(job, times.simulating, [&] { return finish(job, event); });
      parked.push_back(std::move(job));
      return false;
    }
    const bool followed = follows() && job.small && !makes_edge(job) && on_time(job);
    if (followed && timed(job, times.following, [&] { return follow(job); })) continue;
    if (job.leave) return end(job, event, kLeft);
    Simulated now{};
    timed(job, times.simulating, [&] { return (now = simulate(job, event)) == Simulated::kEnded; });
    if (now != Simulated::kGoesOn) return now == Simulated::kEnded;
  }
}

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
  self->known.clear();
  if (self->seats) self->seats->clear();
  self->limit = limit;
  self->shortcuts = shortcuts;
}

void resil_sweep_add(Sweep* self, uint64_t job, const Flip* flips, uint64_t count, uint64_t cycle) {
  Waiting made{job, cycle, {}};
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
