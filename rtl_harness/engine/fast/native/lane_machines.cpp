// SPDX-License-Identifier: Apache-2.0
// See lane_machines.h.

#include "lane_machines.h"

#include <algorithm>
#include <cstring>

LaneMachines::LaneMachines(Campaign& campaign, const LaneModel& given)
    : campaign_(campaign),
      calls_(*given.calls),
      machine_(calls_.create()),
      memories_(given.memories, given.memories + given.memory_count),
      rows_(kLaneCount, std::vector<char>(campaign.registers.bytes() + kRowMargin)),
      found_(campaign.registers.bytes() + kRowMargin) {
  std::vector<LanesPlace> places(given.places, given.places + given.place_count);
  for (LanesPlace& place : places) place.offset = campaign.registers.position(place.offset);
  calls_.places(machine_, places.data(), places.size());
  size_t most = 0;
  for (const LaneMemory& m : memories_) most = std::max(most, m.words * m.entry_bytes);
  memory_.resize(most);
  for (size_t i = 0; i < memories_.size(); ++i) {
    const LaneMemory& m = memories_[i];
    const char* const from = campaign.origin->state() + m.offset;
    if (m.shared) calls_.load_memory(machine_, 0, static_cast<int32_t>(i), from, m.entry_bytes, m.words);
  }
}

LaneMachines::~LaneMachines() { calls_.destroy(machine_); }

bool LaneMachines::load(int lane) {
  const char* const state = campaign_.faulty->state();
  for (const LaneMemory& m : memories_) {
    const char* const all = campaign_.origin->state() + m.offset;
    if (m.shared && std::memcmp(state + m.offset, all, m.words * m.entry_bytes) != 0) return false;
  }
  campaign_.registers.gather(state, rows_[lane].data());
  calls_.load_row(machine_, lane, rows_[lane].data());
  // Names of one flip-flop that disagree are a state that the lane model does not have.
  found_ = rows_[lane];
  calls_.store_row(machine_, lane, found_.data());
  if (found_ != rows_[lane]) return false;
  for (size_t i = 0; i < memories_.size(); ++i) {
    const LaneMemory& m = memories_[i];
    if (m.shared) continue;
    calls_.load_memory(machine_, lane, static_cast<int32_t>(i), state + m.offset, m.entry_bytes, m.words);
  }
  return true;
}

const char* LaneMachines::row(int lane) {
  calls_.store_row(machine_, lane, rows_[lane].data());
  return rows_[lane].data();
}

void LaneMachines::store(int lane) {
  char* const state = campaign_.faulty->state();
  campaign_.registers.scatter(row(lane), state);
  for (size_t i = 0; i < memories_.size(); ++i) {
    const LaneMemory& m = memories_[i];
    char* const to = state + m.offset;
    if (m.shared) {
      std::memcpy(to, campaign_.origin->state() + m.offset, m.words * m.entry_bytes);
    } else {
      calls_.store_memory(machine_, lane, static_cast<int32_t>(i), to, m.entry_bytes, m.words);
    }
  }
}

bool LaneMachines::equals(int lane) {
  const char* const state = campaign_.faulty->state();
  campaign_.registers.gather(state, found_.data());
  if (std::memcmp(row(lane), found_.data(), campaign_.registers.bytes()) != 0) return false;
  for (size_t i = 0; i < memories_.size(); ++i) {
    const LaneMemory& m = memories_[i];
    const char* found = campaign_.origin->state() + m.offset;
    if (!m.shared) {
      calls_.store_memory(machine_, lane, static_cast<int32_t>(i), memory_.data(), m.entry_bytes, m.words);
      found = memory_.data();
    }
    if (std::memcmp(found, state + m.offset, m.words * m.entry_bytes) != 0) return false;
  }
  return true;
}
