// SPDX-License-Identifier: Apache-2.0
// See holding.h.

#include "holding.h"

namespace {

// Gates that are gone through for the ways on which a flip-flop keeps its value.
constexpr int kMostSteps = 4000;

}  // namespace

Holding::Holding(const Network& network, const Window& window)
    : network_(network),
      window_(window),
      driver_(network.nets, -1),
      ways_(network.flip_flops.size()),
      kept_(network.flip_flops.size()),
      stamps_(network.flip_flops.size()) {
  for (size_t i = 0; i < network.gates.size(); ++i) {
    if (network.gates[i].operation != kRead) driver_[network.gates[i].y] = static_cast<int32_t>(i);
  }
  for (size_t i = 0; i < ways_.size(); ++i) {
    Way way;
    int left = kMostSteps;
    gather(static_cast<int32_t>(i), network.flip_flops[i].d, way, left);
  }
}

void Holding::gather(int32_t flip_flop, int32_t net, Way& way, int& left) {
  if (net == network_.flip_flops[flip_flop].q) {
    ways_[flip_flop].push_back(way);
    return;
  }
  if (driver_[net] < 0 || --left < 0) return;
  const Gate& g = network_.gates[driver_[net]];
  const auto on = [&](int32_t from, int32_t condition, bool value) {
    way.emplace_back(condition, value);
    gather(flip_flop, from, way, left);
    way.pop_back();
  };
  switch (g.operation) {
    case 0:
    case 1: gather(flip_flop, g.a, way, left); return;
    case 2:
    case 3: on(g.a, g.b, true), on(g.b, g.a, true); return;
    case 4:
    case 5: on(g.a, g.b, false), on(g.b, g.a, false); return;
    case 8: on(g.a, g.b, false), on(g.b, g.a, true); return;
    case 9: on(g.a, g.b, true), on(g.b, g.a, false); return;
    case 10:
    case 11: on(g.a, g.s, false), on(g.b, g.s, true); return;
    default: gather(flip_flop, g.a, way, left), gather(flip_flop, g.b, way, left);
  }
}

const CycleSet& Holding::kept(int32_t flip_flop) {
  CycleSet& kept = kept_[flip_flop];
  if (stamps_[flip_flop] == stamp_) return kept;
  stamps_[flip_flop] = stamp_;
  kept = {};
  for (const Way& way : ways_[flip_flop]) {
    CycleSet open = first_cycles(window_.cycles());
    for (const auto& [net, value] : way) {
      const CycleSet& golden = window_.golden(net);
      for (size_t k = 0; k < kSetWords; ++k) open.word[k] &= value ? golden.word[k] : ~golden.word[k];
    }
    join(kept, open);
  }
  return kept;
}
