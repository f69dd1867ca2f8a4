// SPDX-License-Identifier: Apache-2.0
// Jobs of a sweep in lanes: when these go on, and what is seen to in them.
#ifndef RESIL_VERILATED_LANE_SIMULATOR_H
#define RESIL_VERILATED_LANE_SIMULATOR_H

#include "model_simulator.h"

// What the lanes hand back when they halt.
struct LanesHalted {
  bool ended = false;             // a job has ended; the event reports it
  std::optional<Job> small = {};  // a job goes on outside of the lanes
};

class LaneSimulator {
 public:
  LaneSimulator(SweepContext& sweep, JobEnds& ends, ModelSimulator& model, const LaneModel& lanes)
      : sweep_(sweep), ends_(ends), model_(model), slots_(sweep.injector(), lanes) {}

  LaneSlots& slots() { return slots_; }
  const LaneSlots& slots() const { return slots_; }

  /// The lanes have to go on next, whatever else there is to do.
  bool are_due() const { return slots_.differ() ? slots_.taken() > 0 : slots_.due() || slots_.full(); }
  bool any() const { return slots_.taken() > 0; }
  /// The lanes go on before the next window, which begins with the cycle `upcoming`: there is none, or it would pass
  /// some of them. Where so few are taken that it is not worth it, it does: these go on without windows.
  bool are_before(uint64_t upcoming) const;
  /// Take the jobs in lanes on until one ends or leaves its lane, or they have gone on without either.
  LanesHalted go_on(SweepEvent& event);

 private:
  enum class Arrival { kEnded, kSmall, kStays };

  // Nothing in a lane can be trusted.
  LanesHalted discard(SweepEvent& event);
  // Let the lanes go on until there is something to see to; false if they differ from the compiled model.
  bool step();
  // Take one on in the compiled model: there are too few for lanes, or the lane model does not know how it goes on.
  LanesHalted to_model(int lane, SweepEvent& event);
  // See to what has happened in a lane.
  Arrival see_to(int lane, SweepEvent& event);

  SweepContext& sweep_;
  JobEnds& ends_;
  ModelSimulator& model_;
  LaneSlots slots_;
};

#endif
