// SPDX-License-Identifier: Apache-2.0
// See model_simulator.h.

#include "model_simulator.h"

#include <bit>
#include <cstring>

#include "comparison.h"

namespace {

// Cycles of simulation after which a job goes on in a lane, and the state in which it began is kept.
constexpr uint64_t kAlone = 64;

// Of eight bytes.
int unequal_bytes(const char* one, const char* other) {
  uint64_t a, b;
  std::memcpy(&a, one, sizeof a);
  std::memcpy(&b, other, sizeof b);
  uint64_t x = a ^ b;
  x |= x >> 4;
  x |= x >> 2;
  x |= x >> 1;
  return std::popcount(x & 0x0101010101010101);
}

}  // namespace

bool ModelSimulator::restore(Job& job) {
  Instance& faulty = sweep_.run().instance();
  faulty.copy(sweep_.golden().cursor());  // large memories are restored with the others, below
  char* const state = faulty.state();
  sweep_.golden().registers().scatter(sweep_.window().row(job.cycle), state);
  sweep_.golden().memories().seek(job.cycle + 1);
  sweep_.golden().memories().restore(faulty);
  const bool edges = sweep_.network().has_edges;
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
  sweep_.run().latch(job.reported);
  job.pace.show(faulty.cycle, faulty.outputs.operation);
  return true;
}

bool ModelSimulator::finish(Job& job, SweepEvent& event) {
  return restore(job) ? run_out(job, event) : ends_.end(job, event, kStopped);
}

bool ModelSimulator::run_out(Job& job, SweepEvent& event, uint64_t period) {
  InjectionResult result{};
  result.reported = job.reported;
  result.moved = job.pace.moved;
  sweep_.run().finish(sweep_.limit(), sweep_.shortcuts(), result, {}, 0, sweep_.second(), period);
  job.simulated += result.simulated;
  job.reported = result.reported;
  if (result.stop == kRejoined) {
    job.shift = result.shift;
    job.spent = result.spent;
    return ends_.end(job, event, kVanished);
  }
  event.stop = result.stop;
  event.end_cycle = result.end_cycle;
  if (result.stop == kPaused) pause(job);
  return ends_.end(job, event, kStopped);
}

void ModelSimulator::pause(Job& job) {
  const uint64_t edges = sweep_.golden().pause();
  job.shift = static_cast<int64_t>(sweep_.faulty().cycle) - static_cast<int64_t>(edges);
  job.cycle = edges - 1;
  compare(job, sweep_.golden().pause_registers().data());
}

Simulated ModelSimulator::simulate(Job& job, SweepEvent& event) {
  std::optional<Prospect> began;
  if (sweep_.merges() && !sweep_.makes_edge(job)) {
    began = sweep_.prospect(job);
    if (merger_.joins(job, *began)) return Simulated::kElsewhere;
  }
  if (!restore(job)) return ended_as(ends_.end(job, event, kStopped));
  const uint64_t start = sweep_.faulty().cycle;
  job.small = false;
  return go_on(job, event, start, start + 1, true, std::move(began));
}

Simulated ModelSimulator::go_on(Job& job, SweepEvent& event, uint64_t start, uint64_t check, bool young,
                                 std::optional<Prospect> began) {
  Instance& faulty = sweep_.run().instance();
  Progress run{start, check, sweep_.limit(), job.pace.moved, 0, job.reported};
  const auto here = [] {};
  while (true) {
    const uint64_t before = faulty.cycle;
    const Halt halt = sweep_.run().advance(run, {}, sweep_.second(), sweep_.leaves());
    job.reported = run.reported;
    job.pace = {run.moved, run.moved, faulty.outputs.operation};
    job.ran(faulty.cycle - before);
    if (halt == Halt::kMoved) {
      if (!at_boundary(job, faulty.outputs.operation)) continue;
      return ended_as(sweep_.is_late(job) && ends_.end(job, event, kLeft));
    }
    if (halt != Halt::kCheck) return ended_as(run_out(job, event));
    const uint64_t lived = faulty.cycle - start;
    run.check = faulty.cycle + next_comparison(lived, job.cycle + 1, kComparison);
    const Digest now = sweep_.golden().registers().digest(faulty.state());
    if (rejoin(job, now, here)) return Simulated::kGoesOn;
    if (sweep_.may_follow(job) && nearly(job) && (compare(job), job.small)) return Simulated::kGoesOn;
    if (const uint64_t period = repeats(job, now, here)) return ended_as(run_out(job, event, period));
    if (young && lived >= kAlone) {
      young = false;
      if (began) merger_.keep(job, std::move(*began));
      if (slots_ && slots_->enter(job, start)) return Simulated::kElsewhere;
    }
  }
}

