// SPDX-License-Identifier: Apache-2.0
// The calls of api.h: groups of machines are made, go through the golden run a window at a time, and are put together
// anew where machines have gone far from it.

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "group.h"
#include "plain.h"

namespace {

thread_local std::string last_error;

using Groups = std::vector<std::unique_ptr<Group>>;

// Put machines of neighbours together where one group holds them, and forget groups that are empty.
void join(Context& c, Groups& groups) {
  Group* last = nullptr;
  for (const auto& group : groups) {
    if (last && group->alive() && last->alive() + group->alive() <= kLanes) {
      last->take(c, *group, spread(true));
    } else if (group->alive()) {
      last = group.get();
    }
  }
  std::erase_if(groups, [](const auto& group) { return !group->alive(); });
}

template <typename Body>
int32_t guarded(Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return -1;
  }
}

// Faults that are simulated, and how far they are.
struct Run {
  Run(const Design& design, Golden& golden, std::vector<uint8_t> kept, const LogicLimits& limits,
      const std::vector<uint8_t>& same, LogicResult* results, uint8_t* output)
      : regions(design, std::move(kept)),
        memories(design, golden),
        c{design, golden, memories, Evaluator(design, regions, golden, memories), limits, golden.alarms(), same,
          results, output, {}, {}, {}, {}} {
    c.dense.resize(design.flip_flops.size());
    c.alone.resize(design.writes.size());
    c.other.resize(design.writes.size());
  }

  Regions regions;
  Memories memories;
  Context c;
  Groups groups, far;
  uint64_t row = 0;
};

}  // namespace

struct LogicSimulator {
  LogicSimulator(const Circuit& circuit, const Observed& observed, uint64_t kept)
      : design(circuit, observed), golden(design, kept), plain(circuit, observed) {}

  // Of the golden run.
  std::vector<uint8_t> last_output() const {
    std::vector<uint8_t> found;
    for (const OutputByte& o : design.outputs) {
      const Memory& m = design.memories.at(static_cast<size_t>(o.memory));
      if (o.word >= m.words) throw std::runtime_error("an output lies beyond the end of its memory");
      found.push_back(golden.last_memories()[o.memory][o.word * m.entry_bytes + static_cast<size_t>(o.byte)]);
    }
    return found;
  }
  void begin(const HeldPins* faults, uint64_t count, const HeldPin* pins, const LogicLimits& limits,
             LogicResult* results, uint8_t* output);
  bool advance();
  HeldPin numbered(HeldPin pin) const;
  bool is_excited(const HeldPin& pin) const;
  int32_t fed(const HeldPin& pin) const;
  void keep(const HeldPin& pin, std::vector<uint8_t>& kept) const;

  Design design;
  Golden golden;
  PlainMachines plain;
  std::unique_ptr<Run> going;
};

// A pin whose net has the number that it has here; raises if there is no such pin.
HeldPin LogicSimulator::numbered(HeldPin pin) const {
  const auto check = [&](size_t count) {
    if (pin.at < 0 || static_cast<size_t>(pin.at) >= count) throw std::runtime_error("there is no such pin");
  };
  switch (pin.kind) {
    case kNetPin:
      check(design.nets);
      if (pin.at < 2) throw std::runtime_error("a constant is to be held");
      pin.at = design.number[pin.at];
      return pin;
    case kOperandPin:
      check(design.gates.size());
      if (design.gates[pin.at].s == kReadGate || pin.column < 1 || pin.column > 3) {
        throw std::runtime_error("a gate has no such operand");
      }
      return pin;
    case kPulsePin:
      check(design.nets);
      if (pin.at < 2) throw std::runtime_error("a constant is to be inverted");
      if (pin.column < 1 || pin.value != 1) throw std::runtime_error("a pulse comes before the first edge");
      pin.at = design.number[pin.at];
      return pin;
    case kDataPin:
    case kLoadPin: check(design.flip_flops.size()); return pin;
    case kStoredPin:
      check(design.gates.size());
      if (pin.column < 0 || static_cast<size_t>(pin.column / 4) >= design.flip_flops.size() || pin.column % 4 == 0 ||
          design.gates[pin.at].s == kReadGate) {
        throw std::runtime_error("a gate has no such operand, or there is no such flip-flop");
      }
      return pin;
    case kBridgePin:
    case kWiredPin:
      for (int32_t* const net : {&pin.at, &pin.column}) {
        if (*net < 2 || static_cast<size_t>(*net) >= design.nets) throw std::runtime_error("there is no such net to bridge");
        *net = design.number[*net];
      }
      if (pin.at == pin.column) throw std::runtime_error("a net is to be bridged with itself");
      return pin;
    case kOpenPin:
    case kOpenDataPin: {
      const auto gate = static_cast<size_t>(pin.column / 4);
      const bool own = pin.kind == kOpenDataPin && pin.column == -1;
      if (!own && (pin.column < 0 || gate >= design.gates.size() || design.gates[gate].s == kReadGate || pin.column % 4 == 0)) {
        throw std::runtime_error("a gate has no such operand");
      }
      check(pin.kind == kOpenPin ? design.nets : design.flip_flops.size());
      if (pin.kind == kOpenPin) pin.at = design.number[pin.at];
      return pin;
    }
    case kFlipFlopUpset:
    case kMemoryUpset:
      if (pin.value < 1) throw std::runtime_error("an upset comes before the first edge");
      if (pin.kind == kFlipFlopUpset) {
        check(design.flip_flops.size());
      } else {
        const Memory& m = design.memories.at(static_cast<size_t>(pin.column));
        check(8 * m.words * m.entry_bytes);
        if (pin.at % (8 * m.entry_bytes) >= design.widths[pin.column]) throw std::runtime_error("a word has no such bit");
      }
      return pin;
    default: throw std::runtime_error("a pin of unknown kind");
  }
}

