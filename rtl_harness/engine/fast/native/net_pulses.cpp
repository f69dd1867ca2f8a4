// SPDX-License-Identifier: Apache-2.0
// See net_pulses.h.

#include "net_pulses.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include "bit_parallel.h"

NetPulses::NetPulses(Injector& injector, const Circuit& circuit, const int32_t* values, uint64_t done)
    : injector_(injector),
      network_(circuit),
      window_(injector.golden(), network_),
      values_(values, values + circuit.flip_flop_count),
      done_(done),
      stamps_(network_.nets),
      queued_(network_.gates.size()),
      reached_(network_.flip_flops.size()),
      forced_(network_.flip_flops.size()),
      active_(network_.memories.size()),
      faulty_(network_.nets) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (size_t i = 0; i < network_.flip_flops.size(); ++i) {
    if (network_.flip_flops[i].load >= 2) pairs.push_back({network_.flip_flops[i].load, static_cast<int32_t>(i)});
  }
  loads_.build(network_.nets, pairs);
}

void NetPulses::run(const NetPulse* pulses, uint64_t count) {
  effects_.clear();
  bytes_.clear();
  const uint64_t last = injector_.golden().length() - 1;
  bool loaded = false;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t cycle = pulses[i].cycle;
    if (!loaded || (cycle >= window_.last() && window_.last() < last)) {
      window_.load(std::min(cycle, last));
      loaded = true;
    }
    const int32_t net = network_.number_of[pulses[i].net];
    PulseEffect effect{};
    if (net >= 2) {
      pulse(net, cycle - window_.first());
      finish(effect);
    } else {
      for (const AlarmNet& a : network_.alarms) {
        effect.alarms |= uint64_t{window_.golden(a.net).at(cycle - window_.first())} << a.alarm;
      }
    }
    effect.end = bytes_.size();
    effects_.push_back(effect);
  }
}

void NetPulses::pulse(int32_t net, size_t place) {
  ++stamp_;
  place_ = place;
  flags_ = window_.undefined().at(place) ? kPulseUndefined : 0;
  reached_list_.clear();
  active_list_.clear();
  forced_list_.clear();
  heap_.clear();
  set(net, !golden(net));
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const int32_t gate = heap_.back();
    heap_.pop_back();
    // The pulse holds its own net, whatever comes back to it.
    queued_[gate] = 0;
    if (network_.gates[gate].operation != kRead && network_.gates[gate].y == net) continue;
    evaluate(gate);
  }
}