const char* ModelSimulator::golden_row(const Job& job) const {
  const Window& window = sweep_.window();
  if (job.cycle > sweep_.last()) return nullptr;
  if (job.cycle >= window.first() && job.cycle <= window.last()) return window.row(job.cycle);
  return sweep_.golden().milestones().find(job.cycle + 1);
}

bool ModelSimulator::rejoin(Job& job, const Digest& now, const Store& store) {
  const Instance& faulty = sweep_.run().instance();
  const uint64_t edges =
      sweep_.run().recognised(now, job.cycle + 1, sweep_.limit(), job.pace.moved, sweep_.shortcuts());
  if (edges == 0 || edges - 1 > sweep_.last()) return false;
  const uint64_t cycle = edges - 1;
  sweep_.golden().memories().seek(edges);
  store();
  const SpentAlarms& spent = sweep_.golden().registers().spent();
  Difference d;
  if (sweep_.follows() && cycle >= sweep_.window().first() && job.apart >= job.stint) {
    sweep_.golden().memories().difference(faulty, d);
    if (d.size() > kFewBytes) return false;
  } else if (!sweep_.golden().memories().equals(faulty) || (spent.alarms() & sweep_.awaited(job))) {
    return false;
  }
  spent.add_to(d);
  job.cycle = cycle;
  job.shift = static_cast<int64_t>(faulty.cycle) - static_cast<int64_t>(edges);
  job.d = std::move(d);
  job.small = true;
  return true;
}

uint64_t ModelSimulator::repeats(Job& job, const Digest& now, const Store& store) const {
  if (!sweep_.repeats()) return 0;
  const Digest whole = sweep_.golden().registers().with_alarms(now);
  return job.repetition.period(sweep_.faulty().cycle, sweep_.watchdog().on() ? job.pace.moved : 0, whole, [&] {
    store();
    return sweep_.golden().memories().digest(sweep_.faulty());
  });
}

bool ModelSimulator::nearly(const Job& job) const {
  const char *const a = sweep_.golden().registers().gathered(), *const b = golden_row(job);
  if (!b) return false;
  size_t different = 0;
  const size_t size = sweep_.golden().registers().bytes();
  for (size_t at = 0; at + 8 <= size && different <= kFewRegisters; at += 8) different += unequal_bytes(a + at, b + at);
  return different <= kFewRegisters;
}

void ModelSimulator::compare(Job& job) { compare(job, golden_row(job)); }

void ModelSimulator::compare(Job& job, const char* row) {
  const char* const state = sweep_.faulty().state();
  job.d.clear();
  sweep_.golden().registers().gather(state, found_.data());
  for (size_t i = 0; i < found_.size(); ++i) {
    if (found_[i] != row[i]) {
      job.d.push_back({sweep_.golden().registers().offset(i), static_cast<uint8_t>(found_[i] ^ row[i])});
    }
  }
  sweep_.golden().memories().seek(job.cycle + 1);
  const auto registers = static_cast<std::ptrdiff_t>(job.d.size());
  sweep_.golden().memories().difference(sweep_.faulty(), job.d);
  std::inplace_merge(job.d.begin(), job.d.begin() + registers, job.d.end(), by_offset);
  job.small = sweep_.is_small(job.d);
}

bool ModelSimulator::at_boundary(Job& job, uint64_t operation) {
  const std::optional<size_t> i = sweep_.boundary().find(operation);
  job.leave.reset();
  if (!i) return false;
  const Instance& faulty = sweep_.run().instance();
  const uint64_t edges = sweep_.boundary().edges(*i);
  const int64_t shift = static_cast<int64_t>(faulty.cycle) - static_cast<int64_t>(edges);
  if (static_cast<int64_t>(sweep_.golden().length()) + shift > static_cast<int64_t>(sweep_.limit())) return false;
  Difference d;
  if (!sweep_.boundary().registers(faulty.state(), *i, sweep_.awaited(job), d)) return false;
  sweep_.golden().memories().seek(edges);
  sweep_.golden().memories().difference(faulty, d);
  std::sort(d.begin(), d.end(), by_offset);
  if (!sweep_.boundary().permits(d, *i, sweep_.awaited(job))) return false;
  job.leave = sweep_.departure(d, *i, shift);
  if (!job.leave) return false;
  if (!job.noted) job.noted = job.leave;
  if (shift == job.shift) {
    job.d = std::move(d);
    job.small = sweep_.is_small(job.d);
  }
  return true;
}