// Whether what it is held at is not what it has in the golden run, in some cycle.
bool LogicSimulator::is_excited(const HeldPin& pin) const {
  int32_t net = pin.at;
  const auto operand = [&](int32_t gate, int32_t column) {
    const Gate& g = design.originals[gate];
    return column == 1 ? g.a : column == 2 ? g.b : g.s;
  };
  if (pin.kind == kOperandPin) {
    net = operand(pin.at, pin.column);
  } else if (is_open(pin.kind) && pin.column >= 0) {
    net = operand(pin.column / 4, pin.column % 4);
  } else if (pin.kind == kStoredPin) {
    return false;  // by itself it is what the net has
  } else if (pin.kind == kBridgePin || pin.kind == kWiredPin) {
    const auto always = [&](bool value) { return !golden.had(pin.at, !value) && !golden.had(pin.column, !value); };
    return !always(false) && !always(true);
  } else if (pin.kind == kDataPin || pin.kind == kOpenDataPin) {
    net = design.flip_flops[pin.at].d;
  } else if (pin.kind != kNetPin) {
    return true;
  }
  return golden.had(net, !pin.value);
}

// The net that it decides first.
int32_t LogicSimulator::fed(const HeldPin& pin) const {
  if (pin.kind == kNetPin || is_dynamic(pin.kind)) return pin.at;
  if (pin.kind == kMemoryUpset) return 0;
  return pin.kind == kOperandPin || pin.kind == kStoredPin ? design.originals[pin.at].y : design.flip_flops[pin.at].q;
}

// Nets that have to have differences of their own where a pin is held: those of gates with a held or an open operand,
// too.
void LogicSimulator::keep(const HeldPin& pin, std::vector<uint8_t>& kept) const {
  const auto all_of = [&](size_t gate) {
    const Gate& g = design.originals[gate];
    kept[g.a] = kept[g.b] = kept[g.s] = kept[g.y] = 1;
  };
  switch (pin.kind) {
    case kNetPin:
    case kPulsePin: kept[pin.at] = 1; return;
    case kOperandPin:
    case kStoredPin: all_of(static_cast<size_t>(pin.at)); return;
    case kBridgePin:
    case kWiredPin: kept[pin.at] = kept[pin.column] = 1; return;
    case kOpenPin:
    case kOpenDataPin: {
      const int32_t net = pin.kind == kOpenPin ? pin.at : design.flip_flops[pin.at].d;
      kept[net] = 1;
      if (pin.column < 0) return;
      for (const uint32_t gate : design.path(pin.column, net)) all_of(gate);
      return;
    }
    case kDataPin:
    case kLoadPin:
    case kFlipFlopUpset:
    case kMemoryUpset: return;  // of storage
    default: throw std::runtime_error("a pin of unknown kind");
  }
}

void LogicSimulator::begin(const HeldPins* faults, uint64_t count, const HeldPin* given, const LogicLimits& limits,
                           LogicResult* results, uint8_t* output) {
  going.reset();
  const std::vector<uint8_t> same = last_output();
  const uint64_t status = golden.number(golden.last(), design.status);
  golden.need(0, 1);
  uint32_t listed = 0;
  for (uint64_t i = 0; i < count; ++i) listed = std::max(listed, faults[i].first + faults[i].count);
  std::vector<HeldPin> pins(given, given + listed);
  std::vector<uint8_t> kept(design.nets);
  for (HeldPin& pin : pins) {
    pin = numbered(pin);
    keep(pin, kept);
  }
  auto run = std::make_unique<Run>(design, golden, std::move(kept), limits, same, results, output);
  const std::vector<uint8_t> reaches = design.reaching();
  std::vector<uint32_t> order;
  for (uint64_t i = 0; i < count; ++i) {
    bool excited = false, reached = false;
    for (uint32_t k = 0; k < faults[i].count; ++k) {
      const HeldPin& pin = pins[faults[i].first + k];
      const bool is_pin = pin.kind <= kOperandPin || pin.kind == kStoredPin || is_dynamic(pin.kind);
      const bool compared = pin.kind == kMemoryUpset || (!is_pin && design.counted[pin.at]);
      excited |= is_excited(pin);
      reached |= compared || reaches[fed(pin)];
    }
    results[i] = {excited ? kSame : kUnexcited, 0, golden.length(), status, -1, -1, 0, 0};
    std::memcpy(output + i * same.size(), same.data(), same.size());
    if (excited && reached) order.push_back(static_cast<uint32_t>(i));
  }
  const auto place = [&](uint32_t i) { return fed(pins[faults[i].first]); };
  // Faults that lie together spread along the same gates: those are evaluated once for all.
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return place(a) < place(b); });

  for (const uint32_t i : order) {
    if (run->groups.empty() || run->groups.back()->full()) run->groups.push_back(std::make_unique<Group>(design));
    run->groups.back()->add(run->c, i, faults[i], pins.data());
  }
  going = std::move(run);
}

