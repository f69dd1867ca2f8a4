// SPDX-License-Identifier: Apache-2.0
// Fault propagation along the gates: jobs of a sweep whose difference is small, and where they could leave.
#ifndef RESIL_VERILATED_GATE_FOLLOWER_H
#define RESIL_VERILATED_GATE_FOLLOWER_H

#include "ripple.h"
#include "sweep_context.h"

class GateFollower {
 public:
  explicit GateFollower(SweepContext& sweep) : sweep_(sweep), ripple_(sweep.network(), sweep.window()) {}

  /// Follow a job to the end of the window, or until nothing is left of its difference; false if it has to be simulated
  /// now.
  bool follow(Job& job);

 private:
  // A job whose difference stayed the same has come from a cycle: its operation counter moved when the golden one did.
  void pass(Job& job, uint64_t from) const;
  // The gates have said what the difference is a cycle later; false if the job's operation would then end too late.
  bool step(Job& job, size_t place);
  // The job's difference is that of all cycles `from` .. `to`: see whether it could leave at a boundary among them.
  void note(Job& job, uint64_t from, uint64_t to) const;

  SweepContext& sweep_;
  Ripple ripple_;
};

#endif
