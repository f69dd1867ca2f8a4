// SPDX-License-Identifier: Apache-2.0
// C interface of a sweep: many injections taken through the golden run together, window by window.
//
// Each is a difference from the golden run. Where gates show what becomes of it, it is followed along the gates; where
// it grows too large, it is simulated, until it is small again.
#ifndef RESIL_VERILATED_SWEEP_API_H
#define RESIL_VERILATED_SWEEP_API_H

#include "injector_api.h"
#include "circuit.h"
#include "difference.h"

struct LaneModel;

extern "C" {

class Sweep;

/// A queue between two pointers, as bytes of the state. Where it is empty, only whether the pointers are equal matters.
struct QueueBytes {
  uint64_t level;
  uint64_t level_bytes;
  uint64_t first;  // pointer to the first entry
  uint64_t next;   // pointer behind the last
  uint64_t pointer_bytes;
  uint64_t values;  // that a pointer may have: all below
};

/// Bits that are dead at the ends of operations: elements `first[i]` .. `first[i + 1]` of `bits`, ascending, at end i.
struct DeadBits {
  const uint64_t* first;
  const ByteDifference* bits;
};

/// What must be equal at the end of an operation for a run to be finished elsewhere: all state but the `external`
/// memories, bits that are dead there (`dead[1]` in runs in which no alarm that reports a detected fault is news any
/// more), and the pointers of empty queues. Nothing leaves at a boundary where `open` is zero, nor where one of elements
/// `unsettled_first[i]` .. `unsettled_first[i + 1]` of `unsettled`, ascending parts of external memories, differs.
struct Boundaries {
  const Piece* external;
  uint64_t external_count;
  DeadBits dead[2];
  const uint8_t* open;
  const QueueBytes* queues;
  uint64_t queue_count;
  const uint64_t* unsettled_first;
  const Piece* unsettled;
};

enum SweepEventKind : int32_t {
  kSweepBroken = -1,  // see resil_error
  kSweepOver = 0,     // nothing is left to do
  kVanished = 1,      // the run ends as the golden one, `shift` cycles later, but for alarms if it is `spent`
  kStopped = 2,       // the faulty instance stands at the end of the run; `stop` says why. At the end of the first of
                      // two inferences, `shift` cycles late, it differs by `bytes` from the golden run there
  kLeft = 3,          // at the end of `operation` the run differs by `bytes` alone
  kMerged = 4,        // the injection has the same state as `other`, and ends as that one
  kDiscarded = 5         // it was in a lane when lane model and compiled model differed: nothing is known of it
};

struct SweepEvent {
  int32_t kind;
  int32_t stop;
  uint64_t job;
  uint64_t other;
  int64_t shift;
  uint64_t end_cycle;
  uint64_t simulated;
  uint64_t operation;  // value of the operation counter
  const ByteDifference* bytes;
  uint64_t byte_count;
  uint64_t noted_operation;     // at the end of which the run first differed by `noted` alone
  const ByteDifference* noted;  // null if it never did
  uint64_t noted_count;
  uint64_t nanoseconds;  // spent on this injection
  uint64_t windows;      // how many have been loaded
  uint64_t known;        // 1 if injections may still be merged with this one, until the next window is loaded
  uint64_t in_lane;      // 1 if it was in a lane: where the models differ later in the sweep, it cannot be trusted
  uint64_t spent;        // 1 if alarms of one that vanished are still up
  Reported reported;             // of a merged injection, up to where it was merged
};

/// Where the time of a sweep went.
struct SweepTimes {
  uint64_t golden_cycles;  // of the golden run, simulated again
  uint64_t loading;        // nanoseconds: going through the golden run, with the values of all nets
  uint64_t following;      // along the gates
  uint64_t simulating;     // in the compiled model, and comparing states with the golden run
};

/// `circuit` and `boundaries` may be null. The injector must have recorded its golden run, and stays the caller's.
Sweep* resil_sweep_create(Injector* injector, const Circuit* circuit, const Boundaries* boundaries);
void resil_sweep_destroy(Sweep* self);

/// The bits that do nothing but keep alarms up, found along the gates, until the next call; all ones if that fails.
uint64_t resil_sweep_alarm_storage(Sweep* self, const AlarmBit** bits);

/// Let jobs that are simulated for long go on in a lane model.
int32_t resil_sweep_lanes(Sweep* self, const LaneModel* model);
/// 1 from when the lane model was seen to do what the compiled model does not do; it is not used any more.
int32_t resil_sweep_lanes_differ(const Sweep* self);

/// Begin anew: forget all injections; later ones run for at most `limit` cycles. With `second` these have paused at the
/// end of the first of two inferences.
void resil_sweep_begin(Sweep* self, uint64_t limit, uint32_t shortcuts, int32_t second);
/// Add the injection number `job`; cycles must not descend.
void resil_sweep_add(Sweep* self, uint64_t job, const Flip* flips, uint64_t count, uint64_t cycle);
/// Let the injection number `job` go on from the end of the first inference of the golden run, from which it differs
/// there by `bytes`, ascending, and has reported so much. Cycles are counted as in the golden run, however late it is.
void resil_sweep_resume(Sweep* self, uint64_t job, const ByteDifference* bytes, uint64_t count,
                        const Reported* reported);
/// Go on to the next event. Its pointers hold until the next call.
void resil_sweep_next(Sweep* self, SweepEvent* event);
/// Where time went since the beginning.
void resil_sweep_times(const Sweep* self, SweepTimes* times);
}

#endif
