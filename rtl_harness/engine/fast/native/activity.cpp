// SPDX-License-Identifier: Apache-2.0
// See activity.h.

#include "activity.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

void Activity::begin(std::vector<Piece> pieces, const char* state) {
  pieces_ = std::move(pieces);
  image_.clear();
  for (const Piece& piece : pieces_) image_.insert(image_.end(), state + piece.offset, state + piece.offset + piece.bytes);
  times_.assign(8 * image_.size(), {});
  edges_ = 0;
  for (size_t i = 0; i < times_.size(); ++i) times_[i].first[image_[i / 8] >> i % 8 & 1] = 0;
}

void Activity::note(const char* state, uint64_t edges) {
  constexpr size_t kBlock = 256;
  if (edges >= kNone) throw std::runtime_error("the golden run is too long to be watched");
  const uint32_t before = std::exchange(edges_, static_cast<uint32_t>(edges));
  size_t position = 0;
  for (const Piece& piece : pieces_) {
    const char* const now = state + piece.offset;
    for (size_t block = 0; block < piece.bytes; block += kBlock) {
      const size_t end = std::min<size_t>(block + kBlock, piece.bytes);
      if (std::memcmp(now + block, image_.data() + position + block, end - block) == 0) continue;
      for (size_t at = block; at < end; ++at) {
        char& held = image_[position + at];
        if (now[at] == held) continue;
        for (unsigned changed = static_cast<uint8_t>(now[at] ^ held); changed; changed &= changed - 1) {
          const unsigned bit = static_cast<unsigned>(std::countr_zero(changed));
          Times& times = times_[8 * (position + at) + bit];
          const unsigned value = now[at] >> bit & 1;
          times.last[!value] = before;
          times.first[value] = std::min(times.first[value], edges_);
        }
        held = now[at];
      }
    }
    position += piece.bytes;
  }
}

Span Activity::differs(Holds holds) const {
  Span any;
  for (const Hold& hold : holds) {
    const Span own = differs(hold);
    any = {std::min(any.first, own.first), std::max(any.last, own.last)};
  }
  return any;
}

Span Activity::differs(const Hold& hold) const {
  size_t position = 0;
  for (const Piece& piece : pieces_) {
    if (hold.offset >= piece.offset && hold.offset < piece.offset + piece.bytes) {
      const size_t byte = position + (hold.offset - piece.offset);
      const unsigned bit = static_cast<unsigned>(std::countr_zero(hold.mask));
      const Times& times = times_[8 * byte + bit];
      const unsigned other = hold.value ? 0 : 1;
      if (times.first[other] == kNone) return {};
      const bool now = (image_[byte] >> bit & 1) == static_cast<int>(other);
      return {times.first[other], now ? edges_ : times.last[other]};
    }
    position += piece.bytes;
  }
  throw std::runtime_error("byte " + std::to_string(hold.offset) + " of the state was not watched");
}
