# SPDX-License-Identifier: Apache-2.0
"""Statuses of fault lists: from outcomes, and from reasons why nothing was simulated."""

from __future__ import annotations

from resil.record.listed import (
    DETECTED,
    FUNCTIONALLY_UNTESTABLE,
    LATENT,
    NOT_ATTEMPTED,
    OBSERVED,
    SAFE,
    UNTESTABLE,
)
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.faults import Outcome, Untestable

# Why nothing can be injected into a bit of the source code, by what synthesis makes of it.
_OF_HARDWARE: dict[str, str] = {
    Hardware.CONSTANT: "constant",
    Hardware.UNUSED: "no_path",
    Hardware.DUPLICATE: "merged",
    Hardware.LATCH: "no_hardware",
}
_OF_OUTCOME: dict[str, str] = {
    Outcome.MASKED: SAFE,
    Outcome.LATENT: LATENT,
    Outcome.SDC_TOLERABLE: OBSERVED,
    Outcome.SDC_CRITICAL: OBSERVED,
    Outcome.HANG: OBSERVED,
    Outcome.DUE: DETECTED,
}


def status_of(outcome: str, untestable: str = "") -> str:
    """Return the status of a fault that an engine has answered for.

    Args:
        outcome: Of the injection, one of `Outcome`.
        untestable: Why nothing could come of it, one of `Untestable`; "" if that is not known.
    """
    if not untestable:
        return _OF_OUTCOME[outcome]
    return UNTESTABLE if Untestable(untestable).is_structural else FUNCTIONALLY_UNTESTABLE


def not_injected(hardware: str) -> tuple[str, str]:
    """Return status and reason of what cannot be injected into.

    Args:
        hardware: As `sites.parquet` has it: what synthesis makes of a bit of the source code, or why a cell
            or a bridge has no site. Faults of the latter may do anything.
    """
    reason = _OF_HARDWARE.get(hardware)
    return (NOT_ATTEMPTED, hardware) if reason is None else (UNTESTABLE, reason)
