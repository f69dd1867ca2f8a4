// SPDX-License-Identifier: Apache-2.0
// Storage that keeps alarms up and does nothing else, and runs that differ from the golden one in nothing but that.
//
// Alarms that stay up are state: a run in which one rose never has the golden registers again, though nothing comes of
// it any more. A bit is *spent* in a run once all alarms that it can raise are no news.
#ifndef RESIL_VERILATED_SPENT_ALARMS_H
#define RESIL_VERILATED_SPENT_ALARMS_H

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "difference.h"
#include "injector_api.h"

class SpentAlarms {
 public:
  /// Bits of alarms; `positions[i]` is the place of bit i's byte in a row of registers.
  void use(const std::vector<AlarmBit>& bits, const std::vector<size_t>& positions);

  /// Give these bits their golden values in a row of registers, and note which had others.
  void forget(char* row);
  /// Some had, in the row that was seen last.
  bool any() const { return !last_.empty(); }
  /// The alarms that these can raise.
  uint64_t alarms() const { return alarms_; }
  /// Of which these are.
  uint64_t hash() const;
  /// Add them to a difference, in its order.
  void add_to(Difference& d) const;

  /// A byte differs in nothing but bits all of whose alarms are no news.
  bool is_spent(const ByteDifference& byte, uint64_t awaited) const;
  /// So do all of them.
  bool are_spent(const Difference& d, uint64_t awaited) const;

 private:
  struct Byte {
    uint64_t offset;
    size_t position;
    uint8_t mask, golden;
    uint64_t alarms[8];  // by bit
  };

  std::vector<Byte> bytes_;  // by offset
  std::unordered_map<uint64_t, size_t> by_offset_;
  Difference last_;
  uint64_t alarms_ = 0;
};

#endif
