// SPDX-License-Identifier: Apache-2.0
// See golden.h.

#include "golden.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

// Rounds in which asynchronous loads may set one another off.
constexpr int kRounds = 16;

}  // namespace

Golden::Golden(const Design& d, uint64_t kept)
    : design_(d), kept_(kept), reading_(d.reads.size()), ones_((d.nets + 63) / 64), zeros_(ones_.size()) {
  for (const Memory& m : d.memories) {
    const auto* const from = reinterpret_cast<const uint8_t*>(d.state + m.offset);
    initial_.emplace_back(from, from + m.words * m.entry_bytes);
  }
  start();
}

void Golden::start() {
  value_.assign((design_.nets + 63) / 64 * 64, 0);
  value_[1] = 1;
  for (const FlipFlop& f : design_.flip_flops) value_[f.q] = design_.state[f.offset] >> f.bit & 1;
  memories_ = initial_;
  dirty_.assign((design_.gates.size() + 63) / 64, 0);
  for (size_t gate = 0; gate < design_.gates.size(); ++gate) mark(gate);
  rows_.clear();
  first_ = bytes_ = 0;
  still_ = false;
  settle();
  note();
}

uint64_t Golden::address(const MemoryPort& port) const {
  const int32_t* const list = design_.address(port);
  uint64_t found = 0;
  for (int32_t i = 0; i < port.address; ++i) found |= uint64_t{value_[list[i]]} << i;
  return found - static_cast<uint64_t>(static_cast<int64_t>(design_.memories[port.memory].first_word));
}

void Golden::set(int32_t net, uint8_t value) {
  if (value_[net] == value) return;
  value_[net] = value;
  for (uint32_t i = design_.first_target[net]; i < design_.first_target[net + 1]; ++i) {
    if (design_.target[i] < design_.gates.size()) mark(design_.target[i]);
  }
}

// Gates come after those that they depend on: none is marked once it has been passed.
void Golden::evaluate() {
  for (size_t at = 0; at < dirty_.size(); ++at) {
    while (dirty_[at]) {
      const Mux& g = design_.gates[64 * at + static_cast<size_t>(std::countr_zero(dirty_[at]))];
      dirty_[at] &= dirty_[at] - 1;
      if (g.s != kReadGate) {
        const uint8_t a = value_[g.a / 2] ^ (g.a & 1), b = value_[g.b / 2] ^ (g.b & 1);
        set(static_cast<int32_t>(g.y), a ^ ((a ^ b) & -value_[g.s]));
        continue;
      }
      const MemoryPort& port = design_.reads[g.a];
      const Memory& m = design_.memories[port.memory];
      const uint64_t word = address(port);
      reading_[g.a] = word;
      const uint8_t* const from = word < m.words ? memories_[port.memory].data() + word * m.entry_bytes : nullptr;
      const int32_t* const data = design_.data(port);
      for (int32_t i = 0; i < port.data; ++i) set(data[i], from ? from[i / 8] >> (i % 8) & 1 : 0);
    }
  }
}

bool Golden::load() {
  bool changed = false;
  for (const Design::Load& l : design_.loads) {
    if (value_[l.net] != l.active) continue;
    for (const uint32_t i : l.flip_flops) {
      const int8_t reset = design_.reset[i];
      const int32_t q = design_.flip_flops[i].q;
      if (reset < 0) throw std::runtime_error("an asynchronous load acts whose value is not known");
      changed |= value_[q] != reset;
      set(q, static_cast<uint8_t>(reset));
    }
  }
  return changed;
}

void Golden::settle() {
  for (int round = 0; round < kRounds; ++round) {
    evaluate();
    if (!load()) return;
  }
  throw std::runtime_error("asynchronous loads set one another off without an end");
}

// Keep the row, and what is written at the edge that follows.
void Golden::note() {
  Row row;
  row.nets = std::make_unique<uint64_t[]>(words());
  for (size_t i = 0; i < words(); ++i) {
    for (unsigned byte = 0; byte < 8; ++byte) {
      uint64_t eight;  // of values, which are 0 or 1: gathered into the highest byte by one product
      std::memcpy(&eight, value_.data() + 64 * i + 8 * byte, 8);
      row.nets[i] |= (eight * 0x0102040810204080 >> 56) << (8 * byte);
    }
    if (!length_) ones_[i] |= row.nets[i], zeros_[i] |= ~row.nets[i];
  }
  if (known() && !length_) {
    for (const AlarmNet& a : design_.alarms) alarms_ |= uint64_t{value_[a.net]} << a.alarm;
  }
  row.reads = reading_;
  struct Place {
    size_t port;
    uint64_t word;
  };
  std::vector<Place> places;
  size_t room = 0;
  for (size_t p = 0; p < design_.writes.size(); ++p) {
    const MemoryPort& port = design_.writes[p];
    const int32_t* const enable = design_.enable(port);
    const auto on = [&](int32_t net) { return value_[net] != 0; };
    if (std::none_of(enable, enable + port.data, on)) continue;
    const uint64_t word = address(port);
    if (word >= design_.memories[port.memory].words) continue;
    places.push_back({p, word});
    room += 2 * design_.memories[port.memory].entry_bytes;
  }
  row.bytes.reserve(room);  // what is written points into it
  row.writes.reserve(places.size());
  for (const auto& [p, word] : places) {
    const MemoryPort& port = design_.writes[p];
    const Memory& m = design_.memories[port.memory];
    const int32_t* const data = design_.data(port);
    const int32_t* const enable = design_.enable(port);
    uint8_t* const to = memories_[port.memory].data() + word * m.entry_bytes;
    const uint8_t* const before = row.bytes.data() + row.bytes.size();
    row.bytes.insert(row.bytes.end(), to, to + m.entry_bytes);
    for (int32_t i = 0; i < port.data; ++i) {
      if (!value_[enable[i]]) continue;
      const uint8_t mask = static_cast<uint8_t>(1 << i % 8);
      to[i / 8] = static_cast<uint8_t>(value_[data[i]] ? to[i / 8] | mask : to[i / 8] & ~mask);
    }
    row.bytes.insert(row.bytes.end(), to, to + m.entry_bytes);
    row.writes.push_back(
        {static_cast<uint32_t>(p), static_cast<uint32_t>(port.memory), word, before, before + m.entry_bytes});
  }
  bytes_ += size(row);
  rows_.push_back(std::move(row));
}

