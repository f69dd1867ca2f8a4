// SPDX-License-Identifier: Apache-2.0
// Some hundred consecutive cycles of the golden run: all storage, the value of every net, and where it can be observed.
//
// Simulation is bit-parallel: each cycle is a bit, so that a gate is evaluated for the whole window at once. A cycle at
// a time would cost as much for each fault as this does for all of them. A *place* is a cycle counted from the window's
// first.
#ifndef RESIL_VERILATED_WINDOW_H
#define RESIL_VERILATED_WINDOW_H

#include <optional>

#include "cycle_sets.h"
#include "difference.h"
#include "golden_run.h"
#include "network.h"

class Window {
 public:
  Window(GoldenRun& golden, const Network& network);

  /// Hold the cycles from `first` on, before `end` or the golden run's. Throws as `verify`, for windows are checked as a
  /// whole now and then.
  void load(uint64_t first, uint64_t end);
  void load(uint64_t first) { load(first, run_.length()); }
  /// Throws if the gates do not give a flip-flop the state that the model gave it.
  void verify(const FlipFlop& f) const;
  /// Likewise the alarms, in all cycles.
  void verify_alarms() const;

  uint64_t first() const { return base_; }
  size_t cycles() const { return cycles_; }
  /// The last cycle, whose next state is not in the window.
  uint64_t last() const { return base_ + cycles_ - 1; }

  /// The registers of a cycle, one piece of the injector after the other.
  const char* row(uint64_t cycle) const { return rows_.data() + (cycle - base_) * row_bytes_; }
  const CycleSet& golden(int32_t net) const { return golden_[net]; }
  /// Observability: words of a set, a bit for each, in whose cycles a net may make a difference to the next state or to
  /// an observer. In all others it is a don't-care: whatever nets of which the same is said are changed, together,
  /// nothing comes of it.
  uint8_t observed(int32_t net) const { return observed_[net]; }
  /// Bytes of a word of a memory at a place; null beyond its end.
  const char* contents(int32_t memory, uint64_t word, size_t place);
  /// Cycles in which the gates do not know all that the model computes: nothing can be followed along them.
  const CycleSet& undefined() const { return undefined_; }
  /// CycleSet in which a write port writes at least one bit.
  const CycleSet& writing(int32_t port) const { return writing_[port]; }
  uint64_t address(const MemoryPort& port, size_t place) const;
  uint64_t read_address(int32_t port, size_t place) const { return read_addresses_[port][place]; }
  /// Words of a memory that are read or written in the window, ascending.
  const std::vector<uint64_t>& touched(int32_t memory) const { return touched_[memory]; }

 private:
  // A flip-flop: its net, and its bit among 8 bytes of a row.
  struct Column {
    int32_t net, bit;
  };

  void transpose();
  void read(int32_t number);
  void note_writes();
  void observe();
  void evaluate(const Gate& gate);
  void note_values(int32_t net);

  GoldenRun& run_;
  const Network& network_;
  size_t row_bytes_;
  std::vector<char> rows_;
  uint64_t base_ = 0;
  size_t cycles_ = 0;
  uint64_t loads_ = 0;
  std::vector<CycleSet> golden_;
  std::vector<uint8_t> ones_, zeros_;  // of nets, a bit for each word of their sets: it holds a 1, a 0
  std::vector<uint8_t> changed_;       // of nets: the set is not that of the window before
  std::vector<uint8_t> observed_;
  std::vector<CycleSet> writing_;
  CycleSet undefined_{};
  std::vector<uint64_t> alarms_;                           // of the model, by place
  std::vector<std::vector<uint64_t>> read_addresses_;      // of read ports, by place
  std::vector<std::vector<uint64_t>> touched_;
  std::vector<uint64_t> positions_;                        // of memories in the history's image
  std::vector<std::vector<Column>> columns_;               // by 8 bytes of a row
  std::vector<std::optional<uint64_t>> held_;              // value of these bytes, if they had one in all cycles
};

#endif
