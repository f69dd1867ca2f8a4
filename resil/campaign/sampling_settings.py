# SPDX-License-Identifier: Apache-2.0
"""The table [sampling] of a campaign file: how the faults are chosen, and when enough were injected."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from resil.campaign.section import Section

PlanName = Literal["proportional", "uniform", "neyman", "stratified", "adaptive", "predicted"]
INPUTS = ("these", "like these")
PLANS: tuple[PlanName, ...] = ("proportional", "uniform", "neyman", "stratified", "adaptive", "predicted")
# Those whose injections are even over the bits and moments of each kind of storage in each block.
EVENLY = ("proportional", "uniform", "neyman")
_COARSE = ("proportional", "neyman")
# Those of which results decide what is injected next, and when it is enough.
BY_RESULTS = ("neyman", "adaptive", "predicted")
_STOPS = "only these plans stop early"


@dataclass(frozen=True)
class SamplingSettings:
    """How faults are chosen.

    Attributes:
        plan: "proportional": by block and kind of storage, as many as there are faults in each; "uniform":
            every fault alike; "neyman": by block and kind of storage, evenly within each, and most where the
            interval of the total gets narrowest for the cost; "stratified": by block, kind, register class
            and operation, as many as there are faults in each; "adaptive": where they say most, until
            enough is known; "predicted": half evenly, half where a sensitivity model foresees failures, if
            the first half agrees with it.
        margin: Half width of the interval of the total FIT, as part of the estimate, at which the
            campaign stops, with the plans "neyman", "adaptive" and "predicted"; None for none.
        inputs: What the intervals of a campaign with several inputs are about: "these" inputs, or inputs
            "like these", with the differences between inputs in them; None if nothing is said.
        until_decided: These plans stop when the verdict on the budget is settled; if nothing is said, only
            "adaptive" does.
        model: File of the sensitivity model of the plan "predicted"; None for the one that ships.
    """

    plan: PlanName = "proportional"
    margin: float | None = None
    until_decided: bool = False
    inputs: str | None = None
    model: Path | None = None

    @property
    def goes_by_results(self) -> bool:
        """Whether results decide what is injected next, and when it is enough."""
        return self.plan in BY_RESULTS

    @property
    def strata(self) -> str:
        """What the faults are divided by; it decides which fault has which number."""
        coarse = "block, kind"
        if self.plan == "predicted":
            return f"{coarse}, predicted risk, operation"
        return coarse if self.plan in _COARSE else f"{coarse}, register class, register, operation"


def read_sampling(section: Section) -> SamplingSettings:
    """Check the table."""
    name = section.choice("plan")
    plan = next(known for known in PLANS if known == name)
    for key in ("margin", "until_decided"):
        if section.has(key) and plan not in BY_RESULTS:
            expected = f"the key with a plan that goes by results only ({', '.join(BY_RESULTS)})"
            section.wrong(key, expected, f'plan = "{plan}"', _STOPS)
    margin = section.number("margin") if section.has("margin") else None
    decided = section.flag("until_decided", default=plan == "adaptive")
    inputs = section.choice("inputs") if section.has("inputs") else None
    if section.has("model") and plan != "predicted":
        section.wrong("model", 'the key with plan = "predicted" only', f'plan = "{plan}"', "remove it")
    model = section.path("model", "a sensitivity model") if section.has("model") else None
    section.finish()
    return SamplingSettings(plan, margin, decided, inputs, model)
