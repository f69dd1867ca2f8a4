// SPDX-License-Identifier: Apache-2.0
// See evaluator.h.

#include "evaluator.h"

#include <algorithm>
#include <stdexcept>

#include "gate_operations.h"

namespace {

// Sweeps in which bridged nets may change one another; two are enough where none closes a loop.
constexpr int kSweeps = 16;
constexpr uint32_t kNoMate = 0xffffffff;

void set_bit(std::vector<uint64_t>& bits, size_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }
void clear_bit(std::vector<uint64_t>& bits, size_t i) { bits[i / 64] &= ~(uint64_t{1} << (i % 64)); }
bool has_bit(const std::vector<uint64_t>& bits, size_t i) { return bits[i / 64] >> (i % 64) & 1; }

}  // namespace

Evaluator::Evaluator(const Design& d, const Regions& regions, const Golden& golden, const Memories& memories)
    : design_(d),
      regions_(regions),
      golden_(golden),
      memories_(memories),
      differs_(d.nets),
      stored_(d.flip_flops.size()),
      dirty_(regions.targets() / 64),
      sets_(regions.targets() / Regions::kSet),
      involved_(regions.words()),
      is_touched_((d.nets + 63) / 64),
      is_stored_touched_((d.flip_flops.size() + 63) / 64),
      reading_(d.reads.size()),
      writing_(d.writes.size()),
      is_held_(is_touched_.size()),
      is_held_region_(involved_.size()) {}

void Evaluator::hold(std::vector<Held>& held) {
  held_ = &held;
  for (uint32_t i = 0; i < held.size(); ++i) {
    const Held& h = held[i];
    if (h.kind == kDataPin) {
      held_data_[h.at] = i;
    } else if (h.kind == kLoadPin) {
      held_loads_[h.at] = i;
    } else if (h.kind == kOperandPin) {
      held_operands_[static_cast<size_t>(h.at)].push_back(i);
      set_bit(is_held_region_, regions_.region_of[h.at]);
    } else if (h.kind == kStoredPin) {
      held_operands_[static_cast<size_t>(h.at)].push_back(i);
      set_bit(is_held_region_, regions_.region_of[h.at]);
      stored_pins_.push_back(i);
    } else if (h.kind == kOpenDataPin) {
      open_data_[h.at].push_back(i);
    } else {
      if (is_dynamic(h.kind)) {
        dynamic_nets_[h.at].push_back(i);
        dynamic_.push_back(i);
      } else {
        held_nets_[h.at] = i;
      }
      if (design_.driver[h.at] < 0 && !has_bit(is_held_, static_cast<size_t>(h.at))) held_sources_.push_back(h.at);
      set_bit(is_held_, static_cast<size_t>(h.at));
    }
  }
  mate_.assign(held.size(), kNoMate);
  driven_.assign(held.size(), Lanes{});
  std::map<std::pair<int32_t, int32_t>, uint32_t> wired;
  for (const uint32_t i : dynamic_) {
    if (held[i].kind != kWiredPin) continue;
    wired[{held[i].at, held[i].column}] = i;
    if (const auto other = wired.find({held[i].column, held[i].at}); other != wired.end()) {
      mate_[i] = other->second;
      mate_[other->second] = i;
    }
  }
}

void Evaluator::enter(uint64_t r, const std::vector<Stored>& state, std::vector<Held>& held, std::vector<Lanes>& kept,
                      const Overlay& overlay) {
  r_ = r;
  row_ = golden_.row(r);
  overlay_ = &overlay;
  kept_ = &kept;
  entered_ = true;
  hold(held);
  for (const Stored& s : state) store(s.flip_flop, s.d);
  set_held_sources();
  for (const Held& h : held) {
    int32_t gate = -1;
    if (h.kind == kOperandPin) gate = h.at;
    if (h.kind == kNetPin || is_dynamic(h.kind)) gate = design_.driver[h.at];
    if (gate < 0) continue;
    mark(regions_.region_of[gate]);
    set_bit(involved_, regions_.region_of[gate]);
  }
}

void Evaluator::store(uint32_t i, const Lanes& d) {
  if (!has_bit(is_stored_touched_, i)) {
    set_bit(is_stored_touched_, i);
    stored_touched_.push_back(i);
  }
  stored_[i] = d;
  // What it takes next has to be looked at, whether that changes or not.
  mark(regions_.first_flip_flop() + i);
  set(design_.flip_flops[i].q, d);
}

