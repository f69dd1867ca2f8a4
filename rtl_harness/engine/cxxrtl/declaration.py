# SPDX-License-Identifier: Apache-2.0
"""The engine on Yosys's own simulator, declared."""

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
    from resil.rtl_harness.engine.cxxrtl.engine import CxxrtlEngine

    return CxxrtlEngine(target, workload, elaboration, **limits, golden_limit=int(options["golden_limit"]))


DECLARATION = EngineDeclaration(
    "cxxrtl",
    "Judges the others without Verilator: the netlist of Yosys as C++ (CXXRTL), a process for each fault.",
    frozenset(Ability) - {Ability.MEMORY_OUTSIDE},
    _make,
    (GOLDEN_LIMIT,),
)
