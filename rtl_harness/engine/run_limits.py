# SPDX-License-Identifier: Apache-2.0
"""How long runs of an engine may go on, as its constructor takes it: the same of all that run a design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypedDict

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import check_until_detection
from resil.rtl_harness.engine.declaration import GOLDEN_LIMIT_CYCLES
from resil.rtl_harness.engine.timeout import Timeout, check_timeout
from resil.rtl_harness.engine.workload import Workload


class RunLimits(TypedDict, total=False):
    """The arguments that say when a run ends, as of `CheckedLimits`; what is left out has its default."""

    timeout_factor: float
    timeout: Timeout
    until_detection: bool
    golden_limit: int


@dataclass(frozen=True, slots=True)
class CheckedLimits:
    """When a run ends.

    Attributes:
        timeout_factor: Time-out of an injection, in multiples of the golden run.
        timeout: What has one: see `Timeout`.
        until_detection: What comes after an alarm that reports a detected fault is left out of an
            injection: see `Injection.until_detection`.
        golden_limit: Cycles after which a golden run counts as not finishing.
    """

    timeout_factor: float = 2.0
    timeout: Timeout = Timeout.INFERENCE
    until_detection: bool = False
    golden_limit: int = GOLDEN_LIMIT_CYCLES

    @classmethod
    def of(cls, target: Target, workload: Workload, limits: RunLimits) -> Self:
        """Return the limits; raise HarnessError if target or workload cannot have them."""
        found = cls(**limits)
        check_timeout(target, found.timeout, found.timeout_factor)
        check_until_detection(target, workload, found.until_detection)
        return found
