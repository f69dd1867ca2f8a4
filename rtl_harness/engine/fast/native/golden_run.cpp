// SPDX-License-Identifier: Apache-2.0
// See golden_run.h.

#include "golden_run.h"

#include <stdexcept>

RunStop GoldenRun::record(uint64_t limit, bool several) {
  copy(cursor_, origin_);
  cursor_.select();
  first_operation_ = cursor_.operation;
  timeline_ = {};
  boundaries_.clear();
  pause_ = 0;
  memories_.begin(cursor_, registers_);
  milestones_.begin(registers_.bytes());
  while (cursor_.cycle < limit) {
    cursor_.rise();
    cursor_.note_alarms();
    alarms_ = cursor_.risen;
    if (several && !pause_ && cursor_.outputs.inferences > 0) {
      pause_ = cursor_.cycle;
      pause_registers_.resize(registers_.bytes());
      registers_.gather(cursor_.state(), pause_registers_.data());
    }
    if (cursor_.note_operation()) {
      std::vector<char> registers(registers_.bytes());
      registers_.gather(cursor_.state(), registers.data());
      boundaries_.push_back({cursor_.cycle, cursor_.operation, std::move(registers)});
    }
    timeline_.record(registers_.digest(cursor_.state()));
    memories_.record(cursor_, registers_, cursor_.cycle);
    milestones_.record(registers_, cursor_.state(), cursor_.cycle);
    if (cursor_.outputs.done || cursor_.outputs.finished) break;
  }
  last_registers_.resize(registers_.bytes());
  registers_.gather(cursor_.state(), last_registers_.data());
  if (cursor_.outputs.done) return kDone;
  return cursor_.outputs.finished ? kFinish : kLimit;
}

void GoldenRun::seek(uint64_t edges) {
  if (cursor_.cycle > edges) copy(cursor_, origin_);
  cursor_.select();
  while (cursor_.cycle < edges) cursor_.rise();
}

void GoldenRun::simulate_again(const std::vector<char>& row, uint64_t first, uint64_t last) {
  Instance* const selected = selected_;
  if (!again_) {
    again_.reset(resil_create(0, nullptr));
    if (!again_) throw std::runtime_error(resil_error());
    follow(*again_);
    selected_ = selected;
    again_->select();
    again_->rise();
  }
  again_->select();
  if (first == 0) {
    copy(*again_, origin_);
  } else {
    registers_.scatter(row.data(), again_->state());
    memories_.restore(*again_);
    again_->settle_quietly();
    again_->cycle = first;
  }
  while (again_->cycle < last) {
    again_->rise();
    memories_.again(*again_, again_->cycle);
  }
  if (selected) selected->select();
}

void GoldenRun::copy_cursor(Instance& to) {
  to.copy(cursor_);
  memories_.seek(cursor_.cycle);
  memories_.restore(to);
}

void GoldenRun::rewind(uint64_t edges) {
  const char* row = nullptr;
  for (; edges > 0 && !row; --edges) row = milestones_.find(edges);
  if (!row) return copy(cursor_, origin_);
  registers_.scatter(row, cursor_.state());
  memories_.seek(edges + 1);
  memories_.restore(cursor_);
  cursor_.select();
  cursor_.settle_quietly();
  cursor_.cycle = edges + 1;
}
