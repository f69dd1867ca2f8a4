// SPDX-License-Identifier: Apache-2.0
// See golden_history.h.

#include "golden_history.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

uint64_t mixed(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

size_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

// Two multiply-and-fold hashes side by side, 32 bytes a step.
class Hasher {
 public:
  void add(const char* data, size_t size) {
    for (; size >= 32; data += 32, size -= 32) step(data);
    if (size > 0) {
      char rest[32] = {};
      std::memcpy(rest, data, size);
      step(rest);
    }
  }

  Digest digest() const { return {mixed(first_ ^ kB, second_ ^ kC), mixed(first_ + kD, second_ ^ kA)}; }

 private:
  static constexpr uint64_t kA = 0x9e3779b97f4a7c15;
  static constexpr uint64_t kB = 0xc2b2ae3d27d4eb4f;
  static constexpr uint64_t kC = 0x165667b19e3779f9;
  static constexpr uint64_t kD = 0x27d4eb2f165667c5;

  void step(const char* data) {
    uint64_t word[4];
    std::memcpy(word, data, 32);
    first_ = mixed(word[0] ^ first_ ^ kC, word[1] ^ kD) + (word[2] ^ std::rotl(word[3], 31));
    second_ = mixed(word[2] ^ second_ ^ kD, word[3] ^ kC) + (word[0] ^ std::rotl(word[1], 29));
  }

  uint64_t first_ = kA;
  uint64_t second_ = kB;
};

}  // namespace

Registers::Registers(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  for (const Piece& piece : pieces_) {
    starts_.push_back(bytes_);
    bytes_ += piece.bytes;
  }
  buffer_.resize((bytes_ + 31) / 32 * 4);
}

void Registers::gather(const char* state, char* out) const {
  for (const Piece& piece : pieces_) {
    const char* const from = state + piece.offset;
    switch (piece.bytes) {
      case 1: *out = *from; break;
      case 2: std::memcpy(out, from, 2); break;
      case 4: std::memcpy(out, from, 4); break;
      case 8: std::memcpy(out, from, 8); break;
      default: std::memcpy(out, from, piece.bytes);
    }
    out += piece.bytes;
  }
}

void Registers::scatter(const char* from, char* state) const {
  for (const Piece& piece : pieces_) {
    std::memcpy(state + piece.offset, from, piece.bytes);
    from += piece.bytes;
  }
}

std::optional<size_t> Registers::find(uint64_t offset) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                      [](uint64_t at, const Piece& piece) { return at < piece.offset; });
  if (after == pieces_.begin() || offset - std::prev(after)->offset >= std::prev(after)->bytes) {
    return std::nullopt;
  }
  return starts_[std::prev(after) - pieces_.begin()] + (offset - std::prev(after)->offset);
}

size_t Registers::position(uint64_t offset) const {
  if (const std::optional<size_t> found = find(offset)) return *found;
  throw std::runtime_error("byte " + std::to_string(offset) + " of the state is no register");
}

uint64_t Registers::offset(size_t position) const {
  const size_t piece = std::upper_bound(starts_.begin(), starts_.end(), position) - starts_.begin() - 1;
  return pieces_[piece].offset + (position - starts_[piece]);
}

Digest Registers::digest(const char* state) {
  gather(state, reinterpret_cast<char*>(buffer_.data()));
  return digest_gathered();
}

Digest Registers::digest_row(const char* row) {
  std::memcpy(buffer_.data(), row, bytes_);
  return digest_gathered();
}

void Registers::spend(const std::vector<AlarmBit>& bits) {
  std::vector<size_t> positions;
  for (const AlarmBit& bit : bits) positions.push_back(position(bit.offset));
  spent_.use(bits, positions);
}

Digest Registers::with_alarms(const Digest& digest) const {
  const uint64_t h = spent_.hash();
  return {digest.low ^ h, digest.high ^ std::rotl(h, 32)};
}

Digest Registers::digest_gathered() {
  spent_.forget(reinterpret_cast<char*>(buffer_.data()));
  Hasher hasher;
  hasher.add(reinterpret_cast<const char*>(buffer_.data()), buffer_.size() * 8);
  return hasher.digest();
}

