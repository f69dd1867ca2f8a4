// SPDX-License-Identifier: Apache-2.0
// One running copy of the model, as the parts of the library share it. What differs between designs is in driver.cpp, so
// that all other parts are compiled once for all of them.
#ifndef RESIL_VERILATED_INSTANCE_H
#define RESIL_VERILATED_INSTANCE_H

#include <bit>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "driver.h"

extern thread_local std::string last_error;

// Runs `body`; an exception becomes the message of `resil_error` and the value `failed`.
template <typename Body>
auto guarded(Body&& body, decltype(body()) failed) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& error) {
    last_error = error.what();
  }
  return failed;
}

// What the target names of the outputs of the top, as of the last edge or settling.
struct Outputs {
  uint64_t done = 0;
  uint64_t operation = 0;
  uint64_t inferences = 0;
  uint64_t alarms = 0;  // that are up, a bit for each
  bool finished = false;  // the design called $finish
};

struct Instance {
  uint64_t cycle = 0;
  uint64_t operation = 0;  // that was noted last
  std::vector<uint64_t> operations;
  uint64_t risen = 0;  // alarms, a bit for each, as far as they were noted
  std::vector<Rise> rises;
  Outputs outputs;
  bool clock_high = false;

  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  char* state() const { return state_; }

  // One active edge; the clock stays high so that a caller sees the design settled after it.
  void rise();
  void fall();
  // Recompute what depends on storage, then let the edges happen that this made in derived clocks.
  void settle();
  // Recompute it for a state that is a settled one: derived clocks have no edge.
  void settle_quietly();
  // Let messages and plusargs of what this thread evaluates be those of this instance.
  void select();
  // Continue exactly where `from`, an instance of the same library, is.
  void copy(const Instance& from);

  // Keep the cycle in which an alarm was up for the first time. Before the first edge there is no cycle: one that is up
  // then has risen if it is up after that edge, too.
  void note_alarms() {
    if (!cycle) return;
    for (uint64_t up = outputs.alarms & ~risen; up; up &= up - 1) {
      risen |= up & -up;
      rises.push_back({std::countr_zero(up), cycle - 1});
    }
  }

  // Keep the cycle in which the operation counter changed; true if that was now.
  bool note_operation() {
    if (outputs.operation == operation) return false;
    operation = outputs.operation;
    operations.push_back(cycle);
    operations.push_back(operation);
    return true;
  }

 protected:
  Instance() = default;
  ~Instance() = default;

  char* state_ = nullptr;
};

#endif
