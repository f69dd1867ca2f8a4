// SPDX-License-Identifier: Apache-2.0
// See propagation.h.

#include "propagation.h"

#include <algorithm>

namespace {

// Cycles in which the output of a gate depends on what some of its inputs depend on.
CycleSet propagated(int32_t operation, const CycleSet& a, const CycleSet& b, const CycleSet& s, const CycleSet& of_a,
                    const CycleSet& of_b, const CycleSet& of_s) {
  CycleSet y;
  const auto each = [&](auto&& function) {
    for (size_t k = 0; k < kSetWords; ++k) {
      y.word[k] = function(a.word[k], b.word[k], s.word[k], of_a.word[k], of_b.word[k], of_s.word[k]);
    }
  };
  using Word = uint64_t;
  // Of an AND: unless the other input is certain to be 0. `a_lets`, `b_lets`: where these values let the other through.
  const auto through = [](Word a_lets, Word b_lets, Word p, Word q) { return (p & q) | (p & b_lets) | (q & a_lets); };
  switch (operation) {
    case 0:
    case 1: return of_a;
    case 2:
    case 3: each([&](Word x, Word z, Word, Word p, Word q, Word) { return through(x, z, p, q); }); break;
    case 4:
    case 5: each([&](Word x, Word z, Word, Word p, Word q, Word) { return through(~x, ~z, p, q); }); break;
    case 8: each([&](Word x, Word z, Word, Word p, Word q, Word) { return through(x, ~z, p, q); }); break;
    case 9: each([&](Word x, Word z, Word, Word p, Word q, Word) { return through(~x, z, p, q); }); break;
    case 10:
    case 11:
      each([](Word x, Word z, Word c, Word p, Word q, Word r) {
        return (~r & ((c & q) | (~c & p))) | (r & (p | q | (x ^ z)));
      });
      break;
    default: each([](Word, Word, Word, Word p, Word q, Word) { return p | q; });
  }
  return y;
}

size_t bytes_of(const MemoryPort& port) { return static_cast<size_t>(port.data + 7) / 8; }

}  // namespace

Propagation::Propagation(const Network& network, const Window& window, const Accesses& accesses, Holding& holding,
               const std::vector<Piece>& external)
    : network_(network),
      window_(window),
      accesses_(accesses),
      holding_(holding),
      dependent_(network.nets),
      carried_(network.flip_flops.size()),
      walked_(network.memories.size()),
      gates_(network.gates.size()),
      flip_flops_(network.flip_flops.size()),
      memories_(network.memories.size()) {
  for (const Memory& m : network.memories) {
    const bool outside = std::ranges::any_of(external, [&](const Piece& piece) {
      return m.offset < piece.offset + piece.bytes && piece.offset < m.offset + m.words * m.entry_bytes;
    });
    stores_.push_back({outside, false, std::vector<uint8_t>(m.words * m.entry_bytes), 0});
  }
  for (const MemoryPort& port : network.reads) read_.emplace_back(bytes_of(port));
  for (const MemoryPort& port : network.writes) {
    wrote_.emplace_back(bytes_of(port));
    filled_.emplace_back(bytes_of(port));
  }
}

void Propagation::go_through(const std::vector<Opening>& openings) {
  std::fill(dependent_.begin(), dependent_.end(), CycleSet{});
  seen_ = {};
  for (size_t i = 0; i < carried_.size(); ++i) {
    if (carried_[i]) flip_flops_.mark(i);
  }
  for (size_t m = 0; m < stores_.size(); ++m) {
    if (stores_[m].count || (stores_[m].external && !openings.empty())) memories_.mark(m);
    if (!stores_[m].wild) continue;
    for (const int32_t gate : network_.read_gates[m]) gates_.mark(static_cast<size_t>(gate));
  }
  const CycleSet whole = first_cycles(window_.cycles());
  while (gates_.any() || flip_flops_.any() || memories_.any()) {
    flip_flops_.ascending([&](size_t i) {
      const FlipFlop& f = network_.flip_flops[i];
      CycleSet now = later(dependent_[f.d], carried_[i]);
      fill_later(now, holding_.kept(static_cast<int32_t>(i)));
      grow(f.q, both(now, whole));
    });
    memories_.ascending([&](size_t m) { walk(m, openings, false); });
    gates_.ascending([&](size_t i) { evaluate(network_.gates[i]); });
  }
  for (size_t m = 0; m < stores_.size(); ++m) {
    if (walked_[m]) walk(m, openings, true);
    walked_[m] = false;
  }
  for (const int32_t net : network_.operation) join(seen_, dependent_[net]);
  for (size_t i = 0; i < carried_.size(); ++i) {
    carried_[i] = dependent_[network_.flip_flops[i].d].at(window_.cycles() - 1);
  }
}

std::optional<uint64_t> Propagation::seen() const {
  for (size_t place = window_.cycles(); place-- > 0;) {
    if (seen_.at(place)) return window_.first() + place;
  }
  return std::nullopt;
}

void Propagation::grow(int32_t net, const CycleSet& more) {
  if (net < 2 || !join(dependent_[net], more)) return;
  for (const int32_t* gate = network_.fanout.begin(net); gate != network_.fanout.end(net); ++gate) {
    gates_.mark(static_cast<size_t>(*gate));
  }
  for (const int32_t* at = network_.sinks_of.begin(net); at != network_.sinks_of.end(net); ++at) {
    const Sink& sink = network_.sinks[*at];
    switch (sink.kind) {
      case kNextState: flip_flops_.mark(static_cast<size_t>(sink.index)); break;
      case kWrite:
      case kWriteEnable: memories_.mark(static_cast<size_t>(network_.writes[sink.index].memory)); break;
      default: join(seen_, more);
    }
  }
}

