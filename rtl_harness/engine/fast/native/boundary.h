// SPDX-License-Identifier: Apache-2.0 Boundaries: ends of operations in the golden run, at which a run may leave the
// RTL and be finished by a functional model.
#ifndef RESIL_VERILATED_BOUNDARY_H
#define RESIL_VERILATED_BOUNDARY_H

#include <optional>
#include <unordered_map>
#include <utility>

#include "alarm_filter.h"
#include "golden_run.h"
#include "sweep_api.h"

class Boundary {
 public:
  Boundary(GoldenRun& run, const AlarmFilter& alarms, const Boundaries& given);

  /// Boundaries in the cycles `from` .. `to`: the first, and the one after the last.
  std::pair<size_t, size_t> between(uint64_t from, uint64_t to) const;
  /// The boundary at which the operation counter got this value.
  std::optional<size_t> find(uint64_t operation) const;
  uint64_t operation(size_t i) const { return golden_[i].operation; }
  uint64_t edges(size_t i) const { return golden_[i].edges; }

  /// Nothing differs but settled parts of external memories, what is dead at boundary `i`, the pointers of queues that
  /// are empty there, and bits that keep alarms up none of which is `awaited`.
  bool permits(const Difference& d, size_t i, uint64_t awaited) const;
  /// The part of a difference that lies in external memories.
  Difference external(const Difference& d) const;
  /// Add the registers that differ from boundary `i`; false, and perhaps not all, if one of them is neither dead nor a
  /// pointer of a queue, nor keeps up alarms that are not awaited.
  bool registers(const char* state, size_t i, uint64_t awaited, Difference& d);

 private:
  bool is_external(uint64_t offset) const;
  bool is_settled(uint64_t offset, size_t i) const;
  // By boundary, ascending: made for each input, of some thousand bytes at each of many boundaries.
  using Dead = std::vector<Difference>;

  // What is dead in runs of which these alarms are awaited.
  const Dead& dead(uint64_t awaited) const;
  static bool is_dead(const ByteDifference& byte, const Dead& dead, size_t i);
  /// The byte is of a pointer, and at boundary `i` the queue is empty, its pointers differ by the same and have a value
  /// that they may have.
  bool is_turned(const ByteDifference& byte, const Difference& d, size_t i) const;
  /// The pointer to the first entry of a queue, in a state that differs so from boundary `i`.
  uint64_t pointer(const QueueBytes& queue, const Difference& d, size_t i) const;

  GoldenRun& run_;
  const AlarmFilter& alarms_;
  const std::vector<GoldenBoundary>& golden_;
  std::vector<Piece> external_;
  Dead dead_[2];  // always, and in runs that have reported a detected fault
  std::unordered_map<uint64_t, size_t> by_operation_;
  std::vector<uint8_t> open_;
  std::vector<std::vector<Piece>> unsettled_;  // by boundary, ascending
  std::vector<char> row_;
  std::vector<QueueBytes> queues_;
  std::unordered_map<uint64_t, size_t> pointers_;  // to queues, by byte
  std::vector<std::vector<char>> empty_;           // by boundary and queue
};

#endif
