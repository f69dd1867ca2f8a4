# SPDX-License-Identifier: Apache-2.0
"""Patterns of corrupted tensors out of a finished run, for injectors in software."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resil.errors import ResilError, StoreError
from resil.files import write_text
from resil.folder.finished import finished_run, require_ends, require_measured, require_single, require_upsets
from resil.folder.provenance import now
from resil.folder.store import locked
from resil.record.patterns import ErrorPattern, ErrorPatterns, PatternGroup, PatternOutcome
from resil.results.run import FinishedRun
from resil.results.shares import share_by_weight
from resil.stats.rates import OUTCOMES
from resil.work.patterns import Pattern

if TYPE_CHECKING:
    import pandas as pd

LIMIT = 5000
"""Patterns that are listed, unless more is asked for."""
_WHOLE = 0.95
_GROUP = ["operation_kind", "block", "kind", "register_class"]
_LAST_WRITTEN = (
    "a pattern is laid to the last operation that wrote one of the damaged bytes; what a fault damaged in "
    "the output of an operation before stands as stray bytes"
)
_OVERWRITTEN = (
    "tensors are compared when an operation ends and nothing else differs; damage that was overwritten "
    "before, and left no trace, is in no pattern"
)


def error_patterns(run_dir: Path, inputs: Sequence[int] = (), *, limit: int = LIMIT) -> ErrorPatterns:
    """Return what the faults of a run did to tensors.

    Nothing is simulated: the fast engine keeps what a fault had damaged when the run left the RTL.

    Args:
        run_dir: A finished run of a network on the NPU.
        inputs: Labels of the inputs whose injections are looked at; nothing for all.
        limit: How many patterns are listed at the most.

    Raises:
        ResilError: the run has no such input, or shows no corruption of a tensor.
        StoreError: the run cannot be used, or is of stuck bits, of two inferences, or ended by alarms.
    """
    finished, run = finished_run(run_dir), FinishedRun(run_dir)
    require_measured(finished)
    require_upsets(finished, "a pattern is what an upset did to a tensor")
    require_single(finished, "a pattern is what a fault did to tensors of one inference")
    require_ends(finished, "detected faults have to be followed to the tensors that they damage")
    results = finished.provenance.results
    assert results is not None
    assert results.content is not None
    rows = run.counted()
    labels = sorted(set(rows["input"].tolist()))
    if unknown := sorted(set(inputs) - set(labels)):
        raise ResilError(
            f"--input: expected some of {', '.join(map(str, labels))}, found {', '.join(map(str, unknown))}",
            "--input",
        )
    wanted = sorted(set(inputs)) or labels
    rows = rows[rows["input"].isin(wanted)].reset_index(drop=True)
    found = _described(rows, _operation_kinds(run), run_dir)
    if not len(found):
        raise ResilError(
            f"{run_dir}: expected faults that damaged tensors, found none among {len(rows):,} injections: "
            'the engine "verilator" records them, of networks on the NPU; inject more, or with it',
            "corruption",
        )
    kept = np.arange(len(found))
    if len(found) > limit:
        kept = np.sort(np.random.default_rng(1).permutation(len(found))[:limit])
    share = found["weight"].sum() / found["weight"].to_numpy()[kept].sum()
    decision = finished.provenance.definition.get("decision", "")
    return ErrorPatterns(
        schema=ErrorPatterns.SCHEMA,
        content=results.content,
        target=run.summary.target.name,
        network=run.summary.network.name,
        network_sha256=run.summary.network.sha256,
        decision=str(decision),
        inputs=tuple(wanted),
        confidence=run.confidence,
        injections=len(rows),
        fit_raw=float(rows["weight"].sum()),
        outcomes=tuple(_outcomes(rows, found)),
        groups=tuple(_groups(found, run.confidence)),
        patterns=tuple(_pattern(row, share) for row in found.iloc[kept].to_dict("records")),
        left_out=len(found) - len(kept),
        notes=(_LAST_WRITTEN, _OVERWRITTEN),
        made=now(),
    )


def write_patterns(
    run_dir: Path, output: Path | None = None, inputs: Sequence[int] = (), *, limit: int = LIMIT
) -> ErrorPatterns:
    """Write `error_patterns`, and return them.

    Args:
        run_dir: As there.
        output: The file; None for that of the run folder.
        inputs: As there.
        limit: As there.
    """
    found = error_patterns(run_dir, inputs, limit=limit)
    if output is not None:
        write_text(output, found.text())
        return found
    with locked(run_dir):
        write_text(run_dir / ErrorPatterns.FILE, found.text())
    return found


def extent_of(pattern: Pattern) -> str:
    """Return the smallest of `EXTENTS` that holds all damaged elements of a pattern.

    Examples:
        >>> one = Pattern(0, (4, 4, 8), 1, 1, (2, 2, 0, 0, 5, 5), ((0, 0, 0, 64, 64, 0),), 0)
        >>> extent_of(one)
        'bit'
        >>> extent_of(Pattern(0, (4, 4, 8), 1, 9, (0, 2, 0, 3, 5, 5), (), 0))
        'channel'
        >>> extent_of(Pattern(0, (4, 4, 8), 1, 128, (0, 3, 0, 3, 0, 7), (), 0))
        'map'
    """
    if pattern.count == 1:
        flips = pattern.samples[0][3] if pattern.samples else 0
        return "bit" if flips and not flips & (flips - 1) else "element"
    if pattern.count >= _WHOLE * prod(pattern.shape):
        return "map"
    top, bottom, left, right, first, last = pattern.box
    if first == last:
        return "channel"
    return "position" if (top, left) == (bottom, right) else "region"


def _operation_kinds(run: FinishedRun) -> list[tuple[str, str]]:
    """Return name and kind of each operation."""
    found = []
    for operation in run.summary.network.operations:
        kind = operation.kind if operation.work is None else str(operation.work.get("kind", operation.kind))
        found.append((operation.name, kind))
    return found


def _described(rows: pd.DataFrame, operations: Sequence[tuple[str, str]], run_dir: Path) -> pd.DataFrame:
    """Return the rows that have a pattern with damaged elements, with what that says as columns."""
    texts = rows["corruption"].to_list()
    patterns = [Pattern.from_text(text) if text else None for text in texts]
    own = np.array([one is not None and one.count > 0 for one in patterns], np.bool_)
    found = rows[own].copy()
    known = [one for one in patterns if one is not None and one.count]
    if any(one.operation >= len(operations) for one in known):
        raise StoreError(
            f"{run_dir}: expected corruptions of {len(operations)} operations, found one of another; make "
            "the run again",
            "corruption",
        )
    found["operation_name"] = [operations[one.operation][0] for one in known]
    found["operation_kind"] = [operations[one.operation][1] for one in known]
    found["extent"] = [extent_of(one) for one in known]
    found["elements"] = [one.count for one in known]
    found["change"] = [max(abs(sample[4]) for sample in one.samples) for one in known]
    found["saturated"] = [np.mean([sample[5] != 0 for sample in one.samples]) for one in known]
    return found


def _outcomes(rows: pd.DataFrame, found: pd.DataFrame) -> Iterator[PatternOutcome]:
    for outcome in OUTCOMES:
        all_of, described = rows[rows["outcome"] == outcome], found[found["outcome"] == outcome]
        if len(all_of):
            yield PatternOutcome(
                outcome=outcome,
                injections=len(all_of),
                fit=float(all_of["weight"].sum()),
                described=len(described),
                described_fit=float(described["weight"].sum()),
            )


def _groups(found: pd.DataFrame, confidence: float) -> list[PatternGroup]:
    groups = []
    for (operation_kind, block, kind, register_class), own in found.groupby(_GROUP, observed=True):
        weights = own["weight"].to_numpy(np.float64)
        total = weights.sum()

        def share(values: pd.Series[float], weights: np.ndarray = weights, total: float = total) -> float:
            return float((weights * values.to_numpy(np.float64)).sum() / total) if total else 0.0

        groups.append(
            PatternGroup(
                operation_kind=operation_kind,
                block=block,
                kind=kind,
                register_class=register_class,
                patterns=len(own),
                fit=float(total),
                bit=share(own["extent"] == "bit"),
                element=share(own["elements"] == 1),
                saturated=share(own["saturated"]),
                median_elements=float(own["elements"].median()),
                most_elements=int(own["elements"].max()),
                median_change=float(own["change"].median()),
                critical=share_by_weight(weights, (own["outcome"] == "sdc_critical").to_numpy(), confidence),
            )
        )
    return sorted(groups, key=lambda one: (-one.fit, one.operation_kind, one.block, one.register_class))


def _pattern(row: dict[str, object], share: float) -> ErrorPattern:
    return ErrorPattern.from_plain(
        {
            "fit": float(str(row["weight"])) * share,
            "operation": row["operation_name"],
            "largest_change": row["change"],
            "pattern": row["corruption"],
            **{
                name: row[name]
                for name in (
                    *("injection", "input", "block", "kind", "register_class", "operation_kind"),
                    *("extent", "elements", "outcome"),
                )
            },
        }
    )