// A net that no gate drives and that is held: its own value may have changed.
void Evaluator::set_held_sources() {
  for (const int32_t net : held_sources_) {
    const size_t flip_flop = static_cast<size_t>(net) - 2;
    set(net, flip_flop < stored_.size() ? stored_[flip_flop] : Lanes{});
  }
}

void Evaluator::set(int32_t net, Lanes d) {
  if (has_bit(is_held_, static_cast<size_t>(net))) {
    const Lanes golden = spread(this->golden(net));
    d ^= golden;
    if (const auto own = held_nets_.find(net); own != held_nets_.end()) d = forced((*held_)[own->second], d);
    if (const auto own = dynamic_nets_.find(net); own != dynamic_nets_.end()) {
      for (const uint32_t at : own->second) d = dynamic(at, d);
    }
    d ^= golden;
  }
  assign(net, d);
}

void Evaluator::assign(int32_t net, const Lanes& d) {
  Lanes& now = differs_[net];
  if (!any(d ^ now)) return;
  const bool fresh = !any(now);
  now = d;
  if (fresh && !has_bit(is_touched_, static_cast<size_t>(net))) {
    set_bit(is_touched_, static_cast<size_t>(net));
    touched_.push_back(net);
  }
  const uint32_t end = regions_.first_target[net + 1];
  for (uint32_t i = regions_.first_target[net]; i < end; ++i) {
    const uint32_t target = regions_.target[i];
    mark(target);
    if (fresh && target < regions_.cells.size()) set_bit(involved_, target);
  }
}

// What a net has whose pin is held by what else the machine has, of what it is driven to.
Lanes Evaluator::dynamic(uint32_t at, const Lanes& value) {
  const Held& h = (*held_)[at];
  driven_[at] = value;
  if (h.kind == kPulsePin) return static_cast<uint64_t>(h.column) == r_ ? value ^ h.lanes() : value;
  if (h.kind != kOpenPin) return bridged(at, value);
  const Lanes keep = (value ^ otherwise(h, value)) & h.lanes();
  return (value & ~keep) | ((*kept_)[h.slot] & keep);
}

Lanes Evaluator::bridged(uint32_t at, const Lanes& value) const {
  const Held& h = (*held_)[at];
  const Lanes other = mate_[at] == kNoMate ? this->value(h.column) : driven_[mate_[at]];
  if (h.kind == kBridgePin) return (value & ~h.lanes()) | (other & h.lanes());
  return (value & ~h.lanes()) | (driven_[at] & other & h.zero) | ((driven_[at] | other) & h.one);
}

// What a net or a flip-flop would be given if an operand were taken as the value at which it is open.
Lanes Evaluator::otherwise(const Held& h, const Lanes& value) {
  if (h.column < 0) return forced(h, value);
  other_.clear();
  const auto operand = [&](size_t gate, int32_t column, int32_t net) {
    Lanes found = this->value(net);
    for (const auto& [known, own] : other_) {
      if (known == net) found = own;
    }
    return static_cast<int32_t>(gate) == h.column / 4 && column == h.column % 4 ? forced(h, found) : found;
  };
  for (const uint32_t gate : path(h)) {
    const Gate& g = design_.originals[gate];
    other_.emplace_back(g.y, evaluated(g.operation, operand(gate, 1, g.a), operand(gate, 2, g.b), operand(gate, 3, g.s)));
  }
  return other_.back().second;
}

const std::vector<uint32_t>& Evaluator::path(const Held& h) {
  const int32_t target = h.kind == kOpenPin ? h.at : design_.flip_flops[h.at].d;
  const auto [at, fresh] = paths_.try_emplace({h.column, target});
  if (fresh) at->second = design_.path(h.column, target);
  return at->second;
}

// What nets with an open pin have in the row that is left.
void Evaluator::keep() {
  for (const uint32_t at : dynamic_) {
    const Held& h = (*held_)[at];
    if (h.kind != kOpenPin) continue;
    Lanes& kept = (*kept_)[h.slot];
    kept = (kept & ~h.lanes()) | (value(h.at) & h.lanes());
  }
}

// Gates whose output depends on more than their inputs are evaluated in each row.
void Evaluator::mark_dynamic() {
  for (const uint32_t at : dynamic_) {
    const Held& h = (*held_)[at];
    if (any(h.lanes()) && design_.driver[h.at] >= 0) mark(regions_.region_of[design_.driver[h.at]]);
  }
  for (const uint32_t at : stored_pins_) mark(regions_.region_of[(*held_)[at].at]);
}

