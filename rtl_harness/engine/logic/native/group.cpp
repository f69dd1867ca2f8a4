// SPDX-License-Identifier: Apache-2.0
// See group.h. How a machine ends is in ends.cpp, how machines change groups in regroup.cpp.

#include "group.h"

#include <algorithm>
#include <stdexcept>

namespace {

// Rounds in which asynchronous loads may set one another off.
constexpr int kRounds = 16;

uint64_t memory_bit(uint32_t memory) { return memory < 64 ? uint64_t{1} << memory : 0; }

}  // namespace

Group::Group(const Design& design) : design_(&design), overlay_(design) {}

void Group::add(Context& c, uint32_t fault, const HeldPins& held, const HeldPin* pins) {
  const unsigned at = used_++;
  set_lane(live_, at);
  machines_[at] = {fault, 0, 0, 0, false};
  machines_[at].stop = machines_[at].report = deadline(c, machines_[at]);
  next_stop_ = at ? std::min(next_stop_, machines_[at].stop) : machines_[at].stop;
  uint32_t slot = 0;
  for (uint32_t i = 0; i < held.count; ++i) {
    const HeldPin& pin = pins[held.first + i];
    hold(c, pin, at, pin.kind == kOpenPin ? slot++ : 0);
  }
  if (operation_.empty()) {
    for (const int32_t net : design_->operation) operation_.push_back(spread(Golden::bit(c.golden.row(0), net)));
  }
}

void Group::hold(const Context& c, const HeldPin& pin, unsigned at, uint32_t slot) {
  if (pin.kind == kFlipFlopUpset || pin.kind == kMemoryUpset) {
    upsets_.push_back({static_cast<uint64_t>(pin.value), at, pin});
    return;
  }
  if (pin.kind == kPulsePin) upsets_.push_back({static_cast<uint64_t>(pin.column), at, pin});
  if (pin.kind == kOpenPin) {
    if (kept_.size() <= slot) kept_.resize(slot + 1);
    if (Golden::bit(c.golden.row(0), pin.at)) set_lane(kept_[slot], at);
  }
  const Held wanted{static_cast<PinKind>(pin.kind), pin.at, pin.column, slot, Lanes{}, Lanes{}};
  // Faults come in the order of their places: what is held already stands at the end.
  auto found = std::find_if(held_.rbegin(), held_.rend(), [&](const Held& h) { return h.is(wanted); });
  if (found == held_.rend()) {
    held_.push_back(wanted);
    found = held_.rbegin();
  }
  set_lane(pin.value ? found->one : found->zero, at);
}

uint64_t Group::deadline(const Context& c, const Machine& m) const {
  return c.limits.allowance ? std::min(c.limits.limit, m.moved + c.limits.allowance) : c.limits.limit;
}

void Group::run(Context& c, uint64_t from, uint64_t to) {
  c.evaluator.enter(from, state_, held_, kept_, overlay_);
  written_ = 0;
  std::sort(upsets_.begin(), upsets_.end(), [](const Upset& a, const Upset& b) { return a.row > b.row; });
  for (uint64_t r = from; r < to && any(live_); ++r) cycle(c, r);
  state_ = c.evaluator.leave(live_);
}

void Group::cycle(Context& c, uint64_t r) {
  ++c.counts.group_cycles;
  c.counts.lane_cycles += alive();
  const bool before = hot_;
  strike(c, r);
  settle(c);
  observe(c, r);
  if (!any(live_)) return;
  write(c, r);
  // Where loads have ceased to act, flip-flops take what they did not take before, changed or not.
  c.evaluator.step(live_, hot_ || before);
}

// What is stored is inverted where upsets fall into this row. A machine is not where it was before one.
void Group::strike(Context& c, uint64_t r) {
  for (; !upsets_.empty() && upsets_.back().row == r; upsets_.pop_back()) {
    const Upset& upset = upsets_.back();
    Lanes struck = {};
    set_lane(struck, upset.machine);
    recent_.valid &= ~struck;
    old_.valid &= ~struck;
    if (upset.what.kind == kPulsePin) continue;  // the evaluator inverts its net
    const uint32_t at = static_cast<uint32_t>(upset.what.at);
    if (upset.what.kind == kFlipFlopUpset) {
      c.evaluator.store(at, c.evaluator.stored(at) ^ struck);
      continue;
    }
    const uint32_t memory = static_cast<uint32_t>(upset.what.column);
    const uint32_t bits = 8 * static_cast<uint32_t>(design_->memories[memory].entry_bytes);
    overlay_.make(memory, at / bits)[at % bits] ^= struck;
    written_ |= memory_bit(memory);
  }
}

void Group::settle(Context& c) {
  for (int round = 0; round < kRounds; ++round) {
    c.evaluator.settle(written_);
    if (!load(c)) return;
  }
  throw std::runtime_error("asynchronous loads of a faulty machine set one another off without an end");
}

