// SPDX-License-Identifier: Apache-2.0
// See held_lanes.h.

#include "held_lanes.h"

#include "comparison.h"

void HeldLanes::begin(uint64_t limit, uint32_t shortcuts) {
  slots_.clear();
  held_.clear();
  waiting_.clear();
  limit_ = limit;
  shortcuts_ = shortcuts & kByItself;
}

void HeldLanes::add(uint64_t id, std::vector<Hold> held) {
  if (held_.size() <= id) held_.resize(id + 1);
  held_[id] = std::move(held);
  waiting_.push_back(id);
}

bool HeldLanes::next(HeldEvent& event) {
  while (true) {
    if (slots_.differ()) {
      if (slots_.taken()) return again(slots_.slowest(), event), true;
    } else if (slots_.due()) {
      if (see_to(slots_.next_due(), event)) return true;
      continue;
    }
    if (!waiting_.empty() && !slots_.full()) {
      if (enter(event)) return true;
      continue;
    }
    if (!slots_.taken()) return false;
    if (waiting_.empty() && slots_.taken() < kLanesTogether) return finish(slots_.slowest(), event), true;
    slots_.step(limit_);
  }
}

bool HeldLanes::enter(HeldEvent& event) {
  Job job{waiting_.front(), 0};
  waiting_.pop_front();
  job.held = held_[job.id];
  event.job = job.id;
  InjectionResult& result = event.result;
  result.reported = kNothingReported;
  if (!injector_.begin_holding(job.held, shortcuts_, job.free, result)) return true;
  const Instance& faulty = injector_.run().instance();
  job.cycle = faulty.cycle - 1;
  job.pace = {result.moved, result.moved, faulty.outputs.operation};
  job.reported = result.reported;
  const bool over = injector_.alarms().is_enough(job.reported) || (faulty.cycle > 0 && faulty.outputs.done) ||
                    faulty.outputs.finished || faulty.cycle >= injector_.watchdog().deadline(result.moved, limit_);
  if (!over && slots_.enter(job, faulty.cycle)) return false;
  injector_.run().finish(limit_, shortcuts_, result, held_[event.job], job.free);
  return true;
}

bool HeldLanes::see_to(int lane, HeldEvent& event) {
  LaneSlot& slot = slots_.at(lane);
  Job& job = slot.job;
  if (slot.undefined) return finish(lane, event), true;
  injector_.run().instance().cycle = slot.cycle;
  job.pace = {job.pace.moved, job.pace.moved, slots_.machines().operation(lane)};
  const bool over = slot.done || injector_.alarms().is_enough(job.reported) ||
                    slot.cycle >= injector_.watchdog().deadline(job.pace.moved, limit_);
  if (over) return finish(lane, event), true;
  if (slot.cycle < slot.check) return false;
  slot.check = slot.cycle + next_comparison(slot.cycle - slot.start, job.cycle + 1, kLaneComparison);
  const Digest now = injector_.golden().registers().digest_row(slots_.machines().row(lane));
  if (rejoins(lane, now, event)) return true;
  if (!(shortcuts_ & kRepetition)) return false;
  const Digest whole = injector_.golden().registers().with_alarms(now);
  const uint64_t moved = injector_.watchdog().on() ? job.pace.moved : 0;
  const uint64_t period = job.repetition.period(slot.cycle, moved, whole, [&] {
    slots_.machines().store(lane);
    return injector_.golden().memories().digest(injector_.run().instance());
  });
  if (!period) return false;
  return finish(lane, event, period), true;
}

bool HeldLanes::rejoins(int lane, const Digest& now, HeldEvent& event) {
  const LaneSlot& slot = slots_.at(lane);
  const Job& job = slot.job;
  GoldenRun& golden = injector_.golden();
  const uint64_t edges =
      injector_.run().recognised(now, slot.cycle, limit_, job.pace.moved, shortcuts_, job.free);
  if (!edges) return false;
  const SpentAlarms& spent = golden.registers().spent();
  if (spent.alarms() & injector_.alarms().awaited(job.reported)) return false;
  golden.memories().seek(edges);
  slots_.machines().store(lane);
  if (!golden.memories().equals(injector_.run().instance())) return false;
  const int64_t shift = static_cast<int64_t>(slot.cycle) - static_cast<int64_t>(edges);
  event.result = {kRejoined,      shift,        golden.length() + static_cast<uint64_t>(shift), job.simulated,
                  job.pace.moved, job.reported, spent.any()};
  event.in_lane = 1;
  event.job = slots_.release(lane).id;
  return true;
}

void HeldLanes::finish(int lane, HeldEvent& event, uint64_t period) {
  slots_.load_model(lane);
  Job job = slots_.release(lane);
  FaultyRun& run = injector_.run();
  run.latch(job.reported);
  job.pace.show(run.instance().cycle, run.instance().outputs.operation);
  event.job = job.id;
  event.in_lane = 1;
  event.result = {kBroken, 0, 0, 0, job.pace.moved, job.reported, 0};
  run.finish(limit_, shortcuts_, event.result, job.held, job.free, false, period);
  event.result.simulated += job.simulated;
}

void HeldLanes::again(int lane, HeldEvent& event) {
  event.job = slots_.release(lane).id;
  event.result.reported = kNothingReported;
  injector_.hold(held_[event.job], limit_, shortcuts_, event.result);
}

extern "C" {

HeldLanes* resil_held_create(Injector* injector, const LaneModel* model) {
  return guarded([&] { return new HeldLanes(*injector, *model); }, static_cast<HeldLanes*>(nullptr));
}

void resil_held_destroy(HeldLanes* self) { delete self; }

void resil_held_begin(HeldLanes* self, uint64_t limit, uint32_t shortcuts) { self->begin(limit, shortcuts); }

int32_t resil_held_add(HeldLanes* self, uint64_t job, const Hold* holds, uint64_t count) {
  return guarded([&] { return self->add(job, {holds, holds + count}), 0; }, -1);
}

void resil_held_next(HeldLanes* self, HeldEvent* event) {
  *event = {};
  event->kind = guarded([&] { return self->next(*event) ? 1 : 0; }, -1);
}

int32_t resil_held_differ(const HeldLanes* self) { return self->differ(); }
}
