// See foresight.h.

#include "foresight.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <vector>

#include "campaign_state.h"

namespace {

constexpr size_t kWords = 8;
constexpr size_t kLanes = 64 * kWords;
constexpr int32_t kRead = 12;

struct Lanes {
  uint64_t word[kWords];
};

uint64_t evaluated(int32_t operation, uint64_t a, uint64_t b, uint64_t s) {
  switch (operation) {
    case 0: return a;
    case 1: return ~a;
    case 2: return a & b;
    case 3: return ~(a & b);
    case 4: return a | b;
    case 5: return ~(a | b);
    case 6: return a ^ b;
    case 7: return ~(a ^ b);
    case 8: return a & ~b;
    case 9: return a | ~b;
    case 10: return (s & b) | (~s & a);
    default: return ~((s & b) | (~s & a));
  }
}

template <typename Function>
void each_word(Lanes& y, const Lanes& a, const Lanes& b, Function&& function) {
  for (size_t k = 0; k < kWords; ++k) y.word[k] = function(a.word[k], b.word[k]);
}

void evaluate_all(int32_t operation, Lanes& y, const Lanes& a, const Lanes& b, const Lanes& s) {
  switch (operation) {
    case 1: each_word(y, a, b, [](uint64_t p, uint64_t) { return ~p; }); return;
    case 2: each_word(y, a, b, [](uint64_t p, uint64_t q) { return p & q; }); return;
    case 4: each_word(y, a, b, [](uint64_t p, uint64_t q) { return p | q; }); return;
    case 6: each_word(y, a, b, [](uint64_t p, uint64_t q) { return p ^ q; }); return;
    case 10:
      for (size_t k = 0; k < kWords; ++k) y.word[k] = (s.word[k] & b.word[k]) | (~s.word[k] & a.word[k]);
      return;
    default:
      for (size_t k = 0; k < kWords; ++k) y.word[k] = evaluated(operation, a.word[k], b.word[k], s.word[k]);
  }
}

// Element [i] of a list of lists is first_[i] .. first_[i + 1].
class Adjacency {
 public:
  void build(size_t count, const std::vector<std::pair<int32_t, int32_t>>& pairs) {
    first_.assign(count + 1, 0);
    items_.resize(pairs.size());
    for (const auto& [from, to] : pairs) ++first_[from + 1];
    for (size_t i = 0; i < count; ++i) first_[i + 1] += first_[i];
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (const auto& [from, to] : pairs) items_[next[from]++] = to;
  }
  const int32_t* begin(size_t i) const { return items_.data() + first_[i]; }
  const int32_t* end(size_t i) const { return items_.data() + first_[i + 1]; }

 private:
  std::vector<uint32_t> first_;
  std::vector<int32_t> items_;
};

// What a net feeds that is not a gate.
enum SinkKind : int32_t { kNextState, kLoad, kPort, kWriteAddress, kWriteData, kWriteEnable };

struct Sink {
  SinkKind kind;
  int32_t index;  // flip-flop or write port
  int32_t bit;    // of the write data
};

}  // namespace

struct Foresight {
  Campaign& campaign;
  uint64_t nets;
  std::vector<Gate> gates;
  std::vector<FlipFlop> flip_flops;
  std::vector<Memory> memories;
  std::vector<MemoryPort> reads, writes;
  std::vector<int32_t> lists;
  std::vector<Sink> sinks;
  Adjacency fanout, sinks_of;

  std::vector<Lanes> golden;
  std::vector<uint64_t> faulty;   // of nets whose stamp is the present one
  std::vector<uint32_t> stamps, queued;
  uint32_t stamp = 0;
  std::vector<uint64_t> bytes;  // offsets of the bytes that hold flip-flops
  std::vector<uint32_t> byte_of;
  std::vector<uint8_t> trace;  // [byte][lane]
  uint64_t base = 0;           // cycle of lane 0
  size_t lanes = 0;

  Foresight(Campaign& owner, const Circuit& c)
      : campaign(owner),
        nets(c.nets),
        gates(c.gates, c.gates + c.gate_count),
        flip_flops(c.flip_flops, c.flip_flops + c.flip_flop_count),
        memories(c.memories, c.memories + c.memory_count),
        reads(c.reads, c.reads + c.read_count),
        writes(c.writes, c.writes + c.write_count),
        lists(c.lists, c.lists + c.list_length),
        golden(c.nets),
        faulty(c.nets),
        stamps(c.nets),
        queued(c.gate_count) {
    connect({c.ports, c.ports + c.port_count});
    for (const FlipFlop& f : flip_flops) bytes.push_back(f.offset);
    std::sort(bytes.begin(), bytes.end());
    bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
    for (const FlipFlop& f : flip_flops) {
      byte_of.push_back(std::lower_bound(bytes.begin(), bytes.end(), f.offset) - bytes.begin());
    }
    trace.resize(bytes.size() * kLanes);
    std::fill_n(golden[1].word, kWords, ~uint64_t{0});
  }

