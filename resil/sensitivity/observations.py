# SPDX-License-Identifier: Apache-2.0
"""What run folders say for a sensitivity model: which bits were struck, when, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from resil.errors import StoreError
from resil.files import read_parquet
from resil.folder.finished import (
    finished_run,
    require_area,
    require_ends,
    require_inference_timeout,
    require_measured,
    require_single,
    require_upsets,
)
from resil.folder.parts import PartError, read_part
from resil.folder.store import INJECTIONS, SITES
from resil.record.campaign_facts import RecordedOperation
from resil.record.provenance import Provenance
from resil.record.summary import Summary
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.npu.work import OperationWork
from resil.stats.rates import OUTCOMES
from resil.work.patterns import Pattern

# Path, kind, block and register class of a storage element.
Known = tuple[str, str, str, str]
# First bit and number of bits of parts of an element.
Pieces = list[tuple[int, int]]
CHUNK_BITS = 8
CHUNKS_OF_COPIES = 16
# Until then the NPU is set up and fetches the first commands: hardly any flip of that time matters.
START_CYCLES = 500
START = -1
START_KIND = "start"
_INDEX = re.compile(r"\[\d+\]")
_FINISH = "finish the run with: resil run CAMPAIGN.toml --out RUN_DIR --resume"


@dataclass(frozen=True)
class SensitivityCell:
    """Storage bits that are treated alike.

    Attributes:
        kind: "ff", "macro" or "sram".
        block: Block that they belong to.
        register_class: From the elaboration.
        register: Path of the register, without the indices of its copies.
        chunk: Which 8 bits of the register; of a memory, which sixteenth of its copies.
    """

    kind: str
    block: str
    register_class: str
    register: str
    chunk: int

    def levels(self, operation: str) -> tuple[tuple[object, ...], ...]:
        """Return the keys of the nested groups, the coarsest first, of these bits in such an operation.

        The time at the start has groups of its own. Flip-flops in SRAM macros begin as those of their block.
        """
        kind = "ff" if self.kind == "macro" else self.kind
        kind = f"{kind} at {operation}" if operation == START_KIND else kind
        key = (kind, self.block, self.register_class, self.register, self.chunk, operation)
        return tuple(key[:n] for n in range(2, len(key) + 1))


@dataclass(frozen=True)
class ObservedRun:
    """A finished run.

    Attributes:
        folder: Where it lies.
        summary: Content of `summary.json`.
        provenance: Content of `provenance.json`.
        bits: Storage bits of each cell.
        work: Of each operation.
        counts: Injections of a single bit into a cell during an operation, by outcome, in the order of
            `OUTCOMES`; the operation by its index, that after the last for the time after it, and `START` for
            the first `START_CYCLES` cycles.
        patterns: Of corruptions: block, kind of storage, pattern, and whether the decision changed.
    """

    folder: Path
    summary: Summary
    provenance: Provenance
    bits: Mapping[SensitivityCell, int]
    work: tuple[OperationWork, ...]
    counts: Mapping[tuple[SensitivityCell, int], tuple[int, ...]]
    patterns: tuple[tuple[str, str, Pattern, bool], ...]

    @property
    def network(self) -> str:
        """SHA-256 of the network: runs of one network are one population."""
        return self.summary.network.sha256

    @property
    def decision(self) -> str:
        """Name of the rule that divides critical from tolerable."""
        return self.provenance.definition.get("decision", "")

    @property
    def accelerator(self) -> str:
        """Name of the target."""
        return self.summary.target.name

    @property
    def cycles(self) -> tuple[float, ...]:
        """Cycles of each operation, then those after the last one."""
        found = [float(operation.cycles or 0) for operation in self.summary.network.operations]
        return (*found, float(self.summary.golden.cycles[0]) - sum(found))

    def kind_of(self, operation: int) -> str:
        """Return the kind of an operation; the time after the last one is the last one's."""
        if operation == START:
            return START_KIND
        return self.work[min(operation, len(self.work) - 1)].kind


def read_run(folder: Path) -> ObservedRun:
    """Read a finished run folder.

    Raises:
        StoreError: it is none, is damaged, its network did not run on the NPU, or its target assumes codes.
        ConsistencyError: the run has failed an audit.
    """
    found = finished_run(folder)
    require_measured(found)
    require_upsets(found, "a sensitivity model says what upsets do")
    require_single(found, "a sensitivity model says what becomes of one")
    require_ends(found, "a sensitivity model says what detected faults would have done")
    require_area(found)
    require_inference_timeout(found, "a sensitivity model says what becomes of runs with one time-out")
    summary, provenance = found.summary, found.provenance
    if "codes" in provenance.definition:
        raise StoreError(
            f"{folder}: expected a run of the design as its RTL is, found one whose target file assumes a "
            "code around memories (sram_ecc): a sensitivity model would say the same of designs without it; "
            "run it without that line",
            "codes",
        )
    work = tuple(_work(folder, operation) for operation in summary.network.operations)
    if not work:
        raise StoreError(f"{folder}: expected a run of a network with operations, found none", "network")
    try:
        sites = read_parquet(folder / SITES)
        identity = provenance.hashes["campaign"]
        parts = sorted((folder / INJECTIONS).glob("part-*.parquet"))
        rows = pa.concat_tables([read_part(part, identity) for part in parts])
    except (OSError, pa.ArrowException, PartError, KeyError) as error:
        raise StoreError(f"{folder}: cannot be read ({error}); {_FINISH}", "sites") from None
    known, kept = _elements(sites)
    counts, patterns = _count(rows, cell_of_elements(known))
    return ObservedRun(folder, summary, provenance, bits_of_elements(known, kept), work, counts, patterns)