MemoryHistory::MemoryHistory(std::vector<Piece> pieces, const FollowedInstances& followed, Recall recall)
    : followed_(followed),
      small_(pieces.size()),
      pieces_(std::move(pieces)),
      changed_(followed.memories().blocks()),
      recall_(std::move(recall)) {
  const std::vector<Piece>& large = followed.memories().pieces();
  pieces_.insert(pieces_.end(), large.begin(), large.end());
  size_t total = 0;
  for (const Piece& piece : pieces_) {
    positions_.push_back(total);
    total += padded(piece.bytes);
  }
  image_.resize(total);
}

MemoryHistory::Span MemoryHistory::block(size_t number) const {
  const Piece found = followed_.memories().block(number);
  const size_t piece = small_ + followed_.memories().piece(number);
  return {found.offset, positions_[piece] + (found.offset - pieces_[piece].offset), found.bytes};
}

template <typename Visit>
bool MemoryHistory::each_piece(size_t count, Visit&& visit) const {
  for (size_t i = 0; i < count; ++i) {
    if (!visit(Span{pieces_[i].offset, positions_[i], pieces_[i].bytes})) return false;
  }
  return true;
}

template <typename Visit>
bool MemoryHistory::each_span(const Instance& instance, Visit&& visit) const {
  if (!followed_.knows(instance)) return each_piece(pieces_.size(), visit);
  return each_piece(small_, visit) &&
         followed_.memories().each_in(changed_, followed_.written(instance),
                                      [&](size_t number) { return visit(block(number)); });
}

BlockSet MemoryHistory::changed_between(uint64_t one, uint64_t other) const {
  BlockSet found(followed_.memories().blocks());
  const auto [from, to] = std::minmax(one, other);
  if (from == to) return found;
  for (size_t i = (from + 1) / kStretch; i <= to / kStretch && i < changed_in_.size(); ++i) {
    for (const size_t number : changed_in_[i]) found.add(number);
  }
  return found;
}

template <typename Visit>
bool MemoryHistory::each_stale(const Instance& instance, Visit&& visit) const {
  const WrittenBlocks* const written = followed_.find(instance);
  if (!written || !written->synced()) return each_span(instance, visit);
  return each_piece(small_, visit) &&
         followed_.memories().each_in(changed_between(*written->synced(), edges_), written->since(),
                                      [&](size_t number) { return visit(block(number)); });
}

void MemoryHistory::begin(const Instance& golden, const Registers& registers) {
  std::vector<char> row(registers.bytes());
  registers.gather(golden.state(), row.data());
  segments_.clear();
  segments_.push_back({0, std::move(row)});
  length_ = bounds_.segment;
  single_bytes_ = whole_bytes_ = 0;
  changed_in_.clear();
  segment_ = 0;
  next_ = 0;
  edges_ = 0;
  followed_.forget();
  for (size_t i = 0; i < pieces_.size(); ++i) {
    std::memcpy(image_.data() + positions_[i], golden.state() + pieces_[i].offset, pieces_[i].bytes);
  }
}

bool MemoryHistory::differs(const char* state, const Span& span) const {
  return std::memcmp(state + span.offset, image_.data() + span.position, span.bytes) != 0;
}

bool MemoryHistory::note(const char* state, const Span& span, uint64_t edges, Segment& segment) {
  const char* const now = state + span.offset;
  char* const held = image_.data() + span.position;
  bool changed = false;
  for (size_t block = 0; block < span.bytes; block += kBlockBytes) {
    const size_t end = std::min<size_t>(block + kBlockBytes, span.bytes);
    if (std::memcmp(now + block, held + block, end - block) == 0) continue;
    for (size_t at = block; at < end; at += 8) {
      const size_t size = std::min<size_t>(8, end - at);
      uint64_t before = 0, after = 0;
      std::memcpy(&before, held + at, size);
      std::memcpy(&after, now + at, size);
      if (before == after) continue;
      segment.changes.push_back(
          {static_cast<uint32_t>(edges - segment.first), static_cast<uint32_t>((span.position + at) / 8), before, after});
      std::memcpy(held + at, &after, size);
      changed = true;
    }
  }
  return changed;
}

