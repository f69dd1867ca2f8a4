// SPDX-License-Identifier: Apache-2.0
// See backward_slice.h.

#include "backward_slice.h"

#include <algorithm>

namespace {

// What drives a net, in one number: a gate, nothing, or a flip-flop.
constexpr int32_t kNothing = -1, kFirstFlipFlop = -2;

size_t bytes_of(const MemoryPort& port) { return static_cast<size_t>(port.data + 7) / 8; }

}  // namespace

BackwardSlice::BackwardSlice(const Network& network, const Window& window, const Accesses& accesses, Holding& holding,
           const std::vector<Piece>& external)
    : network_(network),
      window_(window),
      accesses_(accesses),
      holding_(holding),
      origin_(network.nets, kNothing),
      needed_(network.nets),
      carried_(network.flip_flops.size()),
      steady_(network.flip_flops.size()),
      gates_(network.gates.size()),
      flip_flops_(network.flip_flops.size()),
      memories_(network.memories.size()),
      anywhere_(network.reads.size()) {
  for (size_t i = 0; i < network.gates.size(); ++i) {
    const Gate& g = network.gates[i];
    if (g.operation != kRead) {
      origin_[g.y] = static_cast<int32_t>(i);
      continue;
    }
    const MemoryPort& port = network.reads[g.a];
    for (int32_t k = 0; k < port.data; ++k) origin_[network.data(port)[k]] = static_cast<int32_t>(i);
  }
  for (size_t i = 0; i < network.flip_flops.size(); ++i) {
    origin_[network.flip_flops[i].q] = kFirstFlipFlop - static_cast<int32_t>(i);
  }
  for (const Memory& m : network.memories) {
    const bool outside = std::ranges::any_of(external, [&](const Piece& piece) {
      return m.offset < piece.offset + piece.bytes && piece.offset < m.offset + m.words * m.entry_bytes;
    });
    stores_.push_back({outside, std::vector<uint8_t>(m.words * m.entry_bytes), 0});
  }
  for (const Memory& m : network.memories) masks_.emplace_back(m.entry_bytes);
  for (const std::vector<MemoryPort>* ports : {&network.reads, &network.writes}) {
    for (const MemoryPort& port : *ports) {
      for (int32_t i = 0; i < port.data; ++i) masks_[port.memory][i / 8] |= static_cast<uint8_t>(1 << i % 8);
    }
  }
  for (const MemoryPort& port : network.reads) read_.emplace_back(bytes_of(port));
  for (const MemoryPort& port : network.writes) {
    wanted_.emplace_back(bytes_of(port));
    filled_.emplace_back(bytes_of(port));
  }
}

void BackwardSlice::need_all() {
  std::fill(carried_.begin(), carried_.end(), true);
  std::fill(steady_.begin(), steady_.end(), false);
  for (size_t m = 0; m < stores_.size(); ++m) {
    if (!keeps(m)) continue;
    std::fill(stores_[m].needed.begin(), stores_[m].needed.end(), uint8_t{1});
    stores_[m].count = stores_[m].needed.size();
  }
}

void BackwardSlice::go_through(const std::vector<bool>& uncertain, const std::vector<uint32_t>& places,
                      std::vector<Difference>& dead) {
  uncertain_ = &uncertain;
  begin();
  for (size_t i = 0; places.empty() && i < steady_.size(); ++i) {
    if (steady_[i]) grow(network_.flip_flops[i].q, first_cycles(window_.cycles()));
  }
  while (gates_.any() || flip_flops_.any() || memories_.any()) {
    gates_.descending([&](size_t i) { evaluate(network_.gates[i]); });
    flip_flops_.ascending([&](size_t i) {
      const FlipFlop& f = network_.flip_flops[i];
      const CycleSet& kept = holding_.kept(static_cast<int32_t>(i));
      CycleSet now = needed_[f.q];
      if (carried_[i] && kept.at(window_.cycles() - 1)) set(now, window_.cycles() - 1);
      fill_earlier(now, kept);
      grow(f.d, earlier(now, carried_[i], window_.cycles()));
    });
    memories_.ascending([&](size_t m) { walk(m); });
  }
  dead.assign(places.size(), {});
  for (size_t i = 0; i < network_.flip_flops.size(); ++i) {
    const FlipFlop& f = network_.flip_flops[i];
    for (size_t k = 0; k < places.size(); ++k) {
      if (!f.sensitive && !needed_[f.q].at(places[k])) dead[k].push_back({f.offset, uint32_t{1} << f.bit});
    }
    carried_[i] = needed_[f.q].at(0);
    if (!places.empty()) steady_[i] = !any(without(first_cycles(window_.cycles()), needed_[f.q]));
  }
  for (size_t m = 0; m < stores_.size(); ++m) {
    if (keeps(m)) pass(m, places, dead);
  }
}

