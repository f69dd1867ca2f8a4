// SPDX-License-Identifier: Apache-2.0
// See window.h.

#include "window.h"

#include <bit>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "bit_parallel.h"

namespace {

// In one window of so many, gates and model are compared in all flip-flops; in the others in those that a difference
// reaches.
constexpr uint64_t kCheckEvery = 8;

}  // namespace

Window::Window(GoldenRun& golden, const Network& network)
    : run_(golden), network_(network), row_bytes_(golden.registers().bytes()), rows_(kWindowCycles * row_bytes_) {
  golden_.resize(network.nets);
  alarms_.resize(kWindowCycles);
  changed_.resize(network.nets);
  observed_.resize(network.nets);
  writing_.resize(network.writes.size());
  read_addresses_.assign(network.reads.size(), std::vector<uint64_t>(kWindowCycles));
  touched_.resize(network.memories.size());
  columns_.resize((row_bytes_ + 7) / 8);
  held_.resize(columns_.size());
  std::fill_n(golden_[1].word, kSetWords, ~uint64_t{0});
  ones_.assign(network.nets, 0);
  zeros_.assign(network.nets, 0xff);
  note_values(1);
  for (const Memory& memory : network.memories) positions_.push_back(golden.memories().position(memory.offset));
  for (const FlipFlop& f : network.flip_flops) {
    const size_t position = golden.registers().position(f.offset);
    columns_[position / 8].push_back({f.q, static_cast<int32_t>(8 * (position % 8)) + f.bit});
    note_values(f.q);
  }
}

void Window::load(uint64_t first, uint64_t end) {
  base_ = first;
  cycles_ = std::min<uint64_t>(kWindowCycles, end - first);
  for (size_t place = 0; place < cycles_; ++place) {
    run_.seek(base_ + place + 1);
    run_.registers().gather(run_.cursor().state(), rows_.data() + place * row_bytes_);
    alarms_[place] = run_.cursor().outputs.alarms;
  }
  // Before the first window nothing is known of any net.
  std::fill(changed_.begin(), changed_.end(), static_cast<uint8_t>(loads_ == 0));
  transpose();
  for (std::vector<uint64_t>& words : touched_) words.clear();
  for (const Gate& g : network_.gates) {
    if (g.operation == kRead) {
      read(g.a);
    } else {
      evaluate(g);
    }
  }
  undefined_ = {};
  for (const int32_t net : network_.undefined) {
    for (size_t k = 0; k < kSetWords; ++k) undefined_.word[k] |= golden_[net].word[k];
  }
  note_writes();
  verify_alarms();
  observe();
  if (loads_++ % kCheckEvery == 0) {
    for (const FlipFlop& f : network_.flip_flops) verify(f);
  }
}

// What a gate gives for the inputs of the window before is known.
void Window::evaluate(const Gate& g) {
  if (!(changed_[g.a] | changed_[g.b] | changed_[g.s])) return;
  const CycleSet before = golden_[g.y];
  evaluate_all(g.operation, golden_[g.y], golden_[g.a], golden_[g.b], golden_[g.s], ones_[g.y], zeros_[g.y]);
  changed_[g.y] = loads_ == 0 || !(golden_[g.y] == before);
}

void Window::note_values(int32_t net) {
  ones_[net] = ones(golden_[net]);
  zeros_[net] = zeros(golden_[net]);
}