def bits_of_elements(elements: Iterable[Known], kept: Mapping[str, Pieces]) -> dict[SensitivityCell, int]:
    """Return the storage bits of each cell.

    Args:
        elements: As of `cell_of_elements`.
        kept: What of each is hardware: its first bits and numbers of bits.
    """
    bits: dict[SensitivityCell, int] = {}
    for path, cell in cell_of_elements(elements).items():
        for first, count in kept[path]:
            for whole, own in _cells(cell, first, count):
                bits[whole] = bits.get(whole, 0) + own
    return bits


def chunks(first: int, bits: int) -> list[tuple[int, int, int]]:
    """Divide bits of a register into parts of one chunk: first bit, bits, and number of the chunk.

    >>> chunks(5, 6)
    [(5, 3, 0), (8, 3, 1)]
    """
    cuts = [first, *range((first // CHUNK_BITS + 1) * CHUNK_BITS, first + bits, CHUNK_BITS), first + bits]
    return [(low, high - low, low // CHUNK_BITS) for low, high in pairwise(cuts)]


def plain_register(path: str) -> str:
    """Return the path of a register without the indices of its copies.

    >>> plain_register("u.g_lane[3].sum_q")
    'u.g_lane[*].sum_q'
    """
    return _INDEX.sub("[*]", path)


def cell_of_elements(elements: Iterable[Known]) -> dict[str, SensitivityCell]:
    """Return for each path a cell, of which the chunk is still to be set for registers.

    Args:
        elements: Path, kind, block and register class of each storage element.
    """
    known = list(elements)
    copies: dict[str, list[str]] = {}
    for path, *_ in known:
        copies.setdefault(plain_register(path), []).append(path)
    place = {
        path: CHUNKS_OF_COPIES * i // len(own)
        for own in copies.values()
        for i, path in enumerate(sorted(own, key=_indices))
    }
    return {
        path: SensitivityCell(kind, block, role, plain_register(path), place[path] if kind == "sram" else -1)
        for path, kind, block, role in known
    }


def _indices(path: str) -> list[int]:
    return [int(index[1:-1]) for index in _INDEX.findall(path)]


def _cells(cell: SensitivityCell, first: int, bits: int) -> list[tuple[SensitivityCell, int]]:
    """Return cells and bits of a piece of an element."""
    if cell.kind == "sram":
        return [(cell, bits)]
    return [(_at(cell, chunk), own) for _, own, chunk in chunks(first, bits)]


def _at(cell: SensitivityCell, chunk: int) -> SensitivityCell:
    return SensitivityCell(cell.kind, cell.block, cell.register_class, cell.register, chunk)


def _elements(sites: pa.Table) -> tuple[list[Known], dict[str, Pieces]]:
    """Return the elements of a list of sites, and what of each is hardware."""
    plain = {name: sites[name].cast(pa.string()) for name in ("path", "kind", "block", "register_class")}
    table = pa.table({**plain, "site": sites["site"]}).group_by(list(plain), use_threads=False)
    found = table.aggregate([("site", "min")])
    known = list(zip(*(found[name].to_pylist() for name in plain), strict=True))
    first = dict(zip(found["path"].to_pylist(), found["site_min"].to_pylist(), strict=True))
    kept: dict[str, Pieces] = {path: [] for path in first}
    hardware = sites.filter(pc.equal(sites["hardware"].cast(pa.string()), Hardware.KEPT.value))
    numbers = hardware["site"].to_numpy()
    paths = hardware["path"].combine_chunks().dictionary_encode()
    owners = paths.indices.to_numpy()
    breaks = np.flatnonzero((np.diff(numbers) != 1) | (np.diff(owners) != 0)) + 1
    starts = np.concatenate(([0], breaks, [len(numbers)]))
    for low, high in pairwise(starts.tolist()):
        if low < high:
            path = paths.dictionary[int(owners[low])].as_py()
            kept[path].append((int(numbers[low]) - first[path], high - low))
    return known, kept


def _work(folder: Path, operation: RecordedOperation) -> OperationWork:
    found: Mapping[str, Any] | None = operation.work
    if found is None:
        raise StoreError(
            f"{folder}: operation {operation.index} has no record of its work: learning takes runs of "
            "networks on the NPU, made by this version",
            "operations",
        )
    return OperationWork(**found)


def _count(
    rows: pa.Table, cells: Mapping[str, SensitivityCell]
) -> tuple[dict[tuple[SensitivityCell, int], tuple[int, ...]], tuple[tuple[str, str, Pattern, bool], ...]]:
    counts: dict[tuple[SensitivityCell, int], list[int]] = {}
    patterns = []
    single = rows.filter(pc.equal(rows["bits"], 1))
    wanted = ("path", "bit", "operation", "cycle", "outcome", "corruption", "block", "kind")
    for path, bit, operation, cycle, outcome, text, block, kind in zip(
        *(single[name].to_pylist() for name in wanted), strict=True
    ):
        cell = cells[path]
        chunk = cell.chunk if cell.kind == "sram" else bit // CHUNK_BITS
        time = START if cycle < START_CYCLES else operation
        own = counts.setdefault((_at(cell, chunk), time), [0] * len(OUTCOMES))
        own[OUTCOMES.index(outcome)] += 1
        if text and outcome.startswith("sdc"):
            patterns.append((block, kind, Pattern.from_text(text), outcome == "sdc_critical"))
    return {key: tuple(value) for key, value in counts.items()}, tuple(patterns)
