// SPDX-License-Identifier: Apache-2.0
// C interface of the audit: injections that run to where nothing can change any more, beside a run without a fault.
//
// It is there to find out what the shortcuts of injectors and sweeps do wrong, so it has none of their code: no hashes,
// no gates, nothing that was remembered of the golden run, and no list of what is storage. All that the simulator
// computes with is compared byte by byte with that of a run that goes on beside them, and with an earlier state of the
// injection itself.
#ifndef RESIL_VERILATED_AUDIT_H
#define RESIL_VERILATED_AUDIT_H

#include "injector_api.h"

extern "C" {

struct Audit;

/// How long runs may go on, in edges since reset.
struct AuditLimits {
  uint64_t limit;      // of a run, or of its first inference
  uint64_t allowance;  // cycles for which the operation counter may stand still; 0 if it may for ever
  uint64_t end;        // the golden run's
  uint64_t pause;      // the end of its first inference, at which runs pause; 0 if they do not
};

struct AuditEvent {
  uint64_t job;
  uint64_t instance;   // place of the instance that stands at the end of the run, as far as it was simulated
  int32_t stop;    // an InjectionStop; kRejoined: it goes on as the golden run did `shift` cycles earlier
  int64_t shift;
  uint64_t end_cycle;
  uint64_t simulated;
};

/// `golden` and the instances are instances of one library that stay the caller's. `origin` has just come out of reset.
Audit* resil_audit_create(const Instance* origin, Instance* golden, Instance* const* instances, uint64_t count,
                          const AuditLimits* limits);
void resil_audit_destroy(Audit* self);

/// Add the injection number `job`; cycles must not descend.
void resil_audit_add(Audit* self, uint64_t job, const Flip* flips, uint64_t count, uint64_t cycle);
/// Go on to the next end of a run: 1 if there is one, 0 if nothing is left, -1 if the run of `event->job` broke, see
/// resil_error.
int32_t resil_audit_next(Audit* self, AuditEvent* event);
/// Let the run that has paused last go on, until so many edges since reset. To be called before `resil_audit_next`.
void resil_audit_resume(Audit* self, uint64_t limit);
}

#endif