void Propagation::evaluate(const Gate& g) {
  if (g.operation != kRead) {
    return grow(g.y, propagated(g.operation, window_.golden(g.a), window_.golden(g.b), window_.golden(g.s),
                                dependent_[g.a], dependent_[g.b], dependent_[g.s]));
  }
  const MemoryPort& port = network_.reads[g.a];
  CycleSet all = stores_[port.memory].wild ? first_cycles(window_.cycles()) : CycleSet{};
  for (int32_t i = 0; i < port.address; ++i) join(all, dependent_[network_.address(port)[i]]);
  for (int32_t i = 0; i < port.data; ++i) grow(network_.data(port)[i], all);
}

void Propagation::note(Store& store, size_t byte, bool unknown) {
  if ((store.unknown[byte] != 0) == unknown) return;
  log_.emplace_back(byte, store.unknown[byte]);
  store.unknown[byte] = unknown;
  store.count += unknown ? 1 : ~size_t{0};
}

void Propagation::open(size_t memory, const std::vector<Piece>& fixed) {
  const Memory& m = network_.memories[memory];
  Store& store = stores_[memory];
  uint64_t at = m.offset;
  const uint64_t end = m.offset + store.unknown.size();
  const auto until = [&](uint64_t stop) {
    for (; at < std::min(stop, end); ++at) note(store, at - m.offset, true);
  };
  for (const Piece& piece : fixed) {
    until(piece.offset);
    at = std::max(at, std::min(end, piece.offset + piece.bytes));
  }
  until(end);
}

// Through the accesses of a memory in their order. What is read of it depends on external memories where a byte does.
void Propagation::walk(size_t memory, const std::vector<Opening>& openings, bool keep) {
  const Memory& m = network_.memories[memory];
  Store& store = stores_[memory];
  walked_[memory] = true;
  const CycleSet whole = first_cycles(window_.cycles());
  for (const int32_t p : network_.write_ports[memory]) {
    const MemoryPort& port = network_.writes[p];
    CycleSet where{}, whether{};
    for (int32_t i = 0; i < port.address; ++i) join(where, dependent_[network_.address(port)[i]]);
    std::fill(wrote_[p].begin(), wrote_[p].end(), CycleSet{});
    std::fill(filled_[p].begin(), filled_[p].end(), whole);
    for (int32_t i = 0; i < port.data; ++i) {
      const CycleSet& enable = window_.golden(network_.enable(port)[i]);
      join(whether, dependent_[network_.enable(port)[i]]);
      for (size_t k = 0; k < kSetWords; ++k) {
        wrote_[p][i / 8].word[k] |= dependent_[network_.data(port)[i]].word[k] & enable.word[k];
        filled_[p][i / 8].word[k] &= enable.word[k];
      }
    }
    for (size_t k = 0; k < kSetWords; ++k) where.word[k] &= window_.writing(p).word[k];
    if (!store.wild && (any(where) || any(whether))) {
      store.wild = true;
      for (const int32_t gate : network_.read_gates[memory]) gates_.mark(static_cast<size_t>(gate));
    }
  }
  log_.clear();
  for (const int32_t gate : network_.read_gates[memory]) {
    std::vector<CycleSet>& bytes = read_[network_.gates[gate].a];
    std::fill(bytes.begin(), bytes.end(), CycleSet{});
  }
  size_t opened = 0;
  const auto open_until = [&](uint32_t place) {
    for (; store.external && opened < openings.size() && openings[opened].place <= place; ++opened) {
      open(memory, *openings[opened].fixed);
    }
  };
  const std::vector<Access>& list = accesses_.of(memory);
  for (size_t i = 0; i < list.size(); ++i) {
    const Access& access = list[i];
    open_until(access.place);
    if (!access.write && (!store.count || access.word >= m.words)) continue;
    const size_t word = access.word * m.entry_bytes;
    if (!access.write) {
      std::vector<CycleSet>& bytes = read_[access.port];
      for (size_t b = 0; b < bytes.size(); ++b) {
        if (store.unknown[word + b]) set(bytes[b], access.place);
      }
      continue;
    }
    std::vector<CycleSet>& bytes = wrote_[access.port];
    if (!store.count && std::ranges::none_of(bytes, [&](const CycleSet& x) { return x.at(access.place); })) continue;
    for (size_t b = 0; b < bytes.size(); ++b) {
      const bool filled = filled_[access.port][b].at(access.place) && !accesses_.meets(memory, i, b);
      const bool kept = store.unknown[word + b] && !filled;
      note(store, word + b, kept || bytes[b].at(access.place));
    }
  }
  open_until(static_cast<uint32_t>(window_.cycles()));
  for (const int32_t gate : network_.read_gates[memory]) {
    const int32_t p = network_.gates[gate].a;
    const MemoryPort& port = network_.reads[p];
    for (int32_t i = 0; i < port.data; ++i) grow(network_.data(port)[i], read_[p][i / 8]);
  }
  if (keep) return;
  for (auto at = log_.rbegin(); at != log_.rend(); ++at) {
    store.count += (at->second ? 1 : 0) - (store.unknown[at->first] ? 1 : 0);
    store.unknown[at->first] = at->second;
  }
}
