# SPDX-License-Identifier: Apache-2.0
"""The injections of a run summed up by register, cycle, operation and address, for its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from resil.campaign.fault_settings import PERMANENT_MODELS
from resil.campaign.sampling_settings import EVENLY
from resil.files import read_parquet
from resil.folder.contents import content_of
from resil.folder.store import INJECTIONS, SITES, STRATA
from resil.folder.strata_file import Drawn, read_strata
from resil.record.detail import (
    Detail,
    GroupShare,
    MemoryMap,
    MixRow,
    OperationSpan,
    PartShare,
    RegisterRow,
    Timeline,
)
from resil.record.evidence import SamplingRecord
from resil.record.interval import RecordedInterval
from resil.record.summary import Summary
from resil.results.domains import Question, fit_of_domains, weights_of
from resil.results.traced import traced_faults
from resil.rtl_harness.design.sites import Hardware
from resil.stats.intervals import clopper_pearson_limits
from resil.stats.rates import OUTCOMES
from resil.stats.shrinkage import shrunken_rates
from resil.stats.strata import Strata

if TYPE_CHECKING:
    import pandas as pd

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

NO_OPERATION = "(no operation)"
AFTER_ALL = "(after the last)"
_TIME_BINS = 64
_ADDRESS_BINS = 64
_MOST_CELLS = 60_000
_MOST_MEMORIES = 12
_COLUMNS = (
    *("injection", "site", "word", "input", "cycle", "operation", "outcome", "seen", "alarm"),
    *("alarm_cycle", "correction", "first", "end_cycle", "untestable"),
)


@dataclass(frozen=True)
class _Storage:
    """What was injected into, a register a row; `row` is the register of each site, -1 of others."""

    block: list[str]
    register: list[str]
    register_class: list[str]
    kind: list[str]
    bits: IntArray
    words: IntArray
    row: IntArray
    rtl: dict[str, str]

    @property
    def labels(self) -> list[tuple[str, str, str, str]]:
        return list(zip(self.block, self.kind, self.register_class, self.register, strict=True))


@dataclass(frozen=True)
class _Rows:
    """Injections that count, as parallel arrays; `register` is a row of the storage."""

    number: IntArray
    register: IntArray
    word: IntArray
    input: IntArray
    cycle: IntArray
    operation: IntArray
    outcome: IntArray
    weight: FloatArray
    hazardous: npt.NDArray[np.bool_]


def detail_of(folder: Path, summary: Summary) -> Detail | None:
    """Return what a report shows below the level of blocks; None of an estimate, or where nothing counts.

    Args:
        folder: Of the run, with its sites, strata and injections.
        summary: Its results.
    """
    sampling = summary.sampling
    if summary.predicted or sampling is None or not (folder / STRATA).exists():
        return None
    drawn, storage = read_strata(folder / STRATA), _storage(folder, summary)
    rows = _rows(folder, summary, drawn, storage)
    if not rows.number.size:
        return None
    order, registers = _registers(summary, sampling, drawn, storage, rows)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    operations = _operations(summary, rows)
    classes = _shares(summary, sampling, drawn, storage, rows, "register_class")
    spans = _spans(summary)
    return Detail(
        confidence=sampling.looks[-1].confidence,
        even=sampling.plan in EVENLY,
        blocks=tuple(block.name for block in summary.blocks),
        registers=tuple(registers),
        operations=_shares(summary, sampling, drawn, storage, rows, "operation", operations),
        classes=classes,
        groups=_groups(summary, sampling, drawn, storage, rows),
        mix=_mix(summary, storage, rows, operations, [own.name for own in classes]),
        timeline=_timeline(summary, rows, place, spans, even=sampling.plan in EVENLY),
        memories=_memories(storage, rows, place, operations),
        traces=traced_faults(folder),
    )


def _storage(folder: Path, summary: Summary) -> _Storage:
    table = read_parquet(folder / SITES).replace_schema_metadata(None)
    kept = pc.equal(table["hardware"].cast(pa.string()), Hardware.KEPT.value)
    kinds = pa.array(summary.campaign.kinds, pa.string())
    used = pc.and_(kept, pc.is_in(table["kind"].cast(pa.string()), kinds)).to_numpy(zero_copy_only=False)
    codes, texts = [], []
    for name in ("block", "path", "register_class", "kind"):
        column = table[name].cast(pa.string()).combine_chunks().dictionary_encode()
        codes.append(column.indices.to_numpy(zero_copy_only=False).astype(np.int64))
        texts.append(column.dictionary.to_pylist())
    key = np.stack(codes, axis=1)[used]
    distinct, owner = np.unique(key, axis=0, return_inverse=True)
    owner = owner.reshape(-1)
    row = np.full(table.num_rows, -1, dtype=np.int64)
    row[np.flatnonzero(used)] = owner
    words = np.zeros(len(distinct), dtype=np.int64)
    np.maximum.at(words, owner, table["word"].to_numpy()[used] + 1)
    named = [[texts[i][code] for code in distinct[:, i]] for i in range(4)]
    bits = np.bincount(owner, minlength=len(distinct))
    return _Storage(named[0], named[1], named[2], named[3], bits, words, row, _rtl(table))


def _rtl(table: pa.Table) -> dict[str, str]:
    """Return which register of the RTL each path of a netlist is called after."""
    if "rtl_register" not in table.column_names:
        return {}
    names = table.select(["path", "rtl_register"]).group_by(["path", "rtl_register"]).aggregate([])
    return {str(row["path"]): str(row["rtl_register"]) for row in names.to_pylist() if row["rtl_register"]}


def _rows(folder: Path, summary: Summary, drawn: Drawn, storage: _Storage) -> _Rows:
    parts: list[list[npt.NDArray[np.generic]]] = []
    for part in sorted((folder / INJECTIONS).glob("part-*.parquet")):
        table = read_parquet(part).replace_schema_metadata(None).select(_COLUMNS)
        numbers = table["injection"].to_numpy()
        kept = drawn.count(numbers)
        outcomes = content_of(table).within(summary.campaign.detection_cycles).outcomes
        names = ("site", "word", "input", "cycle", "operation")
        columns = [numbers, *(table[name].to_numpy() for name in names), outcomes]
        parts.append([column[kept] for column in columns])
    joined = [np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)]
    if not joined:
        joined = [np.zeros(0, dtype=np.int64)] * 7
    number, site, word, input_, cycle, operation, outcome = joined
    bad = [OUTCOMES.index(name) for name in summary.campaign.hazardous]
    weight = weights_of(drawn, number) if number.size else np.zeros(0)
    register = storage.row[site] if number.size else site
    hazardous = np.isin(outcome, bad)
    return _Rows(number, register, word, input_, cycle, operation, outcome, weight, hazardous)


def _registers(
    summary: Summary, sampling: SamplingRecord, drawn: Drawn, storage: _Storage, rows: _Rows
) -> tuple[IntArray, list[RegisterRow]]:
    """Return the rows of all registers, the largest FIT first, and which register each is."""
    number = len(storage.block)
    counts = np.zeros((number, len(OUTCOMES)), dtype=np.int64)
    np.add.at(counts, (rows.register, rows.outcome), 1)
    trials = counts.sum(axis=1)
    events = np.bincount(rows.register[rows.hazardous], minlength=number)
    raw = storage.bits * (_raw_by_class(drawn, storage) if drawn.rated else _raw_fit(summary, storage))
    fit = _fit_limits(summary, sampling, drawn, storage, rows, (events, trials, raw))
    weighed = np.bincount(rows.register, rows.weight, number)
    bad = np.bincount(rows.register, rows.weight * rows.hazardous, number)
    part = np.divide(bad, weighed, out=np.zeros(number), where=weighed > 0.0)
    strata = Strata.of(storage.labels, np.maximum(raw, 1e-300), storage.bits)
    shrunk = shrunken_rates(strata, part * trials, trials) * raw
    order = np.lexsort((np.array(storage.register), -fit[2], -np.nan_to_num(fit[0], nan=-1.0)))
    made = [
        RegisterRow(
            block=storage.block[i],
            path=storage.register[i],
            rtl_register=storage.rtl.get(storage.register[i], ""),
            register_class=storage.register_class[i],
            kind=storage.kind[i],
            bits=int(storage.bits[i]),
            injections=int(trials[i]),
            **{name: int(count) for name, count in zip(OUTCOMES, counts[i], strict=True)},
            hazardous=int(events[i]),
            fit_raw=float(raw[i]),
            fit=float(fit[0][i]) if trials[i] else None,
            fit_lo=float(fit[1][i]),
            fit_hi=float(fit[2][i]),
            fit_shrunk=float(shrunk[i]),
        )
        for i in order
    ]
    return order, made


def _fit_limits(
    summary: Summary,
    sampling: SamplingRecord,
    drawn: Drawn,
    storage: _Storage,
    rows: _Rows,
    counted: tuple[IntArray, IntArray, FloatArray],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return FIT of each register with limits: exact proportions where sampling was even (`Run.registers`),
    else sums over the parts of the sample (`Run.fit`), at most the raw rate.
    """
    events, trials, raw = counted
    if sampling.plan in EVENLY:
        lo, hi = clopper_pearson_limits(events, trials, sampling.looks[-1].confidence)
        part = np.divide(events, trials, out=np.full(len(events), np.nan), where=trials > 0)
        return part * raw, lo * raw, hi * raw
    table = _domains(summary, sampling, drawn, storage, rows, ("block", "register", "register_class", "kind"))
    names = ("block", "register", "register_class", "kind")
    place = {key: i for i, key in enumerate(table[list(names)].itertuples(index=False, name=None))}
    keys = zip(storage.block, storage.register, storage.register_class, storage.kind, strict=True)
    found = table[["fit", "fit_lo", "fit_hi"]].to_numpy(dtype=np.float64)[[place[key] for key in keys]]
    fit, lo, hi = (np.minimum(found[:, column], raw) for column in range(3))
    return np.where(trials > 0, fit, np.nan), lo, hi


