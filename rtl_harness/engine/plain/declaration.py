# SPDX-License-Identifier: Apache-2.0
"""The plain engine, declared."""

from __future__ import annotations

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
    from resil.rtl_harness.engine.plain.engine import PlainEngine

    return PlainEngine(target, workload, elaboration, **limits, golden_limit=int(options["golden_limit"]))


DECLARATION = EngineDeclaration(
    "plain",
    "Judges the others: a plain Verilator build and a copy of the process for each fault, nothing else.",
    frozenset(Ability) - {Ability.MEMORY_OUTSIDE},
    _make,
    (GOLDEN_LIMIT,),
)
