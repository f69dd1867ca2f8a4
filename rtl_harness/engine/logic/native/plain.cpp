// SPDX-License-Identifier: Apache-2.0
// See plain.h.

#include "plain.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "bit_parallel.h"

namespace {

constexpr unsigned kMachines = 64, kClean = 63;  // the last one has no fault
constexpr uint64_t kAll = ~uint64_t{0};
// Rounds in which asynchronous loads may set one another off.
constexpr int kRounds = 16;

uint64_t lane(unsigned machine) { return uint64_t{1} << machine; }
uint64_t of_clean(uint64_t word) { return word >> kClean & 1 ? kAll : 0; }

struct Form {
  uint64_t ones, of_a, of_b, of_both, of_s;
};

// Of each operation of `gate_operations.h`.
constexpr Form kForms[] = {
    {0, kAll, 0, 0, 0},       {kAll, kAll, 0, 0, 0},       {0, 0, 0, kAll, 0},    {kAll, 0, 0, kAll, 0},
    {0, kAll, kAll, kAll, 0}, {kAll, kAll, kAll, kAll, 0}, {0, kAll, kAll, 0, 0}, {kAll, kAll, kAll, 0, 0},
    {0, kAll, 0, kAll, 0},    {kAll, 0, kAll, kAll, 0},    {0, kAll, 0, 0, kAll}, {kAll, kAll, 0, 0, kAll},
};

template <typename Take>
void each(uint64_t word, Take&& take) {
  for (; word; word &= word - 1) take(static_cast<unsigned>(std::countr_zero(word)));
}

}  // namespace

PlainMachines::PlainMachines(const Circuit& c, const Observed& o)
    : nets_(c.nets),
      gates_(c.gates, c.gates + c.gate_count),
      flip_flops_(c.flip_flops, c.flip_flops + c.flip_flop_count),
      memories_(c.memories, c.memories + c.memory_count),
      reads_(c.reads, c.reads + c.read_count),
      writes_(c.writes, c.writes + c.write_count),
      done_(c.ports, c.ports + o.done),
      status_(c.ports + o.done, c.ports + c.port_count),
      operation_(c.operation, c.operation + c.operation_count),
      undefined_(c.undefined, c.undefined + c.undefined_count),
      lists_(c.lists, c.lists + c.list_length),
      alarms_(c.alarms, c.alarms + c.alarm_count),
      reset_(o.reset, o.reset + c.flip_flop_count),
      counted_(o.counted, o.counted + c.flip_flop_count),
      counted_memories_(o.memories, o.memories + c.memory_count),
      outputs_(o.outputs, o.outputs + o.output_count),
      detects_(o.detects),
      corrects_(o.corrects) {
  for (const FlipFlop& f : flip_flops_) initial_.push_back(o.state[f.offset] >> f.bit & 1);
  for (const Memory& m : memories_) {
    const auto* const from = reinterpret_cast<const uint8_t*>(o.state + m.offset);
    image_.emplace_back(from, from + m.words * m.entry_bytes);
  }
  order();
  renumber();
}

// Sort gates by level and operation.
void PlainMachines::order() {
  std::vector<uint32_t> level(nets_);
  std::vector<uint32_t> of(gates_.size());
  for (size_t i = 0; i < gates_.size(); ++i) {
    const Gate& g = gates_[i];
    uint32_t deepest = 0;
    const auto take = [&](int32_t net) { deepest = std::max(deepest, level[net]); };
    if (g.operation == kRead) {
      const MemoryPort& port = reads_[g.a];
      for (int32_t k = 0; k < port.address; ++k) take(lists_[port.first + k]);
      for (int32_t k = 0; k < port.data; ++k) level[lists_[port.first + port.address + k]] = deepest + 1;
    } else {
      take(g.a), take(g.b), take(g.s);
      level[g.y] = deepest + 1;
    }
    of[i] = deepest;
  }
  std::vector<size_t> sorted(gates_.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  const auto key = [&](size_t i) { return std::pair(of[i], gates_[i].operation); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](size_t i, size_t k) { return key(i) < key(k); });
  std::vector<Gate> gates;
  row_.resize(gates_.size());
  for (const size_t i : sorted) {
    row_[i] = gates.size();
    if (runs_.empty() || key(i) != key(sorted[gates.size() - 1])) {
      runs_.push_back({gates_[i].operation, gates.size(), gates.size()});
    }
    gates.push_back(gates_[i]);
    runs_.back().end = gates.size();
  }
  gates_.swap(gates);
}

