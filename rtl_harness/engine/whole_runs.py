# SPDX-License-Identifier: Apache-2.0
"""What engines have in common that simulate every fault to its end: bench, limits, nothing to audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import Audited, Engine, check_inferences, check_until_detection
from resil.rtl_harness.engine.declaration import GOLDEN_LIMIT_CYCLES
from resil.rtl_harness.engine.timeout import Timeout, check_timeout
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Injection


class RunLimits(TypedDict, total=False):
    """When a run ends, as `WholeRuns` takes it."""

    timeout_factor: float
    timeout: Timeout
    until_detection: bool
    golden_limit: int


class WholeRuns:
    """The part of an engine that says what it simulates and how far.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Storage of the target, elaborated with the workload's parameters.
        timeout_factor: Time-out of an injection, in multiples of the golden run.
        timeout: What has one: see `Timeout`.
        until_detection: What comes after an alarm that reports a detected fault is left out of an
            injection: see `Injection.until_detection`.
        golden_limit: Cycles after which a golden run counts as not finishing.

    Raises:
        HarnessError: If the workload does not fit the target.
    """

    def __init__(
        self,
        target: Target,
        workload: Workload,
        elaboration: Elaboration,
        *,
        timeout_factor: float = 2.0,
        timeout: Timeout = Timeout.INFERENCE,
        until_detection: bool = False,
        golden_limit: int = GOLDEN_LIMIT_CYCLES,
    ) -> None:
        check_timeout(target, timeout, timeout_factor)
        check_until_detection(target, workload, until_detection)
        check_inferences(target, workload)
        self.target = target
        self.workload = workload
        self.elaboration = elaboration
        self.notes: list[str] = []
        self._timeout_factor = timeout_factor
        self._timeout = timeout
        self._until_detection = until_detection
        self._golden_limit = golden_limit

    @property
    def audits(self) -> Mapping[str, Audited]:
        """Nothing: every answer is a run to the end."""
        return {}

    def audit_kept(self, injections: Iterable[Injection], workers: int = 1) -> None:
        """Do nothing: what this engine has answered were runs to the end."""

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """Nothing here is worth more if there are more faults."""