void MemoryHistory::note_all(const Instance& golden, uint64_t edges, Segment& segment) {
  const char* const state = golden.state();
  for (size_t i = 0; i < small_; ++i) note(state, {pieces_[i].offset, positions_[i], pieces_[i].bytes}, edges, segment);
  if (WrittenBlocks* const written = followed_.find(golden)) {
    if (changed_in_.size() <= edges / kStretch) changed_in_.resize(edges / kStretch + 1);
    written->each_recent([&](size_t number) {
      const bool changed = note(state, block(number), edges, segment);
      if (changed) {
        changed_.add(number);
        std::vector<size_t>& own = changed_in_[edges / kStretch];
        if (std::find(own.begin(), own.end(), number) == own.end()) own.push_back(number);
      }
      return changed;
    });
  }
  next_ = segment.changes.size();
  edges_ = edges;
}

void MemoryHistory::record(const Instance& golden, const Registers& registers, uint64_t edges) {
  note_all(golden, edges, segments_.back());
  if (edges - segments_.back().first >= length_) close(golden, registers, edges);
}

void MemoryHistory::again(const Instance& golden, uint64_t edges) { note_all(golden, edges, segments_[segment_]); }

// Of changes in their order, what they come to.
std::vector<MemoryHistory::Change> MemoryHistory::joined(const std::vector<Change>& changes) {
  std::vector<Change> found = changes;
  std::stable_sort(found.begin(), found.end(), [](const Change& a, const Change& b) { return a.word < b.word; });
  size_t kept = 0;
  for (size_t i = 0; i < found.size();) {
    Change all = found[i];
    all.edges = 0;
    for (; i < found.size() && found[i].word == all.word; ++i) all.after = found[i].after;
    if (all.before != all.after) found[kept++] = all;
  }
  found.resize(kept);
  found.shrink_to_fit();
  return found;
}

void MemoryHistory::close(const Instance& golden, const Registers& registers, uint64_t edges) {
  Segment& last = segments_.back();
  last.whole = joined(last.changes);
  last.changes.shrink_to_fit();
  whole_bytes_ += last.whole.size() * sizeof(Change);
  single_bytes_ += last.changes.size() * sizeof(Change);
  std::vector<char> row(registers.bytes());
  registers.gather(golden.state(), row.data());
  segments_.push_back({edges, std::move(row)});
  while (whole_bytes_ > bounds_.bytes && segments_.size() > 4) merge_pairs();
  make_room(segments_.size() - 1);
  segment_ = segments_.size() - 1;
  next_ = 0;
}

// Let there be half as many segments, each twice as long.
void MemoryHistory::merge_pairs() {
  std::vector<Segment> merged;
  const size_t closed = segments_.size() - 1;
  whole_bytes_ = 0;
  for (size_t i = 0; i < closed; i += 2) {
    Segment& one = segments_[i];
    if (i + 1 < closed) {
      Segment& other = segments_[i + 1];
      one.whole.insert(one.whole.end(), other.whole.begin(), other.whole.end());
      one.whole = joined(one.whole);
      drop(one);
      drop(other);
    }
    whole_bytes_ += one.whole.size() * sizeof(Change);
    merged.push_back(std::move(one));
  }
  merged.push_back(std::move(segments_.back()));
  segments_ = std::move(merged);
  length_ *= 2;
}

void MemoryHistory::drop(Segment& segment) {
  single_bytes_ -= segment.changes.size() * sizeof(Change);
  std::vector<Change>().swap(segment.changes);
  segment.known = false;
}

void MemoryHistory::make_room(size_t place) {
  while (single_bytes_ > bounds_.bytes) {
    size_t oldest = place;
    for (size_t i = 0; i + 1 < segments_.size(); ++i) {
      if (i == place || !segments_[i].known || segments_[i].changes.empty()) continue;
      if (oldest == place || segments_[i].used < segments_[oldest].used) oldest = i;
    }
    if (oldest == place) return;
    drop(segments_[oldest]);
  }
}

