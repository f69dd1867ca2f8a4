// C interface of 32 machines of the generated design. Included at the end of the generated source.
//
// Registers are exchanged as rows: the bytes of a compiled model's registers, one after the other, as the injection
// campaign gathers them. Which bits of a row belong to which flip-flops is given by `lanes_places`.

#include <cstdlib>
#include <new>

#include "lane_calls.h"

// Resets that make each other active, one after the other, at most.
inline constexpr int kMostResets = 8;

struct LanesMachine {
  State* state = nullptr;
  std::vector<void*> owned;
  std::vector<LanesPlace> places;
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

uint64_t low(uint32_t width) { return width < 64 ? (uint64_t{1} << width) - 1 : ~uint64_t{0}; }

void put(State& s, const PiecePlace& p, int l, uint64_t value) {
  char* const base = reinterpret_cast<char*>(&s) + p.offset;
  if (p.size == 0) {
    M& m = *reinterpret_cast<M*>(base);
    m = (m & ~(M{1} << l)) | static_cast<M>(value & 1) << l;
  } else {
    std::memcpy(base + static_cast<size_t>(l) * p.size, &value, p.size);
  }
}

uint64_t get(const State& s, const PiecePlace& p, int l) {
  const char* const base = reinterpret_cast<const char*>(&s) + p.offset;
  if (p.size == 0) return *reinterpret_cast<const M*>(base) >> l & 1;
  uint64_t value = 0;
  std::memcpy(&value, base + static_cast<size_t>(l) * p.size, p.size);
  return value;
}

uint64_t* limb(const LanesMachine* self, const MemoryPlace& m, int lane, uint64_t at) {
  uint64_t* base;
  std::memcpy(&base, reinterpret_cast<const char*>(self->state) + m.offset, sizeof base);
  if (m.layout == kShared) return base + at;
  return m.layout == kMixed ? base + at * kMachines + lane : base + static_cast<uint64_t>(lane) * m.words * m.limbs + at;
}

size_t bytes_of(const LanesPlace& place) { return (place.bit + place.width + 7) / 8; }

// One edge of the clock. Flip-flops whose asynchronous reset is active before it, or is afterwards, take its value; that
// may make further resets active, or end them, until nothing changes any more.
void cycle(State& s) {
  Resets held;
  hold(s, held);
  edge(s);
  for (int i = 0; i < kMostResets && resets(s, held); ++i) {
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
    void* const p = zeroed(m.words * m.limbs * 8 * (m.layout == kShared ? 1 : kMachines));
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
  self->places.assign(places, places + count);
}

void lanes_load_row(LanesMachine* self, int32_t lane, const char* row) {
  for (const LanesPlace& place : self->places) {
    uint64_t value = 0;
    std::memcpy(&value, row + place.offset, bytes_of(place));
    value = value >> place.bit & low(place.width);
    const PiecePlace& p = kPieces[place.piece];
    if (place.width != p.width) value = (get(*self->state, p, lane) & ~(low(place.width) << place.at)) | value << place.at;
    put(*self->state, p, lane, value);
  }
  self->stale = true;
}

void lanes_store_row(const LanesMachine* self, int32_t lane, char* row) {
  for (const LanesPlace& place : self->places) {
    const uint64_t found = get(*self->state, kPieces[place.piece], lane) >> place.at & low(place.width);
    uint64_t value = 0;
    std::memcpy(&value, row + place.offset, bytes_of(place));
    value = (value & ~(low(place.width) << place.bit)) | found << place.bit;
    std::memcpy(row + place.offset, &value, bytes_of(place));
  }
}

void lanes_load_memory(LanesMachine* self, int32_t lane, int32_t memory, const char* from, uint64_t entry_bytes,
                       uint64_t words) {
  const MemoryPlace& m = kMemories[memory];
  for (uint64_t w = 0; w < words; ++w) {
    for (uint64_t i = 0; i < m.limbs; ++i) {
      uint64_t value = 0;
      const uint64_t bytes = entry_bytes - 8 * i < 8 ? entry_bytes - 8 * i : 8;
      std::memcpy(&value, from + w * entry_bytes + 8 * i, bytes);
      *limb(self, m, lane, w * m.limbs + i) = value;
    }
  }
  self->stale = true;
}

void lanes_store_memory(const LanesMachine* self, int32_t lane, int32_t memory, char* to, uint64_t entry_bytes,
                        uint64_t words) {
  const MemoryPlace& m = kMemories[memory];
  for (uint64_t w = 0; w < words; ++w) {
    for (uint64_t i = 0; i < m.limbs; ++i) {
      const uint64_t value = *limb(self, m, lane, w * m.limbs + i);
      const uint64_t bytes = entry_bytes - 8 * i < 8 ? entry_bytes - 8 * i : 8;
      std::memcpy(to + w * entry_bytes + 8 * i, &value, bytes);
    }
  }
}

uint64_t lanes_run(LanesMachine* self, uint64_t cycles, const LanesWatch* watch, LanesSeen* seen) {
  State& s = *self->state;
  *seen = {};
  if (self->stale) {
    evaluate(s);
    moved(s);
    self->stale = false;
  }
  for (uint64_t i = 1; i <= cycles; ++i) {
    cycle(s);
    seen->done = done(s) & watch->busy;
    seen->moved = moved(s) & watch->busy;
    const M raised = alarms(s, watch, seen->alarms);
    if (seen->done | seen->moved | raised) return i;
  }
  return cycles;
}

uint64_t lanes_operation(const LanesMachine* self, int32_t lane) { return operation(*self->state, lane); }

const LanesCalls* lanes_calls() {
  static const LanesCalls calls{lanes_create,       lanes_destroy,     lanes_places, lanes_load_row,  lanes_store_row,
                                lanes_load_memory, lanes_store_memory, lanes_run,    lanes_operation};
  return &calls;
}
}
