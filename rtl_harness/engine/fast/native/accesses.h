// SPDX-License-Identifier: Apache-2.0
// What the ports of each memory do in the cycles of a window, in their order.
#ifndef RESIL_VERILATED_ACCESSES_H
#define RESIL_VERILATED_ACCESSES_H

#include "window.h"

struct Access {
  uint32_t place;
  bool write;
  int32_t port;
  uint64_t word;   // of a read perhaps none that the memory has
  uint64_t bytes;  // of the word, of which bits are written, a bit for each; beyond 64 all
};

class Accesses {
 public:
  explicit Accesses(const Network& network) : network_(network), of_(network.memories.size()) {}

  void gather(const Window& window) {
    for (std::vector<Access>& list : of_) list.clear();
    for (size_t place = 0; place < window.cycles(); ++place) {
      for (size_t p = 0; p < network_.reads.size(); ++p) {
        add(window, network_.reads[p], window.read_address(static_cast<int32_t>(p), place), place, false, p);
      }
      for (size_t p = 0; p < network_.writes.size(); ++p) {
        const MemoryPort& port = network_.writes[p];
        if (!window.writing(static_cast<int32_t>(p)).at(place)) continue;
        add(window, port, window.address(port, place), place, true, p);
      }
    }
  }

  /// By cycle; in each, what is read before what is written.
  const std::vector<Access>& of(size_t memory) const { return of_[memory]; }
  /// A byte that access `i` writes is written by another one in the same cycle.
  bool meets(size_t memory, size_t i, size_t byte) const {
    const std::vector<Access>& list = of_[memory];
    const auto same = [&](size_t k) {
      return list[k].write && list[k].word == list[i].word && (byte >= 64 || (list[k].bytes >> byte & 1));
    };
    for (size_t k = i; k-- > 0 && list[k].place == list[i].place;) {
      if (same(k)) return true;
    }
    for (size_t k = i + 1; k < list.size() && list[k].place == list[i].place; ++k) {
      if (same(k)) return true;
    }
    return false;
  }

 private:
  void add(const Window& window, const MemoryPort& port, uint64_t address, size_t place, bool write, size_t number) {
    const Memory& m = network_.memories[port.memory];
    const uint64_t word = address - static_cast<uint64_t>(static_cast<int64_t>(m.first_word));
    if (write && word >= m.words) return;
    uint64_t bytes = 0;
    for (int32_t i = 0; write && i < std::min(port.data, 512); ++i) {
      bytes |= uint64_t{window.golden(network_.enable(port)[i]).at(place)} << i / 8;
    }
    of_[port.memory].push_back({static_cast<uint32_t>(place), write, static_cast<int32_t>(number), word, bytes});
  }

  const Network& network_;
  std::vector<std::vector<Access>> of_;
};

#endif
