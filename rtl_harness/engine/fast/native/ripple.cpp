// SPDX-License-Identifier: Apache-2.0
// See ripple.h.

#include "ripple.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "bit_parallel.h"

namespace {

// A difference that reaches more gates than this is simulated faster.
constexpr uint64_t kMostGates = 400;
// Likewise where all of the logic is gone through: enough for the decoder of a code word.
constexpr uint64_t kMostOfAll = 2000;

}  // namespace

Ripple::Ripple(const Network& network, Window& window)
    : network_(network),
      window_(window),
      faulty_(network.nets),
      next_(network.flip_flops.size()),
      stamps_(network.nets),
      queued_(network.gates.size()),
      reached_(network.flip_flops.size()),
      own_(network.flip_flops.size()),
      active_(network.memories.size()),
      words_(network.memories.size()),
      holds_(network.memories.size()) {}

// Only where it can be observed, if that serves. What can be observed is known for golden values of the signals that
// select: where these change, the whole of the logic has to be gone through.
size_t Ripple::follow(const Difference& d, size_t first, size_t end, uint64_t awaited) {
  awaited_ = awaited;
  const size_t found = propagate(d, first, end, false);
  // An alarm may rise only because what would hold it back was left out, as what distinguishes one error in a code word
  // from two.
  if (found == first && wild_now_ && !(alarmed_now_ && disturbed_.at(found))) return found;
  for (size_t k = k0_; k < k1_; ++k) {
    const uint64_t cycles = disturbed_.word[k] & mask_.word[k];
    if (!cycles) continue;
    const size_t place = 64 * k + std::countr_zero(cycles);
    return place <= found ? propagate(d, place, end, true) : found;
  }
  return found;
}

size_t Ripple::propagate(const Difference& d, size_t first, size_t end, bool all) {
  ++stamp_;
  all_ = all;
  first_ = first;
  end_ = end;
  k0_ = first / 64;
  k1_ = (end + 63) / 64;
  for (size_t k = k0_; k < k1_; ++k) {
    mask_.word[k] = ~uint64_t{0};
    events_.word[k] = wild_.word[k] = alarmed_.word[k] = disturbed_.word[k] = 0;
  }
  mask_.word[k0_] &= ~uint64_t{0} << first % 64;
  if (end % 64) mask_.word[k1_ - 1] &= (uint64_t{1} << end % 64) - 1;
  own_list_.clear();
  reached_list_.clear();
  active_list_.clear();
  hold_list_.clear();
  wild_now_ = true;
  alarmed_now_ = false;
  if (!start(d)) return first;
  const uint64_t allowed = effort_ + (all ? kMostOfAll : kMostGates);
  while (!queue_.empty()) {
    const int32_t gate = queue_.top();
    queue_.pop();
    evaluate(gate);
    if (effort_ < allowed) continue;
    queue_ = {};
    return first;
  }
  for (const int32_t i : own_list_) {
    for (size_t k = k0_; k < k1_; ++k) events_.word[k] |= reached_[i] == stamp_ ? ~next_[i].word[k] : ~uint64_t{0};
  }
  for (const int32_t i : reached_list_) {
    const uint64_t own = own_[i] == stamp_;
    for (size_t k = k0_; k < k1_; ++k) {
      const uint64_t cycles = own ? ~uint64_t{0} : next_[i].word[k];
      events_.word[k] |= own ? 0 : cycles;
      // A reset that begins with the next edge acts at once: the model has to make that edge.
      wild_.word[k] |= cycles & (network_.resets[i] ? ~uint64_t{0} : loads(network_.flip_flops[i], k));
    }
  }
  for (size_t k = k0_; k < k1_; ++k) {
    wild_.word[k] |= window_.undefined().word[k];
    const uint64_t found = (events_.word[k] | wild_.word[k]) & mask_.word[k];
    if (!found) continue;
    const size_t place = 64 * k + std::countr_zero(found);
    wild_now_ = wild_.at(place);
    alarmed_now_ = alarmed_.at(place);
    return place;
  }
  wild_now_ = false;
  return end;
}

