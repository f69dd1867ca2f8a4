// SPDX-License-Identifier: Apache-2.0
// See audit.h.

#include "audit.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "instance.h"

namespace {

constexpr uint64_t kNever = ~uint64_t{0};

// How far runs get ahead of the one without a fault, and so how late a run may be that is found to be as that one
// again: this part of all its cycles, in these bounds.
constexpr uint64_t kStrides = 32;
constexpr uint64_t kShortest = 16;
constexpr uint64_t kLongest = 4096;

// Cycles after which a run's own state is kept for the first time.
constexpr uint64_t kFirstKept = 64;

// A byte by byte comparison of two states, that looks first where it found a difference the last times.
class Comparison {
 public:
  explicit Comparison(size_t parts) : parts_(parts) {}

  template <typename Equal>
  bool operator()(Equal&& equal) {
    if (!equal(first_) || !equal(second_)) return false;
    for (size_t i = 0; i < parts_; ++i) {
      if (equal(i)) continue;
      second_ = std::exchange(first_, i);
      return false;
    }
    return true;
  }

 private:
  size_t parts_;
  size_t first_ = 0;
  size_t second_ = 0;
};

// A counter of operations: what it shows, and the edges after which it moved last.
struct Counter {
  uint64_t value = 0;
  uint64_t moved = 0;

  void show(uint64_t now, uint64_t edges) {
    if (now != value) *this = {now, edges};
  }
};

// A state that a run was in.
struct Kept {
  std::vector<char> state;
  uint64_t when = 0;   // edges after which it was kept; 0 if none was
  uint64_t cycle = 0;  // edges after which it was in this state last
  bool again = false;  // it was, once more
};

struct Injection {
  uint64_t job;
  uint64_t cycle;
  std::vector<Flip> flips;
};

struct Trial {
  uint64_t job;
  size_t instance;
  uint64_t start;  // edges after which it was struck
  uint64_t limit;
  Counter counter;
  Kept kept;
  Comparison golden, own;
  bool applied = true;
  bool paused = false;      // its first inference has ended
  bool alone = false;       // the golden run is not beside it any more
  uint64_t round = 0;       // cycles after which it is in the same state again, if it is known to go round
  uint64_t skipped = 0;     // cycles of rounds that are left out
  uint64_t last = 0;        // edges after which a run that goes round is at its end
};

}  // namespace

struct Audit {
  Audit(const Instance* origin, Instance* golden, std::vector<Instance*> instances, AuditLimits limits)
      : golden_(golden),
        faulty_(std::move(instances)),
        limits_(limits),
        stride_(std::clamp(limits.end / kStrides, kShortest, kLongest)),
        target_(stride_) {
    find_parts(*origin);
    now_ = before_ = {golden_->outputs.operation, 0};
    for (size_t instance = faulty_.size(); instance > 0; --instance) free_.push_back(instance - 1);
  }

  void add(Injection injection) { waiting_.push_back(std::move(injection)); }

  void resume(uint64_t limit) {
    paused_->limit = limit;
    paused_->paused = true;
    live_.insert(live_.begin() + static_cast<std::ptrdiff_t>(turn_), std::move(paused_));
  }

  bool next(AuditEvent& event) {
    if (paused_) release(std::move(paused_));
    if (ended_) release(std::move(ended_));
    while (true) {
      if (turn_ < live_.size()) {
        if (goes_on(*live_[turn_], event)) {
          ++turn_;
          continue;
        }
        leave(turn_, event);
        return true;
      }
      if (waiting_.empty() && live_.empty()) return false;
      if (lead(event)) {
        turn_ = 0;
      } else {
        // No instance is left for the next one. Who was there longest is the least likely to be as the golden run ever
        // again, and goes on to its end.
        live_.front()->alone = true;
        std::rotate(live_.begin(), live_.begin() + 1, live_.end());
        turn_ = live_.size() - 1;
      }
    }
  }

