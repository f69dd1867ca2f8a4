// SPDX-License-Identifier: Apache-2.0 Liveness analysis: storage that is dead when an operation has ended in the golden
// run, whatever external memories hold.
//
// It is derived from the gates: what depends on external memories, forwards (propagation.h), and what matters,
// backwards (backward_slice.h). A list of names would have to be kept up with the RTL, and would be believed.
#ifndef RESIL_VERILATED_LIVENESS_H
#define RESIL_VERILATED_LIVENESS_H

#include "injector_api.h"
#include "circuit.h"
#include "difference.h"

extern "C" {

class DeadStorage;

/// Elements `fixed_first[i]` .. `fixed_first[i + 1]` of `fixed`, ascending, are the parts of the `external` memories
/// that hold what they do in the golden run, in its first cycle (i = 0) and at end i - 1 of an operation; all else in
/// these may differ from there on.
struct Externals {
  const Piece* external;
  uint64_t external_count;
  const uint64_t* fixed_first;
  const Piece* fixed;
  /// Windows that are gone through backwards, at the most: of a longer run some behind each end of an operation, as if
  /// all mattered behind these. What is found then is dead all the same; what dies later is not found.
  uint64_t most_windows;
};

/// Find it, along the gates of the whole golden run, forwards and back. The injector must have had its golden pass;
/// none of what is given is needed afterwards. Null if gates and model differ.
DeadStorage* resil_liveness_find(Injector* injector, const Circuit* circuit, const Externals* given);
void resil_liveness_destroy(DeadStorage* self);
/// Bits that do not matter at end i of an operation, ascending; nothing of external memories. Returns how many bytes
/// they are of.
uint64_t resil_liveness_bits(const DeadStorage* self, uint64_t i, const ByteDifference** bits);
/// Edges after which nothing that an observer sees depends on external memories any more. At ends of operations before
/// that, runs that differ in these may take another course.
uint64_t resil_liveness_settled(const DeadStorage* self);
}

#endif
