// SPDX-License-Identifier: Apache-2.0
// How a machine ends: see group.h.

#include <algorithm>
#include <cstring>

#include "group.h"

namespace {

bool bit(const uint8_t* bytes, uint32_t i) { return bytes[i / 8] >> (i % 8) & 1; }

}  // namespace

void Group::observe(Context& c, uint64_t r) {
  const Evaluator& e = c.evaluator;
  Lanes unknown = {};
  for (const int32_t net : design_->undefined) {
    if (e.golden(net)) {
      // As the golden run, of which it is known; but not if anything differs.
      unknown |= e.strayed() & e.value(net);
    } else {
      unknown |= e.differs(net);
    }
  }
  if (any(unknown & live_)) end(c, r, unknown & live_, kUndefined);
  if (r == 0) return;
  note_alarms(c, r);
  if (c.limits.until_detection && any(detected_ & live_)) end(c, r, detected_ & live_, kDetected);
  Lanes done = {};
  for (const int32_t net : design_->done) done |= e.value(net);
  if (any(done & live_)) end(c, r, done & live_, kDone);
  if (c.limits.allowance) note_moves(c, r);
  if (r < next_stop_) return;
  Lanes over = {};
  next_stop_ = ~uint64_t{0};
  each_lane(live_, [&](unsigned i) {
    if (machines_[i].stop <= r) {
      set_lane(over, i);
    } else {
      next_stop_ = std::min(next_stop_, machines_[i].stop);
    }
  });
  if (any(over)) end(c, r, over, kLimit);
}

void Group::note_alarms(Context& c, uint64_t r) {
  const Evaluator& e = c.evaluator;
  for (const AlarmNet& a : design_->alarms) {
    const uint64_t alarm = uint64_t{1} << a.alarm;
    if (c.usual & alarm) continue;
    const Lanes up = e.value(a.net) & live_;
    if (!any(up)) continue;
    if (design_->detects & alarm) {
      each_lane(up & ~detected_, [&](unsigned i) {
        LogicResult& result = c.results[machines_[i].fault];
        result.detected = a.alarm, result.detected_cycle = r - 1;
      });
      detected_ |= up;
    }
    if (design_->corrects & alarm) {
      each_lane(up & ~corrected_, [&](unsigned i) {
        LogicResult& result = c.results[machines_[i].fault];
        result.corrected = a.alarm, result.corrected_cycle = r - 1;
      });
      corrected_ |= up;
    }
  }
}

// The counter of operations moves where it is not what it was a cycle before.
void Group::note_moves(Context& c, uint64_t r) {
  Lanes moved = {};
  for (size_t i = 0; i < operation_.size(); ++i) {
    const Lanes now = c.evaluator.value(design_->operation[i]);
    moved |= now ^ operation_[i];
    operation_[i] = now;
  }
  each_lane(moved & live_, [&](unsigned i) {
    Machine& m = machines_[i];
    m.moved = r;
    // Of one that goes round for ever it was decided that this changes nothing.
    if (!m.loops) m.stop = m.report = deadline(c, m);
  });
}

void Group::end(Context& c, uint64_t r, const Lanes& which, LogicHow how) {
  const size_t bytes = design_->outputs.size();
  each_lane(which, [&](unsigned i) {
    const Machine& m = machines_[i];
    LogicResult& result = c.results[m.fault];
    result.how = how == kLimit && m.loops ? kLoop : how;
    result.end_cycle = how == kLimit ? m.report : r;
    result.status = 0;
    for (size_t k = 0; k < design_->status.size() && k < 64; ++k) {
      result.status |= c.evaluator.number(&design_->status[k], 1, i) << k;
    }
    std::memset(c.output + m.fault * bytes, 0, bytes);
  });
  const Lanes wrong = output_of(c, which);
  if (how == kDone) {
    const Lanes equal = which & ~wrong;
    const Lanes differs = state_differs(c, r, equal);
    each_lane(equal, [&](unsigned i) { c.results[machines_[i].fault].differs = lane(differs, i); });
  }
  drop(which);
}

// Keep the outputs of machines; returns those in which they are not what the golden run has in the end.
Lanes Group::output_of(Context& c, const Lanes& which) {
  Lanes wrong = {};
  for (size_t at = 0; at < design_->outputs.size(); ++at) {
    const OutputByte& o = design_->outputs[at];
    const uint32_t memory = static_cast<uint32_t>(o.memory);
    const uint8_t golden = c.memories.word(memory, o.word)[o.byte];
    const Lanes* const block = overlay_.find(memory, o.word);
    const uint32_t first = 8 * static_cast<uint32_t>(o.byte);
    each_lane(which, [&](unsigned i) {
      unsigned byte = golden;
      for (uint32_t k = 0; block && k < 8 && first + k < design_->widths[memory]; ++k) {
        byte ^= static_cast<unsigned>(lane(block[first + k], i)) << k;
      }
      c.output[machines_[i].fault * design_->outputs.size() + at] = static_cast<uint8_t>(byte);
      if (byte != c.golden_output[at]) set_lane(wrong, i);
    });
  }
  return wrong;
}

// Machines whose storage is not what the golden run has in its end, as far as it is compared.
Lanes Group::state_differs(Context& c, uint64_t r, const Lanes& which) const {
  Lanes found = {};
  const uint64_t* const now = c.golden.row(r);
  const uint64_t* const last = c.golden.last();
  for (uint32_t i = 0; i < design_->flip_flops.size(); ++i) {
    if (!design_->counted[i]) continue;
    const int32_t q = design_->flip_flops[i].q;
    found |= c.evaluator.stored(i) ^ spread(Golden::bit(now, q) != Golden::bit(last, q));
  }
  found &= which;
  const Lanes left = which & ~found;
  return any(left) ? found | memories_differ(c, left) : found;
}

Lanes Group::memories_differ(Context& c, const Lanes& which) const {
  Lanes found = {};
  for (size_t memory = 0; memory < design_->memories.size(); ++memory) {
    if (!design_->counted_memories[memory]) continue;
    const size_t size = design_->memories[memory].entry_bytes;
    const uint32_t width = design_->widths[memory];
    const std::vector<uint8_t>& now = c.memories.image(memory);
    const std::vector<uint8_t>& last = c.golden.last_memories()[memory];
    // Words that the golden run has not now as in the end, and what differs in machines from what it has now.
    for (const auto& [word, block] : overlay_.words(memory)) {
      for (uint32_t i = 0; i < width; ++i) {
        found |= block[i] ^ spread(bit(&now[word * size], i) != bit(&last[word * size], i));
      }
    }
    if (now == last) continue;
    for (uint64_t word = 0; word < design_->memories[memory].words; ++word) {
      const uint8_t *const here = &now[word * size], *const there = &last[word * size];
      if (std::memcmp(here, there, size) == 0 || overlay_.find(memory, word)) continue;
      for (uint32_t i = 0; i < width; ++i) found |= spread(bit(here, i) != bit(there, i));
    }
  }
  return found & which;
}

void Group::drop(const Lanes& which) {
  live_ &= ~which;
  std::erase_if(upsets_, [&](const Upset& upset) { return !lane(live_, upset.machine); });
  for (Held& h : held_) h.zero &= live_, h.one &= live_;
}