void NetPulses::push(int32_t gate) {
  if (queued_[gate] == stamp_) return;
  queued_[gate] = stamp_;
  heap_.push_back(gate);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

// A net may be set twice: where a reset that a pulse makes changes a register that other gates were evaluated with.
void NetPulses::set(int32_t net, bool now) {
  if (value(net) == now) return;
  stamps_[net] = stamp_;
  faulty_[net] = now;
  for (const int32_t* s = network_.sinks_of.begin(net); s != network_.sinks_of.end(net); ++s) {
    const Sink& sink = network_.sinks[*s];
    switch (sink.kind) {
      case kNextState:
        if (reached_[sink.index] != stamp_) reached_list_.push_back(sink.index);
        reached_[sink.index] = stamp_;
        break;
      case kWrite:
      case kWriteEnable: {
        const int32_t memory = network_.writes[sink.index].memory;
        if (active_[memory] != stamp_) active_list_.push_back(memory);
        active_[memory] = stamp_;
        break;
      }
      case kUndefined: flags_ |= kPulseUndefined; break;
      default: break;
    }
  }
  for (const int32_t* g = network_.fanout.begin(net); g != network_.fanout.end(net); ++g) push(*g);
  for (const int32_t* f = loads_.begin(net); f != loads_.end(net); ++f) loads(*f);
}

void NetPulses::evaluate(int32_t number) {
  ++effort_;
  const Gate& g = network_.gates[number];
  if (g.operation == kRead) return reread(g.a);
  const auto word = [&](int32_t net) { return value(net) ? ~uint64_t{0} : 0; };
  set(g.y, evaluated(g.operation, word(g.a), word(g.b), word(g.s)) & 1);
}

void NetPulses::reread(int32_t number) {
  const MemoryPort& port = network_.reads[number];
  const char* const found = window_.contents(port.memory, address(port), place_);
  const int32_t* const data = network_.data(port);
  for (int32_t i = 0; i < port.data; ++i) set(data[i], found && (found[i / 8] >> i % 8 & 1));
}

uint64_t NetPulses::address(const MemoryPort& port) const {
  uint64_t found = 0;
  for (int32_t i = 0; i < port.address; ++i) found |= uint64_t{value(network_.address(port)[i])} << i;
  return found;
}

// A reset that begins acts at once; one that does not act lets the register be until the edge.
void NetPulses::loads(int32_t number) {
  if (!forcing_) return;
  flags_ |= kPulseReset;
  if (forced_[number] != stamp_) forced_list_.push_back(number);
  forced_[number] = stamp_;
  const FlipFlop& f = network_.flip_flops[number];
  if (!active(f, value(f.load)) || active(f, golden(f.load))) return;
  if (values_[number] < 0) {
    flags_ |= kPulseUndefined;
    return;
  }
  if ((values_[number] > 0) != golden(f.q)) flags_ |= kPulseState;
  set(f.q, values_[number]);
}

void NetPulses::finish(PulseEffect& effect) {
  for (const AlarmNet& a : network_.alarms) effect.alarms |= uint64_t{value(a.net)} << a.alarm;
  for (size_t i = 0; i < network_.ports.size(); ++i) {
    if (!differs(network_.ports[i])) continue;
    if (i < done_) {
      flags_ |= kPulseDone;
    } else {
      effect.status |= uint64_t{1} << (i - done_);
    }
  }
  next_.clear();
  for (const int32_t i : forced_list_) {
    if (reached_[i] != stamp_) reached_list_.push_back(i);
    reached_[i] = stamp_;
  }
  // Behind the last cycle of the golden run resets are taken to be as in it.
  const bool ends = place_ + 1 == window_.cycles();
  const size_t after = place_ + !ends;
  std::vector<int32_t> differing;
  for (const int32_t i : reached_list_) {
    const FlipFlop& f = network_.flip_flops[i];
    // In the next cycle its reset acts, whatever it has taken.
    if (active(f, window_.golden(f.load).at(after))) continue;
    const bool acts = active(f, value(f.load)), acted = active(f, golden(f.load));
    if ((acts || acted) && values_[i] < 0) flags_ |= kPulseUndefined;
    const bool now = acts ? values_[i] > 0 : value(f.d);
    if (now == (acted ? values_[i] > 0 : golden(f.d))) continue;
    next_.push_back({f.offset, uint32_t{1} << f.bit});
    differing.push_back(i);
  }
  for (const int32_t memory : active_list_) step_memory(memory);
  const bool resets = std::ranges::any_of(differing, [&](int32_t i) { return network_.resets[i]; });
  if (resets && !ends) release(differing);
  effect.registers = static_cast<uint32_t>(differing.size());
  std::sort(next_.begin(), next_.end(), by_offset);
  const size_t begin = bytes_.size();
  for (const ByteDifference& byte : next_) {
    if (bytes_.size() > begin && bytes_.back().offset == byte.offset) {
      bytes_.back().mask |= byte.mask;
    } else {
      bytes_.push_back(byte);
    }
  }
  effect.flags = flags_;
}

// A reset that the golden run has in the next cycle does not act there if a register that makes it has taken another
// value: what it holds back then stays as it was taken. One that begins there begins in the model.
void NetPulses::release(std::vector<int32_t>& differing) {
  std::vector<int32_t> held;
  std::vector<bool> taken;
  for (size_t i = 0; i < network_.flip_flops.size(); ++i) {
    const FlipFlop& f = network_.flip_flops[i];
    if (f.load < 2 || !active(f, window_.golden(f.load).at(place_ + 1))) continue;
    const bool acts = active(f, value(f.load));
    if (acts && values_[i] < 0) flags_ |= kPulseUndefined;
    held.push_back(static_cast<int32_t>(i));
    taken.push_back(acts ? values_[i] > 0 : value(f.d));
  }
  if (held.empty()) return;
  ++stamp_;
  ++place_;
  forcing_ = false;
  heap_.clear();
  for (const int32_t i : differing) set(network_.flip_flops[i].q, !golden(network_.flip_flops[i].q));
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const int32_t gate = heap_.back();
    heap_.pop_back();
    queued_[gate] = 0;
    evaluate(gate);
  }
  for (size_t k = 0; k < held.size(); ++k) {
    const FlipFlop& f = network_.flip_flops[held[k]];
    if (active(f, value(f.load)) || taken[k] == golden(f.q)) continue;
    next_.push_back({f.offset, uint32_t{1} << f.bit});
    differing.push_back(held[k]);
  }
  forcing_ = true;
  --place_;
}

