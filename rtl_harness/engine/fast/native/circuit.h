// SPDX-License-Identifier: Apache-2.0
// The design as gates between its storage, as Python hands it over.
#ifndef RESIL_VERILATED_CIRCUIT_H
#define RESIL_VERILATED_CIRCUIT_H

#include <cstdint>

extern "C" {

struct Gate {
  int32_t operation;  // see gate_operations.h
  int32_t a, b, s, y;
};

struct FlipFlop {
  int32_t q, d;
  int32_t load, active;  // asynchronous reset or load: net and active level
  int32_t sensitive;     // an upset makes an edge of a clock, or moves an open latch
  uint64_t offset;       // byte of the state that holds it
  int32_t bit;
};

struct Memory {
  uint64_t offset;
  uint64_t words;
  uint32_t entry_bytes;
  int32_t first_word;
};

/// A memory port; `first` counts into the list of nets: `address` nets, then `data`, then (writes) `data` enables.
struct MemoryPort {
  int32_t memory;
  int32_t address;
  int32_t data;
  int32_t first;
};

/// A bit of an output that is an alarm, and which.
struct AlarmNet {
  int32_t net;
  int32_t alarm;
};

struct Circuit {
  uint64_t nets;
  const Gate* gates;
  uint64_t gate_count;
  const FlipFlop* flip_flops;
  uint64_t flip_flop_count;
  const Memory* memories;
  uint64_t memory_count;
  const MemoryPort* reads;
  uint64_t read_count;
  const MemoryPort* writes;
  uint64_t write_count;
  const int32_t* ports;  // outputs of the top that an observer looks at
  uint64_t port_count;
  const AlarmNet* alarms;
  uint64_t alarm_count;
  const int32_t* operation;  // the counter of operations, the lowest bit first
  uint64_t operation_count;
  const int32_t* undefined;  // nets that are 1 where the gates do not know what the model computes
  uint64_t undefined_count;
  const int32_t* lists;  // nets of memory ports
  uint64_t list_length;
};

}

#endif
