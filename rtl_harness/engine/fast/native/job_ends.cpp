// SPDX-License-Identifier: Apache-2.0
// See job_ends.h.

#include "job_ends.h"

bool JobEnds::end(Job& job, SweepEvent& event, SweepEventKind kind) {
  last_ = std::move(job);
  event.kind = kind;
  event.job = last_.id;
  event.simulated = last_.simulated;
  event.in_lane = last_.in_lane;
  event.known = last_.known == sweep_.windows();
  event.windows = sweep_.windows();
  event.spent = kind == kVanished && last_.spent;
  event.reported = last_.reported;
  if (kind == kVanished) {
    event.shift = last_.shift;
    event.end_cycle = sweep_.golden().length() + static_cast<uint64_t>(last_.shift);
  } else if (kind == kStopped && event.stop == kPaused) {
    event.shift = last_.shift;
    event.bytes = last_.d.data();
    event.byte_count = last_.d.size();
  } else if (kind == kLeft) {
    event.shift = last_.leave->shift;
    event.end_cycle = sweep_.golden().length() + static_cast<uint64_t>(last_.leave->shift);
    event.operation = last_.leave->operation;
    event.bytes = last_.leave->d.data();
    event.byte_count = last_.leave->d.size();
  }
  if (last_.noted) {
    event.noted_operation = last_.noted->operation;
    event.noted = last_.noted->d.data();
    event.noted_count = last_.noted->d.size();
  }
  return true;
}
