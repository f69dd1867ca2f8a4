// SPDX-License-Identifier: Apache-2.0
// See lane_slots.h.

#include "lane_slots.h"

#include <algorithm>
#include <stdexcept>

#include "comparison.h"

void LaneSlots::clear() {
  slots_ = {};
  watch_ = {};
  due_ = 0;
}

bool LaneSlots::enter(Job& job, uint64_t start) {
  const int lane = std::countr_one(watch_.busy);
  if (differ_ || !machines_.load(lane) || !machines_.hold(lane, job.held)) return false;
  job.in_lane = true;
  const uint64_t cycle = injector_.run().instance().cycle;
  const uint64_t check = cycle + next_comparison(cycle - start, job.cycle + 1, kLaneComparison);
  slots_[lane].emplace(std::move(job), cycle, start, check);
  watch_.busy |= uint32_t{1} << lane;
  await(lane);
  return true;
}

// Watch for the alarms that are news for a job.
void LaneSlots::await(int lane) {
  const uint64_t awaited = injector_.alarms().awaited(slots_[lane]->job.reported);
  for (int alarm = 0; alarm < kMostAlarms; ++alarm) {
    watch_.alarms[alarm] &= ~(uint32_t{1} << lane);
    watch_.alarms[alarm] |= static_cast<uint32_t>(awaited >> alarm & 1) << lane;
  }
}

Job LaneSlots::release(int lane) {
  Job job = std::move(slots_[lane]->job);
  slots_[lane].reset();
  watch_.busy &= ~(uint32_t{1} << lane);
  for (uint32_t& alarm : watch_.alarms) alarm &= watch_.busy;
  return job;
}

void LaneSlots::load_model(int lane) {
  Instance& faulty = injector_.run().instance();
  injector_.golden().copy(faulty, injector_.golden().cursor());
  machines_.store(lane);
  faulty.cycle = slots_[lane]->cycle;
  faulty.select();
  faulty.settle();
  injector_.run().hold(slots_[lane]->job.held);
}

void LaneSlots::step(uint64_t limit) {
  uint64_t cycles = limit;
  for (const std::optional<LaneSlot>& slot : slots_) {
    if (slot) cycles = std::min({cycles, slot->check - slot->cycle, deadline(*slot, limit) - slot->cycle});
  }
  const bool compare = steps_ % kCompareEvery == 0;
  const int compared = compare ? compared_next() : 0;
  if (compare) load_model(compared);
  ++steps_;
  LanesSeen seen;
  const uint64_t ran = machines_.run(cycles, watch_, seen);
  if (seen.beyond & watch_.busy) throw std::runtime_error("a run has written to words that its memories do not have");
  differ_ = compare && !agrees(compared, ran, seen);
  if (differ_) return;
  std::array<uint64_t, kLaneCount> up{};
  for (int alarm = 0; alarm < kMostAlarms; ++alarm) {
    for (uint32_t raised = seen.alarms[alarm]; raised; raised &= raised - 1) {
      up[std::countr_zero(raised)] |= uint64_t{1} << alarm;
    }
  }
  for (int lane = 0; lane < kLaneCount; ++lane) {
    if (!slots_[lane]) continue;
    LaneSlot& slot = *slots_[lane];
    slot.cycle += ran;
    slot.job.ran(ran);
    slot.undefined = seen.undefined >> lane & 1;
    if (up[lane] && !slot.undefined) {
      injector_.alarms().report(slot.job.reported, up[lane], slot.cycle - 1);
      await(lane);
    }
    slot.done = seen.done >> lane & 1;
    slot.moved = seen.moved >> lane & 1;
    if (slot.moved && !slot.undefined) slot.job.pace.moved = slot.cycle;
    const bool over = slot.undefined || slot.done || injector_.alarms().is_enough(slot.job.reported) ||
                      slot.cycle >= deadline(slot, limit);
    if (over || slot.moved || slot.cycle >= slot.check) due_ |= uint32_t{1} << lane;
  }
}

uint64_t LaneSlots::deadline(const LaneSlot& slot, uint64_t limit) const {
  return injector_.watchdog().deadline(slot.job.pace.moved, limit);
}

// Each in turn.
int LaneSlots::compared_next() {
  int lane = static_cast<int>(steps_ / kCompareEvery % kLaneCount);
  while (!slots_[lane]) lane = (lane + 1) % kLaneCount;
  return lane;
}

// Let the faulty instance, which is where the machine was, do the same cycles: it must come to the same state, with the
// same to be seen on the way, but in a cycle in which the lane model does not know it.
bool LaneSlots::agrees(int lane, uint64_t ran, const LanesSeen& seen) {
  Instance& faulty = injector_.run().instance();
  const uint64_t awaited = injector_.alarms().awaited(slots_[lane]->job.reported);
  const Holds held = slots_[lane]->job.held;
  uint64_t operation = faulty.outputs.operation;
  for (uint64_t i = 1; i <= ran; ++i) {
    if (!injector_.run().rise(held)) return false;
    uint64_t up = 0;
    for (int alarm = 0; i == ran && alarm < kMostAlarms; ++alarm) {
      up |= static_cast<uint64_t>(seen.alarms[alarm] >> lane & 1) << alarm;
    }
    if (i == ran && (seen.undefined >> lane & 1)) break;
    const bool done = i == ran && (seen.done >> lane & 1), moved = i == ran && (seen.moved >> lane & 1);
    if (faulty.outputs.finished || done != (faulty.outputs.done != 0) || (faulty.outputs.alarms & awaited) != up ||
        moved != (faulty.outputs.operation != operation)) {
      return false;
    }
    operation = faulty.outputs.operation;
  }
  return machines_.equals(lane);
}

void LaneSlots::share(uint64_t nanoseconds) {
  for (std::optional<LaneSlot>& slot : slots_) {
    if (slot) slot->job.nanoseconds += nanoseconds / static_cast<uint64_t>(taken());
  }
}

bool LaneSlots::between(uint64_t from, uint64_t to) const {
  return std::ranges::any_of(slots_, [&](const std::optional<LaneSlot>& slot) {
    return slot && slot->job.cycle >= from && slot->job.cycle < to;
  });
}

int LaneSlots::slowest() const {
  const auto slowest = std::ranges::min_element(slots_, {}, [](const std::optional<LaneSlot>& slot) {
    return slot ? slot->job.cycle : ~uint64_t{0};
  });
  return static_cast<int>(slowest - slots_.begin());
}

int LaneSlots::next_due() {
  const int lane = std::countr_zero(due_);
  due_ &= due_ - 1;
  return lane;
}