// What a memory holds after the writes of a cycle, where that is not what the golden run writes.
void NetPulses::step_memory(int32_t memory) {
  const Memory& m = network_.memories[memory];
  const uint64_t first = static_cast<uint64_t>(static_cast<int64_t>(m.first_word));
  std::vector<uint64_t> written;
  for (const int32_t p : network_.write_ports[memory]) {
    const MemoryPort& port = network_.writes[p];
    const std::vector<int32_t>& enables = network_.write_enables[p];
    const bool faulty = std::any_of(enables.begin(), enables.end(), [&](int32_t net) { return value(net); });
    if (window_.writing(p).at(place_)) written.push_back(window_.address(port, place_));
    if (faulty) written.push_back(address(port));
  }
  std::sort(written.begin(), written.end());
  written.erase(std::unique(written.begin(), written.end()), written.end());
  const size_t bytes = m.entry_bytes;
  std::vector<uint8_t> right(bytes), wrong(bytes);
  for (const uint64_t word : written) {
    const char* const found = window_.contents(memory, word, place_);
    if (!found) continue;
    std::memcpy(right.data(), found, bytes);
    wrong = right;
    for (const int32_t p : network_.write_ports[memory]) {
      const MemoryPort& port = network_.writes[p];
      const bool rightly = window_.address(port, place_) == word, wrongly = address(port) == word;
      for (int32_t i = 0; i < port.data; ++i) {
        const int32_t enable = network_.enable(port)[i], data = network_.data(port)[i];
        const uint8_t bit = static_cast<uint8_t>(1 << i % 8);
        const auto put = [&](std::vector<uint8_t>& to, bool one) {
          to[i / 8] = static_cast<uint8_t>(one ? to[i / 8] | bit : to[i / 8] & ~bit);
        };
        if (rightly && golden(enable)) put(right, golden(data));
        if (wrongly && value(enable)) put(wrong, value(data));
      }
    }
    const uint64_t base = m.offset + (word - first) * bytes;
    for (size_t i = 0; i < bytes; ++i) {
      const uint8_t differs = right[i] ^ wrong[i];
      if (differs) next_.push_back({base + i, differs});
    }
    if (!checking_) continue;
    const char* const kept = window_.contents(memory, word, place_ + 1);
    for (size_t i = 0; i < bytes; ++i) {
      if (static_cast<uint8_t>(kept[i]) != right[i]) next_.push_back({base + i, 1});
    }
  }
}

void NetPulses::verify() {
  const uint64_t last = injector_.golden().length() - 1;
  for (uint64_t first = 0;; first = window_.last()) {
    window_.load(first);
    for (const FlipFlop& f : network_.flip_flops) window_.verify(f);
    verify_writes();
    if (window_.last() == last) return;
  }
}

// Every word that changes is written, and with what it then holds.
void NetPulses::verify_writes() {
  ++stamp_;  // no net differs
  checking_ = true;
  for (place_ = 0; place_ + 1 < window_.cycles(); ++place_) {
    next_.clear();
    for (size_t memory = 0; memory < network_.memories.size(); ++memory) {
      const std::vector<int32_t>& ports = network_.write_ports[memory];
      const bool any = std::ranges::any_of(ports, [&](int32_t p) { return window_.writing(p).at(place_); });
      if (any) step_memory(static_cast<int32_t>(memory));
    }
    if (!next_.empty()) {
      throw std::runtime_error("the gates and the model differ in the memory at byte " +
                               std::to_string(next_[0].offset) + ", written in cycle " +
                               std::to_string(window_.first() + place_));
    }
  }
  checking_ = false;
  for (const auto& [edges, offset] : injector_.golden().memories().changes(window_.first() + 2, window_.last() + 1)) {
    const int32_t memory = network_.memory(offset);
    bool written = false;
    if (memory >= 0) {
      const Memory& m = network_.memories[memory];
      const uint64_t word = (offset - m.offset) / m.entry_bytes + static_cast<uint64_t>(static_cast<int64_t>(m.first_word));
      place_ = edges - 2 - window_.first();
      for (const int32_t p : network_.write_ports[memory]) {
        written |= window_.writing(p).at(place_) && address(network_.writes[p]) == word;
      }
    }
    if (!written) {
      throw std::runtime_error("the gates and the model differ: the model writes the memory at byte " +
                               std::to_string(offset) + " in cycle " + std::to_string(edges - 2) +
                               ", the gates do not");
    }
  }
}

extern "C" {

NetPulses* resil_pulses_create(Injector* injector, const Circuit* circuit, const int32_t* values, uint64_t done) {
  return guarded([&] { return new NetPulses(*injector, *circuit, values, done); }, static_cast<NetPulses*>(nullptr));
}

void resil_pulses_destroy(NetPulses* self) { delete self; }

int32_t resil_pulses_run(NetPulses* self, const NetPulse* pulses, uint64_t count) {
  return guarded([&] { return self->run(pulses, count), 0; }, -1);
}

int32_t resil_pulses_verify(NetPulses* self) {
  return guarded([&] { return self->verify(), 0; }, -1);
}

const PulseEffect* resil_pulses_effects(const NetPulses* self) { return self->effects().data(); }

const ByteDifference* resil_pulses_bytes(const NetPulses* self) { return self->bytes().data(); }

uint64_t resil_pulses_effort(const NetPulses* self) { return self->effort(); }
}
