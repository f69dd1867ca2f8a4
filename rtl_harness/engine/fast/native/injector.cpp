// SPDX-License-Identifier: Apache-2.0
// See injector.h and injector_api.h.

#include "injector.h"

RunStop Injector::record(uint64_t limit, bool several) {
  const RunStop stop = golden_.record(limit, several);
  alarms_.ignore(golden_.alarms());
  watchdog_.begin(golden_.first_operation());
  for (const GoldenBoundary& boundary : golden_.boundaries()) watchdog_.record(boundary.edges, boundary.operation);
  watchdog_.finish(golden_.length());
  return stop;
}

void Injector::begin(uint64_t edges) {
  golden_.seek(edges);
  golden_.copy_cursor(run_.instance());
  run_.instance().select();
}

void Injector::inject(const Flip* flips, uint64_t count, uint64_t cycle, uint64_t limit, uint32_t shortcuts,
                      InjectionResult& result) {
  begin(cycle + 1);
  if (!run_.apply(flips, count)) {
    result.stop = kNotApplied;
    return;
  }
  run_.latch(result.reported);
  result.moved = watchdog_.struck(cycle + 1, run_.instance().outputs.operation);
  run_.finish(limit, shortcuts, result);
}

void Injector::resume(uint64_t limit, uint32_t shortcuts, InjectionResult& result) {
  const uint64_t before = result.simulated;
  result.stop = kBroken;
  run_.instance().select();
  run_.finish(limit, shortcuts, result, {}, 0, true);
  result.simulated += before;
}

bool Injector::begin_holding(Holds held, uint32_t shortcuts, uint64_t& free, InjectionResult& result) {
  Span differs{0, Span::kNever - 1};
  if (shortcuts) differs = activity_.differs(held);
  if (differs.first == Span::kNever) {
    result = {kRejoined, 0, golden_.length(), 0, 0, kNothingReported, 0};
    return false;
  }
  free = differs.last + 1;
  begin(differs.first);
  if (!run_.hold(held)) {
    result.stop = kNotApplied;
    return false;
  }
  if (const uint64_t edges = run_.instance().cycle; edges > 0) {
    run_.latch(result.reported);
    result.moved = watchdog_.struck(edges, run_.instance().outputs.operation);
  }
  return true;
}

void Injector::hold(Holds held, uint64_t limit, uint32_t shortcuts, InjectionResult& result) {
  uint64_t free = 0;
  if (begin_holding(held, shortcuts, free, result)) run_.finish(limit, shortcuts, result, held, free);
}

void Injector::watch(std::vector<Piece> pieces) {
  Instance& golden = golden_.cursor();
  golden_.copy(golden, golden_.origin());
  golden.select();
  activity_.begin(std::move(pieces), golden.state());
  while (golden.cycle < golden_.length()) {
    if (golden.clock_high) {
      golden.fall();
      activity_.note(golden.state(), golden.cycle);
    }
    golden.rise();
    activity_.note(golden.state(), golden.cycle);
  }
}

namespace {

// As `guarded`, for calls that return nothing but whether they failed.
template <typename Body>
int32_t done(Body&& body) {
  return guarded([&] { return body(), 0; }, -1);
}

constexpr InjectionResult kNoResult{kBroken, 0, 0, 0, 0, kNothingReported, 0};

}  // namespace

extern "C" {

Injector* resil_injector_create(Instance* origin, Instance* cursor, Instance* faulty, const Piece* registers,
                                uint64_t register_count, const Piece* memories, uint64_t memory_count,
                                const Piece* large, uint64_t large_count, uint64_t detects, uint64_t corrects) {
  return guarded(
      [&] {
        return new Injector(*origin, *cursor, *faulty, {registers, registers + register_count},
                            {memories, memories + memory_count}, {large, large + large_count},
                            AlarmFilter(detects, corrects));
      },
      static_cast<Injector*>(nullptr));
}

void resil_injector_destroy(Injector* self) { delete self; }

RunStop resil_injector_golden(Injector* self, uint64_t limit, int32_t several) {
  return guarded([&] { return self->record(limit, several != 0); }, kFailed);
}

void resil_injector_bound(Injector* self, uint64_t bytes, uint64_t edges) {
  self->golden().memories().bound({bytes, edges});
}

uint64_t resil_injector_recalled(const Injector* self) { return self->golden().memories().recalled(); }

void resil_injector_inject(Injector* self, const Flip* flips, uint64_t count, uint64_t cycle, uint64_t limit,
                           uint32_t shortcuts, InjectionResult* result) {
  *result = kNoResult;
  done([&] { self->inject(flips, count, cycle, limit, shortcuts, *result); });
}

void resil_injector_allow(Injector* self, uint64_t cycles) { self->watchdog().allow(cycles); }

void resil_injector_end_at_detection(Injector* self, int32_t wanted) { self->alarms().end_at_detection(wanted != 0); }

int32_t resil_injector_operation_bits(Injector* self, const OperationBit* bits, uint64_t count) {
  return done([&] { self->watchdog().see({bits, bits + count}); });
}

int32_t resil_injector_spend(Injector* self, const AlarmBit* bits, uint64_t count) {
  return done([&] { self->golden().registers().spend({bits, bits + count}); });
}

uint64_t resil_injector_pause(const Injector* self) { return self->golden().pause(); }

int32_t resil_injector_seek(Injector* self, uint64_t edges) {
  return done([&] { self->golden().seek(edges); });
}

void resil_injector_resume(Injector* self, uint64_t limit, uint32_t shortcuts, InjectionResult* result) {
  done([&] { self->resume(limit, shortcuts, *result); });
}

int32_t resil_injector_watch(Injector* self, const Piece* pieces, uint64_t count) {
  return done([&] { self->watch({pieces, pieces + count}); });
}

uint64_t resil_injector_first_effect(const Injector* self, const Hold* holds, uint64_t count) {
  return guarded([&] { return self->first_effect({holds, count}); }, uint64_t{0});
}

void resil_injector_hold(Injector* self, const Hold* holds, uint64_t count, uint64_t limit, uint32_t shortcuts,
                         InjectionResult* result) {
  *result = kNoResult;
  done([&] { self->hold({holds, count}, limit, shortcuts, *result); });
}

int32_t resil_injector_recall(Injector* self, uint64_t edges) {
  return done([&] {
    self->golden().memories().seek(edges);
    self->golden().memories().restore(self->run().instance());
  });
}

uint64_t resil_injector_bytes(const Injector* self) { return self->golden().bytes(); }
}
