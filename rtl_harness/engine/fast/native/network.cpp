// SPDX-License-Identifier: Apache-2.0
// See network.h.

#include "network.h"

#include <algorithm>
#include <bit>

void Adjacency::build(size_t count, const std::vector<std::pair<int32_t, int32_t>>& pairs) {
  first_.assign(count + 1, 0);
  items_.resize(pairs.size());
  for (const auto& [from, to] : pairs) ++first_[from + 1];
  for (size_t i = 0; i < count; ++i) first_[i + 1] += first_[i];
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (const auto& [from, to] : pairs) items_[next[from]++] = to;
}

Network::Network(const Circuit& c)
    : nets(c.nets),
      gates(c.gates, c.gates + c.gate_count),
      flip_flops(c.flip_flops, c.flip_flops + c.flip_flop_count),
      memories(c.memories, c.memories + c.memory_count),
      reads(c.reads, c.reads + c.read_count),
      writes(c.writes, c.writes + c.write_count),
      lists(c.lists, c.lists + c.list_length),
      alarms(c.alarms, c.alarms + c.alarm_count),
      operation(c.operation, c.operation + c.operation_count),
      undefined(c.undefined, c.undefined + c.undefined_count),
      ports(c.ports, c.ports + c.port_count),
      read_gates(c.memory_count),
      write_ports(c.memory_count) {
  renumber();
  connect();
  find_resets();
  for (size_t i = 0; i < flip_flops.size(); ++i) {
    places_[flip_flops[i].offset * 8 + flip_flops[i].bit] = static_cast<int32_t>(i);
    has_edges |= flip_flops[i].sensitive != 0;
  }
  for (size_t i = 0; i < memories.size(); ++i) {
    ends_.emplace_back(memories[i].offset + memories[i].words * memories[i].entry_bytes, static_cast<int32_t>(i));
  }
  std::sort(ends_.begin(), ends_.end());
  for (size_t i = 0; i < gates.size(); ++i) {
    if (gates[i].operation == kRead) read_gates[reads[gates[i].a].memory].push_back(static_cast<int32_t>(i));
  }
  for (size_t i = 0; i < writes.size(); ++i) write_ports[writes[i].memory].push_back(static_cast<int32_t>(i));
}

int32_t Network::flip_flop(uint64_t offset, int bit) const {
  const auto found = places_.find(offset * 8 + bit);
  return found == places_.end() ? -1 : found->second;
}

bool Network::makes_edge(const Difference& d) const {
  return has_edges && std::ranges::any_of(d, [&](const ByteDifference& byte) {
    for (uint32_t bits = byte.mask; bits; bits &= bits - 1) {
      const int32_t i = flip_flop(byte.offset, std::countr_zero(bits));
      if (i >= 0 && flip_flops[i].sensitive) return true;
    }
    return false;
  });
}

int32_t Network::memory(uint64_t offset) const {
  const auto found = std::upper_bound(ends_.begin(), ends_.end(), std::pair<uint64_t, int32_t>(offset, INT32_MAX));
  return found != ends_.end() && memories[found->second].offset <= offset ? found->second : -1;
}

// Backwards from the loads, through gates.
void Network::find_resets() {
  std::vector<bool> decides(nets);
  for (const FlipFlop& f : flip_flops) decides[f.load] = true;
  for (auto g = gates.rbegin(); g != gates.rend(); ++g) {
    if (g->operation == kRead) {
      const MemoryPort& port = reads[g->a];
      bool any = false;
      for (int32_t i = 0; i < port.data; ++i) any = any || decides[data(port)[i]];
      for (int32_t i = 0; any && i < port.address; ++i) decides[address(port)[i]] = true;
    } else if (decides[g->y]) {
      decides[g->a] = decides[g->b] = decides[g->s] = true;
    }
  }
  decides[0] = decides[1] = false;
  for (const FlipFlop& f : flip_flops) resets.push_back(decides[f.q]);
}

// Number nets in the order in which they are evaluated, so that what is used together lies together.
void Network::renumber() {
  std::vector<int32_t>& numbers = number_of;
  numbers.assign(nets, -1);
  int32_t next = 0;
  const auto take = [&](int32_t& net) {
    if (numbers[net] < 0) numbers[net] = next++;
    net = numbers[net];
  };
  int32_t zero = 0, one = 1;
  take(zero);
  take(one);
  for (Gate& g : gates) {
    if (g.operation == kRead) {
      const MemoryPort& port = reads[g.a];
      for (int32_t i = 0; i < port.address + port.data; ++i) {
        int32_t net = address(port)[i];
        take(net);
      }
      continue;
    }
    for (int32_t* net : {&g.a, &g.b, &g.s, &g.y}) take(*net);
  }
  for (FlipFlop& f : flip_flops) {
    for (int32_t* net : {&f.q, &f.d, &f.load}) take(*net);
  }
  for (int32_t& net : lists) take(net);
  for (int32_t& net : ports) take(net);
  for (AlarmNet& a : alarms) take(a.net);
  for (int32_t& net : operation) take(net);
  for (int32_t& net : undefined) take(net);
}

void Network::connect() {
  std::vector<std::pair<int32_t, int32_t>> to_gate, to_sink;
  for (size_t i = 0; i < gates.size(); ++i) {
    const int32_t number = static_cast<int32_t>(i);
    if (gates[i].operation == kRead) {
      const MemoryPort& port = reads[gates[i].a];
      for (int32_t k = 0; k < port.address; ++k) to_gate.push_back({address(port)[k], number});
    } else {
      for (const int32_t net : {gates[i].a, gates[i].b, gates[i].s}) to_gate.push_back({net, number});
    }
  }
  const auto add = [&](int32_t net, Sink sink) {
    if (net < 2) return;
    if (sink.kind < kWrite) always_observed.push_back(net);
    to_sink.push_back({net, static_cast<int32_t>(sinks.size())});
    sinks.push_back(sink);
  };
  for (size_t i = 0; i < flip_flops.size(); ++i) {
    add(flip_flops[i].d, {kNextState, static_cast<int32_t>(i)});
    add(flip_flops[i].load, {kLoad, 0});
  }
  for (const int32_t net : ports) add(net, {kPort, 0});
  for (const AlarmNet& a : alarms) add(a.net, {kAlarm, a.alarm});
  for (const int32_t net : undefined) add(net, {kUndefined, 0});
  for (size_t i = 0; i < writes.size(); ++i) {
    const MemoryPort& port = writes[i];
    const auto number = static_cast<int32_t>(i);
    for (int32_t k = 0; k < port.address + port.data; ++k) add(address(port)[k], {kWrite, number});
    std::vector<int32_t> own(enable(port), enable(port) + port.data);
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (const int32_t net : own) add(net, {kWriteEnable, number});
    always_observed.insert(always_observed.end(), own.begin(), own.end());
    write_enables.push_back(std::move(own));
  }
  std::erase_if(to_gate, [](const auto& pair) { return pair.first < 2; });
  fanout.build(nets, to_gate);
  // Of the two inputs of a gate, the one that feeds more is the likelier to be a control: let it be the second.
  for (Gate& g : gates) {
    if (g.operation != 2 && g.operation != 4) continue;
    if (fanout.end(g.a) - fanout.begin(g.a) > fanout.end(g.b) - fanout.begin(g.b)) std::swap(g.a, g.b);
  }
  sinks_of.build(nets, to_sink);
}