  const int32_t* address(const MemoryPort& port) const { return lists.data() + port.first; }
  const int32_t* data(const MemoryPort& port) const { return address(port) + port.address; }
  const int32_t* enable(const MemoryPort& port) const { return data(port) + port.data; }

  void connect(const std::vector<int32_t>& ports) {
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
      to_sink.push_back({net, static_cast<int32_t>(sinks.size())});
      sinks.push_back(sink);
    };
    for (size_t i = 0; i < flip_flops.size(); ++i) {
      add(flip_flops[i].d, {kNextState, static_cast<int32_t>(i), 0});
      add(flip_flops[i].load, {kLoad, 0, 0});
    }
    for (const int32_t net : ports) add(net, {kPort, 0, 0});
    for (size_t i = 0; i < writes.size(); ++i) {
      const MemoryPort& port = writes[i];
      const int32_t number = static_cast<int32_t>(i);
      for (int32_t k = 0; k < port.address; ++k) add(address(port)[k], {kWriteAddress, number, 0});
      for (int32_t k = 0; k < port.data; ++k) add(data(port)[k], {kWriteData, number, k});
      for (int32_t k = 0; k < port.data; ++k) add(enable(port)[k], {kWriteEnable, number, k});
    }
    std::erase_if(to_gate, [](const auto& pair) { return pair.first < 2; });
    fanout.build(nets, to_gate);
    sinks_of.build(nets, to_sink);
  }

  // Golden values of all nets in the cycles first .. first + lanes - 1.
  void load(uint64_t first) {
    base = first;
    lanes = std::min<uint64_t>(kLanes, campaign.timeline.length() - first);
    for (size_t lane = 0; lane < lanes; ++lane) {
      campaign.seek(base + lane + 1);
      const char* const state = campaign.cursor->state();
      for (size_t i = 0; i < bytes.size(); ++i) trace[i * kLanes + lane] = static_cast<uint8_t>(state[bytes[i]]);
    }
    for (size_t i = 0; i < flip_flops.size(); ++i) {
      const uint8_t* const column = trace.data() + byte_of[i] * kLanes;
      const int32_t bit = flip_flops[i].bit;
      for (size_t k = 0; k < kWords; ++k) {
        uint64_t word = 0;
        for (size_t group = 0; group < 8; ++group) {
          uint64_t eight;
          std::memcpy(&eight, column + 64 * k + 8 * group, 8);
          const uint64_t picked = eight >> bit & 0x0101010101010101;
          word |= (picked * 0x0102040810204080 >> 56) << (8 * group);
        }
        golden[flip_flops[i].q].word[k] = word;
      }
    }
    for (const Gate& g : gates) {
      if (g.operation == kRead) {
        read(reads[g.a]);
        continue;
      }
      evaluate_all(g.operation, golden[g.y], golden[g.a], golden[g.b], golden[g.s]);
    }
    check();
  }

  // The model must have done what the gates say.
  void check() const {
    for (const FlipFlop& f : flip_flops) {
      for (size_t k = 0; k * 64 + 1 < lanes; ++k) {
        const uint64_t loaded = f.active ? golden[f.load].word[k] : ~golden[f.load].word[k];
        uint64_t valid = ~loaded & ~(loaded >> 1) & ~(uint64_t{1} << 63);
        if (lanes - 1 < 64 * (k + 1)) valid &= (uint64_t{1} << (lanes - 1 - 64 * k)) - 1;
        const uint64_t now = golden[f.d].word[k], next = golden[f.q].word[k] >> 1;
        if ((now ^ next) & valid) {
          throw std::runtime_error("the gates and the model differ at byte " + std::to_string(f.offset) + ", bit " +
                                   std::to_string(f.bit) + ", after cycle " +
                                   std::to_string(base + 64 * k + std::countr_zero((now ^ next) & valid)));
        }
      }
    }
  }

  uint64_t lane_value(const int32_t* list, int32_t count, size_t k, size_t lane, bool of_faulty) const {
    uint64_t value = 0;
    for (int32_t i = 0; i < count; ++i) {
      const uint64_t word = of_faulty && stamps[list[i]] == stamp ? faulty[list[i]] : golden[list[i]].word[k];
      value |= (word >> lane & 1) << i;
    }
    return value;
  }

  // Bytes of a word of a memory in the cycle of a lane; null beyond its end.
  const char* contents(const Memory& memory, uint64_t word, size_t lane) {
    word -= static_cast<uint64_t>(memory.first_word);
    if (word >= memory.words) return nullptr;
    campaign.memories.seek(base + lane + 1);
    return campaign.memories.at(memory.offset + word * memory.entry_bytes);
  }

  void read(const MemoryPort& port) {
    const Memory& memory = memories[port.memory];
    for (int32_t i = 0; i < port.data; ++i) golden[data(port)[i]] = {};
    for (size_t lane = 0; lane < lanes; ++lane) {
      const size_t k = lane / 64;
      const uint64_t mask = uint64_t{1} << lane % 64;
      const char* const found = contents(memory, lane_value(address(port), port.address, k, lane % 64, false), lane);
      if (!found) continue;
      for (int32_t i = 0; i < port.data; ++i) {
        if (found[i / 8] >> i % 8 & 1) golden[data(port)[i]].word[k] |= mask;
      }
    }
  }

  void set(int32_t net, uint64_t value) {
    stamps[net] = stamp;
    faulty[net] = value;
  }

  // Follows one flipped bit through the logic of 64 cycles.
  class Ripple {
   public:
    Ripple(Foresight& owner, const Question& question, size_t k, uint64_t mask)
        : f_(owner), question_(question), k_(k), mask_(mask) {
      ++f_.stamp;
    }

    // Cycles after which the bit is gone, and cycles in which it makes any other difference.
    void run(uint64_t& gone, uint64_t& matters) {
      if (question_.memory >= 0) {
        start_memory();
      } else {
        own_ = question_.flip_flop;
        const FlipFlop& flip_flop = f_.flip_flops[own_];
        const uint64_t now = loads(flip_flop, k_);
        const uint64_t after = now >> 1 | (k_ + 1 < kWords ? loads(flip_flop, k_ + 1) << 63 : 0);
        matters_ |= (now | after) & mask_;
        changed(flip_flop.q, f_.golden[flip_flop.q].word[k_] ^ mask_);
        overwritten_ = ~uint64_t{0};
      }
      while (!queue_.empty()) {
        const int32_t gate = queue_.top();
        queue_.pop();
        evaluate(gate);
      }
      gone = overwritten_ & ~held_ & mask_;
      matters = matters_ & mask_;
    }

   private:
    // Lanes in which the asynchronous reset or load of a flip-flop is active.
    uint64_t loads(const FlipFlop& flip_flop, size_t k) const {
      const uint64_t load = f_.golden[flip_flop.load].word[k];
      return flip_flop.active ? load : ~load;
    }

    void start_memory() {
      for (const int32_t gate : f_.read_gates[question_.memory]) push(gate);
      for (const MemoryPort& port : f_.writes) {
        if (port.memory != question_.memory) continue;
        uint64_t lanes = f_.golden[f_.enable(port)[question_.bit]].word[k_] & mask_;
        overwritten_ |= lanes & addressing(port);
      }
    }

    // Lanes in which a port of the fault's memory uses the fault's word.
    uint64_t addressing(const MemoryPort& port) const {
      const uint64_t word = question_.word + static_cast<uint64_t>(f_.memories[port.memory].first_word);
      uint64_t lanes = mask_;
      for (int32_t i = 0; i < port.address; ++i) {
        const uint64_t bit = f_.golden[f_.address(port)[i]].word[k_];
        lanes &= word >> i & 1 ? bit : ~bit;
      }
      return port.address < 63 && word >> port.address ? 0 : lanes;
    }

    uint64_t value(int32_t net) const {
      return f_.stamps[net] == f_.stamp ? f_.faulty[net] : f_.golden[net].word[k_];
    }

    uint64_t difference(int32_t net) const {
      return f_.stamps[net] == f_.stamp ? f_.faulty[net] ^ f_.golden[net].word[k_] : 0;
    }

    void push(int32_t gate) {
      if (f_.queued[gate] == f_.stamp) return;
      f_.queued[gate] = f_.stamp;
      queue_.push(gate);
    }

    void changed(int32_t net, uint64_t value) {
      const uint64_t lanes = value ^ f_.golden[net].word[k_];
      if (lanes == 0) return;
      f_.set(net, value);
      for (const int32_t* s = f_.sinks_of.begin(net); s != f_.sinks_of.end(net); ++s) arrived(f_.sinks[*s], lanes);
      for (const int32_t* g = f_.fanout.begin(net); g != f_.fanout.end(net); ++g) push(*g);
    }

    void arrived(const Sink& sink, uint64_t lanes) {
      switch (sink.kind) {
        case kNextState:
          if (sink.index == own_) {
            held_ |= lanes;
          } else {
            matters_ |= lanes;
          }
          break;
        case kWriteAddress: matters_ |= lanes & any_enable(f_.writes[sink.index]); break;
        case kWriteData: {
          const MemoryPort& port = f_.writes[sink.index];
          matters_ |= lanes & f_.golden[f_.enable(port)[sink.bit]].word[k_];
          break;
        }
        default: matters_ |= lanes;
      }
    }

    uint64_t any_enable(const MemoryPort& port) const {
      uint64_t lanes = 0;
      for (int32_t i = 0; i < port.data; ++i) lanes |= f_.golden[f_.enable(port)[i]].word[k_];
      return lanes;
    }

    void evaluate(int32_t number) {
      const Gate& g = f_.gates[number];
      if (g.operation == kRead) {
        reread(f_.reads[g.a]);
      } else {
        changed(g.y, evaluated(g.operation, value(g.a), value(g.b), value(g.s)));
      }
    }

    void reread(const MemoryPort& port) {
      const bool own = port.memory == question_.memory;
      uint64_t lanes = own ? addressing(port) : 0;
      for (int32_t i = 0; i < port.address; ++i) lanes |= difference(f_.address(port)[i]);
      lanes &= mask_;
      if (lanes == 0) return;
      std::vector<uint64_t> values(port.data);
      for (int32_t i = 0; i < port.data; ++i) values[i] = f_.golden[f_.data(port)[i]].word[k_];
      const Memory& memory = f_.memories[port.memory];
      for (; lanes; lanes &= lanes - 1) {
        const int lane = std::countr_zero(lanes);
        const uint64_t mask = uint64_t{1} << lane;
        const uint64_t word = f_.lane_value(f_.address(port), port.address, k_, lane, true);
        const char* const found = f_.contents(memory, word, 64 * k_ + lane);
        const bool hit = own && word - static_cast<uint64_t>(memory.first_word) == question_.word;
        for (int32_t i = 0; i < port.data; ++i) {
          bool bit = found && (found[i / 8] >> i % 8 & 1);
          if (hit && i == static_cast<int32_t>(question_.bit)) bit = !bit;
          values[i] = bit ? values[i] | mask : values[i] & ~mask;
        }
      }
      for (int32_t i = 0; i < port.data; ++i) changed(f_.data(port)[i], values[i]);
    }

    Foresight& f_;
    const Question& question_;
    const size_t k_;
    const uint64_t mask_;
    int32_t own_ = -1;
    uint64_t held_ = 0, matters_ = 0, overwritten_ = 0;
    std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> queue_;
  };

  std::vector<std::vector<int32_t>> read_gates;  // by memory

  // True if the block decides the question.
  bool decide(const Question& question, Answer& answer) {
    const uint64_t end = decided();
    for (uint64_t cycle = std::max(base, question.cycle); cycle < end;) {
      const size_t k = (cycle - base) / 64;
      const uint64_t word_end = std::min(base + 64 * (k + 1), end);
      uint64_t mask = ~uint64_t{0} << (cycle - base) % 64;
      const uint64_t used = word_end - (base + 64 * k);
      if (used < 64) mask &= (uint64_t{1} << used) - 1;
      uint64_t gone = 0, matters = 0;
      Ripple(*this, question, k, mask).run(gone, matters);
      if (gone | matters) {
        const int lane = std::countr_zero(gone | matters);
        answer = {matters >> lane & 1 ? kMatters : kVanishes, base + 64 * k + lane};
        return true;
      }
      cycle = word_end;
    }
    if (end < last()) return false;
    answer = {kMatters, last()};
    return true;
  }

  // The last cycle of the run, which is always simulated.
  uint64_t last() const { return campaign.timeline.length() - 1; }

  // Cycles before this one are decided in the present block; its last lane serves to look ahead.
  uint64_t decided() const { return base + lanes - 1; }

  void ask(const Question* questions, uint64_t count, Answer* answers) {
    std::vector<uint64_t> open;
    uint64_t next = 0;
    while (next < count || !open.empty()) {
      const uint64_t first = open.empty() ? questions[next].cycle : decided();
      if (first > last()) throw std::runtime_error("a question beyond the end of the golden run");
      load(first);
      while (next < count && (questions[next].cycle < decided() || decided() == last())) open.push_back(next++);
      std::erase_if(open, [&](uint64_t i) { return decide(questions[i], answers[i]); });
    }
  }
};

extern "C" {

Foresight* resil_foresight_create(Campaign* campaign, const Circuit* circuit) {
  return guarded(
      [&] {
        Foresight* const made = new Foresight(*campaign, *circuit);
        made->read_gates.resize(made->memories.size());
        for (size_t i = 0; i < made->gates.size(); ++i) {
          const Gate& gate = made->gates[i];
          if (gate.operation == kRead) made->read_gates[made->reads[gate.a].memory].push_back(static_cast<int32_t>(i));
        }
        return made;
      },
      static_cast<Foresight*>(nullptr));
}

void resil_foresight_destroy(Foresight* self) { delete self; }

int32_t resil_foresight_ask(Foresight* self, const Question* questions, uint64_t count, Answer* answers) {
  return guarded(
      [&] {
        self->ask(questions, count, answers);
        return 0;
      },
      -1);
}
}
