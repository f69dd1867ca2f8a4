// SPDX-License-Identifier: Apache-2.0
// A circuit as a netlist to go through: fan-out, sinks, and where a byte of the state comes in.
#ifndef RESIL_VERILATED_NETWORK_H
#define RESIL_VERILATED_NETWORK_H

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "circuit.h"
#include "difference.h"
#include "gate_operations.h"

// Element [i] of a list of lists.
class Adjacency {
 public:
  void build(size_t count, const std::vector<std::pair<int32_t, int32_t>>& pairs);
  const int32_t* begin(size_t i) const { return items_.data() + first_[i]; }
  const int32_t* end(size_t i) const { return items_.data() + first_[i + 1]; }

 private:
  std::vector<uint32_t> first_;
  std::vector<int32_t> items_;
};

// What a net feeds that is not a gate.
enum SinkKind : int32_t { kNextState, kLoad, kPort, kAlarm, kUndefined, kWrite, kWriteEnable };

struct Sink {
  SinkKind kind;
  int32_t index;  // flip-flop, alarm or write port
};

struct Network {
  explicit Network(const Circuit& c);

  uint64_t nets;
  std::vector<Gate> gates;
  std::vector<FlipFlop> flip_flops;
  std::vector<Memory> memories;
  std::vector<MemoryPort> reads, writes;
  std::vector<int32_t> lists;
  std::vector<AlarmNet> alarms;
  std::vector<int32_t> operation;  // nets of the counter of operations
  std::vector<int32_t> undefined;  // nets that are 1 where the gates do not know what the model computes
  std::vector<Sink> sinks;
  Adjacency fanout, sinks_of;
  std::vector<int32_t> ports;      // nets of outputs that an observer looks at
  std::vector<int32_t> always_observed;  // nets that decide the next state, or that an observer sees
  std::vector<std::vector<int32_t>> read_gates, write_ports;  // by memory
  std::vector<int32_t> number_of;  // that a net of the circuit has here; -1 if nothing uses it

  const int32_t* address(const MemoryPort& port) const { return lists.data() + port.first; }
  const int32_t* data(const MemoryPort& port) const { return address(port) + port.address; }
  const int32_t* enable(const MemoryPort& port) const { return data(port) + port.data; }
  std::vector<std::vector<int32_t>> write_enables;  // by write port: the nets among its enables, each once

  /// The flip-flop in a bit of the state; -1 if there is none.
  int32_t flip_flop(uint64_t offset, int bit) const;
  /// The model has clocks of its own, and bits of this difference decide whether they have an edge.
  bool has_edges = false;
  bool makes_edge(const Difference& d) const;
  /// A flip-flop decides whether an asynchronous reset or load acts: what becomes of a difference in it gates do not say.
  std::vector<bool> resets;
  /// The memory that holds a byte of the state; -1 if none does.
  int32_t memory(uint64_t offset) const;

 private:
  void renumber();
  void connect();
  void find_resets();

  std::unordered_map<uint64_t, int32_t> places_;                // offset * 8 + bit
  std::vector<std::pair<uint64_t, int32_t>> ends_;              // of memories, ascending
};

#endif
