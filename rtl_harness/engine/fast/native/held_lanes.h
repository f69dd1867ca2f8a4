// SPDX-License-Identifier: Apache-2.0
// Stuck bits in lanes: each begins where it first has an effect, and goes on beside others until its end is known.
#ifndef RESIL_VERILATED_HELD_LANES_H
#define RESIL_VERILATED_HELD_LANES_H

#include <deque>
#include <vector>

#include "held_lanes_api.h"
#include "lane_slots.h"

class HeldLanes {
 public:
  HeldLanes(Injector& injector, const LaneModel& lanes) : injector_(injector), slots_(injector, lanes) {}

  void begin(uint64_t limit, uint32_t shortcuts);
  void add(uint64_t id, std::vector<Hold> held);
  /// Go on until a stuck bit has ended; false if none is left.
  bool next(HeldEvent& event);
  bool differ() const { return slots_.differ(); }

 private:
  // Begin with the next one; true if its end is known.
  bool enter(HeldEvent& event);
  // See to what has happened in a lane; true if its end is known.
  bool see_to(int lane, HeldEvent& event);
  // The machine in a lane is where the golden run was.
  bool rejoins(int lane, const Digest& now, HeldEvent& event);
  // Take one from its lane and on to its end in the compiled model; `period` is as of a run by itself.
  void finish(int lane, HeldEvent& event, uint64_t period = 0);
  // Nothing in a lane can be trusted: one is simulated by itself, from its beginning.
  void again(int lane, HeldEvent& event);

  Injector& injector_;
  LaneSlots slots_;
  std::vector<std::vector<Hold>> held_;  // by job
  std::deque<uint64_t> waiting_;
  uint64_t limit_ = 0;
  uint32_t shortcuts_ = 0;
};

#endif