void Golden::gone() { throw std::logic_error("a row of the golden run is gone that is still needed"); }

size_t Golden::size(const Row& row) const {
  return sizeof(Row) + 8 * (words() + row.reads.size()) + sizeof(Written) * row.writes.size() + row.bytes.capacity();
}

void Golden::forget(uint64_t before) {
  while (bytes_ > kept_ && first_ < before && rows_.size() > 1) {
    bytes_ -= size(rows_.front());
    rows_.pop_front();
    ++first_;
  }
}

// One edge; false if nothing changes by it.
bool Golden::step() {
  const bool wrote = !rows_.back().writes.empty();
  std::vector<uint8_t> next(design_.flip_flops.size());
  for (size_t i = 0; i < next.size(); ++i) next[i] = value_[design_.flip_flops[i].d];
  for (const Design::Load& l : design_.loads) {
    if (value_[l.net] != l.active) continue;
    for (const uint32_t i : l.flip_flops) next[i] = value_[design_.flip_flops[i].q];
  }
  bool changed = wrote;
  for (size_t i = 0; i < next.size(); ++i) {
    const int32_t q = design_.flip_flops[i].q;
    changed |= value_[q] != next[i];
    set(q, next[i]);
  }
  if (!changed) return false;
  for (const Written& w : rows_.back().writes) {
    for (const uint32_t gate : design_.reads_of[w.memory]) mark(gate);
  }
  settle();
  note();
  return true;
}

void Golden::need(uint64_t from, uint64_t to) {
  if (from < first_) start();
  forget(from);
  while (!still_ && known() < to) {
    still_ = !step();
    forget(from);
  }
}

bool Golden::finish(uint64_t limit) {
  while (!length_) {
    const bool done = std::any_of(design_.done.begin(), design_.done.end(), [&](int32_t net) { return value_[net] != 0; });
    if (done && known() > 1) {
      length_ = known() - 1;
      const Row& row = rows_.back();
      last_.assign(row.nets.get(), row.nets.get() + words());
      // What is written at the edge that follows is not in it.
      last_memories_ = memories_;
      for (auto w = row.writes.rbegin(); w != row.writes.rend(); ++w) {
        const size_t size = design_.memories[w->memory].entry_bytes;
        std::memcpy(last_memories_[w->memory].data() + w->word * size, w->before, size);
      }
    } else if (known() > limit || !step()) {
      return false;
    }
    forget(known());
  }
  return true;
}

void Golden::prepare(uint64_t from, uint64_t to, const Regions& regions) {
  changed_from_ = from;
  changed_words_ = regions.words();
  changed_.assign((to - from) * changed_words_, 0);
  for (uint64_t r = from + 1; r < to; ++r) {
    const uint64_t* const now = row(r);
    const uint64_t* const before = row(r - 1);
    if (now == before) continue;
    uint64_t* const into = changed_.data() + (r - from) * changed_words_;
    for (size_t word = 0; word < words(); ++word) {
      for (uint64_t left = now[word] ^ before[word]; left; left &= left - 1) {
        const size_t net = 64 * word + static_cast<size_t>(std::countr_zero(left));
        for (uint32_t i = regions.first_target[net]; i < regions.first_target[net + 1]; ++i) {
          const uint32_t target = regions.target[i];
          if (target < regions.cells.size()) into[target / 64] |= uint64_t{1} << (target % 64);
        }
      }
    }
  }
}

uint64_t Golden::number(const uint64_t* row, const std::vector<int32_t>& nets) const {
  uint64_t found = 0;
  for (size_t i = 0; i < nets.size() && i < 64; ++i) found |= uint64_t{bit(row, nets[i])} << i;
  return found;
}

void Memories::put(const Written& w, const uint8_t* from) {
  const size_t size = design_.memories[w.memory].entry_bytes;
  std::memcpy(images_[w.memory].data() + w.word * size, from, size);
}

void Memories::seek(uint64_t r) {
  for (; row_ < r; ++row_) {
    for (const Written* w = golden_.writes_begin(row_); w != golden_.writes_end(row_); ++w) put(*w, w->after);
  }
  while (row_ > r) {
    --row_;
    for (const Written* w = golden_.writes_end(row_); w != golden_.writes_begin(row_);) {
      --w;
      put(*w, w->before);
    }
  }
}
