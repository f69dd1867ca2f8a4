// SPDX-License-Identifier: Apache-2.0
// See design.h.

#include "design.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "gate_operations.h"

namespace {

// A gate as a multiplexer; nets in the circuit's numbers, of which 0 and 1 are the constants.
Mux multiplexer(const Gate& g) {
  const auto plain = [](int32_t net) { return static_cast<uint32_t>(net) * 2; };
  const auto inverted = [](int32_t net) { return static_cast<uint32_t>(net) * 2 + 1; };
  const uint32_t s = static_cast<uint32_t>(g.s), a = static_cast<uint32_t>(g.a), b = static_cast<uint32_t>(g.b);
  const uint32_t y = static_cast<uint32_t>(g.y);
  switch (g.operation) {
    case 0: return {a, plain(0), plain(1), y};
    case 1: return {a, plain(1), plain(0), y};
    case 2: return {a, plain(0), plain(g.b), y};
    case 3: return {a, plain(1), inverted(g.b), y};
    case 4: return {a, plain(g.b), plain(1), y};
    case 5: return {a, inverted(g.b), plain(0), y};
    case 6: return {a, plain(g.b), inverted(g.b), y};
    case 7: return {a, inverted(g.b), plain(g.b), y};
    case 8: return {b, plain(g.a), plain(0), y};
    case 9: return {b, plain(1), plain(g.a), y};
    case 10: return {s, plain(g.a), plain(g.b), y};
    case 11: return {s, inverted(g.a), inverted(g.b), y};
    case kRead: return {kReadGate, a, 0, 0};
    default: throw std::runtime_error("a gate of unknown operation " + std::to_string(g.operation));
  }
}

}  // namespace

Design::Design(const Circuit& c, const Observed& o)
    : nets(c.nets),
      originals(c.gates, c.gates + c.gate_count),
      flip_flops(c.flip_flops, c.flip_flops + c.flip_flop_count),
      memories(c.memories, c.memories + c.memory_count),
      widths(c.memory_count),
      reads(c.reads, c.reads + c.read_count),
      writes(c.writes, c.writes + c.write_count),
      lists(c.lists, c.lists + c.list_length),
      reads_of(c.memory_count),
      done(c.ports, c.ports + o.done),
      status(c.ports + o.done, c.ports + c.port_count),
      operation(c.operation, c.operation + c.operation_count),
      undefined(c.undefined, c.undefined + c.undefined_count),
      alarms(c.alarms, c.alarms + c.alarm_count),
      reset(o.reset, o.reset + c.flip_flop_count),
      counted(o.counted, o.counted + c.flip_flop_count),
      counted_memories(o.memories, o.memories + c.memory_count),
      outputs(o.outputs, o.outputs + o.output_count),
      detects(o.detects),
      corrects(o.corrects),
      state(o.state) {
  gates.reserve(c.gate_count);
  for (uint64_t i = 0; i < c.gate_count; ++i) gates.push_back(multiplexer(c.gates[i]));
  std::stable_sort(alarms.begin(), alarms.end(), [](const AlarmNet& a, const AlarmNet& b) { return a.alarm < b.alarm; });
  for (const auto* ports : {&reads, &writes}) {
    for (const MemoryPort& port : *ports) {
      widths[port.memory] = std::max(widths[port.memory], static_cast<uint32_t>(port.data));
      if (port.address > 63) throw std::runtime_error("an address of more than 63 bits");
    }
  }
  for (size_t i = 0; i < memories.size(); ++i) {
    if (widths[i] > 8 * memories[i].entry_bytes) throw std::runtime_error("a port is wider than its memory");
  }
  for (size_t i = 0; i < gates.size(); ++i) {
    if (gates[i].s == kReadGate) reads_of[reads[gates[i].a].memory].push_back(static_cast<uint32_t>(i));
  }
  renumber();
  connect();
  std::map<std::pair<int32_t, int32_t>, size_t> known;
  for (size_t i = 0; i < flip_flops.size(); ++i) {
    const FlipFlop& f = flip_flops[i];
    if (f.load == 1 - (f.active != 0)) continue;  // never
    const auto [at, fresh] = known.try_emplace({f.load, f.active}, loads.size());
    if (fresh) loads.push_back({f.load, f.active, {}});
    loads[at->second].flip_flops.push_back(static_cast<uint32_t>(i));
  }
}

// Outputs of flip-flops first, so that a state is a row of bits; then what gates drive, in their order, so that what is
// used together lies together.
void Design::renumber() {
  number.assign(nets, -1);
  int32_t next = 0;
  const auto take = [&](int32_t net) {
    if (number[net] >= 0) return;
    number[net] = next++;
  };
  take(0);
  take(1);
  for (const FlipFlop& f : flip_flops) {
    if (number[f.q] >= 0) throw std::runtime_error("two flip-flops drive one net");
    take(f.q);
  }
  driver.assign(nets, -1);
  for (size_t i = 0; i < gates.size(); ++i) {
    const auto drives = [&](int32_t net) {
      if (number[net] >= 0) throw std::runtime_error("net " + std::to_string(net) + " is used before it is driven");
      take(net);
      driver[number[net]] = static_cast<int32_t>(i);
    };
    Mux& g = gates[i];
    if (g.s == kReadGate) {
      const MemoryPort& port = reads[g.a];
      for (int32_t k = 0; k < port.data; ++k) drives(data(port)[k]);
    } else {
      for (const uint32_t net : {g.s, g.a / 2, g.b / 2}) {
        if (number[net] < 0) throw std::runtime_error("net " + std::to_string(net) + " is used before it is driven");
      }
      drives(static_cast<int32_t>(g.y));
    }
  }
  for (uint64_t net = 0; net < nets; ++net) take(static_cast<int32_t>(net));
  for (Mux& g : gates) {
    if (g.s == kReadGate) continue;
    g.s = static_cast<uint32_t>(number[g.s]);
    g.y = static_cast<uint32_t>(number[g.y]);
    g.a = static_cast<uint32_t>(number[g.a / 2]) * 2 + g.a % 2;
    g.b = static_cast<uint32_t>(number[g.b / 2]) * 2 + g.b % 2;
  }
  for (Gate& g : originals) {
    if (g.operation == kRead) continue;
    for (int32_t* net : {&g.a, &g.b, &g.s, &g.y}) *net = number[*net];
  }
  for (FlipFlop& f : flip_flops) {
    for (int32_t* net : {&f.q, &f.d, &f.load}) *net = number[*net];
  }
  for (auto* list : {&lists, &done, &status, &operation, &undefined}) {
    for (int32_t& net : *list) net = number[net];
  }
  for (AlarmNet& a : alarms) a.net = number[a.net];
}