 private:
  // All bytes of the state but those that belong to an instance, pointers and what lies unused between variables: these
  // are not copied, so they differ in instances that are in one state.
  void find_parts(const Instance& origin) {
    constexpr uint64_t kBlock = 4096;
    const uint64_t size = resil_state_bytes();
    std::vector<char> own(size);
    const auto note = [&](Instance& other) {
      other.copy(origin);
      resil_keep(&other, nullptr, 0);  // what the origin does not copy is copied here, too
      const char *const a = other.state(), *const b = origin.state();
      for (uint64_t i = 0; i < size; ++i) own[i] |= static_cast<char>(a[i] != b[i]);
    };
    note(*golden_);
    for (Instance* instance : faulty_) note(*instance);
    for (uint64_t at = 0; at < size;) {
      const uint64_t first = at;
      while (at < size && at - first < kBlock && !own[at]) ++at;
      if (at > first) {
        parts_.push_back({first, at - first});
        places_.push_back(bytes_);
        bytes_ += at - first;
      } else {
        ++at;
      }
    }
  }

  void release(std::unique_ptr<Trial> trial) { free_.push_back(trial->instance); }

  void leave(size_t place, const AuditEvent& event) {
    auto trial = std::move(live_[place]);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(place));
    (event.stop == kPaused ? paused_ : ended_) = std::move(trial);
  }

  // Take the golden run on, and begin with the injections that it comes to; false if there is no instance for the next
  // of them.
  bool lead(AuditEvent& event) {
    while (true) {
      if (!waiting_.empty() && golden_->cycle == waiting_.front().cycle + 1) {
        if (free_.empty()) return false;
        event.job = waiting_.front().job;
        begin_next();
        continue;
      }
      if (golden_->cycle >= target_ || golden_->cycle >= limits_.end) break;
      golden_->select();
      golden_->rise();
      golden_->note_alarms();
      before_ = now_;
      now_.show(golden_->outputs.operation, golden_->cycle);
      if (golden_->outputs.done != (golden_->cycle == limits_.end)) {
        throw std::runtime_error("the run without a fault does not end after " + std::to_string(limits_.end) +
                                 " cycles, as it did before");
      }
    }
    target_ += stride_;
    return true;
  }

  void begin_next() {
    Injection next = std::move(waiting_.front());
    waiting_.pop_front();
    Instance& faulty = *faulty_[free_.back()];
    faulty.copy(*golden_);
    faulty.select();
    char* const state = faulty.state();
    for (const Flip& flip : next.flips) state[flip.offset] ^= static_cast<char>(flip.mask);
    faulty.settle();
    faulty.note_alarms();
    auto trial = std::make_unique<Trial>(Trial{next.job, free_.back(), faulty.cycle, limits_.limit, before_, {},
                                               Comparison(parts_.size()), Comparison(parts_.size())});
    trial->counter.show(faulty.outputs.operation, faulty.cycle);
    for (const Flip& flip : next.flips) {
      trial->applied &= ((state[flip.offset] ^ golden_->state()[flip.offset]) & flip.mask) == flip.mask;
    }
    free_.pop_back();
    live_.push_back(std::move(trial));
  }

  // Take a run on as far as the golden run lets it; false if that is its end, which is then in `event`.
  bool goes_on(Trial& trial, AuditEvent& event) {
    Instance& run = *faulty_[trial.instance];
    const uint64_t until = trial.alone || golden_->cycle >= limits_.end ? kNever : golden_->cycle + stride_;
    event = {trial.job, trial.instance, kBroken, 0, 0, 0};
    const auto ends = [&](InjectionStop stop) {
      event.stop = stop;
      event.end_cycle = run.cycle + trial.skipped;
      event.simulated = run.cycle - trial.start;
      return false;
    };
    if (!trial.applied) return ends(kNotApplied);
    run.select();
    while (true) {
      if (run.outputs.done) return ends(kRanToDone);
      if (limits_.pause && !trial.paused && run.outputs.inferences > 0) return ends(kPaused);
      if (run.outputs.finished) return ends(kFinished);
      if (run.cycle + trial.skipped >= last(trial)) return ends(kRanToLimit);
      if (!trial.round) {
        if (is_golden(trial, run)) {
          event.shift = static_cast<int64_t>(run.cycle - golden_->cycle);
          ends(kRejoined);
          event.end_cycle = limits_.end + (run.cycle - golden_->cycle);
          return false;
        }
        if (goes_round(trial, run)) continue;
      }
      if (run.cycle >= until) return true;
      run.rise();
      run.note_alarms();
      trial.counter.show(run.outputs.operation, run.cycle);
    }
  }

  uint64_t last(const Trial& trial) const {
    if (trial.round) return trial.last;
    const bool watched = limits_.allowance && limits_.allowance < trial.limit - std::min(trial.counter.moved, trial.limit);
    return watched ? trial.counter.moved + limits_.allowance : trial.limit;
  }

  // The run is where the golden one is that stands beside it, and what is left of that fits into what is left of its
  // time. In the operation that is under way it may not have spent more cycles; the later ones are those of the golden
  // run.
  bool is_golden(Trial& trial, const Instance& run) {
    if (trial.alone || run.cycle < golden_->cycle || golden_->cycle >= limits_.end) return false;
    const uint64_t shift = run.cycle - golden_->cycle;
    const uint64_t end = limits_.pause && !trial.paused ? limits_.pause : limits_.end;
    if (end + shift > trial.limit) return false;
    if (limits_.allowance && run.cycle - trial.counter.moved > golden_->cycle - now_.moved) return false;
    const char *const a = run.state(), *const b = golden_->state();
    return trial.golden([&](size_t i) { return std::memcmp(a + parts_[i].offset, b + parts_[i].offset, parts_[i].bytes) == 0; });
  }

  // The run is in a state in which it was before. One such state is kept, a later one each time that the run has lived
  // twice as long (Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980). Where operations have a
  // time-out and their counter moves on the way round, it goes round once more: then it was in every operation of it
  // from beginning to end.
  bool goes_round(Trial& trial, const Instance& run) {
    Kept& kept = trial.kept;
    const char* const state = run.state();
    if (kept.when && run.cycle > kept.cycle && trial.own([&](size_t i) {
          return std::memcmp(state + parts_[i].offset, kept.state.data() + places_[i], parts_[i].bytes) == 0;
        })) {
      const bool moves = trial.counter.moved > kept.cycle;
      if (limits_.allowance && moves && !kept.again) {
        kept.again = true;
        kept.cycle = run.cycle;
        return false;
      }
      const uint64_t standing = last(trial);
      trial.round = run.cycle - kept.cycle;
      trial.last = moves ? trial.limit : standing;
      trial.skipped = (trial.last - run.cycle) / trial.round * trial.round;
      return true;
    }
    const uint64_t lived = run.cycle - trial.start;
    if (lived < (kept.when ? 2 * (kept.when - trial.start) : kFirstKept)) return false;
    kept.state.resize(bytes_);
    for (size_t i = 0; i < parts_.size(); ++i) {
      std::memcpy(kept.state.data() + places_[i], state + parts_[i].offset, parts_[i].bytes);
    }
    kept.when = kept.cycle = run.cycle;
    kept.again = false;
    return false;
  }

  Instance* golden_;
  std::vector<Instance*> faulty_;
  AuditLimits limits_;
  uint64_t stride_;
  uint64_t target_;  // edges to which the golden run goes next
  std::vector<Piece> parts_;      // of the state
  std::vector<uint64_t> places_;  // of these among what is kept of a state
  uint64_t bytes_ = 0;
  Counter now_, before_;  // the golden run's, and in the cycle before
  std::vector<size_t> free_;
  std::deque<Injection> waiting_;
  std::vector<std::unique_ptr<Trial>> live_;  // those that are there longest first
  size_t turn_ = 0;
  std::unique_ptr<Trial> paused_, ended_;
};

extern "C" {

Audit* resil_audit_create(const Instance* origin, Instance* golden, Instance* const* instances, uint64_t count,
                          const AuditLimits* limits) {
  return guarded([&] { return new Audit(origin, golden, {instances, instances + count}, *limits); },
                 static_cast<Audit*>(nullptr));
}

void resil_audit_destroy(Audit* self) { delete self; }

void resil_audit_add(Audit* self, uint64_t job, const Flip* flips, uint64_t count, uint64_t cycle) {
  self->add({job, cycle, {flips, flips + count}});
}

int32_t resil_audit_next(Audit* self, AuditEvent* event) {
  return guarded([&] { return static_cast<int32_t>(self->next(*event)); }, -1);
}

void resil_audit_resume(Audit* self, uint64_t limit) { self->resume(limit); }
}