// Let outputs of gates that stand in a row lie in a row.
void PlainMachines::renumber() {
  net_.assign(nets_, -1);
  int32_t next = 0;
  const auto number = [&](int32_t net) {
    if (net_[net] < 0) net_[net] = next++;
  };
  number(0), number(1);
  for (const FlipFlop& f : flip_flops_) number(f.q);
  for (const Gate& g : gates_) {
    if (g.operation != kRead) {
      if (net_[g.y] >= 0) throw std::runtime_error("a net that several gates drive");
      number(g.y);
      continue;
    }
    const MemoryPort& port = reads_[g.a];
    for (int32_t k = 0; k < port.data; ++k) number(lists_[port.first + port.address + k]);
  }
  for (uint64_t net = 0; net < nets_; ++net) number(static_cast<int32_t>(net));
  for (Gate& g : gates_) {
    if (g.operation != kRead) g = {g.operation, net_[g.a], net_[g.b], net_[g.s], net_[g.y]};
    a_.push_back(g.a), b_.push_back(g.b), s_.push_back(g.s);
  }
  for (FlipFlop& f : flip_flops_) f.q = net_[f.q], f.d = net_[f.d], f.load = net_[f.load];
  for (auto* list : {&done_, &status_, &operation_, &undefined_, &lists_}) {
    for (int32_t& net : *list) net = net_[net];
  }
  for (AlarmNet& a : alarms_) a.net = net_[a.net];
}

void PlainMachines::run(const HeldPins* faults, uint64_t count, const HeldPin* pins, const LogicLimits& limits,
                        uint64_t usual, LogicResult* results, uint8_t* output) {
  for (uint64_t first = 0; first < count; first += kFaults) {
    const auto some = static_cast<unsigned>(std::min<uint64_t>(kFaults, count - first));
    batch(faults + first, some, pins, limits, usual, results + first, output + first * outputs_.size());
  }
  content_.clear();
}

void PlainMachines::start(const HeldPins* faults, unsigned count, const HeldPin* pins) {
  value_.assign(nets_, 0);
  value_[1] = kAll;
  stored_.clear();
  for (const uint8_t bit : initial_) stored_.push_back(bit ? kAll : 0);
  last_.assign(stored_.size(), 0);
  content_.clear();
  for (const auto& image : image_) {
    auto& all = content_.emplace_back();
    all.reserve(kMachines * image.size());
    for (unsigned machine = 0; machine < kMachines; ++machine) all.insert(all.end(), image.begin(), image.end());
  }
  holds_.clear();
  strikes_.clear();
  first_ = true;
  row_now_ = 0;
  is_held_.assign(nets_ + gates_.size() + flip_flops_.size(), 0);
  for (unsigned machine = 0; machine < count; ++machine) {
    for (uint32_t i = 0; i < faults[machine].count; ++i) {
      const HeldPin& pin = pins[faults[machine].first + i];
      const auto kind = static_cast<PinKind>(pin.kind);
      if (kind == kFlipFlopUpset || kind == kMemoryUpset) {
        strikes_.push_back({static_cast<uint64_t>(pin.value), machine, pin});
        continue;
      }
      const bool of_net = kind == kNetPin || is_dynamic(kind);
      int32_t at = pin.at, column = pin.column;
      if (of_net) at = net_[at];
      if (kind == kOperandPin) at = static_cast<int32_t>(row_[at]);
      if (kind == kBridgePin || kind == kWiredPin) column = net_[column];
      if (kind == kStoredPin) at = static_cast<int32_t>(row_[at]);
      if (is_open(kind) && column >= 0) column = static_cast<int32_t>(row_[column / 4]) * 4 + column % 4;
      auto found = std::find_if(holds_.begin(), holds_.end(), [&](const Hold& h) {
        return h.kind == kind && h.at == at && h.column == column;
      });
      if (found == holds_.end()) {
        found = holds_.insert(found, {kind, at, column, 0, 0});
        if (is_open(kind) && column >= 0) {
          found->gates = gates_to(static_cast<size_t>(column / 4), kind == kOpenPin ? at : flip_flops_[at].d);
        }
      }
      (pin.value ? found->one : found->zero) |= lane(machine);
      const bool of_gate = kind == kOperandPin || kind == kStoredPin;
      const size_t of_kind = of_net ? 0 : of_gate ? nets_ : nets_ + gates_.size();
      is_held_.at(of_kind + static_cast<size_t>(at)) = 1;
    }
  }
  special_.clear();
  for (size_t i = 0; i < gates_.size(); ++i) {
    const Gate& g = gates_[i];
    if (g.operation == kRead) continue;
    if (is_held_[nets_ + i] || is_held_[static_cast<size_t>(g.y)]) special_.push_back(i);
  }
}