def _raw_by_class(drawn: Drawn, storage: _Storage) -> FloatArray:
    """Return the raw rate of one bit of each register where classes have rates of their own."""
    weights = dict(zip(drawn.strata.labels, drawn.strata.weights.tolist(), strict=True))
    bits: dict[tuple[str, ...], int] = {}
    for label, own in zip(storage.labels, storage.bits.tolist(), strict=True):
        key = _rated_as(label[:3], weights)
        bits[key] = bits.get(key, 0) + own
    return np.array([weights[own] / bits[own] for own in (_rated_as(x[:3], weights) for x in storage.labels)])


def _rated_as(label: tuple[str, ...], weights: Mapping[tuple[str, ...], float]) -> tuple[str, ...]:
    """Return the stratum of a register: storage beside logic is not divided by class."""
    return label if label in weights else (*label[:2], "")


def _raw_fit(summary: Summary, storage: _Storage) -> FloatArray:
    """Return the raw rate of one bit of each register."""
    sums: dict[tuple[str, str], float] = {}
    bits: dict[tuple[str, str], int] = {}
    for stratum in summary.strata:
        owner = (stratum.block, stratum.kind)
        sums[owner] = sums.get(owner, 0.0) + stratum.fit_raw
        bits[owner] = stratum.bits
    owners = zip(storage.block, storage.kind, strict=True)
    return np.array([sums[own] / bits[own] if own in sums and bits[own] else 0.0 for own in owners])


