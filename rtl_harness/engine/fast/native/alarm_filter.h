// SPDX-License-Identifier: Apache-2.0
// Which alarms of a faulty run count: the first of each kind, among those that the golden run does not raise.
#ifndef RESIL_VERILATED_ALARM_FILTER_H
#define RESIL_VERILATED_ALARM_FILTER_H

#include <bit>

#include "injector_api.h"

class AlarmFilter {
 public:
  /// A bit for each alarm that reports a detected fault, or a corrected one.
  AlarmFilter(uint64_t detects, uint64_t corrects) : detects_(detects), corrects_(corrects) {}

  /// The golden run raises these: they report nothing of a fault.
  void ignore(uint64_t usual) { usual_ = usual; }
  void end_at_detection(bool wanted) { ends_at_detection_ = wanted; }

  /// An alarm that reports a detected fault is among these.
  bool awaits_detection(uint64_t awaited) const { return awaited & detects_; }

  /// Alarms whose rise is still news in a run that has reported so much.
  uint64_t awaited(const Reported& reported) const {
    return ((reported.detected.alarm < 0 ? detects_ : 0) | (reported.corrected.alarm < 0 ? corrects_ : 0)) & ~usual_;
  }
  /// A run that has reported so much goes no further.
  bool is_enough(const Reported& reported) const { return ends_at_detection_ && reported.detected.alarm >= 0; }
  /// Keep which alarms, of those that are news, were up in a cycle.
  void report(Reported& reported, uint64_t up, uint64_t cycle) const {
    if (up & detects_) reported.detected = {std::countr_zero(up & detects_), cycle};
    if (up & corrects_) reported.corrected = {std::countr_zero(up & corrects_), cycle};
  }

 private:
  uint64_t detects_;
  uint64_t corrects_;
  uint64_t usual_ = 0;
  bool ends_at_detection_ = false;
};

#endif