// Gates that depend on one of them, up to the one that drives a net, and on which that one depends.
std::vector<size_t> PlainMachines::gates_to(size_t first, int32_t target) const {
  std::vector<uint8_t> ahead(nets_), needed(nets_);
  std::vector<size_t> all, found;
  for (size_t i = first; i < gates_.size() && !ahead[target]; ++i) {
    const Gate& g = gates_[i];
    if (g.operation == kRead || !(i == first || ahead[g.a] || ahead[g.b] || ahead[g.s])) continue;
    ahead[g.y] = 1;
    all.push_back(i);
  }
  needed[target] = 1;
  for (auto i = all.rbegin(); i != all.rend(); ++i) {
    const Gate& g = gates_[*i];
    if (!needed[g.y]) continue;
    needed[g.a] = needed[g.b] = needed[g.s] = 1;
    found.insert(found.begin(), *i);
  }
  return found;
}

// What is driven to something by a cell of which an input is open: what it was, where that input decides.
PlainMachines::Word PlainMachines::open(const Hold& h, Word value, Word kept) const {
  Word other = h(value);
  if (h.column >= 0) {
    std::vector<std::pair<int32_t, Word>> known;
    for (const size_t i : h.gates) {
      const Gate& g = gates_[i];
      Word operands[3] = {value_[g.a], value_[g.b], value_[g.s]};
      const int32_t nets[3] = {g.a, g.b, g.s};
      for (int k = 0; k < 3; ++k) {
        for (const auto& [net, own] : known) operands[k] = net == nets[k] ? own : operands[k];
        if (static_cast<size_t>(h.column) == 4 * i + static_cast<size_t>(k) + 1) operands[k] = h(operands[k]);
      }
      other = evaluated<Word>(g.operation, operands[0], operands[1], operands[2]);
      known.emplace_back(g.y, other);
    }
  }
  const Word keeps = (value ^ other) & h.machines();
  return (value & ~keeps) | (kept & keeps);
}

PlainMachines::Word PlainMachines::bridged(Hold& h, Word value) {
  Word other = value_[h.column];
  if (h.kind == kBridgePin) return (value & ~h.machines()) | (other & h.machines());
  h.driven = value;
  for (const Hold& o : holds_) {
    if (o.kind == kWiredPin && o.at == h.column && o.column == h.at) other = o.driven;
  }
  return (value & ~h.machines()) | (value & other & h.zero) | ((value | other) & h.one);
}

// What a net has, of what it is driven to.
PlainMachines::Word PlainMachines::on_net(int32_t net, Word value) {
  if (!is_held_[static_cast<size_t>(net)]) return value;
  for (Hold& h : holds_) {
    if (h.at != net) continue;
    if (h.kind == kNetPin) value = h(value);
    if (h.kind == kBridgePin || h.kind == kWiredPin) value = bridged(h, value);
    if (h.kind == kOpenPin && !first_) value = open(h, value, h.kept);
    if (h.kind == kPulsePin && static_cast<uint64_t>(h.column) == row_now_) value ^= h.machines();
  }
  return value;
}

// All nets, bridged ones with what the other one has: until that changes no more.
void PlainMachines::bridge() {
  for (int round = 0; round < kRounds; ++round) {
    evaluate();
    // What a net has been given may be what the other one had before that was evaluated.
    bool late = false;
    for (Hold& h : holds_) {
      if (h.kind == kBridgePin) late |= bridged(h, value_[h.at]) != value_[h.at];
      if (h.kind == kWiredPin) late |= ((bridged(h, h.driven) ^ value_[h.at]) & h.machines()) != 0;
    }
    if (!late) return;
  }
  throw std::runtime_error("a bridge closes a loop of gates");
}

PlainMachines::Word PlainMachines::as_held(PinKind kind, int64_t at, int32_t column, Word value) const {
  for (const Hold& h : holds_) {
    if (h.kind == kind && h.at == at && h.column == column) return h(value);
  }
  return value;
}

