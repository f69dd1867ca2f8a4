// SPDX-License-Identifier: Apache-2.0
// Jobs of a sweep along the gates, and where they could leave. See sweep_state.h.

#include "sweep_state.h"

namespace {

// Gates to evaluate before a difference that keeps changing is simulated instead, and how that grows with each cycle.
constexpr uint64_t kEffort = 400;
constexpr uint64_t kEffortPerCycle = 10;

}  // namespace

bool Sweep::follow(Job& job) {
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
    const uint64_t from = job.cycle;
    job.cycle = window.first() + at;
    pass(job, from);
    if (at == stop) {
      span = kLanes;
      continue;
    }
    if (!ripple.wild()) {
      job.pace.before = job.pace.moved;
      job.pace.value = campaign.watchdog.value(job.cycle + 1, job.d);
      ripple.step(job.d, at);
      job.fresh = false;
      ++job.cycle;
      if (campaign.watchdog.value(job.cycle + 1, job.d) != job.pace.value) job.pace.moved = now(job);
      if (!on_time(job)) return false;
      span = std::max<uint64_t>(4, std::min<uint64_t>(64, 2 * (at - lane)));
      if (job.d.empty()) return true;
      job.small = is_small(job.d);
      const uint64_t allowed = kEffort + kEffortPerCycle * (job.cycle - began);
      if (job.small && ripple.effort() - effort < allowed) {
        note(job, job.cycle, job.cycle);
        continue;
      }
    }
    const bool in_vain = job.cycle - began < kStint;
    job.stint = in_vain ? 2 * job.stint : kStint;
    return false;
  }
  return true;
}

void Sweep::pass(Job& job, uint64_t from) const {
  if (job.cycle == from) return;
  const uint64_t held = job.pace.moved;
  const auto moved = [&](uint64_t edges) {
    const uint64_t golden = campaign.watchdog.golden(edges).moved;
    return golden > from + 1 ? golden + static_cast<uint64_t>(job.shift) : held;
  };
  job.pace = {moved(job.cycle + 1), moved(job.cycle), campaign.watchdog.value(job.cycle, job.d)};
}

bool Sweep::is_small(const Difference& d) const {
  if (d.size() > kFewBytes) return false;
  size_t registers = 0;
  for (const ByteDifference& byte : d) registers += network.memory(byte.offset) < 0;
  return registers <= kFewRegisters;
}

void Sweep::note(Job& job, uint64_t from, uint64_t to) {
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

void Sweep::depart(Job& job, size_t i, int64_t shift) {
  job.leave.reset();
  if (!boundary->permits(job.d, i)) return;
  job.leave = departure(job.d, i, shift);
  if (job.leave->d.empty()) job.leave.reset();
}

std::optional<Departure> Sweep::departure(const Difference& d, size_t i, int64_t shift) const {
  Departure made{boundary->operation(i), shift, boundary->external(d)};
  if (made.d.empty()) return std::nullopt;
  return made;
}
