// SPDX-License-Identifier: Apache-2.0
// Many faulty machines in a lane model, beside the compiled model that they came from.
#ifndef RESIL_VERILATED_LANE_MACHINES_H
#define RESIL_VERILATED_LANE_MACHINES_H

#include <vector>

#include "injector.h"
#include "lane_calls.h"

extern "C" {

/// A memory of the state, and whether all machines share one.
struct LaneMemory {
  uint64_t offset;
  uint64_t entry_bytes;
  uint64_t words;  // that are in use
  uint64_t shared;
};

/// A lane model and where its storage lies in the state: offsets of places count from there. A bit of the state may
/// have several places, one for each of its names.
struct LaneModel {
  const LanesCalls* calls;
  const LanesPlace* places;
  uint64_t place_count;
  const LaneMemory* memories;
  uint64_t memory_count;
};
}

class LaneMachines {
 public:
  LaneMachines(Injector& injector, const LaneModel& given);
  ~LaneMachines();
  LaneMachines(const LaneMachines&) = delete;
  LaneMachines& operator=(const LaneMachines&) = delete;

  /// Take over the state of the faulty instance; false if the lane model cannot be in it.
  bool load(int lane);
  /// The registers of a machine, one piece of the injector after the other.
  const char* row(int lane);
  /// Give registers and memories of a machine to the faulty instance. What depends on them is not settled.
  void store(int lane);
  /// Hold bits of a machine that have their values, in place of all that it held; false if one is no flip-flop's.
  bool hold(int lane, Holds held);
  /// Registers and memories of a machine are those of the faulty instance.
  bool equals(int lane);
  /// Go on, see lane_calls.h.
  uint64_t run(uint64_t cycles, const LanesWatch& watch, LanesSeen& seen) {
    return calls_.run(machine_, cycles, &watch, &seen);
  }
  uint64_t operation(int lane) const { return calls_.operation(machine_, lane); }

 private:
  Injector& injector_;
  const LanesCalls calls_;
  LanesMachine* const machine_;
  std::vector<LaneMemory> memories_;
  std::vector<LanesPlace> places_;  // their offsets are those of rows
  std::vector<std::vector<char>> rows_;  // by machine; what is no flip-flop stays as it was loaded
  std::vector<char> found_;
  std::vector<char> memory_;  // room for one of a machine
};

#endif
