// SPDX-License-Identifier: Apache-2.0
// See boundary.h.

#include "boundary.h"

#include <algorithm>
#include <stdexcept>

Boundary::Boundary(GoldenRun& run, const AlarmFilter& alarms, const Boundaries& given)
    : run_(run),
      alarms_(alarms),
      golden_(run.boundaries()),
      external_(given.external, given.external + given.external_count),
      row_(run.registers().bytes()),
      queues_(given.queues, given.queues + given.queue_count) {
  for (size_t i = 0; i < golden_.size(); ++i) {
    open_.push_back(given.open[i]);
    by_operation_.emplace(golden_[i].operation, i);
    unsettled_.emplace_back(given.unsettled + given.unsettled_first[i], given.unsettled + given.unsettled_first[i + 1]);
    for (int kind = 0; kind < 2; ++kind) {
      const DeadBits& bits = given.dead[kind];
      Difference& found = dead_[kind].emplace_back();
      found.reserve(bits.first[i + 1] - bits.first[i]);
      for (uint64_t k = bits.first[i]; k < bits.first[i + 1]; ++k) {
        const ByteDifference& byte = bits.bits[k];
        if (!found.empty() && found.back().offset == byte.offset) {
          found.back().mask |= byte.mask;
        } else {
          found.push_back(byte);
        }
      }
      if (!std::is_sorted(found.begin(), found.end(), by_offset)) throw std::runtime_error("dead bits do not ascend");
    }
  }
  for (size_t q = 0; q < queues_.size(); ++q) {
    for (uint64_t b = 0; b < queues_[q].pointer_bytes; ++b) {
      pointers_.emplace(queues_[q].first + b, q);
      pointers_.emplace(queues_[q].next + b, q);
    }
  }
  for (const GoldenBoundary& golden : golden_) {
    const auto at = [&](uint64_t offset) { return golden.registers[run.registers().position(offset)]; };
    std::vector<char>& empty = empty_.emplace_back();
    for (const QueueBytes& queue : queues_) {
      bool none = true;
      for (uint64_t b = 0; b < queue.level_bytes; ++b) none &= at(queue.level + b) == 0;
      for (uint64_t b = 0; b < queue.pointer_bytes; ++b) none &= at(queue.first + b) == at(queue.next + b);
      empty.push_back(none);
    }
  }
}

std::pair<size_t, size_t> Boundary::between(uint64_t from, uint64_t to) const {
  const auto before = [](const GoldenBoundary& b, uint64_t edges) { return b.edges < edges; };
  const auto first = std::lower_bound(golden_.begin(), golden_.end(), from + 1, before);
  const auto last = std::lower_bound(first, golden_.end(), to + 2, before);
  return {first - golden_.begin(), last - golden_.begin()};
}

std::optional<size_t> Boundary::find(uint64_t operation) const {
  const auto found = by_operation_.find(operation);
  return found == by_operation_.end() ? std::nullopt : std::optional<size_t>(found->second);
}

bool Boundary::is_external(uint64_t offset) const {
  return std::any_of(external_.begin(), external_.end(), [&](const Piece& piece) {
    return offset >= piece.offset && offset < piece.offset + piece.bytes;
  });
}

bool Boundary::is_settled(uint64_t offset, size_t i) const {
  const auto after = std::upper_bound(unsettled_[i].begin(), unsettled_[i].end(), offset,
                                      [](uint64_t at, const Piece& piece) { return at < piece.offset; });
  return after == unsettled_[i].begin() || offset >= std::prev(after)->offset + std::prev(after)->bytes;
}

const Boundary::Dead& Boundary::dead(uint64_t awaited) const {
  return dead_[alarms_.awaits_detection(awaited) ? 0 : 1];
}

bool Boundary::is_dead(const ByteDifference& byte, const Dead& dead, size_t i) {
  const auto found = std::lower_bound(dead[i].begin(), dead[i].end(), byte, by_offset);
  return found != dead[i].end() && found->offset == byte.offset && !(byte.mask & ~found->mask);
}

bool Boundary::is_turned(const ByteDifference& byte, const Difference& d, size_t i) const {
  const auto found = pointers_.find(byte.offset);
  if (found == pointers_.end() || !empty_[i][found->second]) return false;
  const QueueBytes& queue = queues_[found->second];
  const bool of_first = byte.offset >= queue.first && byte.offset < queue.first + queue.pointer_bytes;
  const ByteDifference wanted{of_first ? byte.offset - queue.first + queue.next : byte.offset - queue.next + queue.first,
                              byte.mask};
  const auto other = std::lower_bound(d.begin(), d.end(), wanted, by_offset);
  return other != d.end() && *other == wanted && pointer(queue, d, i) < queue.values;
}

uint64_t Boundary::pointer(const QueueBytes& queue, const Difference& d, size_t i) const {
  uint64_t value = 0;
  for (uint64_t b = queue.pointer_bytes; b-- > 0;) {
    const uint64_t offset = queue.first + b;
    const auto found = std::lower_bound(d.begin(), d.end(), ByteDifference{offset, 0}, by_offset);
    const uint32_t mask = found != d.end() && found->offset == offset ? found->mask : 0;
    value = value << 8 | static_cast<uint8_t>(golden_[i].registers[run_.registers().position(offset)] ^ mask);
  }
  return value;
}

bool Boundary::permits(const Difference& d, size_t i, uint64_t awaited) const {
  const SpentAlarms& spent = run_.registers().spent();
  const Dead& own = dead(awaited);
  return open_[i] && std::all_of(d.begin(), d.end(), [&](const ByteDifference& byte) {
           if (is_external(byte.offset)) return is_settled(byte.offset, i);
           return is_dead(byte, own, i) || is_turned(byte, d, i) || spent.is_spent(byte, awaited);
         });
}

Difference Boundary::external(const Difference& d) const {
  Difference found;
  std::copy_if(d.begin(), d.end(), std::back_inserter(found),
               [&](const ByteDifference& byte) { return is_external(byte.offset); });
  return found;
}

bool Boundary::registers(const char* state, size_t i, uint64_t awaited, Difference& d) {
  run_.registers().gather(state, row_.data());
  const Dead& own = dead(awaited);
  const std::vector<char>& golden = golden_[i].registers;
  for (size_t at = 0; at < row_.size(); ++at) {
    if (row_[at] == golden[at]) continue;
    const ByteDifference byte{run_.registers().offset(at), static_cast<uint8_t>(row_[at] ^ golden[at])};
    const bool spent = run_.registers().spent().is_spent(byte, awaited);
    if (!is_dead(byte, own, i) && !pointers_.contains(byte.offset) && !spent) return false;
    d.push_back(byte);
  }
  return true;
}