def _frame(storage: _Storage, rows: _Rows) -> pd.DataFrame:
    import pandas as pd

    def of_storage(values: list[str]) -> pd.Categorical:
        codes, names = pd.factorize(np.array(values, dtype=object))
        return pd.Categorical.from_codes(codes[rows.register], names)

    return pd.DataFrame(
        {
            "injection": rows.number,
            "input": rows.input,
            "operation": rows.operation,
            "outcome": pd.Categorical.from_codes(rows.outcome, OUTCOMES),
            "block": of_storage(storage.block),
            "register": of_storage(storage.register),
            "register_class": of_storage(storage.register_class),
            "kind": of_storage(storage.kind),
        }
    )


def _domains(
    summary: Summary,
    sampling: SamplingRecord,
    drawn: Drawn,
    storage: _Storage,
    rows: _Rows,
    by: tuple[str, ...],
) -> pd.DataFrame:
    """Return the FIT of each part of the injections, as `Run.fit` does."""
    import pandas as pd

    columns = ("block", "kind", "register_class", "register")
    sites = pd.DataFrame({name: getattr(storage, name) for name in columns})
    asked = Question.of(sampling, by, summary.campaign.hazardous)
    frame = _frame(storage, rows)
    for name in set(by) & set(columns):
        frame[name] = frame[name].astype(str)
    return fit_of_domains(frame, drawn, sites, asked, sampling.plan)


