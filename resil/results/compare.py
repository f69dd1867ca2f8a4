# SPDX-License-Identifier: Apache-2.0
"""Runs side by side, with the interval of the difference of their FIT."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from resil.bench.identity import Identity
from resil.errors import ResilError
from resil.folder.finished import Finished, finished_results
from resil.record import numbers
from resil.record.comparison import (
    GONE,
    HIGHER,
    LOWER,
    NEW,
    NOT_SHOWN,
    ComparedRun,
    Comparison,
    Difference,
    PartDifference,
)
from resil.record.detail import Detail
from resil.record.interval import RecordedInterval
from resil.record.summary import Summary
from resil.results.detail import detail_of
from resil.stats.difference import difference
from resil.stats.intervals import Interval

_MUST_AGREE = {
    "confidence": "interval limits of another confidence have another meaning",
    "hazardous": "FIT counts other outcomes as failures",
    "fault_model": "rates of permanent faults, upsets, pulses and upsets outside the NPU are not of one kind",
    "detection_cycles": "alarms count as detections within another time",
}
_SHOULD_AGREE = {
    "kinds": "other kinds of storage were injected into",
    "clusters": "upsets flip other numbers of bits",
    "inputs": "other inputs were run",
}


def compare_runs(paths: Sequence[Path]) -> Comparison:
    """Compare two or more finished runs or estimates, each with the first.

    Raises:
        ResilError: there are fewer than two, or they cannot be compared.
        StoreError, ConsistencyError: a folder's results may not be used.
    """
    if len(paths) < 2:
        raise ResilError(f"expected two or more run folders, found {len(paths)}; name another", "runs")
    found = [finished_results(path) for path in paths]
    for one, other in combinations(found, 2):
        _require_comparable(one, other)
    names = [path.name for path in paths]
    details = [detail_of(run.path, run.summary) for run in found]
    labels = names if len(set(names)) == len(names) else [str(path) for path in paths]
    return Comparison(
        confidence=found[0].summary.campaign.confidence,
        runs=tuple(_compared(run, label) for run, label in zip(found, labels, strict=True)),
        differences=tuple(
            _difference((found[0], other), label, (details[0], own))
            for (other, label), own in zip(_others(found, labels), details[1:], strict=True)
        ),
        warnings=(
            *(f"{label}: {text}" for run, label in zip(found, labels, strict=True) if (text := _remark(run))),
            *(
                f"{label}: {text}"
                for other, label in _others(found, labels)
                for text in _warnings(found[0].summary, other.summary)
            ),
        ),
    )


def _others(found: Sequence[Finished], labels: Sequence[str]) -> list[tuple[Finished, str]]:
    return list(zip(found[1:], labels[1:], strict=True))


def _require_comparable(one: Finished, other: Finished) -> None:
    both = f"{one.path} and {other.path}"
    drawn = [_drawn(run) for run in (one, other)]
    if drawn[0] is not None and drawn[0] == drawn[1]:
        raise ResilError(
            f"{both}: expected different campaigns, found the same injections in both; compare runs "
            "that differ in network, target, protection or seed",
            "identity",
        )
    for key, why in _MUST_AGREE.items():
        values = [getattr(run.summary.campaign, key) for run in (one, other)]
        if values[0] != values[1]:
            raise ResilError(
                f"{both}: expected the same {key}, found {_shown(values[0])} and {_shown(values[1])}: {why}; "
                "run one of them again with the other's value, or judge it again with resil run --resume",
                key,
            )
    timeouts = [run.summary.campaign.timeout for run in (one, other)]
    if timeouts[0] != timeouts[1]:
        raise ResilError(
            f'{both}: expected the same [execution] timeout, found "{timeouts[0]}" and "{timeouts[1]}": they '
            "count other hangs; run one of them again with the other's",
            "execution.timeout",
        )
    made = [_inferences(run.summary) for run in (one, other)]
    if made[0] != made[1]:
        raise ResilError(
            f"{both}: expected the same [campaign] inferences, found {made[0]} and {made[1]}: of two, "
            "failures that show in the second count too; run one of them again with the other's",
            "campaign.inferences",
        )


def _drawn(run: Finished) -> tuple[str, str] | None:
    """Return which faults a run drew, and how its decisions were read; None of an estimate."""
    definition = run.provenance.definition
    return (Identity(definition).faults, run.summary.network.decision) if definition else None


def _inferences(summary: Summary) -> str:
    facts = summary.inferences
    return "1" if facts is None else " with ".join(filter(None, (str(facts.number), facts.between)))


def _remark(run: Finished) -> str:
    """Return what has to be said of a run whose golden output is not the network's; else ""."""
    comparison = run.summary.golden.comparison
    return comparison.sentence if comparison.caveat else ""


