// SPDX-License-Identifier: Apache-2.0
// C interface of 32 machines of the generated design. Included at the end of the generated source.
//
// Registers are exchanged as rows: the bytes of a compiled model's registers, one after the other, as the injection
// campaign gathers them. Which bits of a row belong to which flip-flops is given by `lanes_places`.

#include <cstdlib>
#include <new>

#include "lane_calls.h"

// Resets that make each other active, one after the other, at most.
inline constexpr int kMostResets = 8;

/// A place as the loops of `exchange` take it: bits of a row and where those of machine 0 are in the state.
struct Exchanged {
  uint32_t offset;
  uint32_t from;
  uint8_t bit;
  uint8_t at;
  uint8_t width;
};

// Places of one kind: elements of so many bytes, 0 for a mask over the machines; bits that lie in 1 << `rank` bytes of a row.
inline constexpr int kElements[] = {0, 1, 2, 4, 8};
inline constexpr int kRanks = 4;

/// A bit of the state that is held at a value, of machine `lane`.
struct HeldBit {
  char* byte;
  uint8_t mask;
  uint8_t value;
  int32_t lane;
};

struct LanesMachine {
  State* state = nullptr;
  std::vector<void*> owned;
  std::vector<Exchanged> places[5][kRanks];
  std::vector<HeldBit> held;
  bool stale = true;  // storage has been loaded; logic has not been evaluated since
};

