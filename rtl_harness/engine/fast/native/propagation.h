// SPDX-License-Identifier: Apache-2.0
// Propagation, forwards: what depends, in a window of the golden run, on what external memories hold.
//
// Values are the golden one or unknown. Runs with other contents would show what these do, not what any can.
#ifndef RESIL_VERILATED_PROPAGATION_H
#define RESIL_VERILATED_PROPAGATION_H

#include <optional>

#include "accesses.h"
#include "holding.h"
#include "worklist.h"

// From the end of an operation on, at a place, external memories may hold anything but in some bytes of the state.
struct Opening {
  uint32_t place;
  const std::vector<Piece>* fixed;  // ascending
};

// Windows are gone through one after the other. A net depends on these memories if another value of what depends on
// them could change it.
class Propagation {
 public:
  Propagation(const Network& network, const Window& window, const Accesses& accesses, Holding& holding,
         const std::vector<Piece>& external);

  /// Go through the window that is loaded, the next after the last one.
  void go_through(const std::vector<Opening>& openings);
  /// Cycles of the window in which a net depends on them.
  const CycleSet& dependent(int32_t net) const { return dependent_[net]; }
  /// The last cycle of this window in which something depends on them that an observer sees.
  std::optional<uint64_t> seen() const;

 private:
  struct Store {
    bool external;
    bool wild = false;             // where it is written depended on them: all of it may be anything
    std::vector<uint8_t> unknown;  // by byte
    size_t count = 0;              // of unknown ones
  };

  void grow(int32_t net, const CycleSet& more);
  void evaluate(const Gate& gate);
  void walk(size_t memory, const std::vector<Opening>& openings, bool keep);
  void open(size_t memory, const std::vector<Piece>& fixed);
  void note(Store& store, size_t byte, bool unknown);

  const Network& network_;
  const Window& window_;
  const Accesses& accesses_;
  Holding& holding_;
  std::vector<CycleSet> dependent_;
  CycleSet seen_{};
  std::vector<bool> carried_;  // by flip-flop: into the next window
  std::vector<bool> walked_;   // by memory: in this window
  std::vector<Store> stores_;
  Worklist gates_, flip_flops_, memories_;
  std::vector<std::pair<size_t, uint8_t>> log_;
  std::vector<std::vector<CycleSet>> read_;           // by read port and byte
  // By write port and byte: data that depend; all bits written for certain.
  std::vector<std::vector<CycleSet>> wrote_, filled_;
};

#endif
