// SPDX-License-Identifier: Apache-2.0
// C interface of stuck bits that are simulated in lanes.
#ifndef RESIL_VERILATED_HELD_LANES_API_H
#define RESIL_VERILATED_HELD_LANES_API_H

#include "injector_api.h"

struct LaneModel;

extern "C" {

class HeldLanes;

/// What came of a stuck bit. Where its end is not the golden run's, the faulty instance stands there.
struct HeldEvent {
  int32_t kind;  // -1: see resil_error; 0: nothing is left to do; 1: a stuck bit has ended
  int32_t in_lane;  // it was in one: where the models differ later, it cannot be trusted
  uint64_t job;
  InjectionResult result;
};

/// The injector must have recorded and watched its golden run, and stays the caller's.
HeldLanes* resil_held_create(Injector* injector, const LaneModel* model);
void resil_held_destroy(HeldLanes* self);
/// Begin anew: forget all jobs; later ones run for at most `limit` cycles.
void resil_held_begin(HeldLanes* self, uint64_t limit, uint32_t shortcuts);
/// Add a stuck bit, in the order of first effects.
int32_t resil_held_add(HeldLanes* self, uint64_t job, const Hold* holds, uint64_t count);
/// Go on until one has ended.
void resil_held_next(HeldLanes* self, HeldEvent* event);
/// 1 from when the lane model was seen to do what the compiled model does not do; it is not used any more.
int32_t resil_held_differ(const HeldLanes* self);
}

#endif
