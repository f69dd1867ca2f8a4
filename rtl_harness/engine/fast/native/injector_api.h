// SPDX-License-Identifier: Apache-2.0
// C interface of fault injection: a golden pass that is remembered, and injections that stop when they rejoin it.
#ifndef RESIL_VERILATED_INJECTOR_API_H
#define RESIL_VERILATED_INJECTOR_API_H

#include "driver.h"

extern "C" {

class Injector;

/// Bytes of the state, counted from `resil_state`, that hold storage.
struct Piece {
  uint64_t offset;
  uint64_t bytes;
};

/// One bit of a byte of the state.
struct Flip {
  uint64_t offset;
  uint32_t mask;
};

/// A bit of a byte of the state that is bit `place` of the operation counter.
struct OperationBit {
  uint64_t offset;
  uint32_t mask;
  uint32_t place;
};

/// A bit of a byte of the state that does nothing but keep alarms up: see spent_alarms.h. `golden` is what it is in the
/// golden run, `mask` or 0. A bit of `alarms` is set for each that it may raise.
struct AlarmBit {
  uint64_t offset;
  uint32_t mask;
  uint32_t golden;
  uint64_t alarms;
};

/// Which ways of stopping early are taken: the state is that of the golden run in the same cycle, in another
/// cycle, or the faulty run goes round in circles (its remaining cycles up to the time-out are then left out). A sweep
/// also follows differences along the gates, leaves at boundaries, and knows states that others were in.
enum Shortcut : uint32_t {
  kSameCycle = 1,
  kShiftedCycle = 2,
  kRepetition = 4,
  kForesight = 8,
  kLeave = 16,
  kSeen = 32
};

/// A bit that is held at a value: set again after every edge of the clock, before anybody looks. A fault holds all bits
/// that its flip-flop stands for.
struct Hold {
  uint64_t offset;  // of its byte in the state
  uint32_t mask;    // the bit in the byte
  uint32_t value;   // `mask` for 1, 0 for 0
};

/// How an injection ended.
enum InjectionStop : int32_t {
  kBroken = -1,       // see resil_error
  kNotApplied = 0,    // a flipped bit did not hold
  kRanToDone = 1,     // the faulty instance stands at its end
  kRanToLimit = 2,    // likewise, at the time-out of the run or of an operation
  kRejoined = 3,      // the state is that of the golden run `shift` cycles earlier
  kFinished = 4,      // the design called $finish
  kPaused = 5,        // the first of two inferences has ended; see resil_injector_resume
  kDetected = 6       // an alarm rose that reports a detected fault; see resil_injector_end_at_detection
};

/// The first rises of each kind of alarm among those that the golden run does not raise.
struct Reported {
  Rise detected;
  Rise corrected;
};

inline constexpr Reported kNothingReported{{-1, 0}, {-1, 0}};

struct InjectionResult {
  int32_t stop;
  int64_t shift;       // cycles by which the faulty run is behind the golden one
  uint64_t end_cycle;  // active edges from reset to the end
  uint64_t simulated;  // cycles that were simulated after the flip
  uint64_t moved;      // edges after which the operation counter moved last
  Reported reported;
  int32_t spent;       // of one that rejoined: alarms of it are still up
};

/// An injector on three instances of one library that stay the caller's. `origin` has just come out of reset. A bit of
/// `detects` or of `corrects` is set for each alarm. `large` are memories beside `memories` that the origin keeps (see
/// resil_keep): of these is followed what is written, so that nothing takes a time in proportion to them.
Injector* resil_injector_create(Instance* origin, Instance* cursor, Instance* faulty, const Piece* registers,
                                uint64_t register_count, const Piece* memories, uint64_t memory_count,
                                const Piece* large, uint64_t large_count, uint64_t detects, uint64_t corrects);
void resil_injector_destroy(Injector* self);

/// Run `cursor` from `origin` to done and remember the state of every cycle.
/// With `several` runs of this injector pause where the first inference has ended.
RunStop resil_injector_golden(Injector* self, uint64_t limit, int32_t several);

/// Before that: keep at most so many bytes of changes of memories, and so many edges from checkpoint to checkpoint at
/// first. More is simulated again when it is asked for.
void resil_injector_bound(Injector* self, uint64_t bytes, uint64_t edges);

/// How often that was.
uint64_t resil_injector_recalled(const Injector* self);

/// Let runs end in which the operation counter stands still for so many cycles; `bits`, if known, are what it is made
/// of. To be called before any injection.
void resil_injector_allow(Injector* self, uint64_t cycles);
int32_t resil_injector_operation_bits(Injector* self, const OperationBit* bits, uint64_t count);

/// Let runs end, or not, where an alarm rises that reports a detected fault, and that the golden run does not raise.
void resil_injector_end_at_detection(Injector* self, int32_t wanted);

/// Let runs rejoin the golden one that differ from it in nothing but these bits, where they raise no alarm that is news.
/// Not with runs that pause.
int32_t resil_injector_spend(Injector* self, const AlarmBit* bits, uint64_t count);

/// Edges after which the golden run's first inference had ended; 0 if runs do not pause.
uint64_t resil_injector_pause(const Injector* self);

/// Bring `cursor` to the golden state after so many edges.
int32_t resil_injector_seek(Injector* self, uint64_t edges);

/// Go on with a run that has paused, for at most `limit` cycles since reset. `result` is that of the pause.
void resil_injector_resume(Injector* self, uint64_t limit, uint32_t shortcuts, InjectionResult* result);

/// Flip bits in the cycle `cycle` and run `faulty` on, for at most `limit` cycles since reset.
void resil_injector_inject(Injector* self, const Flip* flips, uint64_t count, uint64_t cycle, uint64_t limit,
                           uint32_t shortcuts, InjectionResult* result);

/// Go through the golden run once more and note when each bit of these pieces was 0 and when 1: what
/// `resil_injector_hold` needs for shortcuts.
int32_t resil_injector_watch(Injector* self, const Piece* pieces, uint64_t count);

/// Number of edges after which the golden run first has another value in any of the bits than the held one; the largest
/// number if it never has.
uint64_t resil_injector_first_effect(const Injector* self, const Hold* holds, uint64_t count);

/// Hold bits from the release of reset on and run `faulty` for at most `limit` cycles.
void resil_injector_hold(Injector* self, const Hold* holds, uint64_t count, uint64_t limit, uint32_t shortcuts,
                         InjectionResult* result);

/// Set the memories of `faulty` to those of the golden run after `edges` edges.
int32_t resil_injector_recall(Injector* self, uint64_t edges);

/// Bytes that the remembered golden run takes.
uint64_t resil_injector_bytes(const Injector* self);
}

#endif
