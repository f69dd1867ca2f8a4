// SPDX-License-Identifier: Apache-2.0
// See alarm_storage.h.

#include "alarm_storage.h"

#include <algorithm>
#include <optional>

namespace {

// Gates between a flip-flop and itself, one after the other, beyond which its next state counts as unknown.
constexpr int kDeep = 12;

class Reader {
 public:
  explicit Reader(const Network& network)
      : network_(network), drivers_(network.nets), holders_(network.nets), alarms_(network.nets) {
    for (size_t i = 0; i < network.gates.size(); ++i) {
      const Gate& gate = network.gates[i];
      const auto drives = [&](int32_t net) { drivers_[net].push_back(static_cast<int32_t>(i)); };
      if (gate.operation == kRead) {
        const MemoryPort& port = network.reads[gate.a];
        std::for_each_n(network.data(port), port.data, drives);
      } else {
        drives(gate.y);
      }
    }
    for (size_t i = 0; i < network.flip_flops.size(); ++i) {
      holders_[network.flip_flops[i].q].push_back(static_cast<int32_t>(i));
    }
    find_seen();
    find_alarms();
  }

  /// Nothing but alarms can be reached from this flip-flop.
  bool only_alarms(const FlipFlop& f) const { return !seen_[f.q] && alarms_[f.q]; }
  uint64_t alarms(const FlipFlop& f) const { return alarms_[f.q]; }
  /// Once it has this value it keeps it, whatever all else is.
  bool keeps(const FlipFlop& f, bool value) const {
    const bool never_loaded = f.load < 2 && f.load != f.active;
    return never_loaded && !f.sensitive && next(f.d, f.q, value, kDeep) == std::optional<bool>(value);
  }

 private:
  // Inputs of the gates that drive a net, of a memory's read port its address, and what its flip-flops take.
  template <typename Visit>
  void each_source(int32_t net, Visit&& visit) const {
    for (const int32_t i : drivers_[net]) {
      const Gate& gate = network_.gates[i];
      if (gate.operation == kRead) {
        const MemoryPort& port = network_.reads[gate.a];
        std::for_each_n(network_.address(port), port.address, visit);
      } else {
        for (const int32_t input : {gate.a, gate.b, gate.s}) visit(input);
      }
    }
    for (const int32_t i : holders_[net]) visit(network_.flip_flops[i].d);
  }

  // Nets from which something else than an alarm can be reached.
  void find_seen() {
    seen_.assign(network_.nets, false);
    std::vector<int32_t> waiting;
    const auto see = [&](int32_t net) {
      if (net < 2 || seen_[net]) return;
      seen_[net] = true;
      waiting.push_back(net);
    };
    for (const int32_t net : network_.ports) see(net);
    for (const int32_t net : network_.operation) see(net);
    for (const int32_t net : network_.undefined) see(net);
    for (const FlipFlop& f : network_.flip_flops) see(f.load);
    for (const MemoryPort& port : network_.writes) {
      for (int32_t i = 0; i < port.address + 2 * port.data; ++i) see(network_.address(port)[i]);
    }
    while (!waiting.empty()) {
      const int32_t net = waiting.back();
      waiting.pop_back();
      each_source(net, see);
    }
  }

  // The alarms that can be reached from each net that nothing else is reached from.
  void find_alarms() {
    std::vector<int32_t> waiting;
    const auto raise = [&](int32_t net, uint64_t more) {
      if (net < 2 || seen_[net] || !(more & ~alarms_[net])) return;
      alarms_[net] |= more;
      waiting.push_back(net);
    };
    for (const AlarmNet& a : network_.alarms) raise(a.net, uint64_t{1} << a.alarm);
    while (!waiting.empty()) {
      const int32_t net = waiting.back();
      waiting.pop_back();
      each_source(net, [&](int32_t other) { raise(other, alarms_[net]); });
    }
  }

  // The value of a net if `q` has `value` and all else is unknown; none if that is unknown.
  std::optional<bool> next(int32_t net, int32_t q, bool value, int depth) const {
    if (net == q) return value;
    if (net < 2) return net == 1;
    if (drivers_[net].size() != 1 || depth == 0) return std::nullopt;
    const Gate& gate = network_.gates[drivers_[net].front()];
    if (gate.operation == kRead) return std::nullopt;
    const auto of = [&](int32_t input) { return next(input, q, value, depth - 1); };
    const std::optional<bool> a = of(gate.a), b = of(gate.b), s = of(gate.s);
    // What is unknown is tried as both: where the results are equal it does not matter.
    std::optional<bool> found;
    for (int given = 0; given < 8; ++given) {
      const bool x = given & 1, y = given & 2, z = given & 4;
      if ((a && *a != x) || (b && *b != y) || (s && *s != z)) continue;
      const bool result = evaluated<uint64_t>(gate.operation, x, y, z) & 1;
      if (found && *found != result) return std::nullopt;
      found = result;
    }
    return found;
  }

  const Network& network_;
  std::vector<std::vector<int32_t>> drivers_, holders_;  // gates and flip-flops, by net
  std::vector<uint64_t> alarms_;
  std::vector<bool> seen_;
};

}  // namespace

std::vector<AlarmBit> alarm_storage(const Network& network, const GoldenRun& run) {
  std::vector<AlarmBit> found;
  if (network.alarms.empty()) return found;
  const Reader reader(network);
  for (const FlipFlop& f : network.flip_flops) {
    if (!reader.only_alarms(f)) continue;
    const std::optional<size_t> position = run.registers().find(f.offset);
    if (!position) continue;
    const uint32_t mask = uint32_t{1} << f.bit;
    const bool end = run.last_registers()[*position] & mask;
    // It has had the value of the end throughout, for it would have kept the other one.
    if (reader.keeps(f, !end)) found.push_back({f.offset, mask, end ? mask : 0, reader.alarms(f)});
  }
  return found;
}
