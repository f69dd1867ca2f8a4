# SPDX-License-Identifier: Apache-2.0
"""Runs side by side, with the interval of the difference of their FIT."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from resil.bench.identity import Identity
from resil.errors import ResilError
from resil.folder.finished import Finished, finished_results
from resil.record import numbers
from resil.record.interval import RecordedInterval
from resil.record.outcomes import OUTCOMES
from resil.record.summary import Summary
from resil.record.typed import Amount, Count, Typed
from resil.reports.table import Column, Table
from resil.stats.difference import difference
from resil.stats.intervals import Interval

_MUST_AGREE = {
    "confidence": "interval limits of another confidence have another meaning",
    "hazardous": "FIT counts other outcomes as failures",
    "fault_model": "rates of permanent faults, upsets and upsets outside the NPU are not of one kind",
    "detection_cycles": "alarms count as detections within another time",
}
_SHOULD_AGREE = {
    "kinds": "other kinds of storage were injected into",
    "clusters": "upsets flip other numbers of bits",
    "inputs": "other inputs were run",
}


class ComparedRun(Typed):
    """What is compared of a run or an estimate."""

    path: str
    """Its folder."""
    name: str
    """What the comparison calls it."""
    predicted: bool
    """Whether nothing was injected."""
    network: str
    """Its name."""
    target: str
    """Its name."""
    injections: Count
    """How many were made."""
    outcomes: Mapping[str, Count]
    """Injections of each outcome."""
    fit: RecordedInterval
    """Hazardous failures in 10^9 hours: estimate, lower and upper limit."""
    area: Amount
    """In `area_unit`."""
    area_unit: str
    """`GE` (gate equivalents) or `um2`."""
    budget_fit: Amount | None
    """Null without a budget."""
    verdict: str
    """On the budget alone."""
    safety: str | None
    """On the safety claims; null without any."""
    blocks: Mapping[str, RecordedInterval | None]
    """FIT of each block; null where nothing is known."""


class Difference(Typed):
    """How the FIT of a run differs from that of the first."""

    of: str
    """The run."""
    fit: RecordedInterval
    """Its FIT less that of the first, of any sign: estimate, lower and upper limit."""
    ratio: Amount | None
    """Its FIT as a multiple of that of the first; null if that has none."""


class Comparison(Typed):
    """Runs side by side."""

    confidence: float
    """With which intervals hold."""
    runs: tuple[ComparedRun, ...]
    """In the order of the command line."""
    differences: tuple[Difference, ...]
    """Of each other run to the first."""
    warnings: tuple[str, ...]
    """What else differs than what a comparison is about."""


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
    labels = names if len(set(names)) == len(names) else [str(path) for path in paths]
    return Comparison(
        confidence=found[0].summary.campaign.confidence,
        runs=tuple(_compared(run, label) for run, label in zip(found, labels, strict=True)),
        differences=tuple(_difference(found[0], other, label) for other, label in _others(found, labels)),
        warnings=(
            *(f"{label}: {text}" for run, label in zip(found, labels, strict=True) if (text := _remark(run))),
            *(
                f"{label}: {text}"
                for other, label in _others(found, labels)
                for text in _warnings(found[0].summary, other.summary)
            ),
        ),
    )


def compare_text(result: Comparison, width: int | None = None) -> str:
    """Return the comparison as lines for a person; `width` as of `Table.text`."""
    runs, differences = result.runs, result.differences
    columns = (Column("", numeric=False), *(Column(run.name) for run in runs))

    def row(title: str, cell: Callable[[ComparedRun], str]) -> tuple[str, ...]:
        return (title, *map(cell, runs))

    rows = [
        row("network", lambda run: run.network),
        row("target", lambda run: run.target),
        row("predicted, not injected", lambda run: "yes" if run.predicted else "no"),
        row("injected", lambda run: numbers.count(run.injections)),
        *((o.title, *(_count_cell(run, o.key) for run in runs)) for o in OUTCOMES),
        row("FIT", lambda run: _fit_cell(run.fit)),
        row("budget FIT", lambda run: numbers.given(run.budget_fit)),
        row("FIT budget", lambda run: run.verdict),
        row("safety claims", lambda run: run.safety or "none"),
        row("area", lambda run: f"{numbers.area(run.area)} {numbers.unit(run.area_unit)}"),
        (f"FIT less that of {runs[0].name}", "", *(_fit_cell(own.fit) for own in differences)),
        (f"FIT times that of {runs[0].name}", "", *(_ratio_cell(own.ratio) for own in differences)),
    ]
    sure = numbers.confidence(result.confidence)
    tables = [Table(f"Runs side by side, {sure} intervals", columns, tuple(rows)).text(width)]
    blocks = list(dict.fromkeys(block for run in runs for block in run.blocks))
    by_block = tuple(
        (block, *(_fit_cell(run.blocks[block]) if block in run.blocks else "" for run in runs))
        for block in blocks
    )
    heads = (Column("block", numeric=False), *columns[1:])
    tables.append(Table(f"FIT by block, {sure} intervals", heads, by_block).text(width))
    return "\n".join([*tables, *(f"warning: {text}" for text in result.warnings)])


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


def _difference(first: Finished, other: Finished, label: str) -> Difference:
    one, own = _interval(first), _interval(other)
    found = difference(own, one)
    return Difference(
        of=label,
        fit=RecordedInterval(found.estimate, found.lo, found.hi),
        ratio=numbers.ratio(own.estimate, one.estimate),
    )


def _interval(run: Finished) -> Interval:
    total = run.summary.total
    return Interval(total.fit, total.fit_lo, total.fit_hi, run.summary.campaign.confidence)


def _count_cell(run: ComparedRun, outcome: str) -> str:
    return numbers.NOT_KNOWN if run.predicted else numbers.count(run.outcomes[outcome])


def _fit_cell(shown: RecordedInterval | None) -> str:
    if shown is None:
        return numbers.NOT_KNOWN
    return f"{numbers.fit(shown.estimate)} {numbers.fit_range(shown)}"


def _ratio_cell(ratio: float | None) -> str:
    return numbers.NOT_KNOWN if ratio is None else f"{ratio:.3g}x"


def _shown(value: object) -> str:
    return json.dumps(value)
