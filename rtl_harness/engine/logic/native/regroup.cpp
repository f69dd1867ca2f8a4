// SPDX-License-Identifier: Apache-2.0
// Machines that go round for ever, and machines that change groups: see group.h.

#include <algorithm>

#include "group.h"

void Group::look_back(Context& c, uint64_t r) {
  compare(c, r, recent_);
  compare(c, r, old_);
  const auto note = [&](Snapshot& to) {
    to.row = r;
    to.valid = live_;
    to.state = state_;
    to.kept = kept_;
    const uint64_t* const row = c.golden.row(r);
    to.golden.assign(row, row + (2 + design_->flip_flops.size()) / 64 + 1);
    for (unsigned i = 0; i < kLanes; ++i) to.moved[i] = machines_[i].moved;
  };
  if (!begun_) begun_ = r;
  // The older one is ever further back, as in Brent's method.
  old_.valid &= ~wrote_;
  if (!old_.row || r - begun_ >= 2 * (old_.row - begun_)) note(old_);
  note(recent_);
  wrote_ = Lanes{};
}

// A machine whose flip-flops are what they were, with what nets with an open pin had, and which has written nothing since,
// is in the same state: its fault is there for ever. What it does from there to its end is known then.
void Group::compare(Context& c, uint64_t r, const Snapshot& then) {
  Lanes same = then.valid & live_ & ~wrote_;
  for (const Upset& upset : upsets_) clear_lane(same, upset.machine);
  for (size_t slot = 0; slot < kept_.size(); ++slot) {
    same &= ~(kept_[slot] ^ (slot < then.kept.size() ? then.kept[slot] : Lanes{}));
  }
  if (!any(same)) return;
  const uint64_t* const now = c.golden.row(r);
  const size_t end = 2 + design_->flip_flops.size();
  size_t moved = 0, met = 0;
  for (size_t word = 0; word <= end / 64; ++word) {
    uint64_t changed = now[word] ^ then.golden[word];
    if (word == end / 64) changed &= (uint64_t{1} << (end % 64)) - 1;
    moved += static_cast<size_t>(std::popcount(changed));
  }
  auto a = then.state.begin(), b = state_.cbegin();
  while ((a != then.state.end() || b != state_.cend()) && any(same)) {
    const uint32_t i = std::min(a != then.state.end() ? a->flip_flop : ~0u, b != state_.cend() ? b->flip_flop : ~0u);
    const int32_t q = design_->flip_flops[i].q;
    const bool golden = Golden::bit(now, q) != Golden::bit(then.golden.data(), q);
    Lanes d = spread(golden);
    met += golden;
    if (a != then.state.end() && a->flip_flop == i) d ^= (a++)->d;
    if (b != state_.cend() && b->flip_flop == i) d ^= (b++)->d;
    same &= ~d;
  }
  if (!any(same) || met != moved) return;
  const uint64_t period = r - then.row;
  each_lane(same, [&](unsigned i) {
    Machine& m = machines_[i];
    if (m.loops) return;
    uint64_t last = c.limits.limit;
    if (c.limits.allowance) {
      const bool still = m.moved == then.moved[i];
      if (!still && r - m.moved != then.row - then.moved[i]) return;
      if (still) last = m.stop;
    }
    m.loops = true;
    m.report = last;
    m.stop = r + (last - r) % period;
    next_stop_ = std::min(next_stop_, m.stop);
    ++c.counts.loops;
  });
}

Lanes Group::far(unsigned power) const {
  Lanes counters[24] = {};
  for (const Stored& s : state_) {
    Lanes carry = s.d;
    for (unsigned k = 0; k < 24 && any(carry); ++k) {
      const Lanes next = counters[k] & carry;
      counters[k] ^= carry;
      carry = next;
    }
  }
  Lanes found = {};
  for (unsigned k = power; k < 24; ++k) found |= counters[k];
  return found & live_;
}

Lanes Group::take(Context& c, Group& from, const Lanes& wanted) {
  Lanes taken = {}, own = {};
  std::array<uint16_t, kLanes> to;
  unsigned next = 0;
  each_lane(wanted & from.live_, [&](unsigned i) {
    while (next < kLanes && lane(live_, next)) ++next;
    if (next == kLanes) return;
    to[i] = static_cast<uint16_t>(next);
    set_lane(taken, i);
    set_lane(own, next);
    machines_[next] = from.machines_[i];
    ++next;
  });
  if (!any(taken)) return taken;
  const auto moved = [&](const Lanes& d) {
    Lanes found = {};
    each_lane(d & taken, [&](unsigned i) { set_lane(found, to[i]); });
    return found;
  };
  for (const Stored& s : state_) c.dense[s.flip_flop] = s.d & live_;
  for (const Stored& s : from.state_) {
    if (any(s.d & taken)) c.dense[s.flip_flop] |= moved(s.d);
  }
  rebuild_state(c);
  overlay_.prune(live_);
  for (size_t memory = 0; memory < design_->memories.size(); ++memory) {
    for (const auto& [word, block] : from.overlay_.words(memory)) {
      Lanes left = {};
      for (uint32_t i = 0; i < design_->widths[memory]; ++i) left |= block[i];
      if (!any(left & taken)) continue;
      Lanes* const into = overlay_.make(memory, word);
      for (uint32_t i = 0; i < design_->widths[memory]; ++i) into[i] |= moved(block[i]);
    }
  }
  if (kept_.size() < from.kept_.size()) kept_.resize(from.kept_.size());
  for (size_t slot = 0; slot < kept_.size(); ++slot) {
    kept_[slot] &= ~own;
    if (slot < from.kept_.size()) kept_[slot] |= moved(from.kept_[slot]);
  }
  std::erase_if(held_, [](const Held& h) { return !any(h.zero | h.one); });
  for (const Held& h : from.held_) {
    if (!any((h.zero | h.one) & taken)) continue;
    auto at = std::find_if(held_.begin(), held_.end(), [&](const Held& mine) { return mine.is(h); });
    if (at == held_.end()) at = held_.insert(held_.end(), {h.kind, h.at, h.column, h.slot, Lanes{}, Lanes{}});
    at->zero |= moved(h.zero);
    at->one |= moved(h.one);
  }
  for (const Upset& upset : from.upsets_) {
    if (lane(taken, upset.machine)) upsets_.push_back({upset.row, to[upset.machine], upset.what});
  }
  operation_.resize(design_->operation.size());
  for (size_t i = 0; i < operation_.size(); ++i) operation_[i] = (operation_[i] & ~own) | moved(from.operation_[i]);
  detected_ = (detected_ & ~own) | moved(from.detected_);
  corrected_ = (corrected_ & ~own) | moved(from.corrected_);
  recent_.valid &= ~own;
  old_.valid &= ~own;
  live_ |= own;
  next_stop_ = 0;
  used_ = kLanes;
  from.drop(taken);
  for (Stored& s : from.state_) s.d &= from.live_;
  c.counts.moved += count(taken);
  return taken;
}
