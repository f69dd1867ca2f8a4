# SPDX-License-Identifier: Apache-2.0
"""What an engine can do and which options it has: data that settings, checks, help and docs come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resil.rtl_harness.design.elaboration import Elaboration
    from resil.rtl_harness.design.target import Target
    from resil.rtl_harness.engine.contract import CampaignEngine, Limits
    from resil.rtl_harness.engine.workload import Workload

OptionValue = str | int | float | bool
OptionValues = Mapping[str, OptionValue]


class Ability(StrEnum):
    """What campaigns ask of an engine; each value goes on with "an engine that can"."""

    STORAGE = "inject into storage of the design"
    MEMORY_OUTSIDE = "inject into memory outside the NPU"
    LOGIC = "strike logic between registers"
    CLUSTERS = "invert several bits of a word"
    STUCK_AT = "hold bits from reset on"
    TWO_INFERENCES = "go on with a second inference"
    OPERATION_TIMEOUT = "time operations out"
    UNTIL_DETECTION = "end injections at detection"
    FARM = "work on a farm"
    COCOTB_TEST = "run a test of cocotb"


@dataclass(frozen=True)
class EngineOption:
    """One option of an engine, a key of its table [engine.NAME] in a campaign file.

    Attributes:
        name: Of the key.
        type: "string", "integer", "number" or "boolean".
        default: Without the key.
        help: What it does, in a sentence or two.
        low: Of an integer the least value, of a number what it is above.
        high: Of an integer the largest value, of a number what it is below.
        choices: Strings that it may be.
    """

    name: str
    type: str
    default: OptionValue
    help: str
    low: float = float("-inf")
    high: float = float("inf")
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class EngineDeclaration:
    """An engine, declared: all that the rest of resil has to know of it.

    Attributes:
        name: By which campaigns ask for it, and which its injections are recorded under.
        help: What it is, in a sentence or two.
        abilities: What campaigns may ask of it.
        make: Makes it for one workload; its simulator is built when it is first needed. Of an engine for
            memory outside the NPU the elaboration holds the sites of that memory alone.
        options: Which it has.
        build_ahead: Begins to build what so many faults times cycles will need, beside other work; None if
            nothing can be begun.
        check_waves: Refuses, before anything is built, a waveform that cannot be written to this file;
            None if the engine writes none.
    """

    name: str
    help: str
    abilities: frozenset[Ability]
    make: Callable[[Target, Workload, Elaboration, Limits, OptionValues], CampaignEngine]
    options: tuple[EngineOption, ...] = ()
    build_ahead: Callable[[Target, Workload, Elaboration, int], None] | None = None
    check_waves: Callable[[Path], None] | None = None

    def values(self, given: OptionValues) -> dict[str, OptionValue]:
        """Return the value of every option: as given, else its default."""
        return {option.name: given.get(option.name, option.default) for option in self.options}


# Cycles after which a run without a fault counts as not finishing.
GOLDEN_LIMIT_CYCLES = 120_000_000
GOLDEN_LIMIT = EngineOption(
    "golden_limit",
    "integer",
    GOLDEN_LIMIT_CYCLES,
    "Cycles after which a run without a fault counts as one that does not finish.",
    1,
    2**40,
)