// What is needed in any case: outputs, resets, whether and where memories are written, what external ones get.
void BackwardSlice::begin() {
  std::fill(needed_.begin(), needed_.end(), CycleSet{});
  const CycleSet whole = first_cycles(window_.cycles());
  for (const int32_t net : network_.ports) grow(net, whole);
  for (const AlarmNet& alarm : network_.alarms) grow(alarm.net, whole);
  for (const int32_t net : network_.operation) grow(net, whole);
  for (const int32_t net : network_.undefined) grow(net, whole);
  for (const FlipFlop& f : network_.flip_flops) grow(f.load, whole);
  for (size_t p = 0; p < network_.writes.size(); ++p) {
    const MemoryPort& port = network_.writes[p];
    const int32_t* const enable = network_.enable(port);
    for (int32_t i = 0; i < port.data; ++i) grow(enable[i], whole);
    const bool known = is_certain(network_.address(port), port.address) && is_certain(enable, port.data);
    const CycleSet writes = known ? both(window_.writing(static_cast<int32_t>(p)), whole) : whole;
    for (int32_t i = 0; i < port.address; ++i) grow(network_.address(port)[i], writes);
    for (size_t b = 0; b < filled_[p].size(); ++b) filled_[p][b] = known ? whole : CycleSet{};
    for (int32_t i = 0; i < port.data; ++i) {
      const CycleSet& golden = window_.golden(enable[i]);
      filled_[p][i / 8] = both(filled_[p][i / 8], golden);
      if (stores_[port.memory].external || !known) grow(network_.data(port)[i], known ? both(golden, whole) : whole);
    }
  }
  for (size_t i = 0; i < carried_.size(); ++i) {
    if (carried_[i]) flip_flops_.mark(i);
  }
  for (size_t m = 0; m < stores_.size(); ++m) {
    if (keeps(m)) memories_.mark(m);
  }
}

void BackwardSlice::grow(int32_t net, const CycleSet& more) {
  if (net < 2 || !join(needed_[net], more)) return;
  const int32_t origin = origin_[net];
  if (origin >= 0) {
    gates_.mark(static_cast<size_t>(origin));
  } else if (origin <= kFirstFlipFlop) {
    flip_flops_.mark(static_cast<size_t>(kFirstFlipFlop - origin));
  }
}

bool BackwardSlice::is_certain(const int32_t* nets, int32_t count) const {
  return std::all_of(nets, nets + count, [&](int32_t net) { return !(*uncertain_)[net]; });
}

// Cycles in which a net is known to have a value.
CycleSet BackwardSlice::certain(int32_t net, bool value) const {
  if ((*uncertain_)[net]) return {};
  const CycleSet& golden = window_.golden(net);
  return value ? golden : without(first_cycles(kWindowCycles), golden);
}

void BackwardSlice::evaluate(const Gate& g) {
  if (g.operation == kRead) return need_word(network_.reads[g.a]);
  const CycleSet& y = needed_[g.y];
  // Of two inputs that both decide alone, the second is taken.
  const auto unless_decided = [&](bool by_a, bool by_b) {
    const CycleSet a = certain(g.a, by_a), b = certain(g.b, by_b);
    grow(g.a, without(y, b));
    grow(g.b, without(y, without(a, b)));
  };
  switch (g.operation) {
    case 0:
    case 1: grow(g.a, y); return;
    case 2:
    case 3: unless_decided(false, false); return;
    case 4:
    case 5: unless_decided(true, true); return;
    case 8: unless_decided(false, true); return;
    case 9: unless_decided(true, false); return;
    case 10:
    case 11:
      grow(g.a, without(y, certain(g.s, true)));
      grow(g.b, without(y, certain(g.s, false)));
      grow(g.s, y);
      return;
    default: grow(g.a, y), grow(g.b, y);
  }
}

