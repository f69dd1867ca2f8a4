// SPDX-License-Identifier: Apache-2.0
// C interface of a compiled model: what `library.py` calls. Knows clock, reset and ports, nothing else of the design.
#ifndef RESIL_VERILATED_DRIVER_H
#define RESIL_VERILATED_DRIVER_H

#include <cstdint>

extern "C" {

struct Instance;

constexpr uint32_t kMaxDimensions = 4;

/// Where a variable lies: `offset` from the base of an instance's state, identical for all instances.
struct Variable {
  uint64_t offset;
  uint32_t entry_bytes;            // of one word: 1, 2, 4, 8, or a multiple of 4 for wider ones
  uint32_t width;                  // bits of one word
  uint32_t dimensions;             // unpacked dimensions, 0 for a plain variable
  uint32_t words[kMaxDimensions];  // of each unpacked dimension, outermost first
  int32_t lowest[kMaxDimensions];  // smallest index as declared of each
  int32_t rising[kMaxDimensions];  // 1 if declared upwards, as in [0:7]
};

/// The first rise of an alarm in a run.
struct Rise {
  int64_t alarm;   // place in the target's order; -1 if none rose
  uint64_t cycle;  // number of the active edge, from 0
};

/// How `resil_run` came back.
enum RunStop : int32_t { kFailed = -1, kLimit = 0, kDone = 1, kFinish = 2 };

/// Ports that a target may name, in the order of `resil_port`'s index.
enum Port : uint32_t { kPortDone, kPortStatus, kPortOperation, kPortInferences };

/// Message of the last call that failed in this thread.
const char* resil_error();

// What the design reads while it runs under relative names lies in `folder`.
void resil_data(const char* folder);

// The design may read the file `name`, which a plusarg gives, wherever it is.
void resil_give(const char* name);

/// New instance with these plusargs; initial blocks have run, clock low, reset inactive. Null if it failed.
Instance* resil_create(uint32_t count, const char* const* plusargs);
void resil_destroy(Instance* self);

/// Hold reset for `edges` active edges, release it while the clock is low; the cycle counter restarts at 0.
int32_t resil_reset(Instance* self, uint32_t edges);

/// Clock until `done` is 1 after an edge, or `limit` edges since reset have passed.
RunStop resil_run(Instance* self, uint64_t limit);

/// Clock up to and including the edge number `limit` - 1, whatever `done` says, and leave the clock high.
RunStop resil_run_to(Instance* self, uint64_t limit);

/// Recompute everything that depends on storage after it was written from outside.
int32_t resil_settle(Instance* self);

/// Active edges since reset was released.
uint64_t resil_cycle(const Instance* self);
uint64_t resil_port(const Instance* self, uint32_t port);

/// Alarms that are up now, a bit for each in the target's order.
uint64_t resil_alarms_up(const Instance* self);
/// The first rise of each alarm that was up in a cycle since reset, or when `resil_settle` was called. Returns their number.
uint64_t resil_rises(const Instance* self, const Rise** rises);

/// Changes of the operation counter: pairs (edges since reset, new value). Returns their number.
uint64_t resil_operations(const Instance* self, const uint64_t** pairs);

/// Base of the state that `Variable::offset` counts from, and its extent.
void* resil_state(Instance* self);
uint64_t resil_state_bytes();

/// 0 if `scope` has a public variable `name` of at most `kMaxDimensions` unpacked dimensions.
int32_t resil_find(Instance* self, const char* scope, const char* name, Variable* found);

/// Let pieces of the state, pairs of offset and bytes in ascending order, be as they are: no run reads or writes them.
/// They are no longer copied, but for the first copy into an instance that does not keep the same.
void resil_keep(Instance* self, const uint64_t* pieces, uint64_t count);

/// Make `to` continue exactly where `from` is. Both belong to this library.
void resil_copy(Instance* to, const Instance* from);
}

#endif
