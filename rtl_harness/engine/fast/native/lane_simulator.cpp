// SPDX-License-Identifier: Apache-2.0
// See lane_simulator.h.

#include "lane_simulator.h"

#include "comparison.h"

bool LaneSimulator::are_before(uint64_t upcoming) const {
  return upcoming == kNever || (slots_.taken() >= kLanesTogether && slots_.between(sweep_.window().first(), upcoming));
}

LanesHalted LaneSimulator::go_on(SweepEvent& event) {
  if (slots_.differ()) return discard(event);
  if (!slots_.due() && slots_.taken() < kLanesTogether) return to_model(slots_.slowest(), event);
  while (!slots_.due()) {
    if (!step()) return {};
  }
  while (slots_.due()) {
    const int lane = slots_.next_due();
    if (slots_.at(lane).undefined) return to_model(lane, event);
    Arrival now{};
    ends_.timed(slots_.at(lane).job, sweep_.times().simulating,
                [&] { return (now = see_to(lane, event)) == Arrival::kEnded; });
    if (now == Arrival::kStays) continue;
    Job job = slots_.release(lane);
    if (now == Arrival::kEnded) return {.ended = true};
    return {.small = std::move(job)};
  }
  return {};
}

bool LaneSimulator::step() {
  uint64_t spent = 0;
  {
    const Timer timer(spent);
    slots_.step(sweep_.limit());
  }
  sweep_.times().simulating += spent;
  slots_.share(spent);
  return !slots_.differ();
}

LanesHalted LaneSimulator::discard(SweepEvent& event) {
  Job job = slots_.release(slots_.slowest());
  return {.ended = ends_.end(job, event, kDiscarded)};
}

LanesHalted LaneSimulator::to_model(int lane, SweepEvent& event) {
  const bool again = slots_.at(lane).undefined;
  const uint64_t start = slots_.at(lane).start, check = slots_.at(lane).check;
  uint64_t& simulating = sweep_.times().simulating;
  Simulated now{};
  ends_.timed(slots_.at(lane).job, simulating, [&] { return slots_.load_model(lane), false; });
  Job job = slots_.release(lane);
  sweep_.run().latch(job.reported);
  job.pace.show(sweep_.faulty().cycle, sweep_.faulty().outputs.operation);
  ends_.timed(job, simulating, [&] {
    return (now = model_.go_on(job, event, start, check, again, {})) == Simulated::kEnded;
  });
  if (now == Simulated::kEnded) return {.ended = true};
  if (now == Simulated::kGoesOn) return {.small = std::move(job)};
  return {};
}

LaneSimulator::Arrival LaneSimulator::see_to(int lane, SweepEvent& event) {
  LaneSlot& slot = slots_.at(lane);
  Job& job = slot.job;
  sweep_.run().instance().cycle = slot.cycle;
  job.pace = {job.pace.moved, job.pace.moved, slots_.machines().operation(lane)};
  uint64_t period = 0;
  bool stored = false;
  const auto store = [&] {
    if (!stored) slots_.machines().store(lane);
    stored = true;
  };
  if (sweep_.injector().alarms().is_enough(job.reported)) {
    event.stop = kDetected;
    event.end_cycle = slot.cycle;
    ends_.end(job, event, kStopped);
    return Arrival::kEnded;
  }
  if (slot.moved && sweep_.leaves()) {
    store();
    if (model_.at_boundary(job, slots_.machines().operation(lane))) {
      return sweep_.is_late(job) && ends_.end(job, event, kLeft) ? Arrival::kEnded : Arrival::kSmall;
    }
  }
  if (!slot.done && slot.cycle < sweep_.watchdog().deadline(job.pace.moved, sweep_.limit())) {
    if (slot.cycle < slot.check) return Arrival::kStays;
    slot.check = slot.cycle + next_comparison(slot.cycle - slot.start, job.cycle + 1, kLaneComparison);
    const Digest now = sweep_.golden().registers().digest_row(slots_.machines().row(lane));
    if (model_.rejoin(job, now, store)) return Arrival::kSmall;
    if (sweep_.may_follow(job) && model_.nearly(job)) {
      store();
      model_.compare(job);
      if (job.small) return Arrival::kSmall;
    }
    period = model_.repeats(job, now, store);
    if (!period) return Arrival::kStays;
  }
  slots_.load_model(lane);
  return model_.run_out(job, event, period) ? Arrival::kEnded : Arrival::kSmall;
}