void Design::connect() {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (size_t i = 0; i < gates.size(); ++i) {
    const Mux& g = gates[i];
    if (g.s == kReadGate) {
      const MemoryPort& port = reads[g.a];
      for (int32_t k = 0; k < port.address; ++k) pairs.emplace_back(address(port)[k], i);
    } else {
      for (const uint32_t net : {g.s, g.a / 2, g.b / 2}) pairs.emplace_back(net, i);
    }
  }
  for (size_t i = 0; i < flip_flops.size(); ++i) pairs.emplace_back(flip_flops[i].d, static_cast<uint32_t>(first_flip_flop() + i));
  for (size_t i = 0; i < writes.size(); ++i) {
    const MemoryPort& port = writes[i];
    for (int32_t k = 0; k < port.address + 2 * port.data; ++k) {
      pairs.emplace_back(address(port)[k], static_cast<uint32_t>(first_write() + i));
    }
  }
  std::erase_if(pairs, [](const auto& pair) { return pair.first < 2; });
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  first_target.assign(nets + 1, 0);
  for (const auto& [net, to] : pairs) ++first_target[net + 1];
  for (uint64_t net = 0; net < nets; ++net) first_target[net + 1] += first_target[net];
  target.clear();
  for (const auto& [net, to] : pairs) target.push_back(to);
}

std::vector<uint8_t> Design::reaching() const {
  std::vector<uint8_t> found(nets);
  const auto seen = [&](const std::vector<int32_t>& list) {
    for (const int32_t net : list) found[net] = 1;
  };
  for (const auto* list : {&done, &status, &operation, &undefined}) seen(*list);
  for (const AlarmNet& a : alarms) found[a.net] = 1;
  std::vector<uint8_t> memory(counted_memories.begin(), counted_memories.end());
  for (const OutputByte& byte : outputs) memory[byte.memory] = 1;
  // What is stored and compared is observed; what is only read matters if what reads it does: to a fixed point.
  for (bool more = true; more;) {
    more = false;
    const auto mark = [&](int32_t net) {
      if (net < 2 || found[net]) return;
      found[net] = 1;
      more = true;
    };
    for (size_t i = 0; i < flip_flops.size(); ++i) {
      if (!counted[i] && !found[flip_flops[i].q]) continue;
      mark(flip_flops[i].d);
      mark(flip_flops[i].load);
    }
    for (const MemoryPort& port : writes) {
      if (!memory[port.memory]) continue;
      for (int32_t k = 0; k < port.address + 2 * port.data; ++k) mark(address(port)[k]);
    }
    for (auto g = gates.rbegin(); g != gates.rend(); ++g) {
      if (g->s != kReadGate) {
        if (!found[g->y]) continue;
        for (const uint32_t net : {g->s, g->a / 2, g->b / 2}) mark(static_cast<int32_t>(net));
        continue;
      }
      const MemoryPort& port = reads[g->a];
      if (!std::any_of(data(port), data(port) + port.data, [&](int32_t net) { return found[net] != 0; })) continue;
      for (int32_t k = 0; k < port.address; ++k) mark(address(port)[k]);
      more |= !memory[port.memory];
      memory[port.memory] = 1;
    }
  }
  return found;
}

std::vector<uint32_t> Design::path(int32_t operand, int32_t net) const {
  // Ahead along what takes the net, then those of which the other one depends.
  const uint32_t first = static_cast<uint32_t>(operand / 4), last = static_cast<uint32_t>(driver[net]);
  std::vector<uint32_t> ahead{first}, found;
  for (size_t i = 0; i < ahead.size(); ++i) {
    const int32_t own = originals[ahead[i]].y;
    if (own == net) continue;
    for (uint32_t k = first_target[own]; k < first_target[own + 1]; ++k) {
      const uint32_t gate = target[k];
      const bool within = gate <= last && gates[gate].s != kReadGate;
      if (within && std::find(ahead.begin(), ahead.end(), gate) == ahead.end()) ahead.push_back(gate);
    }
  }
  std::sort(ahead.rbegin(), ahead.rend());
  std::vector<int32_t> needed{net};
  for (const uint32_t gate : ahead) {
    const Gate& g = originals[gate];
    if (std::find(needed.begin(), needed.end(), g.y) == needed.end()) continue;
    found.push_back(gate);
    needed.insert(needed.end(), {g.a, g.b, g.s});
  }
  std::reverse(found.begin(), found.end());
  if (found.empty() || found.front() != first) throw std::runtime_error("an open pin is none of what it is open for");
  return found;
}
