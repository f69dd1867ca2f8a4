# SPDX-License-Identifier: Apache-2.0
"""The fast engine, declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resil.rtl_harness.engine.declaration import (
    GOLDEN_LIMIT,
    Ability,
    EngineDeclaration,
    EngineOption,
    OptionValues,
)

if TYPE_CHECKING:
    from resil.rtl_harness.design.elaboration import Elaboration
    from resil.rtl_harness.design.target import Target
    from resil.rtl_harness.engine.contract import CampaignEngine, Limits
    from resil.rtl_harness.engine.workload import Workload

# What the options of sweeps and lanes mean to the engine.
WANTED = {"when it pays": None, "always": True, "never": False}
_CHOICES = tuple(WANTED)


def _make(
    target: Target, workload: Workload, elaboration: Elaboration, limits: Limits, options: OptionValues
) -> CampaignEngine:
    from resil.rtl_harness.engine.fast.engine import VerilatorEngine

    return VerilatorEngine(
        target,
        workload,
        elaboration,
        **limits,
        golden_limit=int(options["golden_limit"]),
        sweep=WANTED[str(options["sweep"])],
        lanes=WANTED[str(options["lanes"])],
    )


def _build_ahead(target: Target, workload: Workload, elaboration: Elaboration, fault_cycles: int) -> None:
    from resil.rtl_harness.engine.fast.build_ahead import build_ahead

    build_ahead(target, workload, elaboration, fault_cycles)


DECLARATION = EngineDeclaration(
    "verilator",
    "The fast engine: a compiled model in process. Injections end as soon as it is known how.",
    frozenset(Ability) - {Ability.MEMORY_OUTSIDE, Ability.COCOTB_TEST},
    _make,
    (
        GOLDEN_LIMIT,
        EngineOption(
            "sweep",
            "string",
            _CHOICES[0],
            "Take all faults through the golden run together, along the gates, which are built first.",
            choices=_CHOICES,
        ),
        EngineOption(
            "lanes",
            "string",
            _CHOICES[0],
            "There, simulate faults that live long 32 at a time in a model of its own, which is built first.",
            choices=_CHOICES,
        ),
    ),
    build_ahead=_build_ahead,
)