def _operations(summary: Summary, rows: _Rows) -> dict[int, str]:
    """Return the names of operations by number, in the order in which they run; -1 is none."""
    named = {own.index: f"{own.index} {own.name}" for own in summary.network.operations}
    if named:
        named[max(named) + 1] = AFTER_ALL
    found = [int(number) for number in np.unique(rows.operation)]
    return {
        number: named.get(number, NO_OPERATION if number < 0 else f"operation {number}") for number in found
    }


def _shares(
    summary: Summary,
    sampling: SamplingRecord,
    drawn: Drawn,
    storage: _Storage,
    rows: _Rows,
    by: str,
    names: dict[int, str] | None = None,
) -> tuple[PartShare, ...]:
    table = _domains(summary, sampling, drawn, storage, rows, (by,))
    if names is None:
        of_row = np.array(storage.register_class, dtype=object)[rows.register]
    else:
        of_row = rows.operation.astype(object)
    made = []
    for row in table.itertuples(index=False):
        key = row[0]
        own = np.flatnonzero(of_row == key)
        rates = np.bincount(rows.outcome[own], rows.weight[own], len(OUTCOMES))
        fit = RecordedInterval(min(max(row.fit, row.fit_lo), row.fit_hi), row.fit_lo, row.fit_hi)
        made.append(
            PartShare(
                name=str(key) if names is None else names[int(key)],
                injections=int(row.injections),
                events=int(row.events),
                fit=fit,
                outcomes=tuple(map(float, rates)),
            )
        )
    if names is None:
        return tuple(made)
    order = list(names.values())
    return tuple(sorted(made, key=lambda own: order.index(own.name)))


def _groups(
    summary: Summary, sampling: SamplingRecord, drawn: Drawn, storage: _Storage, rows: _Rows
) -> tuple[GroupShare, ...]:
    keys = list(zip(storage.block, storage.register_class, storage.kind, strict=True))
    raw = _raw_fit(summary, storage) * storage.bits
    table = _domains(summary, sampling, drawn, storage, rows, ("block", "register_class", "kind"))
    made = []
    for row in table.itertuples(index=False):
        own = [place for place, key in enumerate(keys) if key == (row.block, row.register_class, row.kind)]
        whole = float(raw[own].sum())
        lo, hi = min(row.fit_lo, whole), min(row.fit_hi, whole)
        made.append(
            GroupShare(
                block=row.block,
                register_class=row.register_class,
                kind=row.kind,
                registers=len(own),
                bits=int(storage.bits[own].sum()),
                injections=int(row.injections),
                events=int(row.events),
                fit_raw=whole,
                fit=RecordedInterval(min(max(row.fit, lo), hi) if row.injections else None, lo, hi),
            )
        )
    return tuple(made)