// Turn the bytes of each cycle into the sets of each flip-flop: 64 cycles by 64 bits at a time. Words next to each other
// share the lines of their rows; one that holds what it held throughout the window before says nothing new.
void Window::transpose() {
  uint64_t block[kSetWords][64];
  for (size_t word = 0; word < columns_.size(); ++word) {
    const size_t position = 8 * word, width = std::min<size_t>(8, row_bytes_ - position);
    const char* from = rows_.data() + position;
    uint64_t changes = 0;
    for (size_t k = 0; k < kSetWords; ++k) {
      for (size_t i = 0; i < 64; ++i, from += row_bytes_) {
        block[k][i] = 0;
        std::memcpy(&block[k][i], from, width);
        changes |= block[k][i] ^ block[0][0];
      }
    }
    const std::optional<uint64_t> constant = changes ? std::nullopt : std::optional(block[0][0]);
    if (constant && constant == held_[word]) continue;
    held_[word] = constant;
    for (size_t k = 0; k < kSetWords; ++k) transpose_bits(block[k]);
    for (const Column& column : columns_[word]) {
      CycleSet now;
      for (size_t k = 0; k < kSetWords; ++k) now.word[k] = block[k][column.bit];
      if (now == golden_[column.net]) continue;
      golden_[column.net] = now;
      changed_[column.net] = 1;
      note_values(column.net);
    }
  }
}

uint64_t Window::address(const MemoryPort& port, size_t place) const {
  const int32_t* const list = network_.address(port);
  uint64_t value = 0;
  for (int32_t i = 0; i < port.address; ++i) value |= (golden_[list[i]].word[place / 64] >> place % 64 & 1) << i;
  return value;
}

const char* Window::contents(int32_t memory, uint64_t word, size_t place) {
  const Memory& m = network_.memories[memory];
  word -= static_cast<uint64_t>(static_cast<int64_t>(m.first_word));
  if (word >= m.words) return nullptr;
  run_.memories().seek(base_ + place + 1);
  return run_.memories().image() + positions_[memory] + word * m.entry_bytes;
}

// The data of a read port: runs of cycles with the same address and contents at a time.
void Window::read(int32_t number) {
  const MemoryPort& port = network_.reads[number];
  const int32_t* const data = network_.data(port);
  const size_t bytes = (port.data + 7) / 8;
  std::vector<CycleSet> before;
  before.reserve(port.data);
  for (int32_t i = 0; i < port.data; ++i) before.push_back(std::exchange(golden_[data[i]], CycleSet{}));
  uint64_t held = ~uint64_t{0};
  std::vector<char> word(bytes);
  size_t begin = 0;
  const auto close = [&](size_t end) {
    for (int32_t i = 0; i < port.data; ++i) {
      if (!(word[i / 8] >> i % 8 & 1)) continue;
      for (size_t place = begin; place < end;) {
        const size_t stop = std::min(end, (place / 64 + 1) * 64);
        const uint64_t ones = stop - place == 64 ? ~uint64_t{0} : (uint64_t{1} << (stop - place)) - 1;
        golden_[data[i]].word[place / 64] |= ones << place % 64;
        place = stop;
      }
    }
    begin = end;
  };
  for (size_t place = 0; place < cycles_; ++place) {
    const uint64_t at = read_addresses_[number][place] = address(port, place);
    const char* const found = contents(port.memory, at, place);
    const bool same = found ? std::memcmp(found, word.data(), bytes) == 0
                            : std::all_of(word.begin(), word.end(), [](char c) { return c == 0; });
    if (at != held) touched_[port.memory].push_back(at);
    held = at;
    if (same) continue;
    close(place);
    if (found) {
      std::memcpy(word.data(), found, bytes);
    } else {
      std::fill(word.begin(), word.end(), 0);
    }
  }
  close(cycles_);
  for (int32_t i = 0; i < port.data; ++i) {
    note_values(data[i]);
    changed_[data[i]] |= !(golden_[data[i]] == before[i]);
  }
}

void Window::note_writes() {
  for (size_t p = 0; p < writing_.size(); ++p) {
    const MemoryPort& port = network_.writes[p];
    CycleSet any = {};
    for (const int32_t net : network_.write_enables[p]) {
      for (size_t k = 0; k < kSetWords; ++k) any.word[k] |= golden_[net].word[k];
    }
    writing_[p] = any;
    for (size_t place = 0; place < cycles_; ++place) {
      if (any.at(place)) touched_[port.memory].push_back(address(port, place));
    }
  }
  for (std::vector<uint64_t>& words : touched_) {
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
  }
}

