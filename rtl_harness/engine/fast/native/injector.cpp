// SPDX-License-Identifier: Apache-2.0
// See injector.h.

#include "injector_state.h"

extern "C" {

Campaign* resil_campaign_create(Instance* origin, Instance* cursor, Instance* faulty, const Piece* registers,
                                uint64_t register_count, const Piece* memories, uint64_t memory_count,
                                uint64_t detects, uint64_t corrects) {
  return guarded(
      [&] {
        return new Campaign{origin,
                            cursor,
                            faulty,
                            Registers({registers, registers + register_count}),
                            MemoryHistory({memories, memories + memory_count}),
                            {},
                            {},
                            {},
                            {},
                            {},
                            detects,
                            corrects};
      },
      static_cast<Campaign*>(nullptr));
}

void resil_campaign_destroy(Campaign* self) { delete self; }

RunStop resil_campaign_golden(Campaign* self, uint64_t limit, int32_t several) {
  return guarded(
      [&] {
        Instance& golden = *self->cursor;
        golden.copy(*self->origin);
        golden.select();
        self->watchdog.begin(golden.operation);
        self->timeline = {};
        self->boundaries.clear();
        self->pause = 0;
        self->memories.begin(golden.state());
        self->milestones.begin(self->registers.bytes());
        while (golden.cycle < limit) {
          golden.rise();
          golden.note_alarms();
          self->usual = golden.risen;
          if (several && !self->pause && golden.outputs.inferences > 0) self->pause = golden.cycle;
          if (golden.note_operation()) {
            std::vector<char> registers(self->registers.bytes());
            self->registers.gather(golden.state(), registers.data());
            self->boundaries.push_back({golden.cycle, golden.operation, std::move(registers)});
            self->watchdog.record(golden.cycle, golden.operation);
          }
          self->timeline.record(self->registers.digest(golden.state()));
          self->memories.record(golden.state(), golden.cycle);
          self->milestones.record(self->registers, golden.state(), golden.cycle);
          self->watchdog.finish(golden.cycle);
          if (golden.outputs.done) return kDone;
          if (golden.outputs.finished) return kFinish;
        }
        return kLimit;
      },
      kFailed);
}

void resil_campaign_inject(Campaign* self, const Flip* flips, uint64_t count, uint64_t cycle, uint64_t limit,
                           uint32_t shortcuts, InjectionResult* result) {
  *result = {kBroken, 0, 0, 0, 0, kNothingTold};
  guarded(
      [&] {
        self->seek(cycle + 1);
        self->faulty->copy(*self->cursor);
        self->faulty->select();
        if (self->apply(flips, count)) {
          self->latch(result->told);
          result->moved = self->watchdog.struck(cycle + 1, self->faulty->outputs.operation);
          self->run(limit, shortcuts & (kSameCycle | kShiftedCycle | kRepetition), *result);
        } else {
          result->stop = kNotApplied;
        }
        return 0;
      },
      -1);
}

void resil_campaign_allow(Campaign* self, uint64_t cycles) { self->watchdog.allow(cycles); }

void resil_campaign_end_at_detection(Campaign* self, int32_t wanted) { self->ends_at_detection = wanted != 0; }

int32_t resil_campaign_operation_bits(Campaign* self, const OperationBit* bits, uint64_t count) {
  return guarded(
      [&] {
        self->watchdog.see({bits, bits + count});
        return 0;
      },
      -1);
}

uint64_t resil_campaign_pause(const Campaign* self) { return self->pause; }

int32_t resil_campaign_seek(Campaign* self, uint64_t edges) {
  return guarded(
      [&] {
        self->seek(edges);
        return 0;
      },
      -1);
}

void resil_campaign_resume(Campaign* self, uint64_t limit, uint32_t shortcuts, InjectionResult* result) {
  guarded(
      [&] {
        const uint64_t before = result->simulated;
        result->stop = kBroken;
        self->faulty->select();
        self->run(limit, shortcuts & (kSameCycle | kShiftedCycle | kRepetition), *result, {}, 0, true);
        result->simulated += before;
        return 0;
      },
      -1);
}

int32_t resil_campaign_watch(Campaign* self, const Piece* pieces, uint64_t count) {
  return guarded(
      [&] {
        Instance& golden = *self->cursor;
        golden.copy(*self->origin);
        golden.select();
        self->activity.begin({pieces, pieces + count}, golden.state());
        while (golden.cycle < self->timeline.length()) {
          if (golden.clock_high) {
            golden.fall();
            self->activity.note(golden.state(), golden.cycle);
          }
          golden.rise();
          self->activity.note(golden.state(), golden.cycle);
        }
        return 0;
      },
      -1);
}

uint64_t resil_campaign_first_effect(const Campaign* self, const Hold* holds, uint64_t count) {
  return guarded([&] { return self->activity.differs({holds, count}).first; }, uint64_t{0});
}

void resil_campaign_hold(Campaign* self, const Hold* holds, uint64_t count, uint64_t limit, uint32_t shortcuts,
                         InjectionResult* result) {
  *result = {kBroken, 0, 0, 0, 0, kNothingTold};
  guarded(
      [&] {
        const Holds held(holds, count);
        Span differs{0, Span::kNever - 1};
        if (shortcuts) differs = self->activity.differs(held);
        if (differs.first == Span::kNever) {
          *result = {kRejoined, 0, self->timeline.length(), 0, 0, kNothingTold};
          return 0;
        }
        self->seek(differs.first);
        self->faulty->copy(*self->cursor);
        self->faulty->select();
        if (self->hold(held)) {
          const uint64_t edges = self->faulty->cycle;
          if (edges > 0) {
            self->latch(result->told);
            result->moved = self->watchdog.struck(edges, self->faulty->outputs.operation);
          }
          self->run(limit, shortcuts & (kSameCycle | kShiftedCycle | kRepetition), *result, held, differs.last + 1);
        } else {
          result->stop = kNotApplied;
        }
        return 0;
      },
      -1);
}

int32_t resil_campaign_recall(Campaign* self, uint64_t edges) {
  return guarded(
      [&] {
        self->memories.seek(edges);
        self->memories.restore(self->faulty->state());
        return 0;
      },
      -1);
}

uint64_t resil_campaign_bytes(const Campaign* self) { return self->timeline.bytes() + self->memories.bytes() + self->milestones.bytes(); }
}
