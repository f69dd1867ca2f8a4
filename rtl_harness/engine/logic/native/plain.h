// SPDX-License-Identifier: Apache-2.0
// Machines with permanent faults, every gate of each in every cycle: judges what `simulator.cpp` finds by shorter ways.
//
// It has no golden run to start from, no differences, no events, no shared memories and no loops, and evaluates gates in
// another form and order: 63 machines in a word, and one without a fault, whose end is what the others are compared with.
// Gates of one level and one operation are evaluated in a row: they need nothing of one another.
#ifndef RESIL_LOGIC_PLAIN_H
#define RESIL_LOGIC_PLAIN_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "api.h"

class PlainMachines {
 public:
  static constexpr unsigned kFaults = 63;  // at once

  PlainMachines(const Circuit& circuit, const Observed& observed);

  /// Simulate faults to their ends; arguments as of `logic_run`. `usual`: alarms of the run without a fault.
  void run(const HeldPins* faults, uint64_t count, const HeldPin* pins, const LogicLimits& limits, uint64_t usual,
           LogicResult* results, uint8_t* output);

 private:
  using Word = uint64_t;

  // A pin that is held: machines in which it is 0, and in which it is 1.
  struct Hold {
    PinKind kind;
    int32_t at, column;
    Word zero, one;
    Word driven = 0;  // what its net is driven to
    Word kept = 0;    // what its net had in the row before
    std::vector<size_t> gates{};  // of an open pin: from its gate to what it is about
    Word operator()(Word value) const { return (value & ~zero) | one; }
    Word machines() const { return zero | one; }
  };
  // Storage that is inverted once.
  struct Strike {
    uint64_t row;
    unsigned machine;
    HeldPin what;
  };
  // Gates of one level and operation: from row `first` to before `end`.
  struct Run {
    int32_t operation;
    size_t first, end;
  };

  void batch(const HeldPins* faults, unsigned count, const HeldPin* pins, const LogicLimits& limits, uint64_t usual,
             LogicResult* results, uint8_t* output);
  void order();
  void renumber();
  template <int kOperation>
  void apply(const Run& run);
  void start(const HeldPins* faults, unsigned count, const HeldPin* pins);
  void settle();
  void bridge();
  void evaluate();
  Word on_net(int32_t net, Word value);
  Word bridged(Hold& hold, Word value);
  Word open(const Hold& hold, Word value, Word kept) const;
  std::vector<size_t> gates_to(size_t first, int32_t target) const;
  void special(size_t gate);
  void read(size_t port);
  void edge(Word live);
  void strike(uint64_t row, Word live);
  void write(const MemoryPort& port, Word live);
  Word loading(size_t flip_flop) const;
  Word as_held(PinKind kind, int64_t at, int32_t column, Word value) const;
  uint64_t number(const std::vector<int32_t>& nets, unsigned machine) const;
  void addresses(const MemoryPort& port, Word* of_machine) const;
  uint8_t* place(uint32_t memory, unsigned machine, uint64_t address);
  void compare(unsigned machine, LogicResult& result, const uint8_t* output, const uint8_t* right);

  uint64_t nets_;
  std::vector<Gate> gates_;                  // by level, then by operation; nets have numbers in that order
  std::vector<Run> runs_;
  std::vector<int32_t> a_, b_, s_;           // operands of the gates
  std::vector<int32_t> net_;                 // number of each net of the circuit
  std::vector<size_t> row_;                  // row of each gate of the circuit
  std::vector<FlipFlop> flip_flops_;
  std::vector<Memory> memories_;
  std::vector<MemoryPort> reads_, writes_;
  std::vector<int32_t> done_, status_, operation_, undefined_, lists_;
  std::vector<AlarmNet> alarms_;
  std::vector<int8_t> reset_;
  std::vector<uint8_t> counted_, counted_memories_;
  std::vector<OutputByte> outputs_;
  uint64_t detects_, corrects_;
  std::vector<uint8_t> initial_;             // of flip-flops
  std::vector<std::vector<uint8_t>> image_;  // of memories

  std::vector<Word> value_, stored_, last_;  // of nets; of flip-flops now, and at the end of each machine
  std::vector<std::vector<uint8_t>> content_;  // of each memory, of one machine after the other
  std::vector<Hold> holds_;
  std::vector<Strike> strikes_;
  std::vector<uint8_t> is_held_;             // nets, then gates and flip-flops of which a pin is held
  std::vector<size_t> special_;              // gates of which a pin is held, ascending; no read ports
  bool first_ = false;                       // the present row is the first one
  uint64_t row_now_ = 0;
};

#endif
