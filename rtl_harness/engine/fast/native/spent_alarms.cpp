// SPDX-License-Identifier: Apache-2.0
// See spent_alarms.h.

#include "spent_alarms.h"

#include <algorithm>
#include <bit>

void SpentAlarms::use(const std::vector<AlarmBit>& bits, const std::vector<size_t>& positions) {
  bytes_.clear();
  by_offset_.clear();
  last_.clear();
  alarms_ = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    const auto [at, fresh] = by_offset_.emplace(bits[i].offset, bytes_.size());
    if (fresh) bytes_.push_back({bits[i].offset, positions[i], 0, 0, {}});
    Byte& byte = bytes_[at->second];
    byte.mask |= static_cast<uint8_t>(bits[i].mask);
    byte.golden |= static_cast<uint8_t>(bits[i].golden);
    byte.alarms[std::countr_zero(bits[i].mask)] = bits[i].alarms;
  }
  std::sort(bytes_.begin(), bytes_.end(), [](const Byte& a, const Byte& b) { return a.offset < b.offset; });
  for (size_t i = 0; i < bytes_.size(); ++i) by_offset_[bytes_[i].offset] = i;
}

void SpentAlarms::forget(char* row) {
  last_.clear();
  alarms_ = 0;
  for (const Byte& byte : bytes_) {
    char& found = row[byte.position];
    const auto other = static_cast<uint8_t>((found ^ byte.golden) & byte.mask);
    if (!other) continue;
    found = static_cast<char>(found ^ other);
    last_.push_back({byte.offset, other});
    for (uint32_t left = other; left; left &= left - 1) alarms_ |= byte.alarms[std::countr_zero(left)];
  }
}

uint64_t SpentAlarms::hash() const {
  uint64_t h = 0;
  for (const ByteDifference& byte : last_) h = (h ^ (byte.offset << 8 ^ byte.mask)) * 0x9e3779b97f4a7c15 + (h >> 29);
  return h;
}

void SpentAlarms::add_to(Difference& d) const {
  const auto before = static_cast<std::ptrdiff_t>(d.size());
  d.insert(d.end(), last_.begin(), last_.end());
  std::inplace_merge(d.begin(), d.begin() + before, d.end(), by_offset);
}

bool SpentAlarms::is_spent(const ByteDifference& byte, uint64_t awaited) const {
  const auto found = by_offset_.find(byte.offset);
  if (found == by_offset_.end() || (byte.mask & ~uint32_t{bytes_[found->second].mask})) return false;
  for (uint32_t left = byte.mask; left; left &= left - 1) {
    if (bytes_[found->second].alarms[std::countr_zero(left)] & awaited) return false;
  }
  return true;
}

bool SpentAlarms::are_spent(const Difference& d, uint64_t awaited) const {
  return std::ranges::all_of(d, [&](const ByteDifference& byte) { return is_spent(byte, awaited); });
}