// Outputs of gates in a row, by the algebraic normal form of their operation:
// y = ones ^ a & of_a ^ b & of_b ^ a & b & of_both ^ s & (a ^ b) & of_s.
template <int kOperation>
void PlainMachines::apply(const Run& run) {
  constexpr Form f = kForms[kOperation];
  Word* const value = value_.data();
  Word* const to = value + gates_[run.first].y;
  const int32_t *const a = a_.data() + run.first, *const b = b_.data() + run.first, *const s = s_.data() + run.first;
  for (size_t i = 0; i < run.end - run.first; ++i) {
    const Word x = value[a[i]], y = f.of_b | f.of_both | f.of_s ? value[b[i]] : 0;
    Word found = f.ones ^ (x & f.of_a) ^ (y & f.of_b) ^ (x & y & f.of_both);
    if (f.of_s) found ^= value[s[i]] & (x ^ y);
    to[i] = found;
  }
}

void PlainMachines::evaluate() {
  Word* const value = value_.data();
  for (size_t i = 0; i < flip_flops_.size(); ++i) {
    const auto q = static_cast<size_t>(flip_flops_[i].q);
    value[q] = on_net(flip_flops_[i].q, stored_[i]);
  }
  size_t next = 0;
  for (const Run& run : runs_) {
    switch (run.operation) {
      case 0: apply<0>(run); break;
      case 1: apply<1>(run); break;
      case 2: apply<2>(run); break;
      case 3: apply<3>(run); break;
      case 4: apply<4>(run); break;
      case 5: apply<5>(run); break;
      case 6: apply<6>(run); break;
      case 7: apply<7>(run); break;
      case 8: apply<8>(run); break;
      case 9: apply<9>(run); break;
      case 10: apply<10>(run); break;
      case 11: apply<11>(run); break;
      default:
        for (size_t i = run.first; i < run.end; ++i) read(static_cast<size_t>(gates_[i].a));
    }
    for (; next < special_.size() && special_[next] < run.end; ++next) special(special_[next]);
  }
}

// A gate of which a pin is held.
void PlainMachines::special(size_t i) {
  const Gate& g = gates_[i];
  const auto at = static_cast<int64_t>(i);
  Word operand[] = {0, value_[g.a], value_[g.b], value_[g.s]};
  for (int32_t column = 1; column <= 3; ++column) operand[column] = as_held(kOperandPin, at, column, operand[column]);
  for (const Hold& h : holds_) {
    if (h.kind != kStoredPin || h.at != at) continue;
    Word& own = operand[h.column % 4];
    own = (own & ~h.machines()) | (stored_[static_cast<size_t>(h.column / 4)] & h.machines());
  }
  value_[g.y] = on_net(g.y, evaluated<Word>(g.operation, operand[1], operand[2], operand[3]));
}

// The address that each machine has at a port.
void PlainMachines::addresses(const MemoryPort& port, Word* of_machine) const {
  std::fill(of_machine, of_machine + kMachines, 0);
  for (int32_t i = 0; i < port.address; ++i) of_machine[i] = value_[lists_[port.first + i]];
  transpose_bits(of_machine);
}

// Where a word of a machine lies; null beyond the memory's end.
uint8_t* PlainMachines::place(uint32_t number, unsigned machine, uint64_t address) {
  const Memory& m = memories_[number];
  const uint64_t word = address - static_cast<uint64_t>(static_cast<int64_t>(m.first_word));
  if (word >= m.words) return nullptr;
  return content_[number].data() + (machine * m.words + word) * m.entry_bytes;
}

void PlainMachines::read(size_t number) {
  const MemoryPort& port = reads_[number];
  const uint32_t size = memories_[port.memory].entry_bytes;
  Word address[kMachines];
  addresses(port, address);
  for (int32_t first = 0; first < port.data; first += 64) {
    Word words[kMachines] = {};
    const uint32_t byte = static_cast<uint32_t>(first) / 8, bytes = std::min<uint32_t>(8, size - byte);
    for (unsigned machine = 0; machine < kMachines; ++machine) {
      const uint8_t* const from = place(static_cast<uint32_t>(port.memory), machine, address[machine]);
      if (from) std::memcpy(&words[machine], from + byte, bytes);
    }
    transpose_bits(words);
    for (int32_t i = first; i < std::min(port.data, first + 64); ++i) {
      const int32_t net = lists_[port.first + port.address + i];
      value_[net] = on_net(net, words[i - first]);
    }
  }
}