// Observability, backwards from what counts. A gate whose output is observed has all inputs observed, except: an input
// of a multiplexer that is not selected, and the first input of an AND or OR whose second input decides. The select and
// the second input are observed, so have their golden values if only unobserved nets change: then the output has, too.
void Window::observe() {
  std::fill(observed_.begin(), observed_.end(), uint8_t{0});
  for (const int32_t net : network_.always_observed) observed_[net] = 0xff;
  for (size_t p = 0; p < writing_.size(); ++p) {
    const MemoryPort& port = network_.writes[p];
    const uint8_t writing = ones(writing_[p]);
    for (int32_t i = 0; i < port.address; ++i) observed_[network_.address(port)[i]] |= writing;
    for (int32_t i = 0; i < port.data; ++i) {
      observed_[network_.data(port)[i]] |= ones_[network_.enable(port)[i]];
    }
  }
  for (auto g = network_.gates.rbegin(); g != network_.gates.rend(); ++g) {
    if (g->operation == kRead) {
      const MemoryPort& port = network_.reads[g->a];
      uint8_t data = 0;
      for (int32_t i = 0; i < port.data; ++i) data |= observed_[network_.data(port)[i]];
      for (int32_t i = 0; i < port.address; ++i) observed_[network_.address(port)[i]] |= data;
      continue;
    }
    const uint8_t y = observed_[g->y];
    if (!y) continue;
    switch (g->operation) {
      case 0:
      case 1: observed_[g->a] |= y; break;
      case 2:
        observed_[g->a] |= y & ones_[g->b];
        observed_[g->b] |= y;
        break;
      case 4:
        observed_[g->a] |= y & zeros_[g->b];
        observed_[g->b] |= y;
        break;
      case 10:
      case 11:
        observed_[g->a] |= y & zeros_[g->s];
        observed_[g->b] |= y & ones_[g->s];
        observed_[g->s] |= y;
        break;
      default:
        observed_[g->a] |= y;
        observed_[g->b] |= y;
    }
  }
}

void Window::verify_alarms() const {
  std::vector<uint64_t> found(cycles_);
  uint64_t watched = 0;
  for (const AlarmNet& a : network_.alarms) {
    watched |= uint64_t{1} << a.alarm;
    for (size_t place = 0; place < cycles_; ++place) found[place] |= uint64_t{golden_[a.net].at(place)} << a.alarm;
  }
  for (size_t place = 0; place < cycles_; ++place) {
    if (const uint64_t wrong = (found[place] ^ alarms_[place]) & watched) {
      throw std::runtime_error("the gates and the model differ in alarm " + std::to_string(std::countr_zero(wrong)) +
                               " in cycle " + std::to_string(base_ + place));
    }
  }
}

void Window::verify(const FlipFlop& f) const {
  for (size_t k = 0; k * 64 + 1 < cycles_; ++k) {
    const bool more = k + 1 < kSetWords;
    const auto along = [&](int32_t net) {
      return golden_[net].word[k] >> 1 | (more ? golden_[net].word[k + 1] << 63 : 0);
    };
    const uint64_t now = golden_[f.load].word[k], after = along(f.load);
    uint64_t valid = f.active ? ~(now | after) : now & after;
    if (cycles_ - 1 < 64 * (k + 1)) valid &= (uint64_t{1} << (cycles_ - 1 - 64 * k)) - 1;
    const uint64_t wrong = (golden_[f.d].word[k] ^ along(f.q)) & valid;
    if (wrong) {
      throw std::runtime_error("the gates and the model differ at byte " + std::to_string(f.offset) + ", bit " +
                               std::to_string(f.bit) + ", after cycle " +
                               std::to_string(base_ + 64 * k + std::countr_zero(wrong)));
    }
  }
}
