// SPDX-License-Identifier: Apache-2.0
// In which cycles of a window flip-flops hold their values: their enables are found in the gates, not by name.
#ifndef RESIL_VERILATED_HOLDING_H
#define RESIL_VERILATED_HOLDING_H

#include <utility>

#include "window.h"

class Holding {
 public:
  Holding(const Network& network, const Window& window);
  /// Another window has been loaded.
  void forget() { ++stamp_; }
  /// Cycles after which a flip-flop has its value for no other reason than that it had it before: the golden run opens
  /// a way from its output to its input. Where what opens it is uncertain it may be in use all the same.
  const CycleSet& kept(int32_t flip_flop);

 private:
  using Way = std::vector<std::pair<int32_t, bool>>;  // nets, and the value that each has to have

  void gather(int32_t flip_flop, int32_t net, Way& way, int& left);

  const Network& network_;
  const Window& window_;
  std::vector<int32_t> driver_;  // gate, by net
  std::vector<std::vector<Way>> ways_;
  std::vector<CycleSet> kept_;
  std::vector<uint64_t> stamps_;
  uint64_t stamp_ = 1;
};

#endif
