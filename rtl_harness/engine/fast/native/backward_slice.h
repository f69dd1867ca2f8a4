// SPDX-License-Identifier: Apache-2.0 The backward slice: what matters, in a window of the golden run, for all that an
// observer sees and external memories get.
//
// What lies outside is a don't-care, and all of it at once. With the golden values of both inputs taken for granted,
// each of two that decide would be a don't-care for the other's sake, and both together are none.
#ifndef RESIL_VERILATED_BACKWARD_SLICE_H
#define RESIL_VERILATED_BACKWARD_SLICE_H

#include "accesses.h"
#include "holding.h"
#include "worklist.h"

// Windows are gone through one after the other, from the last to the first; in each backwards, from what a net drives.
// Let all don't-cares have other values, and external memories other contents, as far as that was allowed for: what
// matters stays as it is. So a gate whose output matters has inputs that do not only where others, which do, have
// values that are certain and decide.
class BackwardSlice {
 public:
  BackwardSlice(const Network& network, const Window& window, const Accesses& accesses, Holding& holding,
       const std::vector<Piece>& external);

  /// What comes behind the window that is gone through next is not known: all matters there.
  void need_all();

  /// Go through the window that is loaded, the one before the last. `uncertain`: nets that depend on external memories
  /// in it. In the places of `places`, ascending, keep the bits of the state, memories that are external left out, that
  /// do not matter.
  void go_through(const std::vector<bool>& uncertain, const std::vector<uint32_t>& places,
                  std::vector<Difference>& dead);

 private:
  struct Store {
    bool external;
    std::vector<uint8_t> needed;  // by byte
    size_t count;                 // of needed ones
  };

  // A memory that can hold what does not matter: the design's own, and not a constant one.
  bool keeps(size_t memory) const { return !stores_[memory].external && !network_.write_ports[memory].empty(); }
  void begin();
  void grow(int32_t net, const CycleSet& more);
  void evaluate(const Gate& gate);
  void need_word(const MemoryPort& port);
  void walk(size_t memory);
  // As `walk`, keeping the result, and what does not matter in the places of `places`.
  void pass(size_t memory, const std::vector<uint32_t>& places, std::vector<Difference>& dead);
  void step(size_t memory, size_t access);
  void note(Store& store, size_t byte, bool needed);
  static void put(Store& store, size_t byte, bool needed);
  void list_dead(size_t memory, Difference& dead) const;
  CycleSet certain(int32_t net, bool value) const;
  bool is_certain(const int32_t* nets, int32_t count) const;

  const Network& network_;
  const Window& window_;
  const Accesses& accesses_;
  Holding& holding_;
  const std::vector<bool>* uncertain_ = nullptr;
  std::vector<int32_t> origin_;  // what drives a net
  std::vector<CycleSet> needed_;
  std::vector<bool> carried_;  // by flip-flop: from the next window
  std::vector<bool> steady_;   // by flip-flop: mattered in all places of the last window in which an operation ended
  std::vector<Store> stores_;
  std::vector<std::vector<uint8_t>> masks_;  // by memory and byte of a word: its bits
  Worklist gates_, flip_flops_, memories_;
  std::vector<std::pair<size_t, uint8_t>> log_;
  std::vector<std::vector<CycleSet>> read_;  // by read port and byte: data that matter
  std::vector<bool> anywhere_;            // by read port: which word is read is uncertain
  // By write port and byte: data that will matter; all bits written for certain.
  std::vector<std::vector<CycleSet>> wanted_, filled_;
};

#endif