// False if all have ended.
bool LogicSimulator::advance() {
  if (!going) throw std::runtime_error("no faults have been begun");
  auto& [regions, memories, c, groups, far, r] = *going;
  if (groups.empty() && far.empty()) return false;
  const uint64_t window = c.limits.window;
  memories.seek(r);  // over rows that may be gone then
  golden.need(r, r + window + 2);
  golden.prepare(r, r + window + 1, regions);
  for (auto* some : {&groups, &far}) {
    for (const auto& group : *some) {
      c.memories.seek(r);
      group->run(c, r, r + window);
      group->prune();
      if (group->alive()) group->look_back(c, r + window);
    }
    std::erase_if(*some, [](const auto& group) { return !group->alive(); });
  }
  // A machine that has gone far would cost its neighbours more than all of them together.
  for (const auto& group : groups) {
    Lanes leaving = group->far(static_cast<unsigned>(c.limits.far));
    while (any(leaving)) {
      if (far.empty() || far.back()->alive() == kLanes) far.push_back(std::make_unique<Group>(design));
      leaving &= ~far.back()->take(c, *group, leaving);
    }
  }
  join(c, groups);
  join(c, far);
  r += window;
  c.counts.evaluations = c.evaluator.evaluations;
  return !groups.empty() || !far.empty();
}

extern "C" {

const char* logic_error() { return last_error.c_str(); }

LogicSimulator* logic_create(const Circuit* circuit, const Observed* observed, uint64_t kept) {
  LogicSimulator* made = nullptr;
  guarded([&] { made = new LogicSimulator(*circuit, *observed, kept); });
  return made;
}

void logic_destroy(LogicSimulator* self) { delete self; }

int32_t logic_golden(LogicSimulator* self, uint64_t limit, uint8_t* output, LogicGolden* golden) {
  bool done = false;
  const int32_t code = guarded([&] {
    done = self->golden.finish(limit);
    if (!done) return;
    const uint64_t length = self->golden.length();
    const std::vector<uint8_t> found = self->last_output();
    std::copy(found.begin(), found.end(), output);
    *golden = {length, self->golden.number(self->golden.last(), self->design.status), self->golden.alarms()};
  });
  return code ? code : !done;
}

int32_t logic_values(LogicSimulator* self, uint8_t* values) {
  return guarded([&] {
    for (uint64_t net = 0; net < self->design.nets; ++net) {
      const int32_t number = self->design.number[net];
      values[net] = static_cast<uint8_t>(self->golden.had(number, false) | self->golden.had(number, true) << 1);
    }
  });
}

int32_t logic_reaches(LogicSimulator* self, uint8_t* reaches) {
  return guarded([&] {
    const std::vector<uint8_t> found = self->design.reaching();
    for (uint64_t net = 0; net < self->design.nets; ++net) reaches[net] = found[self->design.number[net]];
  });
}

int32_t logic_begin(LogicSimulator* self, const HeldPins* faults, uint64_t count, const HeldPin* pins,
                    const LogicLimits* limits, LogicResult* results, uint8_t* output) {
  return guarded([&] { self->begin(faults, count, pins, *limits, results, output); });
}

int32_t logic_advance(LogicSimulator* self, uint64_t* row, LogicCounts* counts) {
  bool more = false;
  const int32_t code = guarded([&] {
    more = self->advance();
    *row = self->going->row;
    *counts = self->going->c.counts;
    if (!more) self->going.reset();
  });
  return code ? code : more;
}

int32_t logic_judge(LogicSimulator* self, const HeldPins* faults, uint64_t count, const HeldPin* pins,
                    const LogicLimits* limits, LogicResult* results, uint8_t* output) {
  return guarded([&] {
    uint32_t listed = 0;
    for (uint64_t i = 0; i < count; ++i) listed = std::max(listed, faults[i].first + faults[i].count);
    for (uint32_t i = 0; i < listed; ++i) self->numbered(pins[i]);
    self->plain.run(faults, count, pins, *limits, self->golden.alarms(), results, output);
  });
}
}