// Let bridged nets have what the other one has come to; false if they do.
bool Evaluator::bridge() {
  bool changed = false;
  for (const uint32_t at : dynamic_) {
    const Held& h = (*held_)[at];
    if (h.kind == kOpenPin || h.kind == kPulsePin) continue;
    const Lanes now = value(h.at), wanted = bridged(at, now);
    if (!any(now ^ wanted)) continue;
    changed = true;
    assign(h.at, wanted ^ spread(golden(h.at)));
  }
  return changed;
}

void Evaluator::evaluate(size_t i) {
  const Mux& g = regions_.cells[i];
  const uint32_t net_a = g.a / 2, net_b = g.b / 2;
  const bool golden_s = golden(static_cast<int32_t>(g.s));
  const bool golden_a = golden(static_cast<int32_t>(net_a)) != (g.a & 1);
  const bool golden_b = golden(static_cast<int32_t>(net_b)) != (g.b & 1);
  const Lanes ds = differs_[g.s], da = differs_[net_a], db = differs_[net_b];
  const Lanes s = ds ^ spread(golden_s), a = da ^ spread(golden_a), b = db ^ spread(golden_b);
  if (!any(ds | da | db) && !has_bit(is_held_, g.y)) clear_bit(involved_, i);
  set(static_cast<int32_t>(g.y), ((s & b) | (~s & a)) ^ spread(golden_s ? golden_b : golden_a));
}

void Evaluator::evaluate_region(size_t i) {
  const Mux& cell = regions_.cells[i];
  const uint32_t* const nets = regions_.code.data() + cell.a;
  const uint32_t inputs = cell.b & 0xffff, operations = cell.b >> 16;
  Lanes value[Regions::kSlots], some = {};
  value[0] = Lanes{};
  for (uint32_t k = 0; k < inputs; ++k) {
    const Lanes d = differs_[nets[k]];
    some |= d;
    value[1 + k] = d ^ spread(golden(static_cast<int32_t>(nets[k])));
  }
  const int32_t y = static_cast<int32_t>(cell.y);
  if (!any(some)) {
    if (!has_bit(is_held_, cell.y)) clear_bit(involved_, i);
    return set(y, Lanes{});
  }
  const auto operand = [&](uint32_t of) { return value[of & 0x7f] ^ spread(of >> 7 & 1); };
  const uint32_t* const code = nets + inputs;
  Lanes* next = value + 1 + inputs;
  for (uint32_t k = 0; k < operations; ++k) {
    const Lanes s = operand(code[k] & 0xff), a = operand(code[k] >> 8 & 0xff), b = operand(code[k] >> 16);
    *next++ = (s & b) | (~s & a);
  }
  set(y, next[-1] ^ spread(golden(y)));
}

void Evaluator::evaluate_held(size_t i) {
  const uint32_t gate = regions_.root_of[i];
  const Gate& g = design_.originals[gate];
  std::array<Lanes, 4> operand{Lanes{}, value(g.a), value(g.b), value(g.s)};
  for (const uint32_t at : held_operands_.at(gate)) {
    const Held& h = (*held_)[at];
    if (h.kind == kStoredPin) {
      Lanes& own = operand[h.column % 4];
      const int32_t flip_flop = h.column / 4;
      const Lanes stored = stored_[flip_flop] ^ spread(golden(design_.flip_flops[flip_flop].q));
      own = (own & ~h.lanes()) | (stored & h.lanes());
    } else {
      operand[h.column] = forced(h, operand[h.column]);
    }
  }
  set(g.y, evaluated(g.operation, operand[1], operand[2], operand[3]) ^ spread(golden(g.y)));
}

// What the gates of a word of marks will need comes from far: ask for it ahead.
void Evaluator::fetch(size_t word) const {
  for (uint64_t left = dirty_[word]; left; left &= left - 1) {
    const Mux& g = regions_.cells[64 * word + static_cast<size_t>(std::countr_zero(left))];
    if (g.s == kReadGate) continue;
    if (g.s == kRegion) {
      for (uint32_t k = 0; k < (g.b & 0xffff); ++k) __builtin_prefetch(&differs_[regions_.code[g.a + k]]);
    } else {
      __builtin_prefetch(&differs_[g.s]);
      __builtin_prefetch(&differs_[g.a / 2]);
      __builtin_prefetch(&differs_[g.b / 2]);
    }
    __builtin_prefetch(&differs_[g.y]);
    __builtin_prefetch(&regions_.first_target[g.y]);
  }
}

