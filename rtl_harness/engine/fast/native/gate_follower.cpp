// SPDX-License-Identifier: Apache-2.0
// See gate_follower.h.

#include "gate_follower.h"

namespace {

// Gates to evaluate before a difference that keeps changing is simulated instead, and how that grows with each cycle.
constexpr uint64_t kEffort = 400;
constexpr uint64_t kEffortPerCycle = 10;

}  // namespace

bool GateFollower::follow(Job& job) {
  const Window& window = sweep_.window();
  const uint64_t began = job.cycle;
  job.apart = 0;
  const uint64_t effort = ripple_.effort();
  uint64_t span = 16;
  while (job.cycle < window.last()) {
    const size_t place = job.cycle - window.first();
    const size_t stop = std::min<size_t>(place + span, window.cycles() - 1);
    const size_t at = ripple_.follow(job.d, place, stop, sweep_.awaited(job));
    note(job, job.cycle, window.first() + at);
    if (ripple_.alarmed()) job.leave.reset();
    const uint64_t from = job.cycle;
    job.cycle = window.first() + at;
    pass(job, from);
    if (at == stop) {
      span = kWindowCycles;
      continue;
    }
    if (!ripple_.wild()) {
      if (!step(job, at)) return false;
      span = std::max<uint64_t>(4, std::min<uint64_t>(64, 2 * (at - place)));
      if (job.d.empty()) return true;
      job.small = sweep_.is_small(job.d);
      const uint64_t allowed = kEffort + kEffortPerCycle * (job.cycle - began);
      if (job.small && ripple_.effort() - effort < allowed) {
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

bool GateFollower::step(Job& job, size_t place) {
  const Watchdog& watchdog = sweep_.watchdog();
  job.pace.before = job.pace.moved;
  job.pace.value = watchdog.value(job.cycle + 1, job.d);
  ripple_.step(job.d, place);
  job.fresh = false;
  ++job.cycle;
  if (watchdog.value(job.cycle + 1, job.d) != job.pace.value) job.pace.moved = sweep_.now(job);
  return sweep_.on_time(job);
}

void GateFollower::pass(Job& job, uint64_t from) const {
  if (job.cycle == from) return;
  const Watchdog& watchdog = sweep_.watchdog();
  const uint64_t held = job.pace.moved;
  const auto moved = [&](uint64_t edges) {
    const uint64_t golden = watchdog.golden(edges).moved;
    return golden > from + 1 ? golden + static_cast<uint64_t>(job.shift) : held;
  };
  job.pace = {moved(job.cycle + 1), moved(job.cycle), watchdog.value(job.cycle, job.d)};
}

void GateFollower::note(Job& job, uint64_t from, uint64_t to) const {
  if (!sweep_.leaves()) return;
  const Boundary& boundary = sweep_.boundary();
  const auto [begin, stop] = boundary.between(from, to);
  if (begin == stop) return;
  job.leave.reset();
  const uint64_t awaited = sweep_.awaited(job);
  if (boundary.permits(job.d, stop - 1, awaited)) job.leave = sweep_.departure(job.d, stop - 1, job.shift);
  if (!job.noted && job.leave) {
    for (size_t i = begin; i < stop && !job.noted; ++i) {
      if (boundary.permits(job.d, i, awaited)) job.noted = sweep_.departure(job.d, i, job.shift);
    }
  }
}