bool Ripple::start(const Difference& d) {
  for (const ByteDifference *at = d.data(), *const stop = at + d.size(); at != stop;) {
    const int32_t memory = network_.memory(at->offset);
    if (memory < 0) {
      for (uint32_t bits = at->mask; bits; bits &= bits - 1) {
        const int32_t i = network_.flip_flop(at->offset, std::countr_zero(bits));
        if (i < 0) return false;
        own_[i] = stamp_;
        own_list_.push_back(i);
      }
      ++at;
      continue;
    }
    const Memory& m = network_.memories[memory];
    if (holds_[memory] != stamp_) {
      holds_[memory] = stamp_;
      hold_list_.push_back(memory);
      words_[memory].clear();
    }
    const uint64_t word = (at->offset - m.offset) / m.entry_bytes;
    const ByteDifference* const begin = at;
    while (at != stop && at->offset < m.offset + (word + 1) * m.entry_bytes) ++at;
    words_[memory].push_back({word + static_cast<uint64_t>(static_cast<int64_t>(m.first_word)), begin, at});
  }
  for (const int32_t i : own_list_) {
    const FlipFlop& f = network_.flip_flops[i];
    CycleSet inverse;
    window_.verify(f);
    for (size_t k = k0_; k < k1_; ++k) {
      inverse.word[k] = ~window_.golden(f.q).word[k];
      wild_.word[k] |= network_.resets[i] ? ~uint64_t{0} : loads(f, k);
    }
    changed(f.q, inverse);
  }
  for (const int32_t memory : hold_list_) start_memory(memory);
  return true;
}

// What the window does to words that differ.
void Ripple::start_memory(int32_t memory) {
  const std::vector<uint64_t>& touched = window_.touched(memory);
  const std::vector<Word>& words = words_[memory];
  bool any = false;
  auto at = touched.begin();
  for (const Word& word : words) {
    at = std::lower_bound(at, touched.end(), word.number);
    if (at == touched.end()) break;
    if (*at == word.number) any = true;
  }
  if (!any) return;
  for (const int32_t gate : network_.read_gates[memory]) push(gate);
  for (const int32_t p : network_.write_ports[memory]) {
    const MemoryPort& port = network_.writes[p];
    for (size_t k = k0_; k < k1_; ++k) {
      for (uint64_t cycles = window_.writing(p).word[k] & mask_.word[k]; cycles; cycles &= cycles - 1) {
        const size_t place = 64 * k + std::countr_zero(cycles);
        const Word* const word = find(memory, window_.address(port, place));
        if (!word) continue;
        each_bit(*word, memory, [&](int32_t i) {
          if (window_.golden(network_.enable(port)[i]).at(place)) events_.word[k] |= cycles & -cycles;
        });
      }
    }
  }
}

const Ripple::Word* Ripple::find(int32_t memory, uint64_t number) const {
  if (holds_[memory] != stamp_) return nullptr;
  const std::vector<Word>& words = words_[memory];
  const auto found = std::lower_bound(words.begin(), words.end(), number,
                                      [](const Word& word, uint64_t wanted) { return word.number < wanted; });
  return found != words.end() && found->number == number ? &*found : nullptr;
}

template <typename Function>
void Ripple::each_bit(const Word& word, int32_t memory, Function&& function) const {
  const Memory& m = network_.memories[memory];
  const uint64_t first = static_cast<uint64_t>(static_cast<int64_t>(m.first_word));
  const uint64_t base = m.offset + (word.number - first) * m.entry_bytes;
  for (const ByteDifference* byte = word.begin; byte != word.end; ++byte) {
    for (uint32_t bits = byte->mask; bits; bits &= bits - 1) {
      function(static_cast<int32_t>(8 * (byte->offset - base)) + std::countr_zero(bits));
    }
  }
}

// CycleSet in whose cycle, or the next, the asynchronous reset or load of a flip-flop is active.
uint64_t Ripple::loads(const FlipFlop& flip_flop, size_t k) const {
  const auto active = [&](size_t at) {
    const uint64_t load = window_.golden(flip_flop.load).word[at];
    return flip_flop.active ? load : ~load;
  };
  if (flip_flop.load < 2 && active(k) == 0) return 0;
  return active(k) | active(k) >> 1 | (k + 1 < kSetWords ? active(k + 1) << 63 : 0);
}

void Ripple::push(int32_t gate) {
  if (queued_[gate] == stamp_) return;
  queued_[gate] = stamp_;
  queue_.push(gate);
}

void Ripple::changed(int32_t net, const CycleSet& value) {
  CycleSet cycles;
  uint64_t any = 0;
  const CycleSet& golden = window_.golden(net);
  for (size_t k = k0_; k < k1_; ++k) {
    cycles.word[k] = (value.word[k] ^ golden.word[k]) & mask_.word[k];
    any |= cycles.word[k];
  }
  if (!any) return;
  CycleSet& held = faulty_[net];
  for (size_t k = k0_; k < k1_; ++k) held.word[k] = golden.word[k] ^ cycles.word[k];
  stamps_[net] = stamp_;
  for (const int32_t* s = network_.sinks_of.begin(net); s != network_.sinks_of.end(net); ++s) {
    arrived(network_.sinks[*s], cycles);
  }
  for (const int32_t* g = network_.fanout.begin(net); g != network_.fanout.end(net); ++g) {
    const Gate& gate = network_.gates[*g];
    if (gate.operation == kRead || observed(gate.y, cycles)) push(*g);
  }
}

