// SPDX-License-Identifier: Apache-2.0 Signal activity: when each bit of storage was 0 and when it was 1 in the golden
// run, so when a held bit has an effect.
#ifndef RESIL_VERILATED_ACTIVITY_H
#define RESIL_VERILATED_ACTIVITY_H

#include <cstdint>
#include <span>
#include <vector>

#include "injector_api.h"

using Holds = std::span<const Hold>;

// The numbers of edges after which a bit first and last had a value, as settled after the rising edge or after the
// falling one that follows. `kNever` and 0 if it never had it.
struct Span {
  static constexpr uint64_t kNever = ~uint64_t{0};
  uint64_t first = kNever;
  uint64_t last = 0;
};

class Activity {
 public:
  /// Contents before the first edge.
  void begin(std::vector<Piece> pieces, const char* state);
  /// Settled contents when `edges` rising edges have passed; called in turn.
  void note(const char* state, uint64_t edges);
  bool known() const { return !image_.empty(); }
  /// When any of the bits had another value than the held one. Throws if one is in none of the pieces.
  Span differs(Holds holds) const;

 private:
  struct Times {
    uint32_t first[2] = {kNone, kNone};
    uint32_t last[2] = {0, 0};
  };

  Span differs(const Hold& hold) const;

  static constexpr uint32_t kNone = ~uint32_t{0};

  std::vector<Piece> pieces_;
  std::vector<char> image_;
  std::vector<Times> times_;  // eight a byte of the image
  uint32_t edges_ = 0;        // of the last contents that were noted
};

#endif
