// SPDX-License-Identifier: Apache-2.0
// See regions.h.

#include "regions.h"

#include <algorithm>
#include <array>

namespace {

constexpr uint32_t kNone = 0xffffffff;

// Nets that a gate takes, each once, without the constants.
size_t inputs_of(const Mux& g, std::array<uint32_t, 3>& nets) {
  size_t found = 0;
  for (const uint32_t net : {g.s, g.a / 2, g.b / 2}) {
    if (net > 1 && std::find(nets.begin(), nets.begin() + found, net) == nets.begin() + found) nets[found++] = net;
  }
  return found;
}

void keep_observed(const Design& d, std::vector<uint8_t>& kept) {
  for (const auto* list : {&d.done, &d.status, &d.operation, &d.undefined}) {
    for (const int32_t net : *list) kept[net] = 1;
  }
  for (const AlarmNet& a : d.alarms) kept[a.net] = 1;
  for (const Design::Load& l : d.loads) kept[l.net] = 1;
}

}  // namespace

struct Regions::Growing {
  struct Inputs {
    std::array<uint32_t, kInputs> nets;
    uint32_t count = 0, operations = 0;
  };
  std::vector<Inputs> of;         // by gate, of the region that ends in it
  std::vector<uint8_t> absorbed;  // by gate: it is in the region of what takes it
};

Regions::Regions(const Design& d, std::vector<uint8_t> kept)
    : region_of(d.gates.size()), reads_of(d.memories.size()), flip_flops_(d.flip_flops.size()), writes_(d.writes.size()) {
  keep_observed(d, kept);
  Growing growing{std::vector<Growing::Inputs>(d.gates.size()), std::vector<uint8_t>(d.gates.size())};
  // The gate that alone takes what another one drives.
  const auto sole = [&](size_t gate) {
    const Mux& g = d.gates[gate];
    if (g.s == kReadGate || kept[g.y] || d.first_target[g.y + 1] != d.first_target[g.y] + 1) return kNone;
    const uint32_t only = d.target[d.first_target[g.y]];
    return only < d.gates.size() && d.gates[only].s != kReadGate ? only : kNone;
  };
  for (size_t i = 0; i < d.gates.size(); ++i) {
    if (d.gates[i].s == kReadGate) continue;
    std::array<uint32_t, 3> nets;
    const size_t count = inputs_of(d.gates[i], nets);
    Growing::Inputs& own = growing.of[i];
    std::copy_n(nets.begin(), count, own.nets.begin());
    own.count = static_cast<uint32_t>(count), own.operations = 1;
    // Small ones first: more of them fit.
    std::sort(nets.begin(), nets.begin() + count, [&](uint32_t a, uint32_t b) {
      const auto size = [&](uint32_t net) { return d.driver[net] < 0 ? 0u : growing.of[d.driver[net]].count; };
      return size(a) < size(b);
    });
    for (size_t k = 0; k < count; ++k) {
      const int32_t driver = d.driver[nets[k]];
      if (driver < 0 || sole(static_cast<size_t>(driver)) != i) continue;
      const Growing::Inputs& more = growing.of[driver];
      std::array<uint32_t, 2 * kInputs> all;
      auto end = std::remove_copy(own.nets.begin(), own.nets.begin() + own.count, all.begin(), nets[k]);
      for (size_t n = 0; n < more.count; ++n) {
        if (std::find(all.begin(), end, more.nets[n]) == end) *end++ = more.nets[n];
      }
      const size_t size = static_cast<size_t>(end - all.begin());
      if (size > kInputs || own.operations + more.operations > kOperations) continue;
      std::copy(all.begin(), end, own.nets.begin());
      own.count = static_cast<uint32_t>(size);
      own.operations += more.operations;
      growing.absorbed[driver] = 1;
    }
  }
  for (size_t i = 0; i < d.gates.size(); ++i) {
    if (!growing.absorbed[i]) emit(d, growing, i);
  }
  connect(d);
}

// The region that ends in a gate.
void Regions::emit(const Design& d, const Growing& growing, size_t root) {
  const uint32_t number = static_cast<uint32_t>(cells.size());
  const Mux& last = d.gates[root];
  root_of.push_back(static_cast<uint32_t>(root));
  region_of[root] = number;
  if (last.s == kReadGate) reads_of[d.reads[last.a].memory].push_back(number);
  const Growing::Inputs& own = growing.of[root];
  if (last.s == kReadGate || own.operations == 1) {
    cells.push_back(last);
    return;
  }
  cells.push_back({kRegion, static_cast<uint32_t>(code.size()), own.count | own.operations << 16, last.y});
  code.insert(code.end(), own.nets.begin(), own.nets.begin() + own.count);
  std::vector<uint32_t> slots(own.nets.begin(), own.nets.begin() + own.count);  // nets, of slots from 1 on
  const auto slot = [&](uint32_t net) {
    return net < 2 ? 0u : 1u + static_cast<uint32_t>(std::find(slots.begin(), slots.end(), net) - slots.begin());
  };
  const auto operand = [&](uint32_t of) { return slot(of / 2) | ((of & 1) ^ (of / 2 == 1)) << 7; };
  const auto operate = [&](const auto& self, size_t gate) -> void {
    const Mux& g = d.gates[gate];
    region_of[gate] = number;
    std::array<uint32_t, 3> nets;
    const size_t count = inputs_of(g, nets);
    for (size_t k = 0; k < count; ++k) {
      const int32_t driver = d.driver[nets[k]];
      if (driver >= 0 && growing.absorbed[driver] && slot(nets[k]) > slots.size()) self(self, static_cast<size_t>(driver));
    }
    code.push_back((slot(g.s) | (g.s == 1) << 7) | operand(g.a) << 8 | operand(g.b) << 16);
    slots.push_back(g.y);
  };
  operate(operate, root);
}

void Regions::connect(const Design& d) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (size_t net = 2; net < d.nets; ++net) {
    for (uint32_t k = d.first_target[net]; k < d.first_target[net + 1]; ++k) {
      const size_t to = d.target[k];
      if (to < d.gates.size()) {
        const uint32_t cell = region_of[to];
        const int32_t driver = d.driver[net];
        const bool within = driver >= 0 && region_of[driver] == cell;
        if (!within) pairs.emplace_back(net, cell);
      } else if (to < d.first_write()) {
        pairs.emplace_back(net, static_cast<uint32_t>(to - d.first_flip_flop() + first_flip_flop()));
      } else {
        pairs.emplace_back(net, static_cast<uint32_t>(to - d.first_write() + first_write()));
      }
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  first_target.assign(d.nets + 1, 0);
  for (const auto& [net, to] : pairs) ++first_target[net + 1];
  for (uint64_t net = 0; net < d.nets; ++net) first_target[net + 1] += first_target[net];
  target.reserve(pairs.size());
  for (const auto& [net, to] : pairs) target.push_back(to);
}