bool Ripple::observed(int32_t net, const CycleSet& cycles) const {
  if (all_) return true;
  const unsigned seen = window_.observed(net);
  for (size_t k = k0_; k < k1_; ++k) {
    if ((seen >> k & 1) && cycles.word[k]) return true;
  }
  return false;
}

void Ripple::arrived(const Sink& sink, const CycleSet& cycles) {
  switch (sink.kind) {
    case kNextState:
      window_.verify(network_.flip_flops[sink.index]);
      reached_[sink.index] = stamp_;
      reached_list_.push_back(sink.index);
      next_[sink.index] = cycles;
      break;
    case kWriteEnable:
      for (size_t k = k0_; k < k1_; ++k) disturbed_.word[k] |= cycles.word[k];
      [[fallthrough]];
    case kWrite: {
      // Whether it is an address, data or an enable: what comes of it is worked out when it is stepped over.
      const MemoryPort& port = network_.writes[sink.index];
      const int32_t memory = port.memory;
      if (active_[memory] != stamp_) {
        active_[memory] = stamp_;
        active_list_.push_back(memory);
      }
      CycleSet enabled = window_.writing(sink.index);
      for (const int32_t net : network_.write_enables[sink.index]) {
        if (!changed_net(net)) continue;
        for (size_t k = k0_; k < k1_; ++k) enabled.word[k] |= faulty_[net].word[k];
      }
      for (size_t k = k0_; k < k1_; ++k) events_.word[k] |= cycles.word[k] & enabled.word[k];
      break;
    }
    case kAlarm:
      // The golden run raises none that is awaited, so a difference is a rise.
      if (!(awaited_ >> sink.index & 1)) break;
      for (size_t k = k0_; k < k1_; ++k) alarmed_.word[k] |= cycles.word[k];
      [[fallthrough]];
    default:
      for (size_t k = k0_; k < k1_; ++k) wild_.word[k] |= cycles.word[k];
  }
}

void Ripple::evaluate(int32_t number) {
  ++effort_;
  const Gate& g = network_.gates[number];
  if (g.operation == kRead) {
    reread(g.a);
    return;
  }
  const CycleSet &a = value(g.a), &b = value(g.b), &s = value(g.s);
  const int32_t decides = g.operation >= 10 ? g.s : g.operation == 2 || g.operation == 4 ? g.b : 0;
  if (!all_ && changed_net(decides)) {
    const CycleSet& golden = window_.golden(decides);
    const unsigned seen = window_.observed(g.y);
    for (size_t k = k0_; k < k1_; ++k) {
      if (seen >> k & 1) disturbed_.word[k] |= faulty_[decides].word[k] ^ golden.word[k];
    }
  }
  CycleSet y;
  for (size_t k = k0_; k < k1_; ++k) y.word[k] = evaluated(g.operation, a.word[k], b.word[k], s.word[k]);
  changed(g.y, y);
}

uint64_t Ripple::faulty_address(const MemoryPort& port, size_t place) const {
  const int32_t* const list = network_.address(port);
  uint64_t found = 0;
  for (int32_t i = 0; i < port.address; ++i) found |= uint64_t{value(list[i]).at(place)} << i;
  return found;
}

void Ripple::reread(int32_t number) {
  const MemoryPort& port = network_.reads[number];
  const int32_t memory = port.memory;
  const bool own = holds_[memory] == stamp_;
  const int32_t* const data = network_.data(port);
  bool moved = false;
  CycleSet cycles = {};
  for (int32_t i = 0; i < port.address; ++i) {
    const int32_t net = network_.address(port)[i];
    if (!changed_net(net)) continue;
    moved = true;
    for (size_t k = k0_; k < k1_; ++k) cycles.word[k] |= faulty_[net].word[k] ^ window_.golden(net).word[k];
  }
  inverted_.assign(port.data, CycleSet{});
  bool any = false;
  for (size_t place = first_; place < end_; ++place) {
    const bool elsewhere = moved && cycles.at(place);
    if (!own && !elsewhere) continue;
    const uint64_t word = elsewhere ? faulty_address(port, place) : window_.read_address(number, place);
    const Word* const differs = find(memory, word);
    if (!differs && !elsewhere) continue;
    const uint64_t mask = uint64_t{1} << place % 64;
    ++effort_;
    any = true;
    if (elsewhere) {
      const char* const found = window_.contents(memory, word, place);
      for (int32_t i = 0; i < port.data; ++i) {
        const bool bit = found && (found[i / 8] >> i % 8 & 1);
        if (bit != window_.golden(data[i]).at(place)) inverted_[i].word[place / 64] ^= mask;
      }
    }
    if (!differs) continue;
    each_bit(*differs, memory, [&](int32_t i) {
      if (i < port.data) inverted_[i].word[place / 64] ^= mask;
    });
  }
  if (!any) return;
  for (int32_t i = 0; i < port.data; ++i) {
    CycleSet value = window_.golden(data[i]);
    uint64_t different = 0;
    for (size_t k = k0_; k < k1_; ++k) {
      value.word[k] ^= inverted_[i].word[k];
      different |= inverted_[i].word[k];
    }
    if (different) changed(data[i], value);
  }
}

