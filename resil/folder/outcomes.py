# SPDX-License-Identifier: Apache-2.0
"""Outcomes kept by content: what was injected before, into the very same thing, is not simulated again.

A store belongs to one input of one bench: its name is a digest of the sources of this package, of tools,
RTL, storage, images, what the output decides, when injections end, and of the run without a fault. Where any
of it is another one, the store is another one. Plan, seed, budget and number of injections are no part of it.
What a store gives is part of a run like what an earlier session has left there: a sample of it is simulated
to the end.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
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
from resil.faults.plan import FaultPlan
from resil.folder.parts import SCHEMA, PartError, read_part, write_part
from resil.layout import source_digest
from resil.rtl_harness.cache import cache_root, content_key

FOLDER = "outcomes"
# Bytes of all stores; those that were not used for longest go first.
MOST_BYTES = 1 << 30

_FAULT = ("site", "cycle", "bits", "fault")
# What a definition says of the choice of faults: an outcome does not depend on it.
_CHOICE = frozenset({"seed", "kinds", "fault model", "clusters", "strata", "inputs", "workloads"})


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
        self._root = root or cache_root() / FOLDER
        self._keys = keys
        self._labels = np.array(labels, dtype=np.int64)
        self._read: dict[int, pa.Table] = {}

    def recall(self, plan: FaultPlan, missing: npt.NDArray[np.int64]) -> pa.Table:
        """Return rows of `parts.SCHEMA` for those of the missing rows of a plan whose outcome is known."""
        found = [self._recalled(plan, missing[plan.input[missing] == i], i) for i in range(len(self._keys))]
        return pa.concat_tables([SCHEMA.empty_table(), *found])

    def remember(self, rows: pa.Table) -> None:
        """Add rows of a run that has come to its end, its audit with it."""
        for position, label in enumerate(self._labels.tolist()):
            own = rows.filter(pc.field("input") == label)
            known = set(_faults(self._table(position)))
            fresh = [i for i, fault in enumerate(_faults(own)) if fault not in known]
            if fresh:
                self._add(position, own.take(pa.array(fresh, pa.int64())))
        self._prune()

    def forget(self) -> None:
        """Drop the stores of these inputs: something in them was found to be wrong."""
        self._read.clear()
        for key in self._keys:
            shutil.rmtree(self._root / key, ignore_errors=True)

    def _recalled(self, plan: FaultPlan, rows: npt.NDArray[np.int64], position: int) -> pa.Table:
        known = self._table(position)
        if not known.num_rows or not rows.size:
            return SCHEMA.empty_table()
        place = {fault: i for i, fault in enumerate(_faults(known))}
        columns = (*(own[rows].tolist() for own in (plan.site, plan.cycle, plan.bits)), plan.names(rows))
        at = [place.get(fault) for fault in zip(*columns, strict=True)]
        kept = [i for i, found in enumerate(at) if found is not None]
        own = rows[kept]
        strata = [plan.strata[stratum].population.name for stratum in plan.stratum[own].tolist()]
        given = {
            "injection": pa.array(plan.injection[own]),
            "stratum": pa.array(strata, pa.string()),
            "input": pa.array(np.full(len(own), self._labels[position])),
        }
        found = known.take(pa.array([at[i] for i in kept], pa.int64()))
        return pa.table([given.get(name, found[name]) for name in SCHEMA.names], schema=SCHEMA)

    def _table(self, position: int) -> pa.Table:
        """Return what is known of an input; nothing if its store is damaged, which goes."""
        if position not in self._read:
            folder, key = self._root / self._keys[position], self._keys[position]
            try:
                parts = [read_part(file, key) for file in sorted(folder.glob("*.parquet"))]
                self._read[position] = _joined(parts)
                with suppress(OSError):
                    os.utime(folder)
            except PartError:
                shutil.rmtree(folder, ignore_errors=True)
                self._read[position] = SCHEMA.empty_table()
        return self._read[position]

    def _add(self, position: int, rows: pa.Table) -> None:
        key = self._keys[position]
        folder = self._root / key
        name = sha256(repr(list(_faults(rows))).encode()).hexdigest()[:32]
        # That nothing can be kept is no reason to lose a campaign.
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            write_part(folder / f"{name}.parquet", rows, key)
        self._read.pop(position, None)

    def _prune(self) -> None:
        """Drop the stores that were not used for longest, until all are small enough."""
        sizes: Mapping[Path, int] = {
            folder: sum(file.stat().st_size for file in folder.glob("*.parquet"))
            for folder in self._root.glob("*")
            if folder.is_dir()
        }
        total = sum(sizes.values())
        for folder in sorted(sizes, key=lambda own: own.stat().st_mtime):
            if total <= MOST_BYTES:
                return
            shutil.rmtree(folder, ignore_errors=True)
            total -= sizes[folder]


def _faults(rows: pa.Table) -> zip[tuple[object, ...]]:
    return zip(*(rows[name].to_pylist() for name in _FAULT), strict=True)


def _joined(parts: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of parts, each fault once.

    Raises:
        PartError: two parts say something else of one fault.
    """
    rows = pa.concat_tables([SCHEMA.empty_table(), *parts])
    said: dict[tuple[object, ...], tuple[object, ...]] = {}
    first = []
    answers = zip(*(rows[name].to_pylist() for name in ("outcome", "end_cycle", "output_hash")), strict=True)
    for i, (fault, answer) in enumerate(zip(_faults(rows), answers, strict=True)):
        if fault not in said:
            said[fault] = answer
            first.append(i)
        elif said[fault] != answer:
            raise PartError("contradicts another part")
    return rows.take(pa.array(first, pa.int64()))
