// SPDX-License-Identifier: Apache-2.0
// Cycle detection: a run has come to a state in which it was before, and so goes round for ever.
#ifndef RESIL_VERILATED_REPETITION_H
#define RESIL_VERILATED_REPETITION_H

#include <optional>

#include "golden_history.h"

// One earlier state is recent, the other ever further back (as in Brent's method). Memories are hashed only in states
// whose registers were seen before.
class Repetition {
 public:
  /// Cycles since the run was in its present state before, and its watchdog, which was restarted after `moved` edges,
  /// either as well or not restarted since; 0 if it is not known to have been. `memories` gives their digest.
  template <typename Memories>
  uint64_t period(uint64_t cycle, uint64_t moved, const Digest& registers, Memories&& memories) {
    if (!begun_) begun_ = cycle;
    for (State* state : {&recent_, &old_}) {
      if (state->cycle && state->registers == registers) {
        const Digest now = memories();
        const bool same = state->moved == moved || cycle - moved == state->cycle - state->moved;
        if (state->memories == now && same) return cycle - state->cycle;
        *state = {cycle, moved, registers, now};
      }
    }
    if (cycle >= recent_.cycle + kRecent) recent_ = {cycle, moved, registers, std::nullopt};
    if (cycle - begun_ >= 2 * (old_.cycle - std::min(old_.cycle, begun_))) old_ = recent_;
    return 0;
  }

 private:
  struct State {
    uint64_t cycle = 0;
    uint64_t moved = 0;
    Digest registers;
    std::optional<Digest> memories;
  };

  static constexpr uint64_t kRecent = 256;
  uint64_t begun_ = 0;
  State recent_, old_;
};

#endif
