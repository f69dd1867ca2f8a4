// SPDX-License-Identifier: Apache-2.0
// Which storage of a design does nothing but keep alarms up, found along its gates.
#ifndef RESIL_VERILATED_ALARM_STORAGE_H
#define RESIL_VERILATED_ALARM_STORAGE_H

#include <vector>

#include "golden_run.h"
#include "network.h"

/// Return the flip-flops from which nothing but alarms can be reached, whatever the rest of the design does, that keep
/// one value for ever once they have it, and that have the other one throughout the golden run. In `golden` of each is
/// that value, in `alarms` what it may raise.
std::vector<AlarmBit> alarm_storage(const Network& network, const GoldenRun& run);

#endif
