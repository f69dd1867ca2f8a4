# SPDX-License-Identifier: Apache-2.0
"""Finished runs on one target, as a choice of protection over units takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from resil.campaign.campaign import load_campaign
from resil.campaign.sampling_settings import EVENLY
from resil.files import read_parquet
from resil.folder.finished import (
    Finished,
    finished_run,
    require_area,
    require_ends,
    require_measured,
    require_single,
    require_upsets,
)
from resil.folder.store import CAMPAIGN, SITES, recorded_definition
from resil.prepare.targets import target_of
from resil.protection.blocks import read_blocks
from resil.protection.corners import corners_of, with_logic
from resil.protection.items import ProtectableDesign
from resil.protection.limits_basis import cells_of_limits, network_of_limits
from resil.protection.logic import block_logic
from resil.protection.options import WATCHDOG, OptionSet, ProtectionError
from resil.protection.risks import DETECTED, HANG, HARMFUL, Network
from resil.protection.units import Cells, Granularity, ProtectableStorage, cells_of, units_of
from resil.protection.watchdog_pace import WatchdogPace, watchdog_limit
from resil.record.provenance import RUN
from resil.record.summary import Summary
from resil.results.run import FinishedRun
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.redundancy.lockstep import blocks_that_can_be_copied
from resil.stats.rates import OUTCOMES

_WHY = "a choice of protection is about upsets of one inference"
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Basis:
    """Finished runs on one target, or one run or estimate as its limits, as the choice takes them.

    Attributes:
        found: Their results.
        storage: That all of them injected into; without entries if limits judge.
        cells: Of the storage.
        networks: What was injected, or the limits, in the same order.
    """

    found: Sequence[Finished]
    storage: ProtectableStorage
    cells: Cells
    networks: Sequence[Network]

    def design(
        self,
        options: OptionSet,
        granularity: Granularity,
        *,
        buildable: bool = False,
        also_longest: Sequence[int] = (),
    ) -> ProtectableDesign:
        """Return what is chosen for.

        Args:
            options: That there are.
            granularity: Of the units.
            buildable: Offer only what can be built.
            also_longest: Longest operations in cycles of other networks, which a watchdog has to let through.

        Raises:
            ProtectionError: The summary lacks what is needed.
            HarnessError: The target, whose blocks say what can be built, cannot be read.
        """
        summary = self.found[0].summary
        cells = self.cells
        names = set(cells.block)
        blocks = {block.name: block for block in read_blocks(summary, options) if block.name in names}
        bits = {(row.name, kind): row.bits(kind) for row in summary.blocks for kind in ("ff", "sram")}
        return ProtectableDesign(
            cells,
            units_of(self.storage, cells, granularity),
            blocks,
            bits,
            summary.total.area_unit,
            summary.total.area,
            options,
            buildable,
            self._copied() if buildable else frozenset(),
            self._limit(options, also_longest),
            granularity is Granularity.BLOCK,
        )

    def _copied(self) -> frozenset[str]:
        return blocks_that_can_be_copied(target_of(load_campaign(self.found[0].path / CAMPAIGN)))

    def _limit(self, options: OptionSet, also_longest: Sequence[int]) -> int | None:
        """Return the limit of a watchdog; None without one, or if operations are not known."""
        paces = [network.pace for network in self.networks]
        longest = [pace.longest for pace in paces if pace is not None]
        if WATCHDOG not in options.options or len(longest) < len(paces):
            return None
        return watchdog_limit([*longest, *also_longest], options.options[WATCHDOG].limit_factor)


def read_basis(run_dirs: Sequence[Path]) -> Basis:
    """Read runs on one target, to be judged by injections that did not choose.

    Raises:
        StoreError, ConsistencyError: A folder is none of a finished run of upsets of single inferences.
        ProtectionError: The runs are not of one target, or spread injections unevenly.
    """
    return basis_of_injections([finished_run(path) for path in run_dirs])


def basis_of_limits(found: Finished, options: OptionSet) -> Basis:
    """Return a run or an estimate as the upper limits of its blocks have it, which hold for any set.

    Raises:
        StoreError: It is none of upsets that ran to their ends, or does not know the area of its blocks.
        ProtectionError: Its summary lacks limits of storage that the campaign is about.
    """
    _require(found)
    basis, corners = basis_of_summary(found, options), corners_of(load_campaign(found.path / CAMPAIGN))
    if any(own.size is not None for own in corners.values()):
        raise ProtectionError(
            f"{found.path}: expected declared shares of cluster sizes in an estimate, found cluster_shares = "
            '"any", and its limits are not known of each size; remove the key, or run the campaign',
            "faults.cluster_shares",
        )
    networks = [replace(own, corners=with_logic(corners, own.logic)) for own in basis.networks]
    return replace(basis, networks=networks)


def basis_of_summary(found: Finished, options: OptionSet) -> Basis:
    """As `basis_of_limits`, of a summary that was checked."""
    blocks = {block.name: block for block in read_blocks(found.summary, options)}
    cells = cells_of_limits(found)
    text, numbers = np.empty(0, dtype=object), np.empty(0, dtype=np.int64)
    storage = ProtectableStorage(text, numbers, text, text, text, {})
    return Basis([found], storage, cells, [network_of_limits(found, blocks, cells)])


def _require(found: Finished) -> None:
    require_measured(found)
    _require_logic(found)
    require_upsets(found, _WHY)
    require_ends(found, "a choice asks what detected faults would have done")
    require_area(found)


def _require_logic(found: Finished) -> None:
    """Raise ProtectionError if a run names one of pulses in logic that says nothing: it would be left out."""
    safety = load_campaign(found.path / CAMPAIGN).safety
    if found.kind != RUN or safety is None or safety.logic is None or block_logic(found.summary) is not None:
        return
    rows = () if found.summary.safety is None else found.summary.safety.rows
    why = next((row.reason for row in rows if row.name == "spfm_transient"), "it has no safety verdict")
    raise ProtectionError(
        f"{found.path}: expected what its [safety] logic says of pulses, with which a set is chosen, found "
        f"nothing: {why} Mend that and write the run anew with 'resil run CAMPAIGN.toml --resume', or take "
        "the key out to choose for storage alone",
        "safety.logic",
    )


def basis_of_injections(found: Sequence[Finished]) -> Basis:
    """As `read_basis`, of results that were read."""
    for one in found:
        _require(one)
        require_single(one, _WHY)
        if (plan := _plan(one)) not in EVENLY:
            raise ProtectionError(
                f"{one.path}: expected a run whose injections are spread evenly over each block (plan "
                f'{" or ".join(EVENLY)}), found plan = "{plan}": risks of groups '
                "cannot be counted from it",
                "sampling.plan",
            )
    _require_alike(found)
    _require_different(found)
    tables = [_kept(one) for one in found]
    for one, table in zip(found[1:], tables[1:], strict=True):
        if not table.equals(tables[0]):
            raise ProtectionError(
                f"{one.path}: has other storage than {found[0].path}: runs on one target are needed",
                "storage",
            )
    columns = {key: tables[0][key].to_numpy(zero_copy_only=False) for key in tables[0].column_names}
    keys = ("path", "bit", "kind", "block", "register_class")
    storage = ProtectableStorage(**{key: columns[key] for key in keys}, declared=_declared(found[0]))
    names = _names(found)
    networks = [_network(one, name, columns["site"]) for one, name in zip(found, names, strict=True)]
    return Basis(found, storage, cells_of(storage), networks)


def _require_alike(found: Sequence[Finished]) -> None:
    def facts(one: Finished) -> Mapping[str, Any]:
        summary = one.summary
        return {
            "target": summary.target.name,
            "parameters of the target": dict(summary.target.parameters),
            "kinds of storage": sorted(summary.campaign.kinds),
            "hazardous outcomes": sorted(summary.campaign.hazardous),
            "clusters of upsets": list(summary.campaign.clusters),
            "confidence": summary.campaign.confidence,
            "time-out": summary.campaign.timeout,
            "raw rates": [[e.quantity, e.value, e.unit] for e in summary.technology.entries],
            "unit of area": summary.total.area_unit,
            "pulses in logic": "none" if block_logic(summary) is None else "named",
        }

    first = facts(found[0])
    for one in found[1:]:
        for what, value in facts(one).items():
            if value != first[what]:
                raise ProtectionError(
                    f"runs contradict each other: {what}: {value} in {one.path}, {first[what]} in "
                    f"{found[0].path}; choose for runs of one target with equal settings",
                    what,
                )


def _require_different(found: Sequence[Finished]) -> None:
    """Raise ProtectionError if two runs are of one network or workload: they would count as two."""
    seen: dict[str, Path] = {}
    for one in found:
        definition = recorded_definition(one.path)
        digest = definition.get("network") or definition["workloads"]
        if digest in seen:
            raise ProtectionError(
                f"{one.path}: runs the network that {seen[digest]} runs, so the two are one network and say "
                "nothing of others; leave one out (resil merge joins runs of one campaign)",
                "network",
            )
        seen[digest] = one.path


def _names(found: Sequence[Finished]) -> list[str]:
    names = [one.summary.network.name for one in found]
    again = [name for name in names if names.count(name) > 1]
    return [f"{n} ({one.path.name})" if n in again else n for n, one in zip(names, found, strict=True)]


def _kept(one: Finished) -> pa.Table:
    table = read_parquet(one.path / SITES).replace_schema_metadata(None)
    kinds = pa.array(one.summary.campaign.kinds, pa.string())
    injected = {"ff": ["ff", "macro"], "sram": ["sram"]}
    wanted = pa.array([k for kind in kinds.to_pylist() for k in injected.get(kind, [kind])], pa.string())
    plain = {
        name: table[name].cast(pa.string())
        for name in ("path", "kind", "block", "register_class", "hardware")
    }
    whole = pa.table({**plain, "bit": table["bit"].cast(pa.int64()), "site": table["site"].cast(pa.int64())})
    kept = pc.and_(
        pc.equal(whole["hardware"], Hardware.KEPT.value), pc.is_in(whole["kind"], value_set=wanted)
    )
    return whole.filter(kept).drop_columns(["hardware"]).combine_chunks()


def _declared(one: Finished) -> dict[str, int]:
    paths = read_parquet(one.path / SITES, ["path"])["path"].cast(pa.string())
    counted = pc.value_counts(paths).to_pylist()
    return {str(entry["values"]): int(entry["counts"]) for entry in counted}


def _network(one: Finished, name: str, sites: IntArray) -> Network:
    summary = one.summary
    run = FinishedRun(one.path)
    rows = run.counted()
    hazardous = summary.campaign.hazardous
    place = np.full(int(max(sites.max(initial=-1), rows["site"].max())) + 1, -1, dtype=np.int64)
    place[sites] = np.arange(len(sites))
    bit = place[rows["site"].to_numpy()]
    if (bit < 0).any():
        lost = rows["name"].to_numpy()[bit < 0][0]
        raise ProtectionError(
            f"{one.path}: an injection struck {lost}, which is no storage that remains", "storage"
        )
    limits = [entry for entry in summary.limits if entry.bits]
    pace = pace_of(summary, one.path)
    # With a time-out of operations a run that stands still ends before that of the inference.
    timed = pace is not None and pace.operation_allowed is not None
    campaign = load_campaign(one.path / CAMPAIGN)
    logic = block_logic(summary)
    going_on = np.full(len(rows), timed) & (rows["end_cycle"].to_numpy() >= (pace.allowed if pace else 0))
    return Network(
        name,
        bit,
        outcome_kinds(rows["outcome"].to_numpy(), rows["seen"].to_numpy().astype(str), hazardous, going_on),
        rows["injection"].to_numpy().astype(np.int64),
        {(e.block, e.kind): e.fit_raw / e.bits for e in limits},
        run.confidence,
        hazardous,
        pace,
        clusters=tuple(summary.campaign.clusters),
        size=rows["bits"].to_numpy().astype(np.int64),
        drawn=run.drawn_sizes(rows),
        corners=with_logic(corners_of(campaign), logic),
        input=rows["input"].to_numpy().astype(np.int64) if campaign.over_inputs else None,
        labels=tuple(sorted(summary.campaign.inputs)),
        population=summary.verdict.population,
        logic=logic,
    )


def _plan(one: Finished) -> str:
    return "none" if one.summary.sampling is None else one.summary.sampling.plan


def pace_of(summary: Summary, run_dir: Path) -> WatchdogPace | None:
    """Return how long operations take in a run; None if its results do not show it."""
    golden, execution = summary.golden, load_campaign(run_dir / CAMPAIGN).execution
    operations = [own.cycles for own in summary.network.operations if own.cycles]
    longest = golden.longest_operation or (
        [max(*operations, cycles - sum(operations)) for cycles in golden.cycles] if operations else []
    )
    if not longest:
        return None
    factor = execution.timeout_factor
    watched = execution.timeout == Timeout.OPERATION
    return WatchdogPace(
        max(longest),
        max(golden.cycles),
        min(math.ceil(factor * cycles) for cycles in golden.cycles),
        min(math.ceil(factor * own) for own in longest) if watched else None,
    )


def outcome_kinds(
    outcome: npt.NDArray[Any],
    seen: npt.NDArray[Any],
    hazardous: Sequence[str],
    going_on: npt.NDArray[np.bool_],
) -> IntArray:
    """Return what came of injections, as protection asks; where detection is hazardous it helps nothing.

    Args:
        outcome: Of each.
        seen: What was seen of each, whatever an alarm reported.
        hazardous: Outcomes that count as failures.
        going_on: Hangs that are known to finish operations for ever: a watchdog detects none of them.
    """
    detected = outcome == "due"
    kind = np.zeros(len(outcome), dtype=np.int64)
    for name in OUTCOMES:
        if name in hazardous and name != "due":
            kind[seen == name] = HANG if name == "hang" else HARMFUL
    kind[(kind == HANG) & going_on] = HARMFUL
    if "due" in hazardous:
        kind[detected] = HARMFUL
        return kind
    return np.where(detected, np.where(kind > 0, kind + 2, DETECTED), kind)
