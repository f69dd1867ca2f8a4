# SPDX-License-Identifier: Apache-2.0
"""The reference engine, declared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from resil.rtl_harness.engine.declaration import GOLDEN_LIMIT, Ability, EngineDeclaration, OptionValues

if TYPE_CHECKING:
    from resil.rtl_harness.design.elaboration import Elaboration
    from resil.rtl_harness.design.target import Target
    from resil.rtl_harness.engine.contract import CampaignEngine, Limits
    from resil.rtl_harness.engine.workload import Workload


def _make(
    target: Target, workload: Workload, elaboration: Elaboration, limits: Limits, options: OptionValues
) -> CampaignEngine:
    from resil.rtl_harness.engine.reference.engine import CocotbEngine

    return CocotbEngine(target, workload, elaboration, **limits, golden_limit=int(options["golden_limit"]))


def _check_waves(waves: Path) -> None:
    from resil.rtl_harness.engine.reference.build import check_waves

    check_waves(waves)


DECLARATION = EngineDeclaration(
    "cocotb",
    "The reference engine: cocotb on Verilator, every injection simulated to its end. Writes waveforms.",
    frozenset(Ability) - {Ability.MEMORY_OUTSIDE},
    _make,
    (GOLDEN_LIMIT,),
    check_waves=_check_waves,
)