def _mix(
    summary: Summary, storage: _Storage, rows: _Rows, operations: dict[int, str], classes: list[str]
) -> tuple[MixRow, ...]:
    numbers = np.array(list(operations))
    blocks = [block.name for block in summary.blocks]
    class_of = np.array([classes.index(own) for own in storage.register_class])
    block_of = np.array([blocks.index(own) if own in blocks else len(blocks) for own in storage.block])
    shape = (len(numbers), len(classes), len(blocks) + 1, len(OUTCOMES))
    at = (
        np.searchsorted(numbers, rows.operation),
        class_of[rows.register],
        block_of[rows.register],
        rows.outcome,
    )
    flat = np.ravel_multi_index(at, shape)
    size = int(np.prod(shape))
    counts = np.bincount(flat, minlength=size).reshape(shape)
    rates = np.bincount(flat, rows.weight, size).reshape(shape)
    cells = np.argwhere(counts[:, :, : len(blocks)].sum(axis=3) > 0)
    return tuple(
        MixRow(
            operation=int(i),
            register_class=int(j),
            block=int(k),
            injections=tuple(map(int, counts[i, j, k])),
            outcomes=tuple(float(f"{rate:.4g}") for rate in rates[i, j, k]),
        )
        for i, j, k in cells
    )


def _spans(summary: Summary) -> tuple[OperationSpan, ...]:
    """Return when each operation runs, where the cycles of all are known."""
    spans, start = [], 0
    for own in summary.network.operations:
        if own.cycles is None:
            return ()
        spans.append(OperationSpan(name=f"{own.index} {own.name}", start=start, end=start + own.cycles))
        start += own.cycles
    return tuple(spans)


def _timeline(
    summary: Summary, rows: _Rows, place: IntArray, spans: tuple[OperationSpan, ...], *, even: bool
) -> Timeline | None:
    if summary.campaign.fault_model in PERMANENT_MODELS:
        return None
    cycles = max([*summary.golden.cycles, int(rows.cycle.max()) + 1])
    bins = min(_TIME_BINS, cycles)
    register = place[rows.register]
    while True:
        time = np.minimum(rows.cycle * bins // cycles, bins - 1)
        key = register * bins + time
        cells, owner = np.unique(key, return_inverse=True)
        if len(cells) <= _MOST_CELLS or bins <= 8:
            break
        bins //= 2
    hit = np.bincount(owner, rows.hazardous, len(cells)).astype(np.int64)
    rates = np.bincount(owner, rows.weight * rows.hazardous, len(cells))
    return Timeline(
        cycles=cycles,
        bins=bins,
        operations=spans if spans and spans[-1].end <= cycles else (),
        row=tuple((cells // bins).tolist()),
        time=tuple((cells % bins).tolist()),
        injections=tuple(np.bincount(owner).tolist()),
        hazardous=tuple(hit.tolist()),
        fit=() if even else tuple(float(f"{rate:.3g}") for rate in rates),
    )


def _memories(
    storage: _Storage, rows: _Rows, place: IntArray, operations: dict[int, str]
) -> tuple[MemoryMap, ...]:
    numbers = np.array(list(operations))
    memories = [i for i, words in enumerate(storage.words) if words > 1]
    memories.sort(key=lambda i: -int(storage.bits[i]))
    made = []
    for memory in memories[:_MOST_MEMORIES]:
        own = np.flatnonzero(rows.register == memory)
        if not own.size:
            continue
        words = int(storage.words[memory])
        bins = min(_ADDRESS_BINS, words)
        address = rows.word[own] * bins // words
        key = address * len(numbers) + np.searchsorted(numbers, rows.operation[own])
        cells, owner = np.unique(key, return_inverse=True)
        hit = np.bincount(owner, rows.hazardous[own], len(cells)).astype(np.int64)
        made.append(
            MemoryMap(
                row=int(place[memory]),
                words=words,
                bins=bins,
                address=tuple((cells // len(numbers)).tolist()),
                operation=tuple((cells % len(numbers)).tolist()),
                injections=tuple(np.bincount(owner).tolist()),
                hazardous=tuple(hit.tolist()),
            )
        )
    return tuple(made)
