# SPDX-License-Identifier: Apache-2.0
"""The functional model of the NPU as an engine, declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resil.rtl_harness.engine.declaration import Ability, EngineDeclaration, OptionValues

if TYPE_CHECKING:
    from resil.rtl_harness.design.elaboration import Elaboration
    from resil.rtl_harness.design.target import Target
    from resil.rtl_harness.engine.contract import CampaignEngine, Limits
    from resil.rtl_harness.engine.workload import Workload


def _make(
    target: Target, workload: Workload, elaboration: Elaboration, limits: Limits, options: OptionValues
) -> CampaignEngine:
    from resil.rtl_harness.npu.memory_engine import MemoryEngine

    return MemoryEngine(target, workload, elaboration.sites, limits["timeout_factor"])


DECLARATION = EngineDeclaration(
    "model",
    "The functional model of the NPU, for memory outside it; some answers are tried on the RTL.",
    frozenset({Ability.MEMORY_OUTSIDE, Ability.CLUSTERS}),
    _make,
)
