// SPDX-License-Identifier: Apache-2.0
// See state_merger.h.

#include "state_merger.h"

void StateMerger::clear() {
  known_.clear();
  merged_.clear();
}

void StateMerger::merge(std::deque<Job>& parked) {
  std::unordered_map<Prospect, uint64_t, Prospect::Hash> seen;
  std::deque<Job> kept;
  for (Job& job : parked) {
    if (job.small && !sweep_.makes_edge(job)) {
      const auto [at, fresh] = seen.emplace(sweep_.prospect(job), job.id);
      if (!fresh) {
        merged_.emplace_back(std::move(job), at->second);
        continue;
      }
    }
    kept.push_back(std::move(job));
  }
  parked = std::move(kept);
}

bool StateMerger::joins(Job& job, const Prospect& began) {
  const auto other = known_.find(began);
  if (other == known_.end()) return false;
  merged_.emplace_back(std::move(job), other->second);
  return true;
}

void StateMerger::keep(Job& job, Prospect&& began) {
  known_.emplace(std::move(began), job.id);
  job.known = sweep_.windows();
}

std::optional<std::pair<Job, uint64_t>> StateMerger::next() {
  if (merged_.empty()) return std::nullopt;
  std::pair<Job, uint64_t> found = std::move(merged_.front());
  merged_.pop_front();
  return found;
}