def _warnings(one: Summary, other: Summary) -> list[str]:
    found = []
    for key, why in _SHOULD_AGREE.items():
        values = [getattr(summary.campaign, key) for summary in (one, other)]
        if values[0] != values[1]:
            found.append(f"{why} ({key} {_shown(values[1])}, first run {_shown(values[0])})")
    sets = [summary.sampling.over_inputs.data_set for summary in (one, other) if summary.sampling]
    if len(set(sets)) > 1:
        found.append("inputs are of another data set")
    rates = [
        {entry.quantity: (entry.value, entry.unit) for entry in summary.technology.entries}
        for summary in (one, other)
    ]
    if rates[0] != rates[1]:
        names = [summary.technology.name for summary in (one, other)]
        found.append(f"raw upset rates are others ({names[1]}, first run {names[0]})")
    if one.target.area_unit != other.target.area_unit:
        found.append("areas are in another unit")
    return found


def _compared(run: Finished, label: str) -> ComparedRun:
    summary = run.summary
    total, verdict = summary.total, summary.verdict
    return ComparedRun(
        path=str(run.path),
        name=label,
        predicted=summary.predicted,
        network=summary.network.name,
        target=summary.target.name,
        injections=total.injections,
        outcomes=total.counts,
        fit=total.fit_interval,
        area=total.area,
        area_unit=total.area_unit,
        budget_fit=verdict.budget_fit,
        verdict=verdict.result,
        safety=None if summary.safety is None else summary.safety.result,
        blocks={row.name: row.fit_interval if row.sampled else None for row in summary.blocks},
    )


def _difference(
    pair: tuple[Finished, Finished], label: str, details: tuple[Detail | None, Detail | None]
) -> Difference:
    first, other = pair
    one, own = _interval(first), _interval(other)
    found = difference(own, one)
    return Difference(
        of=label,
        fit=RecordedInterval(found.estimate, found.lo, found.hi),
        ratio=numbers.ratio(own.estimate, one.estimate),
        blocks=_blocks(first, other),
        registers=_registers(details, first.summary.campaign.confidence),
    )


def _blocks(first: Finished, other: Finished) -> tuple[PartDifference, ...]:
    """Return the differences of blocks, in report order of the other run, then those that are gone."""
    known = [{row.name: row for row in run.summary.blocks} for run in (first, other)]
    sure = first.summary.campaign.confidence
    made = []
    for name in dict.fromkeys([*known[1], *known[0]]):
        rows = [own.get(name) for own in known]
        fits = [row.fit_interval if row is not None and row.sampled else None for row in rows]
        only = NEW if rows[0] is None else GONE if rows[1] is None else ""
        made.append(_part(name, name, fits[0], fits[1], only, sure))
    return tuple(made)


def _registers(details: tuple[Detail | None, Detail | None], sure: float) -> tuple[PartDifference, ...]:
    """Return the differences of registers, the largest first."""
    if any(own is None or not own.even for own in details):
        return ()
    one, two = ({(row.block, row.path): row for row in own.registers} for own in details if own is not None)
    made = []
    for key in dict.fromkeys([*two, *one]):
        rows = [known.get(key) for known in (one, two)]
        fits = [row.fit_interval if row is not None and row.injections else None for row in rows]
        only = NEW if rows[0] is None else GONE if rows[1] is None else ""
        made.append(_part(key[1], key[0], fits[0], fits[1], only, sure))
    return tuple(sorted(made, key=_size))


def _size(own: PartDifference) -> tuple[float, str]:
    known = own.difference or own.other or own.first
    return (-abs(known.estimate or 0.0) if known is not None else 0.0, own.name)


def _part(
    name: str,
    block: str,
    first: RecordedInterval | None,
    other: RecordedInterval | None,
    only: str,
    confidence: float,
) -> PartDifference:
    """Return a difference with its mark; `only` is `new` or `gone` of what one of the two does not have."""
    made = None
    if first is not None and other is not None and None not in (first.estimate, other.estimate):
        found = difference(_of(other, confidence), _of(first, confidence))
        made = RecordedInterval(found.estimate, found.lo, found.hi)
    shown = NOT_SHOWN if made is None else HIGHER if made.lo > 0.0 else LOWER if made.hi < 0.0 else NOT_SHOWN
    return PartDifference(
        name=name, block=block, first=first, other=other, difference=made, mark=only or shown
    )


def _of(interval: RecordedInterval, confidence: float) -> Interval:
    return Interval(interval.estimate or 0.0, interval.lo, interval.hi, confidence)


def _interval(run: Finished) -> Interval:
    total = run.summary.total
    return Interval(total.fit, total.fit_lo, total.fit_hi, run.summary.campaign.confidence)


def _shown(value: object) -> str:
    return json.dumps(value)