size_t MemoryHistory::segment_of(uint64_t edges) const {
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), edges,
                                      [](uint64_t at, const Segment& segment) { return at < segment.first; });
  return after - segments_.begin() - 1;
}

void MemoryHistory::to_next_segment() {
  const Segment& now = segments_[segment_];
  if (next_ == 0) {
    for (const Change& change : now.whole) apply(change, change.after);
  } else {
    for (; next_ < now.changes.size(); ++next_) apply(now.changes[next_], now.changes[next_].after);
  }
  ++segment_;
  next_ = 0;
}

void MemoryHistory::to_previous_segment() {
  const Segment& now = segments_[segment_];
  for (; next_ > 0; --next_) apply(now.changes[next_ - 1], now.changes[next_ - 1].before);
  --segment_;
  for (const Change& change : segments_[segment_].whole) apply(change, change.before);
}

void MemoryHistory::recall() {
  Segment& now = segments_[segment_];
  edges_ = now.first;
  recall_(now.registers, now.first, segments_[segment_ + 1].first);
  ++recalled_;
  now.known = true;
  single_bytes_ += now.changes.size() * sizeof(Change);
  const auto same = [](const Change& a, const Change& b) {
    return a.word == b.word && a.before == b.before && a.after == b.after;
  };
  const std::vector<Change> found = joined(now.changes);
  if (!std::equal(found.begin(), found.end(), now.whole.begin(), now.whole.end(), same)) {
    throw std::runtime_error("the run without a fault, simulated again from cycle " + std::to_string(now.first) +
                             ", is not what it was");
  }
  now.changes.shrink_to_fit();
  make_room(segment_);
}

void MemoryHistory::seek(uint64_t edges) {
  const size_t wanted = segment_of(edges);
  while (segment_ < wanted) to_next_segment();
  while (segment_ > wanted) to_previous_segment();
  Segment& now = segments_[segment_];
  if (!now.known && edges > now.first) recall();
  now.used = ++uses_;
  const uint64_t since = edges - now.first;
  for (; next_ < now.changes.size() && now.changes[next_].edges <= since; ++next_) {
    apply(now.changes[next_], now.changes[next_].after);
  }
  for (; next_ > 0 && now.changes[next_ - 1].edges > since; --next_) {
    apply(now.changes[next_ - 1], now.changes[next_ - 1].before);
  }
  edges_ = edges;
}

bool MemoryHistory::equals(const Instance& instance) {
  const char* const state = instance.state();
  if (differs(state, last_difference_)) return false;
  return each_stale(instance, [&](const Span& span) {
    if (!differs(state, span)) return true;
    last_difference_ = span;
    return false;
  });
}

void MemoryHistory::difference(const Instance& instance, Difference& found) const {
  constexpr size_t kPart = 256;
  const auto before = static_cast<std::ptrdiff_t>(found.size());
  each_stale(instance, [&](const Span& span) {
    const char* const now = instance.state() + span.offset;
    const char* const held = image_.data() + span.position;
    for (size_t part = 0; part < span.bytes; part += kPart) {
      const size_t end = std::min<size_t>(part + kPart, span.bytes);
      if (std::memcmp(now + part, held + part, end - part) == 0) continue;
      for (size_t at = part; at < end; ++at) {
        if (now[at] == held[at]) continue;
        found.push_back({span.offset + at, static_cast<uint8_t>(now[at] ^ held[at])});
      }
    }
    return true;
  });
  if (small_ < pieces_.size()) std::sort(found.begin() + before, found.end(), by_offset);
}

void MemoryHistory::restore(Instance& instance) const {
  each_stale(instance, [&](const Span& span) {
    std::memcpy(instance.state() + span.offset, image_.data() + span.position, span.bytes);
    return true;
  });
  if (WrittenBlocks* const written = followed_.find(instance)) written->sync(edges_);
}

size_t MemoryHistory::position(uint64_t offset) const {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (offset >= piece.offset && offset < piece.offset + piece.bytes) return positions_[i] + (offset - piece.offset);
  }
  throw std::runtime_error("byte " + std::to_string(offset) + " of the state is in no memory");
}

