// SPDX-License-Identifier: Apache-2.0
// See liveness.h.

#include "liveness.h"

#include <map>

#include "backward_slice.h"
#include "propagation.h"

namespace {

// What is uncertain in the windows of a long run is kept together for several, each of which then knows a little less.
constexpr size_t kMostBytes = size_t{256} << 20;

}  // namespace

struct DeadStorage {
  DeadStorage(Campaign& campaign, const Circuit& circuit, const Externals& given)
      : campaign(campaign),
        network(circuit),
        window(campaign, network),
        accesses(network),
        holding(network, window),
        external(given.external, given.external + given.external_count) {
    for (size_t i = 0; i <= campaign.boundaries.size(); ++i) {
      fixed.emplace_back(given.fixed + given.fixed_first[i], given.fixed + given.fixed_first[i + 1]);
    }
    forwards();
    backwards();
    campaign.cursor->copy(*campaign.origin);
  }

  size_t windows() const { return (campaign.timeline.length() + kLanes - 1) / kLanes; }

  void load(uint64_t first) {
    window.load(first);
    for (const FlipFlop& f : network.flip_flops) window.verify(f);
    accesses.gather(window);
    holding.forget();
  }

  // Lanes of the window in which the golden run is at the end of an operation, and which end.
  std::vector<std::pair<uint32_t, size_t>> ends() const {
    std::vector<std::pair<uint32_t, size_t>> found;
    for (size_t i = 0; i < campaign.boundaries.size(); ++i) {
      const uint64_t cycle = campaign.boundaries[i].edges - 1;
      if (cycle >= window.first() && cycle <= window.last()) found.emplace_back(cycle - window.first(), i);
    }
    return found;
  }

  void forwards() {
    Spread spread(network, window, accesses, holding, external);
    together = 1 + windows() * network.nets / 8 / kMostBytes;
    uncertain.assign((windows() + together - 1) / together, std::vector<bool>(network.nets));
    for (uint64_t first = 0; first < campaign.timeline.length(); first += kLanes) {
      load(first);
      std::vector<Opening> openings;
      if (first == 0) openings.push_back({0, &fixed[0]});
      for (const auto& [lane, i] : ends()) openings.push_back({lane, &fixed[i + 1]});
      spread.go_through(openings);
      std::vector<bool>& nets = uncertain[first / kLanes / together];
      for (size_t net = 2; net < network.nets; ++net) {
        if (any(spread.lanes(static_cast<int32_t>(net)))) nets[net] = true;
      }
      if (const auto cycle = spread.seen()) settled = *cycle + 2;
    }
  }

  void backwards() {
    Need need(network, window, accesses, holding, external);
    dead.resize(campaign.boundaries.size());
    for (size_t k = windows(); k-- > 0;) {
      rewind(k * kLanes + 1);
      load(k * kLanes);
      std::vector<uint32_t> lanes;
      std::vector<size_t> numbers;
      for (const auto& [lane, i] : ends()) {
        lanes.push_back(lane);
        numbers.push_back(i);
      }
      std::vector<Difference> found;
      need.go_through(uncertain[k / together], lanes, found);
      for (size_t i = 0; i < found.size(); ++i) dead[numbers[i]] = joined(found[i]);
    }
  }

  // Bring the cursor to a cycle before its own without beginning anew.
  void rewind(uint64_t edges) {
    Instance& cursor = *campaign.cursor;
    const char* row = nullptr;
    for (; edges > 0 && !row; --edges) row = campaign.milestones.find(edges);
    if (!row) return cursor.copy(*campaign.origin);
    campaign.registers.scatter(row, cursor.state());
    campaign.memories.seek(edges + 1);
    campaign.memories.restore(cursor.state());
    cursor.select();
    cursor.settle_quietly();
    cursor.cycle = edges + 1;
  }

  static Difference joined(const Difference& bits) {
    std::map<uint64_t, uint32_t> bytes;
    for (const ByteDifference& bit : bits) bytes[bit.offset] |= bit.mask;
    Difference all;
    for (const auto& [offset, mask] : bytes) all.push_back({offset, mask});
    return all;
  }

  Campaign& campaign;
  Network network;
  Window window;
  Accesses accesses;
  Holding holding;
  std::vector<Piece> external;
  std::vector<std::vector<Piece>> fixed;     // at the start, and by boundary
  size_t together = 1;                       // windows that share what is uncertain in them
  std::vector<std::vector<bool>> uncertain;  // by these and net
  std::vector<Difference> dead;              // by boundary
  uint64_t settled = 0;
};

extern "C" {

DeadStorage* resil_liveness_find(Campaign* campaign, const Circuit* circuit, const Externals* given) {
  return guarded([&] { return new DeadStorage(*campaign, *circuit, *given); }, static_cast<DeadStorage*>(nullptr));
}

void resil_liveness_destroy(DeadStorage* self) { delete self; }

uint64_t resil_liveness_bits(const DeadStorage* self, uint64_t i, const ByteDifference** bits) {
  *bits = self->dead[i].data();
  return self->dead[i].size();
}

uint64_t resil_liveness_settled(const DeadStorage* self) { return self->settled; }
}
