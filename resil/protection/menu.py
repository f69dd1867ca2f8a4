# SPDX-License-Identifier: Apache-2.0
"""What may be chosen for a block: options that act on its storage, alone or joined."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import combinations
from math import prod

from resil.protection.blocks import Block, Hazard
from resil.protection.optimise import Candidate
from resil.protection.options import STATUSES, Option, OptionSet


@dataclass(frozen=True, slots=True)
class Combination:
    """One option, or two that act on different kinds of storage.

    Attributes:
        parts: The options.
    """

    parts: tuple[Option, ...]

    @property
    def name(self) -> str:
        """Names of the parts, joined by a plus sign."""
        return "+".join(part.name for part in self.parts)

    @property
    def title(self) -> str:
        """Titles of the parts."""
        return " and ".join(part.title for part in self.parts)

    @property
    def source(self) -> str:
        """Citations of the parts."""
        return "; ".join(part.source for part in self.parts)

    @property
    def status(self) -> str:
        """The weakest status of the parts."""
        return max((part.status for part in self.parts), key=STATUSES.index)

    def applies_to(self, block: Block) -> bool:
        """Whether the areas that it is reckoned from are known."""
        return not any(
            (part.ff_area and block.ff_area is None) or (part.sram_area and block.sram_area is None)
            for part in self.parts
        )

    def area_added(self, block: Block) -> float:
        """Return the area that it adds to the block."""
        return sum(
            part.area_added(block.area, block.ff_area or 0.0, block.sram_area or 0.0) for part in self.parts
        )

    def fit(self, block: Block, hazardous: Collection[str]) -> float:
        """Return the estimate of the hazardous FIT that remains."""
        return sum(self.fit_by_kind(block, hazardous).values())

    def fit_by_kind(self, block: Block, hazardous: Collection[str]) -> dict[str, float]:
        """Return the same, by kind of storage."""
        return {kind: h.fit * self._residual(kind, hazardous) for kind, h in block.hazards.items()}

    def candidate(self, block: Block, hazardous: Collection[str]) -> Candidate:
        """Return what the choice for that block needs to know: bounds over the ranges of the figures."""
        ends = tuple(self._ends(kind, h, hazardous) for kind, h in block.hazards.items())
        return Candidate(
            self.name,
            self.area_added(block),
            sum(h.fit_hi * self._worst_residual(kind, hazardous) for kind, h in block.hazards.items()),
            self.fit_raw(block),
            ends if any(weak != strong for weak, strong in ends) else (),
        )

    def fit_raw(self, block: Block) -> float:
        """Return the upset rate that remains: hardened cells lower it, detection does not."""
        return sum(h.fit_raw * self._raw(kind) for kind, h in block.hazards.items())

    def base_factor(self, block: Block) -> float:
        """Return the share of the hazardous FIT that remains for fewer upsets alone."""
        return self._hazardous_mean(block, self._raw)

    def coverage(self, block: Block, hazardous: Collection[str]) -> float:
        """Return the share of the hazardous FIT of the remaining upsets that is detected or corrected."""
        left = self._hazardous_mean(block, lambda kind: self._residual(kind, hazardous))
        base = self.base_factor(block)
        return 1.0 - left / base if base > 0.0 else 0.0

    def _ends(
        self, kind: str, hazard: Hazard, hazardous: Collection[str]
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return hazardous bound and raw rate at the weak and at the strong end of the hardening."""
        worst = self._worst_residual(kind, hazardous)
        weak, strong = (
            prod(part.raw_share_at(kind, weak=weak) for part in self.parts) for weak in (True, False)
        )
        at_strong = worst * strong / weak if weak > 0.0 else 0.0
        return (
            (hazard.fit_hi * worst, hazard.fit_raw * weak),
            (hazard.fit_hi * at_strong, hazard.fit_raw * strong),
        )

    def _hazardous_mean(self, block: Block, share: Callable[[str], float]) -> float:
        """Return the mean of a share over kinds of storage, weighed by their hazardous FIT."""
        weights = {kind: h.fit or h.fit_hi for kind, h in block.hazards.items()}
        whole = sum(weights.values())
        return sum(w * share(kind) for kind, w in weights.items()) / whole if whole else 1.0

    def _raw(self, kind: str) -> float:
        return prod(part.raw_share(kind) for part in self.parts)

    def _residual(self, kind: str, hazardous: Collection[str]) -> float:
        return prod(part.residual_share(kind, hazardous) for part in self.parts)

    def _worst_residual(self, kind: str, hazardous: Collection[str]) -> float:
        return prod(part.worst_residual_share(kind, hazardous) for part in self.parts)


def menu_of(block: Block, options: OptionSet) -> list[Combination]:
    """Return all combinations for a block, no protection first."""
    kinds = set(block.hazards)
    offered = [option for option in options.options.values() if "block" in option.units]
    useful = [option for option in offered if kinds & set(option.protects)]
    joined = [
        Combination(pair)
        for pair in combinations(sorted(useful, key=lambda o: sorted(kinds & set(o.protects))), 2)
        if not set(pair[0].protects) & set(pair[1].protects)
    ]
    alone = [Combination((option,)) for option in (options.options["none"], *useful)]
    return [c for c in (*alone, *joined) if c.applies_to(block)]
