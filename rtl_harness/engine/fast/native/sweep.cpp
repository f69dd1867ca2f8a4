// SPDX-License-Identifier: Apache-2.0
// See sweep.h and sweep_api.h.

#include "sweep.h"

#include "alarm_storage.h"

void Sweep::use(const LaneModel& lanes) {
  lanes_.emplace(context_, ends_, model_, lanes);
  model_.use(lanes_->slots());
}

void Sweep::begin(uint64_t limit, uint32_t shortcuts, bool second) {
  waiting_.clear();
  parked_.clear();
  current_.clear();
  merger_.clear();
  if (lanes_) lanes_->slots().clear();
  context_.begin(limit, shortcuts, second);
}

void Sweep::add(uint64_t id, uint64_t cycle, Difference flips) {
  std::sort(flips.begin(), flips.end(), by_offset);
  Difference joined;
  for (const ByteDifference& byte : flips) {
    if (!joined.empty() && joined.back().offset == byte.offset) {
      joined.back().mask |= byte.mask;
    } else {
      joined.push_back(byte);
    }
  }
  waiting_.push_back({id, cycle, std::move(joined)});
}

void Sweep::resume(uint64_t id, Difference d, const Reported& reported) {
  waiting_.push_back({id, context_.golden().pause() - 1, std::move(d), false, reported});
}

void Sweep::next(SweepEvent& event) {
  while (true) {
    if (auto merged = merger_.next()) {
      event.other = merged->second;
      ends_.end(merged->first, event, kMerged);
      return;
    }
    if (lanes_are_next()) {
      if (advance_lanes(event)) return;
      continue;
    }
    if (current_.empty()) {
      if (upcoming() == kNever) return;
      open();
      continue;
    }
    Job job = std::move(current_.front());
    current_.pop_front();
    if (advance(job, event)) return;
  }
}

void Sweep::open() {
  if (context_.merges()) merger_.merge(parked_);
  merger_.begin_window();
  context_.load(std::min(upcoming(), context_.last()));
  std::deque<Job> later;
  for (Job& job : parked_) (context_.inside(job.cycle) ? current_ : later).push_back(std::move(job));
  parked_ = std::move(later);
  while (!waiting_.empty() && context_.inside(waiting_.front().cycle)) {
    Job job{waiting_.front().id, waiting_.front().cycle};
    job.d = std::move(waiting_.front().d);
    job.fresh = waiting_.front().fresh;
    job.small = job.fresh || context_.is_small(job.d);
    job.reported = waiting_.front().reported;
    job.pace = context_.watchdog().golden(job.cycle);
    const uint64_t value = context_.watchdog().value(job.cycle + 1, job.d);
    if (value != job.pace.value) job.pace.moved = job.cycle + 1;
    current_.push_back(std::move(job));
    waiting_.pop_front();
  }
}

const std::vector<AlarmBit>& Sweep::alarm_storage() {
  alarm_storage_ = ::alarm_storage(context_.network(), context_.golden());
  return alarm_storage_;
}

bool Sweep::lanes_are_next() const {
  if (!lanes_) return false;
  return lanes_->are_due() || (current_.empty() && lanes_->any() && lanes_->are_before(upcoming()));
}

uint64_t Sweep::upcoming() const {
  uint64_t first = waiting_.empty() ? kNever : waiting_.front().cycle;
  for (const Job& job : parked_) first = std::min(first, job.cycle);
  return first;
}

bool Sweep::advance(Job& job, SweepEvent& event) {
  const Window& window = context_.window();
  SweepTimes& times = context_.times();
  while (true) {
    if (vanished(job, event)) return true;
    if (job.cycle >= window.last()) {
      if (window.last() == context_.last()) {
        return ends_.timed(job, times.simulating, [&] { return model_.finish(job, event); });
      }
      parked_.push_back(std::move(job));
      return false;
    }
    const bool followed = context_.follows() && job.small && !context_.makes_edge(job) && context_.on_time(job);
    if (followed && ends_.timed(job, times.following, [&] { return gates_.follow(job); })) continue;
    if (job.leave) return ends_.end(job, event, kLeft);
    Simulated now{};
    ends_.timed(job, times.simulating, [&] { return (now = model_.simulate(job, event)) == Simulated::kEnded; });
    if (now != Simulated::kGoesOn) return now == Simulated::kEnded;
  }
}

bool Sweep::vanished(Job& job, SweepEvent& event) {
  const bool up = !job.d.empty();
  if (up && !context_.spent(job)) return false;
  job.spent = up;
  return ends_.end(job, event, kVanished);
}

bool Sweep::advance_lanes(SweepEvent& event) {
  LanesHalted halted = lanes_->go_on(event);
  if (halted.ended || !halted.small) return halted.ended;
  if (vanished(*halted.small, event)) return true;
  (context_.inside(halted.small->cycle) ? current_ : parked_).push_back(std::move(*halted.small));
  return false;
}

extern "C" {

uint64_t resil_sweep_alarm_storage(Sweep* self, const AlarmBit** bits) {
  return guarded(
      [&] {
        const std::vector<AlarmBit>& found = self->alarm_storage();
        *bits = found.data();
        return static_cast<uint64_t>(found.size());
      },
      ~uint64_t{0});
}

int32_t resil_sweep_lanes(Sweep* self, const LaneModel* model) {
  return guarded([&] { return self->use(*model), 0; }, -1);
}

int32_t resil_sweep_lanes_differ(const Sweep* self) { return self->lanes_differ(); }

Sweep* resil_sweep_create(Injector* injector, const Circuit* circuit, const Boundaries* boundaries) {
  return guarded([&] { return new Sweep(*injector, *circuit, boundaries); }, static_cast<Sweep*>(nullptr));
}

void resil_sweep_destroy(Sweep* self) { delete self; }

void resil_sweep_begin(Sweep* self, uint64_t limit, uint32_t shortcuts, int32_t second) {
  self->begin(limit, shortcuts, second != 0);
}

void resil_sweep_resume(Sweep* self, uint64_t job, const ByteDifference* bytes, uint64_t count,
                        const Reported* reported) {
  self->resume(job, {bytes, bytes + count}, *reported);
}

void resil_sweep_add(Sweep* self, uint64_t job, const Flip* flips, uint64_t count, uint64_t cycle) {
  Difference d;
  for (uint64_t i = 0; i < count; ++i) d.push_back({flips[i].offset, flips[i].mask});
  self->add(job, cycle, std::move(d));
}

void resil_sweep_next(Sweep* self, SweepEvent* event) {
  *event = {};
  const int32_t kind = guarded(
      [&] {
        self->next(*event);
        event->nanoseconds = self->nanoseconds();
        return event->kind;
      },
      static_cast<int32_t>(kSweepBroken));
  event->kind = kind;
}

void resil_sweep_times(const Sweep* self, SweepTimes* times) { *times = self->times(); }
}
