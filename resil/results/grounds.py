# SPDX-License-Identifier: Apache-2.0
"""What a safety verdict rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from resil.campaign.safety import SafetySettings
from resil.results.named_run import NO_LOGIC, NamedRun
from resil.stats.evidence import Evidence

Sizes = Mapping[str, tuple[Evidence, Evidence]]
"""By name of a variation, evidence, and the same by block, if all upsets were clusters of one size."""


@dataclass(frozen=True)
class Grounds:
    """What a verdict rests on.

    Attributes:
        settings: What is asked.
        hazardous: Outcomes that count as failures.
        evidence: Of all injected storage.
        by_block: The same, no group spanning several blocks.
        origin: Which injections and rates, in words.
        not_injected: What of the target's storage was left out, in words; "" if nothing.
        permanent: Of permanent faults; a text says why there is none.
        rates: By name of a variation, the factors of the raw rates of kinds of storage.
        slowest_alarm: Most cycles from a fault to its alarm; -1 if none rose.
        of_sizes: If all upsets were clusters of one size; whatever the shares are, rates lie between these.
        deciding: Those of them that decide, as the raw rates' corners do; none where declared shares decide.
        logic: Of pulses in logic, which are then in all evidence of transients; "" if no run of them is
            named, another text says why the one that is cannot be used.
    """

    settings: SafetySettings
    hazardous: frozenset[str]
    evidence: Evidence
    by_block: Evidence
    origin: str
    not_injected: str
    permanent: NamedRun | str
    rates: Mapping[str, Mapping[str, float]]
    slowest_alarm: int = -1
    of_sizes: Sizes = field(default_factory=dict)
    deciding: Sizes = field(default_factory=dict)
    logic: NamedRun | str = ""

    @property
    def without(self) -> str:
        """Which transients are in no run, in words; "" if none is missing."""
        return self.logic.without if isinstance(self.logic, NamedRun) else self.logic or NO_LOGIC

    def varied(self, factors: Mapping[str, float]) -> Grounds:
        """Return the same with the raw upset rates of kinds of storage multiplied."""
        return replace(self, evidence=self.evidence.scaled(factors), by_block=self.by_block.scaled(factors))

    def corners(self) -> Iterator[tuple[str, Grounds]]:
        """Yield the corners that decide beside the centre: of raw rates, of cluster sizes, and of both."""
        for title, factors in self.rates.items():
            yield title, self.varied(factors)
        for size, (evidence, by_block) in self.deciding.items():
            alone = replace(self, evidence=evidence, by_block=by_block)
            yield size, alone
            for title, factors in self.rates.items():
                yield f"{title}, {size}", alone.varied(factors)
