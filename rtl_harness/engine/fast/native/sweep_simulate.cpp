// SPDX-License-Identifier: Apache-2.0
// Jobs of a sweep in the compiled model, and when they are as the golden run again. See sweep_state.h.

#include "sweep_state.h"

namespace {

// Cycles of simulation after which a job goes on in a lane, and the state in which it began is kept.
constexpr uint64_t kAlone = 64;

}  // namespace

bool Sweep::restore(Job& job) {
  Instance& faulty = *campaign.faulty;
  faulty.copy(*campaign.cursor);
  char* const state = faulty.state();
  campaign.registers.scatter(window.row(job.cycle), state);
  campaign.memories.seek(job.cycle + 1);
  campaign.memories.restore(state);
  const bool edges = network.has_edges;
  faulty.select();
  // Clocks of the design's own have the edges that a fault makes, and none because the state is put together here.
  if (edges && job.fresh) faulty.settle_quietly();
  for (const ByteDifference& byte : job.d) state[byte.offset] ^= static_cast<char>(byte.mask);
  faulty.cycle = job.cycle + 1 + static_cast<uint64_t>(job.shift);
  std::vector<char> wanted;
  if (job.fresh) {
    for (const ByteDifference& byte : job.d) wanted.push_back(state[byte.offset]);
  }
  edges && !job.fresh ? faulty.settle_quietly() : faulty.settle();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if ((wanted[i] ^ state[job.d[i].offset]) & job.d[i].mask) return false;
  }
  job.fresh = false;
  campaign.latch(job.told);
  job.pace.show(faulty.cycle, faulty.outputs.operation);
  return true;
}

bool Sweep::finish(Job& job, SweepEvent& event) {
  return restore(job) ? run_out(job, event) : end(job, event, kStopped);
}

bool Sweep::run_out(Job& job, SweepEvent& event, uint64_t period) {
  InjectionResult result{};
  result.told = job.told;
  result.moved = job.pace.moved;
  campaign.run(limit, shortcuts & (kSameCycle | kShiftedCycle | kRepetition), result, {}, 0, false, period);
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

Simulated Sweep::simulate(Job& job, SweepEvent& event) {
  std::optional<Prospect> began;
  if ((shortcuts & kSeen) && !makes_edge(job)) {
    began = prospect(job);
    if (const auto other = known.find(*began); other != known.end()) {
      merged.emplace_back(std::move(job), other->second);
      return Simulated::kElsewhere;
    }
  }
  if (!restore(job)) return ended_as(end(job, event, kStopped));
  const uint64_t start = campaign.faulty->cycle;
  job.small = false;
  return go_on(job, event, start, start + 1, true, std::move(began));
}

Simulated Sweep::go_on(Job& job, SweepEvent& event, uint64_t start, uint64_t check, bool young,
                       std::optional<Prospect> began) {
  Instance& faulty = *campaign.faulty;
  Run run{start, check, limit, job.pace.moved, 0, job.told};
  const auto here = [] {};
  while (true) {
    const uint64_t before = faulty.cycle;
    const Halt halt = campaign.advance(run, {}, false, leaves());
    job.told = run.told;
    job.pace = {run.moved, run.moved, faulty.outputs.operation};
    job.ran(faulty.cycle - before);
    if (halt == Halt::kMoved) {
      if (at_boundary(job, faulty.outputs.operation)) return ended_as(is_late(job) && end(job, event, kLeft));
      continue;
    }
    if (halt != Halt::kCheck) return ended_as(run_out(job, event));
    const uint64_t lived = faulty.cycle - start;
    run.check = faulty.cycle + next_comparison(lived, job.cycle + 1, kComparison);
    const Digest now = campaign.registers.digest(faulty.state());
    if (rejoin(job, now, here)) return Simulated::kGoesOn;
    if (may_follow(job) && nearly(job) && (compare(job), job.small)) return Simulated::kGoesOn;
    if (const uint64_t period = repeats(job, now, here)) return ended_as(run_out(job, event, period));
    if (young && lived >= kAlone) {
      young = false;
      if (began) {
        known.emplace(std::move(*began), job.id);
        job.known = windows;
      }
      if (seats && !lanes_differ && seats->board(job, start)) return Simulated::kElsewhere;
    }
  }
}

const char* Sweep::golden_row(const Job& job) const {
  if (job.cycle >= window.first() && job.cycle <= window.last()) return window.row(job.cycle);
  return campaign.milestones.find(job.cycle + 1);
}

bool Sweep::rejoin(Job& job, const Digest& now, const Store& store) {
  const Instance& faulty = *campaign.faulty;
  const uint64_t edges = campaign.recognised(now, job.cycle + 1, limit, job.pace.moved, shortcuts);
  if (edges == 0) return false;
  const uint64_t cycle = edges - 1;
  campaign.memories.seek(edges);
  store();
  Difference d;
  if (follows() && cycle >= window.first() && job.apart >= job.stint) {
    campaign.memories.difference(faulty.state(), d);
    if (d.size() > kFewBytes) return false;
  } else if (!campaign.memories.equals(faulty.state())) {
    return false;
  }
  job.cycle = cycle;
  job.shift = static_cast<int64_t>(faulty.cycle) - static_cast<int64_t>(edges);
  job.d = std::move(d);
  job.small = true;
  return true;
}

uint64_t Sweep::repeats(Job& job, const Digest& now, const Store& store) const {
  if (!(shortcuts & kRepetition)) return 0;
  return job.repetition.period(campaign.faulty->cycle, campaign.watchdog.on() ? job.pace.moved : 0, now, [&] {
    store();
    return campaign.memories.digest(campaign.faulty->state());
  });
}

bool Sweep::nearly(const Job& job) const {
  const char *const a = campaign.registers.gathered(), *const b = golden_row(job);
  if (!b) return false;
  size_t different = 0, at = 0;
  const size_t size = campaign.registers.bytes();
  for (; at + 8 <= size && different <= kFewRegisters; at += 8) different += std::memcmp(a + at, b + at, 8) != 0;
  return different <= kFewRegisters;
}

void Sweep::compare(Job& job) {
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

bool Sweep::at_boundary(Job& job, uint64_t operation) {
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
