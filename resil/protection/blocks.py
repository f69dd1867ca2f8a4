"""What a summary says about each block, as far as the choice of a protection needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resil.protection.options import KINDS, Cell, OptionSet, ProtectionError
from stats.rates import OUTCOMES, StratumCounts, fit


@dataclass(frozen=True, slots=True)
class Hazard:
    """Rates of one kind of storage of a block, unprotected, in FIT.

    Attributes:
        fit: Estimate of the hazardous rate.
        fit_hi: Its upper limit at the joint confidence.
        fit_raw: Upset rate.
        strata: The counts behind them.
    """

    fit: float
    fit_hi: float
    fit_raw: float
    strata: tuple[StratumCounts, ...]

    def weight(self, stratum: StratumCounts) -> float:
        """Return the part of the upset rate that one of the strata stands for."""
        exposure = sum(s.exposure for s in self.strata)
        return self.fit_raw * stratum.exposure / exposure if exposure else 0.0


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the unprotected design.

    Attributes:
        name: Of the block.
        area: In `area_unit`.
        ff_area: Part of it that is flip-flops; None if not known.
        sram_area: Part of it that is memories; None if not known.
        area_unit: "GE" or "um2".
        hazards: By kind of storage; kinds that were not injected into are missing.
    """

    name: str
    area: float
    ff_area: float | None
    sram_area: float | None
    area_unit: str
    hazards: Mapping[str, Hazard]


def read_blocks(summary: Mapping[str, Any], hazardous: Sequence[str], options: OptionSet) -> list[Block]:
    """Return the blocks of a summary with upper limits that hold together.

    With m limits, each has the error `(1 - confidence) / (2 m)` (Bonferroni), so that all hold together as
    often as the upper limit of one two-sided interval.

    Args:
        summary: Content of `summary.json`.
        hazardous: Outcomes that count as failures.
        options: Source of cell areas.

    Raises:
        ProtectionError: the summary lacks what is needed.
    """
    groups = _groups(summary)
    confidence = float(summary["campaign"]["confidence"])
    joint = 1.0 - (1.0 - confidence) / (2.0 * max(len(groups), 1))
    hazards: dict[str, dict[str, Hazard]] = {}
    for (name, kind), members in groups.items():
        strata = [counts for counts, _ in members]
        raw = sum(fit_raw for _, fit_raw in members)
        exposure = sum(s.exposure for s in strata)
        found = fit(strata, {kind: raw / exposure if exposure else 0.0}, hazardous, joint, "upper")
        hazards.setdefault(name, {})[kind] = Hazard(found.estimate, found.hi, raw, tuple(strata))
    return [_block(row, options, hazards.get(row["block"], {})) for row in summary["blocks"]]


def _groups(summary: Mapping[str, Any]) -> dict[tuple[str, str], list[tuple[StratumCounts, float]]]:
    groups: dict[tuple[str, str], list[tuple[StratumCounts, float]]] = {}
    for counts, fit_raw in _strata(summary):
        if counts.bits:
            groups.setdefault((counts.block, counts.kind), []).append((counts, fit_raw))
    return groups


def _strata(summary: Mapping[str, Any]) -> list[tuple[StratumCounts, float]]:
    if "strata" in summary:
        return [
            (StratumCounts(**{k: v for k, v in entry.items() if k != "fit_raw"}), float(entry["fit_raw"]))
            for entry in summary["strata"]
        ]
    kinds = tuple(summary["campaign"]["kinds"])
    found = []
    for row in summary["blocks"]:
        present = [kind for kind in kinds if row[f"{kind}_bits"]]
        if len(present) > 1:
            raise ProtectionError(
                f"summary.json: block {row['block']} has counts of flip-flops and memories together, and no "
                "list 'strata' that tells them apart: write it anew with 'resil run CAMPAIGN.toml --resume'"
            )
        for kind in present:
            counts = {outcome: row[outcome] for outcome in OUTCOMES}
            found.append(
                (StratumCounts(row["block"], kind, row[f"{kind}_bits"], counts), float(row["fit_raw"]))
            )
    return found


def _block(row: Mapping[str, Any], options: OptionSet, hazards: Mapping[str, Hazard]) -> Block:
    unit = str(row["area_unit"])
    parts = {kind: _part(row, kind, options.cells.get((kind, unit))) for kind in KINDS}
    return Block(row["block"], float(row["area"]), parts["ff"], parts["sram"], unit, hazards)


def _part(row: Mapping[str, Any], kind: str, cell: Cell | None) -> float | None:
    if f"{kind}_area" in row:
        return float(row[f"{kind}_area"])
    bits = int(row[f"{kind}_bits"])
    return bits * cell.area if cell else None if bits else 0.0