// Machines in which the asynchronous load of a flip-flop acts.
PlainMachines::Word PlainMachines::loading(size_t i) const {
  const FlipFlop& f = flip_flops_[i];
  if (f.load < 2 && f.load != f.active) return 0;
  const Word acts = f.active ? value_[f.load] : ~value_[f.load];
  if (!is_held_[nets_ + gates_.size() + i]) return acts;
  for (const Hold& h : holds_) {
    if (h.kind == kLoadPin && h.at == static_cast<int64_t>(i)) return acts & ~(h.zero | h.one);
  }
  return acts;
}

void PlainMachines::settle() {
  for (int round = 0; round < kRounds; ++round) {
    bridge();
    bool changed = false;
    for (size_t i = 0; i < flip_flops_.size(); ++i) {
      const Word acts = loading(i);
      if (!acts) continue;
      if (reset_[i] < 0) throw std::runtime_error("an asynchronous load acts whose value is not known");
      const Word now = reset_[i] ? stored_[i] | acts : stored_[i] & ~acts;
      changed |= now != stored_[i];
      stored_[i] = now;
    }
    if (!changed) return;
  }
  throw std::runtime_error("asynchronous loads of a faulty machine set one another off without an end");
}

void PlainMachines::edge(Word live) {
  std::vector<Word> next(stored_.size());
  for (size_t i = 0; i < next.size(); ++i) {
    Word taken = value_[flip_flops_[i].d];
    if (is_held_[nets_ + gates_.size() + i]) {
      taken = as_held(kDataPin, static_cast<int64_t>(i), 0, taken);
      for (const Hold& h : holds_) {
        if (h.kind == kOpenDataPin && h.at == static_cast<int64_t>(i)) taken = open(h, taken, stored_[i]);
      }
    }
    const Word acts = loading(i);
    next[i] = (taken & ~acts) | (stored_[i] & acts);
  }
  for (const MemoryPort& port : writes_) write(port, live);
  for (Hold& h : holds_) {
    if (h.kind == kOpenPin) h.kept = value_[h.at];
  }
  stored_.swap(next);
  first_ = false;
}

void PlainMachines::strike(uint64_t row, Word live) {
  for (const Strike& s : strikes_) {
    if (s.row != row || !(live & lane(s.machine))) continue;
    const auto at = static_cast<size_t>(s.what.at);
    if (s.what.kind == kFlipFlopUpset) {
      stored_[at] ^= lane(s.machine);
    } else {
      const auto memory = static_cast<size_t>(s.what.column);
      content_[memory][s.machine * image_[memory].size() + at / 8] ^= static_cast<uint8_t>(1 << at % 8);
    }
  }
}

void PlainMachines::write(const MemoryPort& port, Word live) {
  const int32_t* const data = lists_.data() + port.first + port.address;
  const int32_t* const enable = data + port.data;
  Word any = 0;
  for (int32_t i = 0; i < port.data; ++i) any |= value_[enable[i]];
  if (!(any & live)) return;
  const uint32_t size = memories_[port.memory].entry_bytes;
  Word address[kMachines];
  addresses(port, address);
  for (int32_t first = 0; first < port.data; first += 64) {
    Word bits[kMachines] = {}, mask[kMachines] = {};
    for (int32_t i = first; i < std::min(port.data, first + 64); ++i) {
      bits[i - first] = value_[data[i]];
      mask[i - first] = value_[enable[i]];
    }
    transpose_bits(bits);
    transpose_bits(mask);
    const uint32_t byte = static_cast<uint32_t>(first) / 8, bytes = std::min<uint32_t>(8, size - byte);
    each(any & live, [&](unsigned machine) {
      uint8_t* const to = place(static_cast<uint32_t>(port.memory), machine, address[machine]);
      if (!to) return;
      Word now = 0;
      std::memcpy(&now, to + byte, bytes);
      now = (now & ~mask[machine]) | (bits[machine] & mask[machine]);
      std::memcpy(to + byte, &now, bytes);
    });
  }
}

uint64_t PlainMachines::number(const std::vector<int32_t>& nets, unsigned machine) const {
  uint64_t found = 0;
  for (size_t i = 0; i < nets.size() && i < 64; ++i) found |= (value_[nets[i]] >> machine & 1) << i;
  return found;
}