// Let asynchronous loads act; true if one has changed something.
bool Group::load(Context& c) {
  Evaluator& e = c.evaluator;
  bool changed = false;
  hot_ = false;
  for (const Design::Load& l : design_->loads) {
    const bool golden = e.golden(l.net) == (l.active != 0);
    if (!golden && !any(e.differs(l.net) & live_)) continue;
    hot_ = true;
    const Lanes acting = (e.value(l.net) ^ spread(!l.active)) & live_;
    for (const uint32_t i : l.flip_flops) {
      const int8_t reset = design_->reset[i];
      if (reset < 0) throw std::runtime_error("an asynchronous load acts whose value is not known");
      const Lanes own = e.loading(i, acting);
      const bool differs = e.golden(design_->flip_flops[i].q) != (reset != 0);
      const Lanes now = (e.stored(i) & ~own) | (spread(differs) & own);
      if (!any(now ^ e.stored(i))) continue;
      changed = true;
      e.store(i, now);
    }
  }
  return changed;
}

// What is stored is what `dense` says, which is left empty.
void Group::rebuild_state(Context& c) {
  state_.clear();
  for (uint32_t i = 0; i < c.dense.size(); ++i) {
    if (!any(c.dense[i])) continue;
    state_.push_back({i, c.dense[i]});
    c.dense[i] = Lanes{};
  }
}

void Group::write(Context& c, uint64_t r) {
  written_ = 0;
  const Written* golden = c.golden.writes_begin(r);
  const Written* const end = c.golden.writes_end(r);
  const auto before = [&](size_t port) {
    for (; golden != end && golden->port < port; ++golden) {
      c.alone[golden->port] = Lanes{};
      c.other[golden->port] = 0;
      write_port(c, golden->port, golden);
    }
  };
  c.evaluator.each_write([&](size_t port, bool changed) {
    before(port);
    if (changed) look_at(c, port);
    const bool also = golden != end && golden->port == port;
    write_port(c, port, also ? golden : nullptr);
    golden += also;
    return c.other[port] || any(c.alone[port]);
  });
  before(design_->writes.size());
  c.memories.leave();
}

// In which machines a write port writes another word, or other bits of it, and whether data differ.
void Group::look_at(Context& c, size_t number) {
  const Evaluator& e = c.evaluator;
  const MemoryPort& port = design_->writes[number];
  Lanes alone = {}, other = {};
  for (int32_t i = 0; i < port.address; ++i) alone |= e.differs(design_->address(port)[i]);
  for (int32_t i = 0; i < port.data; ++i) {
    alone |= e.differs(design_->enable(port)[i]);
    other |= e.differs(design_->data(port)[i]);
  }
  c.alone[number] = alone;
  c.other[number] = any(other);
}

void Group::write_port(Context& c, size_t number, const Written* golden) {
  const Evaluator& e = c.evaluator;
  const MemoryPort& port = design_->writes[number];
  const int32_t* const data = design_->data(port);
  const int32_t* const enable = design_->enable(port);
  const Lanes alone = c.alone[number] & live_;  // machines that write another word, or other bits of it
  const bool other = c.other[number];
  if (golden) {
    wrote_ |= ~alone;
    Lanes* block = overlay_.find(golden->memory, golden->word);
    if (!block && (other || any(alone))) block = overlay_.make(golden->memory, golden->word);
    const uint8_t* const before = golden->before;
    const uint8_t* const after = golden->after;
    for (int32_t i = 0; block && i < port.data; ++i) {
      if (!e.golden(enable[i])) continue;
      const Lanes kept = block[i] ^ spread((before[i / 8] ^ after[i / 8]) >> (i % 8) & 1);
      block[i] = (e.differs(data[i]) & ~alone & live_) | (kept & alone);
    }
    c.memories.apply(*golden);
    written_ |= memory_bit(golden->memory);
  }
  Lanes writing = {};
  if (any(alone)) {
    for (int32_t i = 0; i < port.data; ++i) writing |= e.value(enable[i]);
  }
  if (any(writing & alone)) write_alone(c, number, writing & alone);
}

// Machines that write the same word are taken together.
void Group::write_alone(Context& c, size_t number, const Lanes& which) {
  const Evaluator& e = c.evaluator;
  const MemoryPort& port = design_->writes[number];
  const uint32_t memory = static_cast<uint32_t>(port.memory);
  const int32_t* const data = design_->data(port);
  const int32_t* const enable = design_->enable(port);
  const uint64_t first = static_cast<uint64_t>(static_cast<int64_t>(design_->memories[memory].first_word));
  e.each_number(design_->address(port), port.address, which, [&](uint64_t raw, const Lanes& same) {
    const uint8_t* const bytes = c.memories.word(memory, raw - first);
    if (!bytes) return;
    wrote_ |= same;
    written_ |= memory_bit(memory);
    Lanes* const block = overlay_.make(memory, raw - first);
    for (int32_t i = 0; i < port.data; ++i) {
      const Lanes on = e.value(enable[i]) & same;
      const Lanes differs = e.value(data[i]) ^ spread(bytes[i / 8] >> (i % 8) & 1);
      block[i] = (block[i] & ~on) | (differs & on);
    }
  });
}
