// SPDX-License-Identifier: Apache-2.0
// What a lane model offers, as C: 32 machines of a design that go on together.
#ifndef RESIL_VERILATED_LANE_CALLS_H
#define RESIL_VERILATED_LANE_CALLS_H

#include <cstdint>

inline constexpr int kLaneCount = 32;
inline constexpr int kMostAlarms = 64;
// Bytes behind the last of a row that a lane model may read and write back.
inline constexpr int kRowMargin = 8;

extern "C" {

struct LanesMachine;

/// `width` bits from bit `bit` of byte `offset` of a row on are bits `at` .. of a piece of the flip-flops; at most 64 with
/// those before them in their byte.
struct LanesPlace {
  uint64_t offset;
  uint32_t bit;
  uint32_t width;
  uint32_t piece;
  uint32_t at;
};

/// A bit of a piece of the flip-flops that is held at a value: set again after each edge of the clock.
struct LanesHold {
  uint32_t piece;
  uint32_t at;
  uint32_t value;
};

/// Of which machines events are wanted, a bit for each: all kinds, and each alarm.
struct LanesWatch {
  uint32_t busy;
  uint32_t alarms[kMostAlarms];
};

/// Machines that are done; whose operation counter changed; in which an alarm that is wanted is up.
struct LanesSeen {
  uint32_t done;
  uint32_t moved;
  uint32_t alarms[kMostAlarms];
  /// Machines whose logic now looks at what is undefined, as an entry behind the last of an array. Their storage is right,
  /// what is seen of them in this cycle may be wrong, and they cannot go on here.
  uint32_t undefined;
  uint32_t beyond;  // machines that have written behind the words of a memory that were loaded
};

/// The functions of a lane model. Rows and memories are those of a compiled model.
struct LanesCalls {
  LanesMachine* (*create)();
  void (*destroy)(LanesMachine*);
  void (*places)(LanesMachine*, const LanesPlace*, uint64_t count);
  void (*load_row)(LanesMachine*, int32_t lane, const char* row);
  /// Bits of the row that are no flip-flops' stay as they are.
  void (*store_row)(LanesMachine*, int32_t lane, char* row);
  /// The first words of a memory. One that nothing writes is the same for all machines.
  void (*load_memory)(LanesMachine*, int32_t lane, int32_t memory, const char* from, uint64_t entry_bytes,
                      uint64_t words);
  void (*store_memory)(LanesMachine*, int32_t lane, int32_t memory, char* to, uint64_t entry_bytes,
                       uint64_t words);
  /// Hold these bits of a machine, which have their values, in place of all that it held.
  void (*hold)(LanesMachine*, int32_t lane, const LanesHold*, uint64_t count);
  /// Go on for so many cycles, or until there is something to be seen; return how many it were.
  uint64_t (*run)(LanesMachine*, uint64_t cycles, const LanesWatch*, LanesSeen*);
  uint64_t (*operation)(const LanesMachine*, int32_t lane);
};
}

#endif
