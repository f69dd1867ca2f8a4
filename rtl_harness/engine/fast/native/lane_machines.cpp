// SPDX-License-Identifier: Apache-2.0
// See lane_machines.h.

#include "lane_machines.h"

#include <algorithm>
#include <bit>
#include <cstring>

LaneMachines::LaneMachines(Injector& injector, const LaneModel& given)
    : injector_(injector),
      calls_(*given.calls),
      machine_(calls_.create()),
      memories_(given.memories, given.memories + given.memory_count),
      rows_(kLaneCount, std::vector<char>(injector.golden().registers().bytes() + kRowMargin)),
      found_(injector.golden().registers().bytes() + kRowMargin) {
  places_.assign(given.places, given.places + given.place_count);
  for (LanesPlace& place : places_) place.offset = injector.golden().registers().position(place.offset);
  calls_.places(machine_, places_.data(), places_.size());
  size_t most = 0;
  for (const LaneMemory& m : memories_) most = std::max(most, m.words * m.entry_bytes);
  memory_.resize(most);
  for (size_t i = 0; i < memories_.size(); ++i) {
    const LaneMemory& m = memories_[i];
    const char* const from = injector.golden().origin().state() + m.offset;
    if (m.shared) calls_.load_memory(machine_, 0, static_cast<int32_t>(i), from, m.entry_bytes, m.words);
  }
}

LaneMachines::~LaneMachines() { calls_.destroy(machine_); }

bool LaneMachines::load(int lane) {
  const char* const state = injector_.run().instance().state();
  for (const LaneMemory& m : memories_) {
    const char* const all = injector_.golden().origin().state() + m.offset;
    if (m.shared && std::memcmp(state + m.offset, all, m.words * m.entry_bytes) != 0) return false;
  }
  injector_.golden().registers().gather(state, rows_[lane].data());
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

bool LaneMachines::hold(int lane, Holds held) {
  std::vector<LanesHold> found;
  for (const Hold& own : held) {
    const std::optional<size_t> byte = injector_.golden().registers().find(own.offset);
    if (!byte) return false;
    const uint64_t bit = 8 * *byte + static_cast<uint64_t>(std::countr_zero(own.mask));
    const auto holds = [bit](const LanesPlace& place) {
      const uint64_t first = 8 * place.offset + place.bit;
      return first <= bit && bit < first + place.width;
    };
    // One name of several is enough.
    const auto place = std::ranges::find_if(places_, holds);
    if (place == places_.end()) return false;
    const auto at = static_cast<uint32_t>(place->at + (bit - 8 * place->offset - place->bit));
    found.push_back({place->piece, at, own.value ? 1u : 0u});
  }
  calls_.hold(machine_, lane, found.data(), found.size());
  return true;
}

const char* LaneMachines::row(int lane) {
  calls_.store_row(machine_, lane, rows_[lane].data());
  return rows_[lane].data();
}

void LaneMachines::store(int lane) {
  char* const state = injector_.run().instance().state();
  injector_.golden().registers().scatter(row(lane), state);
  for (size_t i = 0; i < memories_.size(); ++i) {
    const LaneMemory& m = memories_[i];
    char* const to = state + m.offset;
    if (m.shared) {
      std::memcpy(to, injector_.golden().origin().state() + m.offset, m.words * m.entry_bytes);
    } else {
      calls_.store_memory(machine_, lane, static_cast<int32_t>(i), to, m.entry_bytes, m.words);
    }
  }
}

bool LaneMachines::equals(int lane) {
  const char* const state = injector_.run().instance().state();
  injector_.golden().registers().gather(state, found_.data());
  if (std::memcmp(row(lane), found_.data(), injector_.golden().registers().bytes()) != 0) return false;
  for (size_t i = 0; i < memories_.size(); ++i) {
    const LaneMemory& m = memories_[i];
    const char* found = injector_.golden().origin().state() + m.offset;
    if (!m.shared) {
      calls_.store_memory(machine_, lane, static_cast<int32_t>(i), memory_.data(), m.entry_bytes, m.words);
      found = memory_.data();
    }
    if (std::memcmp(found, state + m.offset, m.words * m.entry_bytes) != 0) return false;
  }
  return true;
}