namespace {

void* zeroed(size_t bytes) {
  const size_t rounded = (bytes + 63) / 64 * 64;
  void* const p = std::aligned_alloc(64, rounded);
  if (!p) throw std::bad_alloc();
  std::memset(p, 0, rounded);
  return p;
}

INLINE uint64_t low(uint32_t width) { return width < 64 ? (uint64_t{1} << width) - 1 : ~uint64_t{0}; }

template <int Rank>
struct Bytes;
template <>
struct Bytes<0> { using T = uint8_t; };
template <>
struct Bytes<1> { using T = uint16_t; };
template <>
struct Bytes<2> { using T = uint32_t; };
template <>
struct Bytes<3> { using T = uint64_t; };

// One kind of places between the state and a row. Bits of either that are no place's stay as they are.
template <int Rank, int Size>
void exchange(State& s, const std::vector<Exchanged>& places, int l, const char* from, char* to) {
  using R = typename Bytes<Rank>::T;
  using E = typename Bytes<Size == 2 ? 1 : Size == 4 ? 2 : Size == 8 ? 3 : 0>::T;
  char* const base = reinterpret_cast<char*>(&s);
  for (const Exchanged& p : places) {
    R word;
    if constexpr (Size == 0) {
      M& m = *reinterpret_cast<M*>(base + p.from);
      if (to) {
        std::memcpy(&word, to + p.offset, sizeof word);
        word = static_cast<R>((word & ~(R{1} << p.bit)) | R(m >> l & 1) << p.bit);
        std::memcpy(to + p.offset, &word, sizeof word);
      } else {
        std::memcpy(&word, from + p.offset, sizeof word);
        m = (m & ~(M{1} << l)) | static_cast<M>(word >> p.bit & 1) << l;
      }
    } else {
      char* const place = base + p.from + static_cast<size_t>(l) * Size;
      const uint64_t mask = low(p.width);
      E element;
      std::memcpy(&element, place, sizeof element);
      if (to) {
        std::memcpy(&word, to + p.offset, sizeof word);
        const uint64_t found = uint64_t{element} >> p.at & mask;
        word = static_cast<R>((uint64_t{word} & ~(mask << p.bit)) | found << p.bit);
        std::memcpy(to + p.offset, &word, sizeof word);
      } else {
        std::memcpy(&word, from + p.offset, sizeof word);
        const uint64_t found = uint64_t{word} >> p.bit & mask;
        element = static_cast<E>((uint64_t{element} & ~(mask << p.at)) | found << p.at);
        std::memcpy(place, &element, sizeof element);
      }
    }
  }
}

template <int Rank>
void exchange_rank(LanesMachine* self, int l, const char* from, char* to) {
  exchange<Rank, 0>(*self->state, self->places[0][Rank], l, from, to);
  exchange<Rank, 1>(*self->state, self->places[1][Rank], l, from, to);
  exchange<Rank, 2>(*self->state, self->places[2][Rank], l, from, to);
  exchange<Rank, 4>(*self->state, self->places[3][Rank], l, from, to);
  exchange<Rank, 8>(*self->state, self->places[4][Rank], l, from, to);
}

// Take a machine's flip-flops from a row, or give them to one.
void exchange_row(LanesMachine* self, int l, const char* from, char* to) {
  exchange_rank<0>(self, l, from, to);
  exchange_rank<1>(self, l, from, to);
  exchange_rank<2>(self, l, from, to);
  exchange_rank<3>(self, l, from, to);
}

uint64_t* limb(const LanesMachine* self, const MemoryPlace& m, int lane, uint64_t at) {
  uint64_t* base;
  std::memcpy(&base, reinterpret_cast<const char*>(self->state) + m.offset, sizeof base);
  if (m.layout == kShared) return base + at;
  return m.layout == kMixed ? base + at * kMachines + lane : base + static_cast<uint64_t>(lane) * m.words * m.limbs + at;
}

// Copy the first words of a machine's memory from or to one whose words have `entry_bytes`.
template <class Entry>
void copy_entries(const LanesMachine* self, const MemoryPlace& m, int lane, const char* from, char* to, uint64_t words) {
  uint64_t* const base = limb(self, m, lane, 0);
  if (sizeof(Entry) == 8 && m.layout != kMixed) {
    std::memcpy(to ? to : reinterpret_cast<char*>(base), to ? reinterpret_cast<const char*>(base) : from, 8 * words);
    return;
  }
  const size_t stride = m.layout == kMixed ? kMachines : 1;
  for (uint64_t w = 0; w < words; ++w) {
    if (to) {
      const Entry value = static_cast<Entry>(base[w * stride]);
      std::memcpy(to + w * sizeof(Entry), &value, sizeof value);
    } else {
      Entry value;
      std::memcpy(&value, from + w * sizeof(Entry), sizeof value);
      base[w * stride] = value;
    }
  }
}

void copy_words(const LanesMachine* self, const MemoryPlace& m, int lane, const char* from, char* to,
                uint64_t entry_bytes, uint64_t words) {
  if (m.limbs == 1 && entry_bytes == 8) return copy_entries<uint64_t>(self, m, lane, from, to, words);
  if (m.limbs == 1 && entry_bytes == 4) return copy_entries<uint32_t>(self, m, lane, from, to, words);
  if (m.limbs == 1 && entry_bytes == 2) return copy_entries<uint16_t>(self, m, lane, from, to, words);
  if (m.limbs == 1 && entry_bytes == 1) return copy_entries<uint8_t>(self, m, lane, from, to, words);
  for (uint64_t w = 0; w < words; ++w) {
    for (uint64_t i = 0; i < m.limbs; ++i) {
      uint64_t& word = *limb(self, m, lane, w * m.limbs + i);
      const uint64_t bytes = entry_bytes - 8 * i < 8 ? entry_bytes - 8 * i : 8;
      if (to) {
        std::memcpy(to + w * entry_bytes + 8 * i, &word, bytes);
      } else {
        word = 0;
        std::memcpy(&word, from + w * entry_bytes + 8 * i, bytes);
      }
    }
  }
}

// One edge of the clock. Flip-flops whose asynchronous reset is active before it, or is afterwards, take its value; that
// may make further resets active, or end them, until nothing changes any more.
// Bits that are held are set when all of this is done, as in the other engines, and what they reset follows.
void cycle(State& s, const std::vector<HeldBit>& held) {
  Resets active;
  hold(s, active);
  edge(s);
  for (int i = 0; i < kMostResets && resets(s, active); ++i) {
  }
  const auto set = [&held] {
    for (const HeldBit& bit : held) *bit.byte = static_cast<char>((*bit.byte & ~bit.mask) | bit.value);
  };
  if (!held.empty()) {
    set();
    for (int i = 0; i < kMostResets && resets(s, Resets{}); ++i) set();
  }
  evaluate(s);
}

}  // namespace

