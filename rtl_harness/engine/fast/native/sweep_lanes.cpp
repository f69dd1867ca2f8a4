// SPDX-License-Identifier: Apache-2.0
// Jobs of a sweep in lanes. See sweep_state.h.

#include "sweep_state.h"

namespace {

// Machines that have to go on together for lanes to be faster than the compiled model: a step of all takes 8.4 us, a cycle there
// 1.4 us (NPU with 32 MACs, AVX-512).
constexpr int kTogether = 6;

}  // namespace

bool Sweep::rides() const {
  if (lanes_differ) return seats->taken() > 0;
  if (seats->due() || seats->full()) return true;
  if (!current.empty() || seats->taken() == 0) return false;
  const uint64_t first = upcoming();
  return first == kNever || (seats->taken() >= kTogether && seats->between(window.first(), first));
}

bool Sweep::ride(SweepEvent& event) {
  if (lanes_differ) return spoil(event);
  if (!seats->due() && seats->taken() < kTogether) return alight(seats->slowest(), event);
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
    if (seats->at(lane).undefined) {
      if (alight(lane, event)) return true;
      continue;
    }
    Arrival now{};
    timed(seats->at(lane).job, times.simulating, [&] { return (now = see_to(lane, event)) == Arrival::kEnded; });
    if (now == Arrival::kStays) continue;
    Job job = seats->vacate(lane);
    if (now == Arrival::kEnded || requeue(job, event)) return true;
  }
  return false;
}

bool Sweep::spoil(SweepEvent& event) {
  Job job = seats->vacate(seats->slowest());
  return end(job, event, kSpoilt);
}

bool Sweep::alight(int lane, SweepEvent& event) {
  const bool again = seats->at(lane).undefined;
  const uint64_t start = seats->at(lane).start, check = seats->at(lane).check;
  Simulated now{};
  timed(seats->at(lane).job, times.simulating, [&] { return seats->arrive(lane), false; });
  Job job = seats->vacate(lane);
  campaign.latch(job.told);
  job.pace.show(campaign.faulty->cycle, campaign.faulty->outputs.operation);
  timed(job, times.simulating, [&] { return (now = go_on(job, event, start, check, again, {})) == Simulated::kEnded; });
  return now == Simulated::kEnded || (now == Simulated::kGoesOn && requeue(job, event));
}

bool Sweep::requeue(Job& job, SweepEvent& event) {
  if (job.d.empty()) return end(job, event, kVanished);
  (inside(job.cycle) ? current : parked).push_back(std::move(job));
  return false;
}

Arrival Sweep::see_to(int lane, SweepEvent& event) {
  Seat& seat = seats->at(lane);
  Job& job = seat.job;
  campaign.faulty->cycle = seat.cycle;
  job.pace = {job.pace.moved, job.pace.moved, seats->machines().operation(lane)};
  uint64_t period = 0;
  bool stored = false;
  const auto store = [&] {
    if (!stored) seats->machines().store(lane);
    stored = true;
  };
  if (campaign.is_enough(job.told)) {
    event.stop = kDetected;
    event.end_cycle = seat.cycle;
    end(job, event, kStopped);
    return Arrival::kEnded;
  }
  if (seat.moved && leaves()) {
    store();
    if (at_boundary(job, seats->machines().operation(lane))) {
      return is_late(job) && end(job, event, kLeft) ? Arrival::kEnded : Arrival::kSmall;
    }
  }
  if (!seat.done && seat.cycle < campaign.watchdog.deadline(job.pace.moved, limit)) {
    if (seat.cycle < seat.check) return Arrival::kStays;
    seat.check = seat.cycle + next_comparison(seat.cycle - seat.start, job.cycle + 1, kLaneComparison);
    const Digest now = campaign.registers.digest_row(seats->machines().row(lane));
    if (rejoin(job, now, store)) return Arrival::kSmall;
    if (may_follow(job) && nearly(job)) {
      store();
      compare(job);
      if (job.small) return Arrival::kSmall;
    }
    period = repeats(job, now, store);
    if (!period) return Arrival::kStays;
  }
  seats->arrive(lane);
  return run_out(job, event, period) ? Arrival::kEnded : Arrival::kSmall;
}