void Evaluator::settle(uint64_t written) {
  mark_reads(written);
  mark_dynamic();
  for (int i = 0; i < kSweeps; ++i) {
    evaluations += sweep();
    if (dynamic_.empty() || !bridge()) return;
  }
  throw std::runtime_error("a bridge closes a loop of gates");
}

uint64_t Evaluator::sweep() {
  uint64_t evaluated = 0;
  for (size_t set = 0; set < Regions::sets(regions_.cells.size()); ++set) {
    for (; sets_[set]; sets_[set] &= sets_[set] - 1) {
      const size_t word = 64 * set + static_cast<size_t>(std::countr_zero(sets_[set]));
      if (const uint64_t later = sets_[set] & (sets_[set] - 1)) {
        fetch(64 * set + static_cast<size_t>(std::countr_zero(later)));
      }
      while (dirty_[word]) {
        const size_t i = 64 * word + static_cast<size_t>(std::countr_zero(dirty_[word]));
        dirty_[word] &= dirty_[word] - 1;
        ++evaluated;
        const uint32_t kind = regions_.cells[i].s;
        if (kind == kRegion) {
          evaluate_region(i);
        } else if (kind == kReadGate) {
          read(regions_.cells[i].a);
        } else if (has_bit(is_held_region_, i)) {
          evaluate_held(i);
        } else {
          evaluate(i);
        }
      }
    }
  }
  return evaluated;
}

// Read ports that may read something else than in the row before, where that may differ from the golden run.
void Evaluator::mark_reads(uint64_t written) {
  const uint64_t* const changed = golden_.changed(r_);
  for (size_t memory = 0; memory < design_.memories.size(); ++memory) {
    for (const uint32_t cell : regions_.reads_of[memory]) {
      const uint32_t port = regions_.cells[cell].a;
      const bool moved = entered_ || memory >= 64 || (written >> memory & 1) || (changed[cell / 64] >> (cell % 64) & 1);
      if (moved && (reading_[port] || overlay_->find(memory, golden_.read_word(r_, port)))) mark(cell);
    }
  }
  entered_ = false;
}

// Machines that read the same word are taken together.
void Evaluator::read(uint32_t number_of) {
  const MemoryPort& port = design_.reads[number_of];
  const int32_t* const address = design_.address(port);
  const int32_t* const data = design_.data(port);
  const uint32_t memory = static_cast<uint32_t>(port.memory);
  Lanes elsewhere = {};
  for (int32_t i = 0; i < port.address; ++i) elsewhere |= differs_[address[i]];
  std::vector<Lanes> d(port.data);
  const uint64_t word = golden_.read_word(r_, number_of);
  if (const Lanes* const block = overlay_->find(memory, word)) {
    for (int32_t i = 0; i < port.data; ++i) d[i] = block[i] & ~elsewhere;
  }
  if (any(elsewhere)) {
    const uint64_t first = static_cast<uint64_t>(static_cast<int64_t>(design_.memories[memory].first_word));
    const uint8_t* const expected = memories_.word(memory, word);
    each_number(address, port.address, elsewhere, [&](uint64_t raw, const Lanes& same) {
      const uint8_t* const bytes = memories_.word(memory, raw - first);
      const Lanes* const block = bytes ? overlay_->find(memory, raw - first) : nullptr;
      for (int32_t i = 0; i < port.data; ++i) {
        const unsigned there = bytes ? bytes[i / 8] : 0u, here = expected ? expected[i / 8] : 0u;
        Lanes other = spread((there ^ here) >> (i % 8) & 1);
        if (block) other ^= block[i];
        d[i] |= other & same;
      }
    });
  }
  Lanes differs = elsewhere;
  bool held = false;
  for (int32_t i = 0; i < port.data; ++i) {
    set(data[i], d[i]);
    differs |= differs_[data[i]];
    held |= has_bit(is_held_, static_cast<size_t>(data[i]));
  }
  reading_[number_of] = held || any(differs);
}

// What a flip-flop takes at the edge, beside the golden value after it.
Lanes Evaluator::taken(uint32_t i, const uint64_t* next) {
  const FlipFlop& f = design_.flip_flops[i];
  Lanes value = this->value(f.d);
  if (const auto at = held_data_.find(static_cast<int32_t>(i)); at != held_data_.end()) {
    value = forced((*held_)[at->second], value);
  }
  if (const auto own = open_data_.find(static_cast<int32_t>(i)); own != open_data_.end()) {
    for (const uint32_t at : own->second) {
      const Held& h = (*held_)[at];
      const Lanes keep = (value ^ otherwise(h, value)) & h.lanes();
      value = (value & ~keep) | ((stored_[i] ^ spread(golden(f.q))) & keep);
    }
  }
  return value ^ spread(Golden::bit(next, f.q));
}