extern "C" {

LanesMachine* lanes_create() {
  auto* const self = new LanesMachine;
  self->state = static_cast<State*>(zeroed(sizeof(State)));
  self->owned.push_back(self->state);
  for (const MemoryPlace& m : kMemories) {
    // Pages that no word in use lies in are never touched.
    void* const p = std::calloc(m.words * m.limbs * (m.layout == kShared ? 1 : kMachines), 8);
    if (!p) throw std::bad_alloc();
    self->owned.push_back(p);
    std::memcpy(reinterpret_cast<char*>(self->state) + m.offset, &p, sizeof p);
  }
  set_inputs(*self->state);
  return self;
}

void lanes_destroy(LanesMachine* self) {
  for (void* p : self->owned) std::free(p);
  delete self;
}

void lanes_places(LanesMachine* self, const LanesPlace* places, uint64_t count) {
  for (auto& kinds : self->places) {
    for (std::vector<Exchanged>& kind : kinds) kind.clear();
  }
  for (uint64_t i = 0; i < count; ++i) {
    const LanesPlace& place = places[i];
    const PiecePlace& piece = kPieces[place.piece];
    int element = 0, rank = 0;
    while (kElements[element] != static_cast<int>(piece.size)) ++element;
    while (8u << rank < place.bit + place.width) ++rank;
    self->places[element][rank].push_back({static_cast<uint32_t>(place.offset), static_cast<uint32_t>(piece.offset),
                                           static_cast<uint8_t>(place.bit), static_cast<uint8_t>(place.at),
                                           static_cast<uint8_t>(place.width)});
  }
}

void lanes_load_row(LanesMachine* self, int32_t lane, const char* row) {
  exchange_row(self, lane, row, nullptr);
  self->state->beyond &= ~(M{1} << lane);
  self->stale = true;
}

void lanes_store_row(LanesMachine* self, int32_t lane, char* row) { exchange_row(self, lane, nullptr, row); }

void lanes_load_memory(LanesMachine* self, int32_t lane, int32_t memory, const char* from, uint64_t entry_bytes,
                       uint64_t words) {
  copy_words(self, kMemories[memory], lane, from, nullptr, entry_bytes, words);
  self->state->used[memory] = words;
  self->stale = true;
}

void lanes_store_memory(LanesMachine* self, int32_t lane, int32_t memory, char* to, uint64_t entry_bytes,
                        uint64_t words) {
  copy_words(self, kMemories[memory], lane, nullptr, to, entry_bytes, words);
}

void lanes_hold(LanesMachine* self, int32_t lane, const LanesHold* holds, uint64_t count) {
  std::erase_if(self->held, [lane](const HeldBit& bit) { return bit.lane == lane; });
  for (uint64_t i = 0; i < count; ++i) {
    const PiecePlace& piece = kPieces[holds[i].piece];
    // A piece of one bit is a mask over the machines.
    const uint64_t bit = piece.size ? 8 * piece.size * static_cast<uint64_t>(lane) + holds[i].at : lane;
    const auto mask = static_cast<uint8_t>(1u << bit % 8);
    char* const byte = reinterpret_cast<char*>(self->state) + piece.offset + bit / 8;
    self->held.push_back({byte, mask, static_cast<uint8_t>(holds[i].value ? mask : 0), lane});
  }
}

uint64_t lanes_run(LanesMachine* self, uint64_t cycles, const LanesWatch* watch, LanesSeen* seen) {
  State& s = *self->state;
  *seen = {};
  s.undefined = 0;
  if (self->stale) {
    evaluate(s);
    moved(s);
    self->stale = false;
  }
  if ((seen->undefined = s.undefined & watch->busy)) return 0;
  for (uint64_t i = 1; i <= cycles; ++i) {
    s.undefined = 0;
    cycle(s, self->held);
    seen->undefined = s.undefined & watch->busy;
    seen->done = done(s) & watch->busy;
    seen->moved = moved(s) & watch->busy;
    const M raised = alarms(s, watch, seen->alarms);
    seen->beyond = s.beyond & watch->busy;
    if (seen->done | seen->moved | seen->beyond | seen->undefined | raised) return i;
  }
  return cycles;
}

uint64_t lanes_operation(const LanesMachine* self, int32_t lane) { return operation(*self->state, lane); }

const LanesCalls* lanes_calls() {
  static const LanesCalls calls{lanes_create,       lanes_destroy,     lanes_places, lanes_load_row,  lanes_store_row,
                                lanes_load_memory, lanes_store_memory, lanes_hold,   lanes_run,       lanes_operation};
  return &calls;
}
}