void Ripple::step(Difference& d, size_t place) {
  Difference next;
  const auto add = [&](int32_t i) {
    const FlipFlop& f = network_.flip_flops[i];
    if (next_[i].at(place)) next.push_back({f.offset, uint32_t{1} << f.bit});
  };
  for (const int32_t i : reached_list_) add(i);
  for (const int32_t memory : active_list_) step_memory(memory, place, d, next);
  for (const int32_t memory : hold_list_) {
    if (active_[memory] != stamp_) step_memory(memory, place, d, next);
  }
  std::sort(next.begin(), next.end(), by_offset);
  d.clear();
  for (const ByteDifference& byte : next) {
    if (!d.empty() && d.back().offset == byte.offset) {
      d.back().mask |= byte.mask;
    } else {
      d.push_back(byte);
    }
  }
}

// The difference of a memory after the writes of a cycle, golden and faulty.
void Ripple::step_memory(int32_t memory, size_t place, const Difference&, Difference& next) {
  const Memory& m = network_.memories[memory];
  const uint64_t first = static_cast<uint64_t>(static_cast<int64_t>(m.first_word));
  std::vector<uint64_t> written;
  for (const int32_t p : network_.write_ports[memory]) {
    const MemoryPort& port = network_.writes[p];
    const std::vector<int32_t>& enables = network_.write_enables[p];
    const bool faulty = std::any_of(enables.begin(), enables.end(), [&](int32_t net) { return value(net).at(place); });
    if (window_.writing(p).at(place)) written.push_back(window_.address(port, place));
    if (faulty) written.push_back(faulty_address(port, place));
  }
  std::sort(written.begin(), written.end());
  written.erase(std::unique(written.begin(), written.end()), written.end());
  if (holds_[memory] == stamp_) {
    for (const Word& word : words_[memory]) {
      if (!std::binary_search(written.begin(), written.end(), word.number)) {
        next.insert(next.end(), word.begin, word.end);
      }
    }
  }
  const size_t bytes = m.entry_bytes;
  std::vector<uint8_t> right(bytes), wrong(bytes);
  for (const uint64_t word : written) {
    const char* const found = window_.contents(memory, word, place);
    if (!found) continue;
    std::memcpy(right.data(), found, bytes);
    wrong = right;
    const uint64_t base = m.offset + (word - first) * bytes;
    if (const Word* const differs = find(memory, word)) {
      for (const ByteDifference* b = differs->begin; b != differs->end; ++b) wrong[b->offset - base] ^= b->mask;
    }
    for (const int32_t p : network_.write_ports[memory]) {
      const MemoryPort& port = network_.writes[p];
      const bool rightly = window_.writing(p).at(place) && window_.address(port, place) == word;
      const bool wrongly = faulty_address(port, place) == word;
      if (!rightly && !wrongly) continue;
      for (int32_t i = 0; i < port.data; ++i) {
        const int32_t enable = network_.enable(port)[i], data = network_.data(port)[i];
        const uint8_t bit = static_cast<uint8_t>(1 << i % 8);
        const auto put = [&](std::vector<uint8_t>& to, bool one) {
          to[i / 8] = static_cast<uint8_t>(one ? to[i / 8] | bit : to[i / 8] & ~bit);
        };
        if (rightly && window_.golden(enable).at(place)) put(right, window_.golden(data).at(place));
        if (wrongly && value(enable).at(place)) put(wrong, value(data).at(place));
      }
    }
    const char* const kept = place + 1 < window_.cycles() ? window_.contents(memory, word, place + 1) : nullptr;
    if (kept && std::memcmp(kept, right.data(), bytes) != 0) {
      throw std::runtime_error("the gates and the model differ in the word at byte " + std::to_string(base) +
                               ", written in cycle " + std::to_string(window_.first() + place));
    }
    for (size_t i = 0; i < bytes; ++i) {
      if (right[i] != wrong[i]) next.push_back({base + i, static_cast<uint32_t>(right[i] ^ wrong[i])});
    }
  }
}