void BackwardSlice::need_word(const MemoryPort& port) {
  CycleSet asked{};
  for (int32_t i = 0; i < port.data; ++i) join(asked, needed_[network_.data(port)[i]]);
  for (int32_t i = 0; i < port.address; ++i) grow(network_.address(port)[i], asked);
  if (keeps(static_cast<size_t>(port.memory))) memories_.mark(static_cast<size_t>(port.memory));
}

void BackwardSlice::note(Store& store, size_t byte, bool needed) {
  if ((store.needed[byte] != 0) == needed) return;
  log_.emplace_back(byte, store.needed[byte]);
  put(store, byte, needed);
}

void BackwardSlice::put(Store& store, size_t byte, bool needed) {
  store.count += needed ? 1 : ~size_t{0};
  store.needed[byte] = needed;
}

// Backwards over one access of a memory.
void BackwardSlice::step(size_t memory, size_t number) {
  Store& store = stores_[memory];
  const Access& access = accesses_.of(memory)[number];
  const size_t word = access.word * network_.memories[memory].entry_bytes;
  if (access.write) {
    for (size_t b = 0; b < wanted_[access.port].size(); ++b) {
      if (!store.needed[word + b]) continue;
      set(wanted_[access.port][b], access.place);
      if (filled_[access.port][b].at(access.place) && !accesses_.meets(memory, number, b)) note(store, word + b, false);
    }
    return;
  }
  const std::vector<CycleSet>& bytes = read_[access.port];
  for (size_t b = 0; b < bytes.size(); ++b) {
    if (!bytes[b].at(access.place)) continue;
    if (anywhere_[access.port]) {
      for (size_t byte = 0; store.count < store.needed.size() && byte < store.needed.size(); ++byte) note(store, byte, true);
    } else if (access.word < network_.memories[memory].words) {
      note(store, word + b, true);
    }
  }
}

void BackwardSlice::walk(size_t memory) {
  Store& store = stores_[memory];
  log_.clear();
  for (const int32_t p : network_.write_ports[memory]) std::fill(wanted_[p].begin(), wanted_[p].end(), CycleSet{});
  for (const int32_t gate : network_.read_gates[memory]) {
    const int32_t p = network_.gates[gate].a;
    const MemoryPort& port = network_.reads[p];
    std::fill(read_[p].begin(), read_[p].end(), CycleSet{});
    for (int32_t i = 0; i < port.data; ++i) join(read_[p][i / 8], needed_[network_.data(port)[i]]);
    anywhere_[p] = !is_certain(network_.address(port), port.address);
  }
  for (size_t i = accesses_.of(memory).size(); i-- > 0;) step(memory, i);
  for (auto at = log_.rbegin(); at != log_.rend(); ++at) put(store, at->first, at->second);
  for (const int32_t p : network_.write_ports[memory]) {
    const MemoryPort& port = network_.writes[p];
    for (int32_t i = 0; i < port.data; ++i) {
      grow(network_.data(port)[i], both(wanted_[p][i / 8], window_.golden(network_.enable(port)[i])));
    }
  }
}

void BackwardSlice::pass(size_t memory, const std::vector<uint32_t>& places, std::vector<Difference>& dead) {
  const std::vector<Access>& list = accesses_.of(memory);
  size_t left = places.size();
  for (size_t i = list.size(); i-- > 0;) {
    for (; left && places[left - 1] > list[i].place; --left) list_dead(memory, dead[left - 1]);
    step(memory, i);
  }
  for (; left; --left) list_dead(memory, dead[left - 1]);
}

void BackwardSlice::list_dead(size_t memory, Difference& dead) const {
  const Memory& m = network_.memories[memory];
  for (size_t byte = 0; byte < stores_[memory].needed.size(); ++byte) {
    const uint32_t mask = masks_[memory][byte % m.entry_bytes];
    if (mask && !stores_[memory].needed[byte]) dead.push_back({m.offset + byte, mask});
  }
}
