// See seats.h.

#include "seats.h"

#include <algorithm>

void Seats::clear() {
  seats_ = {};
  watch_ = {};
  due_ = 0;
}

bool Seats::board(Job& job, uint64_t start, uint64_t check) {
  const int lane = std::countr_one(watch_.busy);
  if (!machines_.load(lane)) return false;
  seats_[lane].emplace(std::move(job), campaign_.faulty->cycle, start, check);
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

void Seats::step(uint64_t limit) {
  uint64_t cycles = kSeldom;
  for (const std::optional<Seat>& seat : seats_) {
    if (seat) cycles = std::min({cycles, seat->check - seat->cycle, limit - seat->cycle});
  }
  LanesSeen seen;
  const uint64_t ran = machines_.run(cycles, watch_, seen);
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
    seat.job.cycle += ran;
    seat.job.simulated += ran;
    seat.job.apart += ran;
    if (up[lane]) {
      campaign_.tell(seat.job.told, up[lane], seat.cycle - 1);
      await(lane);
    }
    seat.done = seen.done >> lane & 1;
    seat.moved = seen.moved >> lane & 1;
    if (seat.done || seat.moved || seat.cycle >= seat.check || seat.cycle >= limit) due_ |= uint32_t{1} << lane;
  }
}

void Seats::share(uint64_t nanoseconds) {
  for (std::optional<Seat>& seat : seats_) {
    if (seat) seat->job.nanoseconds += nanoseconds / static_cast<uint64_t>(taken());
  }
}

bool Seats::behind(uint64_t cycle) const {
  return std::ranges::any_of(seats_, [&](const std::optional<Seat>& seat) { return seat && seat->job.cycle < cycle; });
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