Digest MemoryHistory::digest(const Instance& instance) const {
  Hasher hasher;
  each_span(instance, [&](const Span& span) {
    hasher.add(reinterpret_cast<const char*>(&span.offset), sizeof span.offset);
    hasher.add(instance.state() + span.offset, span.bytes);
    return true;
  });
  return hasher.digest();
}

std::vector<std::pair<uint64_t, uint64_t>> MemoryHistory::changes(uint64_t from, uint64_t to) {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  for (size_t i = segment_of(from ? from - 1 : 0); i < segments_.size() && segments_[i].first < to; ++i) {
    if (!segments_[i].known) seek(segments_[i].first + 1);
    for (const Change& change : segments_[i].changes) {
      const uint64_t edges = segments_[i].first + change.edges, position = 8 * uint64_t{change.word};
      if (edges < from || edges > to) continue;
      const size_t piece = std::upper_bound(positions_.begin(), positions_.end(), position) - positions_.begin() - 1;
      const uint64_t offset = pieces_[piece].offset + (position - positions_[piece]);
      for (uint64_t byte = 0; byte < 8; ++byte) {
        if ((change.before ^ change.after) >> 8 * byte & 0xff) found.emplace_back(edges, offset + byte);
      }
    }
  }
  return found;
}

uint64_t MemoryHistory::bytes() const {
  uint64_t registers = 0;
  for (const Segment& segment : segments_) registers += segment.registers.size();
  return image_.size() + single_bytes_ + segments_.back().changes.size() * sizeof(Change) + whole_bytes_ + registers;
}

void Milestones::begin(size_t row_bytes) {
  row_bytes_ = row_bytes;
  distance_ = 32;
  rows_.clear();
}

void Milestones::record(const Registers& registers, const char* state, uint64_t edges) {
  if (edges % distance_) return;
  rows_.resize(rows_.size() + row_bytes_);
  registers.gather(state, rows_.data() + rows_.size() - row_bytes_);
  if (rows_.size() <= kMostBytes) return;
  // Drop the first, third, fifth: what stays are the multiples of twice the distance.
  const size_t kept = rows_.size() / row_bytes_ / 2;
  for (size_t i = 0; i < kept; ++i) {
    std::memmove(rows_.data() + i * row_bytes_, rows_.data() + (2 * i + 1) * row_bytes_, row_bytes_);
  }
  rows_.resize(kept * row_bytes_);
  distance_ *= 2;
}

const char* Milestones::find(uint64_t edges) const {
  const uint64_t i = edges / distance_;
  return edges % distance_ == 0 && i > 0 && i * row_bytes_ <= rows_.size() ? rows_.data() + (i - 1) * row_bytes_ : nullptr;
}

size_t Timeline::slot(const Digest& digest) const {
  size_t i = digest.low & (slots_.size() - 1);
  while (slots_[i] && !(at(slots_[i]) == digest)) i = (i + 1) & (slots_.size() - 1);
  return i;
}

void Timeline::record(const Digest& digest) {
  if (length_ + 1 > UINT32_MAX) throw std::runtime_error("a run of more than 2^32 - 1 cycles cannot be remembered");
  if (length_ % kChunk == 0) chunks_.push_back(std::make_unique_for_overwrite<Digest[]>(kChunk));
  chunks_.back()[length_++ % kChunk] = digest;
  if (4 * (taken_ + 1) > 3 * slots_.size()) {
    // From the first cycle on: an equal one that comes later has no slot.
    std::vector<uint32_t>().swap(slots_);
    slots_.resize(std::max<uint64_t>(1024, std::bit_ceil(2 * taken_ + 2)));
    taken_ = 0;
    for (uint64_t edges = 1; edges < length_; ++edges) {
      uint32_t& place = slots_[slot(at(edges))];
      if (!place) place = static_cast<uint32_t>(edges), ++taken_;
    }
  }
  uint32_t& place = slots_[slot(digest)];
  if (!place) place = static_cast<uint32_t>(length_), ++taken_;
}