void PlainMachines::batch(const HeldPins* faults, unsigned count, const HeldPin* pins, const LogicLimits& limits,
                          uint64_t usual, LogicResult* results, uint8_t* output) {
  start(faults, count, pins);
  Word live = (lane(count) - 1) | lane(kClean), detected = 0, corrected = 0, unknown = 0;
  std::vector<uint64_t> moved(kMachines, 0);
  std::vector<uint8_t> right(outputs_.size());
  for (unsigned i = 0; i < count; ++i) results[i] = {kLimit, 0, 0, 0, -1, -1, 0, 0};
  const auto look = [&](const AlarmNet& a, uint64_t kinds, Word& seen, int32_t LogicResult::*which,
                        uint64_t LogicResult::*when, uint64_t r) {
    if (!(kinds >> a.alarm & 1) || usual >> a.alarm & 1) return;
    const Word rises = value_[a.net] & live & ~seen & ~lane(kClean);
    each(rises, [&](unsigned i) { results[i].*which = a.alarm, results[i].*when = r - 1; });
    seen |= rises;
  };
  settle();
  std::vector<Word> shown;
  // The counter of operations begins as it is without a fault.
  for (const int32_t net : operation_) shown.push_back(of_clean(value_[net]));
  for (uint64_t r = 0; live; ++r) {
    row_now_ = r;
    if (r) edge(live), strike(r, live), settle();
    for (const int32_t net : undefined_) unknown |= (value_[net] ^ of_clean(value_[net])) & live;
    Word ends = 0;
    const auto end = [&](Word which, LogicHow how) {
      which &= live & ~ends;
      ends |= which;
      each(which & ~lane(kClean), [&](unsigned i) {
        results[i].how = how;
        results[i].end_cycle = r;
        results[i].status = number(status_, i);
      });
      each(which, [&](unsigned i) {
        uint8_t* const to = i == kClean ? right.data() : output + i * outputs_.size();
        for (size_t k = 0; k < outputs_.size(); ++k) {
          const OutputByte& o = outputs_[k];
          const Memory& m = memories_[o.memory];
          to[k] = content_[o.memory][(i * m.words + o.word) * m.entry_bytes + static_cast<size_t>(o.byte)];
        }
      });
    };
    end(unknown, kUndefined);
    if (r) {
      for (const AlarmNet& a : alarms_) {
        look(a, detects_, detected, &LogicResult::detected, &LogicResult::detected_cycle, r);
        look(a, corrects_, corrected, &LogicResult::corrected, &LogicResult::corrected_cycle, r);
      }
      if (limits.until_detection) end(detected, kDetected);
      Word done = 0;
      for (const int32_t net : done_) done |= value_[net];
      end(done, kDone);
      Word other = 0;
      for (size_t i = 0; i < shown.size(); ++i) {
        other |= value_[operation_[i]] ^ shown[i];
        shown[i] = value_[operation_[i]];
      }
      each(other, [&](unsigned i) { moved[i] = r; });
      Word late = r >= limits.limit ? kAll : 0;
      for (unsigned i = 0; limits.allowance && i < count; ++i) {
        if (r >= moved[i] + limits.allowance) late |= lane(i);
      }
      if (late & live & ~ends & lane(kClean)) throw std::runtime_error("the run without a fault does not end");
      end(late, kLimit);
    }
    if (!ends) continue;
    for (size_t i = 0; i < stored_.size(); ++i) last_[i] = (last_[i] & ~ends) | (stored_[i] & ends);
    live &= ~ends;
  }
  for (unsigned i = 0; i < count; ++i) {
    if (results[i].how == kDone) compare(i, results[i], output + i * outputs_.size(), right.data());
  }
}

// Whether storage that is compared is other than without a fault; asked where the outputs are equal.
void PlainMachines::compare(unsigned machine, LogicResult& result, const uint8_t* output, const uint8_t* right) {
  if (!std::equal(output, output + outputs_.size(), right)) return;
  bool differs = false;
  for (size_t i = 0; i < last_.size(); ++i) {
    differs |= counted_[i] && ((last_[i] >> machine ^ last_[i] >> kClean) & 1);
  }
  for (size_t i = 0; i < memories_.size(); ++i) {
    const size_t size = image_[i].size();
    const uint8_t* const all = content_[i].data();
    differs |= counted_memories_[i] && std::memcmp(all + machine * size, all + kClean * size, size) != 0;
  }
  result.differs = differs;
}
