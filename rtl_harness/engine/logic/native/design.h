// SPDX-License-Identifier: Apache-2.0
// The gates of a design as the simulator walks them: each a multiplexer, in an order in which it comes after its inputs.
//
// Every gate of two inputs is a multiplexer whose inputs may be inverted or constant, so there is one way to evaluate a
// gate and no branch that depends on its kind.
#ifndef RESIL_LOGIC_DESIGN_H
#define RESIL_LOGIC_DESIGN_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "api.h"

constexpr uint32_t kReadGate = 0xffffffff;

/// y = s ? b : a. The lowest bit of `a` and `b` inverts, the others are the net. Of a memory's read port `s` is
/// `kReadGate` and `a` the port.
struct Mux {
  uint32_t s, a, b, y;
};

/// What depends on a net: gates first, then flip-flops, then write ports, by the numbers below.
struct Design {
  Design(const Circuit& circuit, const Observed& observed);

  const int32_t* address(const MemoryPort& port) const { return lists.data() + port.first; }
  const int32_t* data(const MemoryPort& port) const { return address(port) + port.address; }
  const int32_t* enable(const MemoryPort& port) const { return data(port) + port.data; }
  // Of targets gates come first, flip-flops and write ports begin with sets of their own.
  static constexpr size_t kSet = 4096;
  static size_t sets(size_t targets) { return (targets + kSet - 1) / kSet; }
  size_t first_flip_flop() const { return sets(gates.size()) * kSet; }
  size_t first_write() const { return first_flip_flop() + sets(flip_flops.size()) * kSet; }

  uint64_t nets;
  std::vector<Mux> gates;
  std::vector<Gate> originals;  // the same as they were given
  std::vector<FlipFlop> flip_flops;
  std::vector<Memory> memories;
  std::vector<uint32_t> widths;  // bits of a word of each memory
  std::vector<MemoryPort> reads, writes;
  std::vector<int32_t> lists;
  std::vector<std::vector<uint32_t>> reads_of;  // read gates, by memory
  std::vector<int32_t> done, status, operation, undefined;
  std::vector<AlarmNet> alarms;
  struct Load {
    int32_t net;
    int32_t active;
    std::vector<uint32_t> flip_flops;
  };
  std::vector<Load> loads;              // asynchronous ones that are not constant
  std::vector<int8_t> reset;            // of each flip-flop
  std::vector<uint8_t> counted, counted_memories;
  std::vector<OutputByte> outputs;
  uint64_t detects, corrects;
  const char* state;

  std::vector<int32_t> number;          // of the circuit's nets
  std::vector<int32_t> driver;          // gate that drives a net; -1 if none does
  std::vector<uint32_t> first_target;   // by net
  std::vector<uint32_t> target;

  /// Gates from the one with an open operand, `gate * 4 + column`, to the one that drives a net, in their order.
  std::vector<uint32_t> path(int32_t operand, int32_t net) const;

  /// Whether something that is observed depends on each net.
  std::vector<uint8_t> reaching() const;

 private:
  void renumber();
  void connect();
};

#endif