Lanes Evaluator::loading(uint32_t i, const Lanes& acting) const {
  if (held_loads_.empty()) return acting;
  const auto at = held_loads_.find(static_cast<int32_t>(i));
  return at == held_loads_.end() ? acting : acting & ~((*held_)[at->second].zero | (*held_)[at->second].one);
}

void Evaluator::step(const Lanes& live, bool dense) {
  keep();
  const uint64_t* const next = golden_.row(r_ + 1);
  // Where a load begins to act in the golden run, that has not what it took.
  for (const Design::Load& l : design_.loads) dense |= Golden::bit(next, l.net) == (l.active != 0);
  next_.clear();
  const auto take = [&](uint32_t i) {
    const Lanes d = taken(i, next) & live;
    if (any(d ^ stored_[i])) next_.push_back({i, d});
  };
  if (dense) {
    each_marked(regions_.first_flip_flop(), design_.flip_flops.size(), [](size_t) {});
    std::vector<Lanes> all(design_.flip_flops.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = taken(i, next);
    for (const Design::Load& l : design_.loads) {
      const Lanes acting = value(l.net) ^ spread(!l.active);
      if (!any(acting)) continue;
      for (const uint32_t i : l.flip_flops) {
        const Lanes own = loading(i, acting);
        const bool differs = Golden::bit(next, design_.flip_flops[i].q) != (design_.reset[i] > 0);
        all[i] = (all[i] & ~own) | (spread(differs) & own);
      }
    }
    for (uint32_t i = 0; i < all.size(); ++i) {
      all[i] &= live;
      if (any(all[i] ^ stored_[i])) next_.push_back({i, all[i]});
    }
  } else {
    for (const auto& [flip_flop, at] : held_data_) mark(regions_.first_flip_flop() + static_cast<size_t>(flip_flop));
    for (const auto& [flip_flop, at] : open_data_) mark(regions_.first_flip_flop() + static_cast<size_t>(flip_flop));
    each_marked(regions_.first_flip_flop(), design_.flip_flops.size(),
                [&](size_t i) { take(static_cast<uint32_t>(i)); });
  }
  row_ = next;
  ++r_;
  for (const Stored& s : next_) store(s.flip_flop, s.d);
  set_held_sources();
  const uint64_t* const changed = golden_.changed(r_);
  for (size_t word = 0; word < involved_.size(); ++word) {
    const uint64_t found = involved_[word] & changed[word];
    if (!found) continue;
    dirty_[word] |= found;
    sets_[word / 64] |= uint64_t{1} << (word % 64);
  }
}

Lanes Evaluator::strayed() const {
  Lanes found = {};
  for (const int32_t net : touched_) found |= differs_[net];
  for (const uint32_t i : stored_touched_) found |= stored_[i];
  return found;
}

std::vector<Stored> Evaluator::leave(const Lanes& live) {
  std::vector<Stored> found;
  std::sort(stored_touched_.begin(), stored_touched_.end());
  for (const uint32_t i : stored_touched_) {
    const Lanes d = stored_[i] & live;
    if (any(d)) found.push_back({i, d});
    stored_[i] = Lanes{};
    clear_bit(is_stored_touched_, i);
  }
  stored_touched_.clear();
  for (const int32_t net : touched_) {
    differs_[net] = Lanes{};
    clear_bit(is_touched_, static_cast<size_t>(net));
  }
  touched_.clear();
  std::fill(dirty_.begin(), dirty_.end(), 0);
  std::fill(sets_.begin(), sets_.end(), 0);
  std::fill(involved_.begin(), involved_.end(), 0);
  std::fill(reading_.begin(), reading_.end(), uint8_t{0});
  std::fill(writing_.begin(), writing_.end(), uint8_t{0});
  for (const auto& [net, at] : held_nets_) clear_bit(is_held_, static_cast<size_t>(net));
  for (const auto& [net, at] : dynamic_nets_) clear_bit(is_held_, static_cast<size_t>(net));
  for (const auto& [gate, at] : held_operands_) clear_bit(is_held_region_, regions_.region_of[gate]);
  held_nets_.clear(), held_data_.clear(), held_loads_.clear(), held_operands_.clear(), held_sources_.clear();
  dynamic_nets_.clear(), open_data_.clear(), dynamic_.clear(), stored_pins_.clear();
  held_ = nullptr;
  return found;
}
