// SPDX-License-Identifier: Apache-2.0
// Fault propagation: follows a difference from the golden run through the gates, many cycles of a window at a time.
//
// Only gates with an input that differs are evaluated, as in concurrent fault simulation; the whole of a faulty machine
// would be simulated for the few nets in which it differs.
#ifndef RESIL_VERILATED_RIPPLE_H
#define RESIL_VERILATED_RIPPLE_H

#include <functional>
#include <queue>

#include "window.h"

// While a difference stays the same, its effect can be evaluated for all cycles at once, along the gates where it
// makes one. In the first cycle in which it changes, the gates say into what.
class Ripple {
 public:
  Ripple(const Network& network, Window& window);

  /// Follow `d` from place `first` on; return the first place before `end` after which the difference is another
  /// one, or in which one of the alarms `awaited`, a bit for each, rises; else `end`.
  size_t follow(const Difference& d, size_t first, size_t end, uint64_t awaited);

  /// The place that `follow` returned has to be simulated: gates alone do not say what comes of it.
  bool wild() const { return wild_now_; }
  /// One of the reasons is that an alarm rises in it.
  bool alarmed() const { return alarmed_now_; }

  /// Turn `d`, just followed, into the difference one cycle after `place`.
  void step(Difference& d, size_t place);

  /// Gates evaluated so far.
  uint64_t effort() const { return effort_; }

 private:
  struct Word {
    uint64_t number;
    const ByteDifference* begin;
    const ByteDifference* end;
  };

  size_t propagate(const Difference& d, size_t first, size_t end, bool all);
  bool start(const Difference& d);
  void start_memory(int32_t memory);
  void changed(int32_t net, const CycleSet& value);
  void arrived(const Sink& sink, const CycleSet& cycles);
  void evaluate(int32_t gate);
  void reread(int32_t port);
  void push(int32_t gate);
  bool observed(int32_t net, const CycleSet& cycles) const;
  const CycleSet& value(int32_t net) const { return stamps_[net] == stamp_ ? faulty_[net] : window_.golden(net); }
  bool changed_net(int32_t net) const { return stamps_[net] == stamp_; }
  uint64_t faulty_address(const MemoryPort& port, size_t place) const;
  uint64_t loads(const FlipFlop& flip_flop, size_t k) const;
  const Word* find(int32_t memory, uint64_t word) const;
  template <typename Function>
  void each_bit(const Word& word, int32_t memory, Function&& function) const;
  void step_memory(int32_t memory, size_t place, const Difference& d, Difference& next);

  const Network& network_;
  Window& window_;
  size_t first_ = 0, end_ = 0, k0_ = 0, k1_ = 0;
  CycleSet mask_, events_, wild_, alarmed_;
  CycleSet disturbed_;  // what is unobserved in the golden run may matter
  bool all_ = false;  // follow also where it cannot be observed
  bool wild_now_ = false;
  bool alarmed_now_ = false;
  uint64_t awaited_ = 0;
  uint32_t stamp_ = 0;
  uint64_t effort_ = 0;
  std::vector<CycleSet> faulty_, next_;               // of nets, of flip-flops' inputs
  std::vector<CycleSet> inverted_;                    // of the data of a read port
  std::vector<uint32_t> stamps_, queued_, reached_, own_;
  std::vector<uint32_t> active_;                   // memories that hold a difference or may get one
  std::vector<int32_t> own_list_, reached_list_, active_list_;
  std::vector<std::vector<Word>> words_;           // that differ, by memory
  std::vector<uint32_t> holds_;
  std::vector<int32_t> hold_list_;
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> queue_;
};

#endif
