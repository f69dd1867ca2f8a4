// SPDX-License-Identifier: Apache-2.0
// See lane_slots.h.

#include "lane_slots.h"

#include <algorithm>
#include <stdexcept>

void Seats::clear() {
  seats_ = {};
  watch_ = {};
  due_ = 0;
}

bool Seats::board(Job& job, uint64_t start) {
  const int lane = std::countr_one(watch_.busy);
  if (!machines_.load(lane)) return false;
  job.in_lane = true;
  const uint64_t cycle = campaign_.faulty->cycle;
  const uint64_t check = cycle + next_comparison(cycle - start, job.cycle + 1, kLaneComparison);
  seats_[lane].emplace(std::move(job), cycle, start, check);
  watch_.busy |= uint32_t{1} << lane;
  await(lane);
  return true;
}

// Watch for the alarms that are news for a job.
void Seats::await(int lane) {
  const uint64_t awaited = campaign_.awaited(seats_[lane]->job.told);
  for (int alarm = 0; alarm < kMostAlarms; ++alarm) {
    watch_.alarms[alarm] &= ~(uint32_t{1} << lane);
    watch_.alarms[alarm] |= static_cast<uint32_t>(awaited >> alarm & 1) << lane;
  }
}

Job Seats::vacate(int lane) {
  Job job = std::move(seats_[lane]->job);
  seats_[lane].reset();
  watch_.busy &= ~(uint32_t{1} << lane);
  for (uint32_t& alarm : watch_.alarms) alarm &= watch_.busy;
  return job;
}

void Seats::arrive(int lane) {
  Instance& faulty = *campaign_.faulty;
  faulty.copy(*campaign_.cursor);
  machines_.store(lane);
  faulty.cycle = seats_[lane]->cycle;
  faulty.select();
  faulty.settle();
}

bool Seats::step(uint64_t limit) {
  uint64_t cycles = limit;
  for (const std::optional<Seat>& seat : seats_) {
    if (seat) cycles = std::min({cycles, seat->check - seat->cycle, deadline(*seat, limit) - seat->cycle});
  }
  const bool compare = steps_ % kCompareEvery == 0;
  const int compared = compare ? compared_next() : 0;
  if (compare) arrive(compared);
  ++steps_;
  LanesSeen seen;
  const uint64_t ran = machines_.run(cycles, watch_, seen);
  if (seen.beyond & watch_.busy) throw std::runtime_error("a run has written to words that its memories do not have");
  if (compare && !agrees(compared, ran, seen)) return false;
  std::array<uint64_t, kLaneCount> up{};
  for (int alarm = 0; alarm < kMostAlarms; ++alarm) {
    for (uint32_t raised = seen.alarms[alarm]; raised; raised &= raised - 1) {
      up[std::countr_zero(raised)] |= uint64_t{1} << alarm;
    }
  }
  for (int lane = 0; lane < kLaneCount; ++lane) {
    if (!seats_[lane]) continue;
    Seat& seat = *seats_[lane];
    seat.cycle += ran;
    seat.job.ran(ran);
    seat.undefined = seen.undefined >> lane & 1;
    if (up[lane] && !seat.undefined) {
      campaign_.tell(seat.job.told, up[lane], seat.cycle - 1);
      await(lane);
    }
    seat.done = seen.done >> lane & 1;
    seat.moved = seen.moved >> lane & 1;
    if (seat.moved && !seat.undefined) seat.job.pace.moved = seat.cycle;
    const bool over = seat.undefined || seat.done || campaign_.is_enough(seat.job.told) || seat.cycle >= deadline(seat, limit);
    if (over || seat.moved || seat.cycle >= seat.check) due_ |= uint32_t{1} << lane;
  }
  return true;
}

uint64_t Seats::deadline(const Seat& seat, uint64_t limit) const {
  return campaign_.watchdog.deadline(seat.job.pace.moved, limit);
}

// Each in turn.
int Seats::compared_next() {
  int lane = static_cast<int>(steps_ / kCompareEvery % kLaneCount);
  while (!seats_[lane]) lane = (lane + 1) % kLaneCount;
  return lane;
}

// Let the faulty instance, which is where the machine was, do the same cycles: it must come to the same state, with the same
// to be seen on the way, but in a cycle in which the lane model does not know it.
bool Seats::agrees(int lane, uint64_t ran, const LanesSeen& seen) {
  Instance& faulty = *campaign_.faulty;
  const uint64_t awaited = campaign_.awaited(seats_[lane]->job.told);
  uint64_t operation = faulty.outputs.operation;
  for (uint64_t i = 1; i <= ran; ++i) {
    faulty.rise();
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

void Seats::share(uint64_t nanoseconds) {
  for (std::optional<Seat>& seat : seats_) {
    if (seat) seat->job.nanoseconds += nanoseconds / static_cast<uint64_t>(taken());
  }
}

bool Seats::between(uint64_t from, uint64_t to) const {
  return std::ranges::any_of(seats_, [&](const std::optional<Seat>& seat) {
    return seat && seat->job.cycle >= from && seat->job.cycle < to;
  });
}

int Seats::slowest() const {
  const auto slowest = std::ranges::min_element(seats_, {}, [](const std::optional<Seat>& seat) {
    return seat ? seat->job.cycle : ~uint64_t{0};
  });
  return static_cast<int>(slowest - seats_.begin());
}

int Seats::next_due() {
  const int lane = std::countr_zero(due_);
  due_ &= due_ - 1;
  return lane;
}
