# SPDX-License-Identifier: Apache-2.0
"""What engines have in common that simulate every fault to its end: bench, limits, nothing to audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Unpack

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import Audited, Engine, check_inferences
from resil.rtl_harness.engine.run_limits import CheckedLimits, RunLimits
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Injection


class WholeRuns:
    """The part of an engine that says what it simulates and how far.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Storage of the target, elaborated with the workload's parameters.
        limits: When a run ends: see `CheckedLimits`.

    Raises:
        HarnessError: If the workload does not fit the target.
    """

    def __init__(
        self,
        target: Target,
        workload: Workload,
        elaboration: Elaboration,
        **limits: Unpack[RunLimits],
    ) -> None:
        self._limits = CheckedLimits.of(target, workload, limits)
        check_inferences(target, workload)
        self.target = target
        self.workload = workload
        self.elaboration = elaboration
        self.notes: list[str] = []

    @property
    def audits(self) -> Mapping[str, Audited]:
        """Nothing: every answer is a run to the end."""
        return {}

    def audit_kept(self, injections: Iterable[Injection], workers: int = 1) -> None:
        """Do nothing: what this engine has answered were runs to the end."""

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """Nothing here is worth more if there are more faults."""
