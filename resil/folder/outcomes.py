# SPDX-License-Identifier: Apache-2.0
"""Outcomes kept by content: what was injected before, into the very same thing, is not simulated again.

A store belongs to one input of one bench: its name is a digest of the sources of this package, of tools,
RTL, storage, images, what the output decides, when injections end, and of the run without a fault. Where any
of it is another one, the store is another one. Plan, seed, budget and number of injections are no part of it.
What a store gives is part of a run like what an earlier session has left there: a sample of it is simulated
to the end. Whoever finds an outcome wrong, that sample or a judge, drops all stores.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from resil.bench.bench import Bench
from resil.campaign.campaign import Campaign
from resil.campaign.network_settings import NetworkSettings
from resil.errors import StoreError
from resil.faults.plan import FaultPlan
from resil.folder.parts import SCHEMA, PartError, read_part, write_part
from resil.layout import source_digest
from resil.rtl_harness.cache import cache_root, content_key

FOLDER = "outcomes"
# Bytes of all stores; those that were not used for longest go first.
MOST_BYTES = 1 << 30

# Rows that are written together, and held at a time.
_TOGETHER = 1 << 18

_FAULT = ["site", "cycle", "bits", "fault"]
# What the plan of a campaign says of an injection, beside its fault.
_PLANNED = ["injection", "stratum", "input"]
# What a definition says of the choice of faults: an outcome does not depend on it.
_CHOICE = frozenset({"seed", "kinds", "clusters", "strata", "inputs", "workloads"})


def outcome_keys(campaign: Campaign, bench: Bench, goldens: Sequence[str]) -> tuple[str, ...]:
    """Return the name of the store of each input.

    Args:
        campaign: Says when injections end, and how they are judged.
        bench: What is injected into.
        goldens: Digest of the run without a fault of each input.
    """
    work = campaign.work
    judged = repr(replace(work, inputs=()) if isinstance(work, NetworkSettings) else work)
    definition = {name: own for name, own in bench.identity.definition.items() if name not in _CHOICE}
    ending = repr(replace(campaign.execution, workers=None, farm=None, recall=False))
    return tuple(
        content_key(source_digest(), definition, judged, ending, workload, golden)
        for workload, golden in zip(bench.workloads, goldens, strict=True)
    )


def known_outcomes(campaign: Campaign, bench: Bench, goldens: Sequence[str]) -> KnownOutcomes | None:
    """Return the stores of a campaign; None if it asks for none, or what runs has no digest."""
    if not campaign.execution.recall or not bench.workloads:
        return None
    return KnownOutcomes(outcome_keys(campaign, bench, goldens), bench.inputs)


class KnownOutcomes:
    """The stores of the inputs of a campaign.

    Args:
        keys: Of each input, in order.
        labels: Label of each.
        root: Where stores lie; default: in the cache.
    """

    def __init__(self, keys: Sequence[str], labels: Sequence[int], root: Path | None = None) -> None:
        self._root = root or _root()
        self._keys = keys
        self._labels = labels

    def recall(self, plan: FaultPlan, missing: npt.NDArray[np.int64]) -> pa.Table:
        """Return rows of `parts.SCHEMA` for those of the missing rows of a plan whose outcome is known."""
        found = [SCHEMA.empty_table()]
        for position, (key, label) in enumerate(zip(self._keys, self._labels, strict=True)):
            rows = missing[plan.input[missing] == position]
            if not rows.size or not (self._root / key).is_dir():
                continue
            wanted = _wanted(plan, rows, label)
            try:
                found.append(_agreeing([_answered(wanted, part) for part in self._parts(key)]))
            except PartError:
                self._drop(key)
        return pa.concat_tables(found).sort_by("injection")

    def remember(self, parts: Iterable[pa.Table]) -> None:
        """Add rows of a run that has come to its end, its audit with it; that none can be kept is no error.

        Args:
            parts: Rows of `parts.SCHEMA`, some at a time.
        """
        for rows in _batches(parts):
            for key, label in zip(self._keys, self._labels, strict=True):
                own = rows.filter(pc.field("input") == label)
                with suppress(OSError, StoreError):
                    self._add(key, own)
        self._prune()

    def _parts(self, key: str) -> Iterator[pa.Table]:
        """Yield what a store holds; PartError if it is damaged."""
        folder = self._root / key
        with suppress(OSError):
            os.utime(folder)
        for file in sorted(folder.glob("*.parquet")):
            yield read_part(file, key)

    def _add(self, key: str, rows: pa.Table) -> None:
        try:
            for part in self._parts(key):
                rows = rows.join(part.select(_FAULT), keys=_FAULT, join_type="left anti")
        except PartError:
            self._drop(key)
        if rows.num_rows:
            fresh = rows.select(SCHEMA.names).sort_by("injection")
            name = sha256(repr(fresh.select(_FAULT).to_pydict()).encode()).hexdigest()[:32]
            folder = self._root / key
            folder.mkdir(parents=True, exist_ok=True)
            write_part(folder / f"{name}.parquet", fresh, key)

    def _drop(self, key: str) -> None:
        shutil.rmtree(self._root / key, ignore_errors=True)

    def _prune(self) -> None:
        """Drop the stores that were not used for longest, until all are small enough."""
        sizes = {}
        for folder in self._root.glob("*"):
            # Another process may drop it at the same time.
            with suppress(OSError):
                size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
                sizes[folder.name] = folder.stat().st_mtime, size
        total = sum(size for _, size in sizes.values())
        for key in sorted(sizes, key=lambda own: sizes[own]):
            if total <= MOST_BYTES:
                return
            self._drop(key)
            total -= sizes[key][1]


def forget_outcomes() -> None:
    """Drop all stores: an outcome in one of them was found to be wrong, and nobody knows of how many."""
    shutil.rmtree(_root(), ignore_errors=True)


def _root() -> Path:
    return cache_root() / FOLDER


def _wanted(plan: FaultPlan, rows: npt.NDArray[np.int64], label: int) -> pa.Table:
    """Return what a plan says of its rows: `_PLANNED`, and the fault."""
    strata = pa.array([stratum.population.name for stratum in plan.strata], pa.string())
    columns = {
        "injection": plan.injection[rows],
        "stratum": strata.take(pa.array(plan.stratum[rows])),
        "input": np.full(len(rows), label, np.int64),
        "site": plan.site[rows],
        "cycle": plan.cycle[rows],
        "bits": plan.bits[rows],
        "fault": pa.array(plan.names(rows), pa.string()),
    }
    return pa.table(columns)


def _answered(wanted: pa.Table, known: pa.Table) -> pa.Table:
    """Return rows of `parts.SCHEMA` of the wanted faults that are among the known ones."""
    found = wanted.join(known.drop_columns(_PLANNED), keys=_FAULT, join_type="inner")
    return found.select(SCHEMA.names).cast(SCHEMA)


def _agreeing(found: Sequence[pa.Table]) -> pa.Table:
    """Return rows that parts of a store have of injections, of each one.

    Raises:
        PartError: two parts say something else of one.
    """
    rows = pa.concat_tables([SCHEMA.empty_table(), *found])
    said = rows.drop_columns("corruption")
    different = said.group_by(said.column_names).aggregate([]).num_rows
    numbered = rows.select(["injection"]).append_column("at", pa.array(np.arange(rows.num_rows)))
    first = numbered.group_by("injection").aggregate([("at", "min")])
    if different != first.num_rows:
        raise PartError("contradicts another part")
    return rows.take(first["at_min"])


def _batches(parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield rows together that came one after the other."""
    held: list[pa.Table] = []
    for part in parts:
        held.append(part)
        if sum(own.num_rows for own in held) >= _TOGETHER:
            yield pa.concat_tables(held)
            held.clear()
    if held:
        yield pa.concat_tables(held)
