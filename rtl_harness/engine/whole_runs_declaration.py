# SPDX-License-Identifier: Apache-2.0
"""Declares engines that simulate every fault to its end; nothing of such an engine is imported for that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Unpack

from resil.rtl_harness.engine.declaration import GOLDEN_LIMIT, Ability, EngineDeclaration, OptionValues

if TYPE_CHECKING:
    from resil.rtl_harness.design.elaboration import Elaboration
    from resil.rtl_harness.design.target import Target
    from resil.rtl_harness.engine.contract import CampaignEngine, Limits
    from resil.rtl_harness.engine.run_limits import RunLimits
    from resil.rtl_harness.engine.workload import Workload


class WholeRunsEngine(Protocol):
    """A class of engines that simulate every fault to its end: see `resil.rtl_harness.engine.whole_runs`."""

    def __call__(
        self, target: Target, workload: Workload, elaboration: Elaboration, **limits: Unpack[RunLimits]
    ) -> CampaignEngine:
        """Make one."""
        ...


def declare_whole_runs(
    name: str,
    help: str,
    load: Callable[[], WholeRunsEngine],
    check_waves: Callable[[Path], None] | None = None,
    *,
    runs_tests: bool = False,
) -> EngineDeclaration:
    """Declare an engine that simulates every fault in storage of the design to its end.

    Args:
        name: As of `EngineDeclaration`.
        help: As of `EngineDeclaration`.
        load: Imports the engine's class, when one is first made: what it needs takes long to import.
        check_waves: As of `EngineDeclaration`.
        runs_tests: A workload may be a test of cocotb.
    """

    def make(
        target: Target, workload: Workload, elaboration: Elaboration, limits: Limits, options: OptionValues
    ) -> CampaignEngine:
        golden_limit = int(options[GOLDEN_LIMIT.name])
        return load()(target, workload, elaboration, **limits, golden_limit=golden_limit)

    lacks = {Ability.MEMORY_OUTSIDE, Ability.LOGIC} | (set() if runs_tests else {Ability.COCOTB_TEST})
    abilities = frozenset(Ability) - lacks
    return EngineDeclaration(name, help, abilities, make, (GOLDEN_LIMIT,), check_waves=check_waves)
