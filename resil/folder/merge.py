# SPDX-License-Identifier: Apache-2.0
"""Injections of runs of one campaign that were made apart, joined in one folder."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from resil.bench.identity import Identity
from resil.errors import StoreError
from resil.faults.content import Content
from resil.files import write_bytes
from resil.folder.contents import IntArray, content_of, require_equal
from resil.folder.finished import stored_injections
from resil.folder.parts import read_part
from resil.folder.store import (
    CAMPAIGN,
    INJECTIONS,
    SITES,
    RunFolder,
    open_run,
    recorded_definition,
    recorded_provenance,
    require_unfailed,
)
from resil.record.typed import Count, Typed

# By which tables results are judged, whatever was injected; () for all keys of a table.
_JUDGED_BY: dict[str, tuple[str, ...]] = {
    "campaign": ("confidence",),
    "faults": ("cluster_shares",),
    "network": ("accept_golden",),
    "sampling": ("inputs",),
    **dict.fromkeys(("technology", "budget", "safety", "area"), ()),
}


class MergedRun(Typed):
    """A run that was joined with others."""

    path: str
    """Its folder."""
    injections: Count
    """How many it holds."""


class Merge(Typed):
    """Runs of one identity that were joined."""

    out: str
    """The folder that holds all of them."""
    runs: tuple[MergedRun, ...]
    """What was joined."""
    injections: Count
    """How many the folder holds now."""
    twice: Count
    """How many stood in several runs, and were equal."""
    campaign: str
    """Campaign file to go on with."""


def merge_runs(out: Path, runs: Sequence[Path]) -> Merge:
    """Join the injections of runs of one identity in the folder `out`, each injection once.

    The result is an unfinished run: `resil run` makes what the campaign still lacks, and judges all. What the
    runs hold alike has to be equal in them, and so have the rules by which they are judged. The campaign is
    that of the run that asks for most injections.

    Returns:
        What was joined, and what the folder holds now.

    Raises:
        StoreError: a folder is none of a run, or is damaged; the runs are of several campaigns, or are judged
            by different rules: it says what differs; or `out` is no new folder.
        ConsistencyError: a run has failed an audit, or two hold one injection with different outcomes.
    """
    if len({run.resolve() for run in runs}) < len(runs) or len(runs) < 2:
        raise StoreError(
            f"expected two or more different run folders, found {len(runs)}; name each once", "runs"
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise StoreError(f"{out}: expected a new or an empty folder, found content; choose another", "--out")
    identity = Identity(recorded_definition(runs[0]))
    contents = [_content(run, runs[0], identity) for run in runs]
    _require_same_rules(runs)
    _require_equal(runs, identity)
    largest = max(runs, key=_asked)
    _require_one_golden(runs)
    first = recorded_provenance(largest).changed(
        finished=None,
        failed=None,
        audit=None,
        results=None,
        seconds=round(sum(recorded_provenance(run).seconds for run in runs), 3),
        recalled=sum(recorded_provenance(run).recalled for run in runs),
    )
    with open_run(out, identity, first) as folder:
        for name in (CAMPAIGN, SITES):
            write_bytes(out / name, (largest / name).read_bytes())
        held = _copy(runs, folder)
    twice = sum(len(own.injections) for own in contents) - held
    joined = zip(runs, contents, strict=True)
    return Merge(
        out=str(out),
        runs=tuple(MergedRun(path=str(run), injections=len(own.injections)) for run, own in joined),
        injections=held,
        twice=twice,
        campaign=str(out / CAMPAIGN),
    )


def merge_text(result: Merge) -> str:
    """Return what was joined as lines for a person, and what to do next."""
    lines = [f"{run.path}: {run.injections:,} injections" for run in result.runs]
    twice = f" ({result.twice:,} stood in several, and were equal)" if result.twice else ""
    lines.append(f"{result.out}: {result.injections:,} injections{twice}")
    return "\n".join([*lines, f"judge them with: resil run {result.campaign} --out {result.out} --resume"])


def _content(run: Path, first: Path, identity: Identity) -> Content:
    definition = recorded_definition(run)
    require_unfailed(run, recorded_provenance(run))
    if differences := identity.differences(definition):
        raise StoreError(
            f"{run}: expected a run of the same campaign as the first, found another; these differ: "
            f"{', '.join(differences)} (here: in {first}); merge runs of one campaign, and show others "
            "side by side with: resil compare",
            "identity",
        )
    for name in (CAMPAIGN, SITES):
        if not (run / name).is_file():
            raise StoreError(
                f"{run / name}: expected a file, found none; give a run folder that is whole", name
            )
    return stored_injections(run, identity)


def _require_same_rules(runs: Sequence[Path]) -> None:
    """Raise StoreError if runs are judged by different budgets, hazards, rates or claims.

    Which of them the joined run should be judged by is for the user to say: none is taken silently.
    """
    first = _rules(runs[0])
    for run in runs[1:]:
        own = _rules(run)
        if differing := [key for key in {**first, **own} if first.get(key) != own.get(key)]:
            both = "; ".join(f"{key}: {first.get(key)} and {own.get(key)}" for key in differing)
            raise StoreError(
                f"{runs[0] / CAMPAIGN} and {run / CAMPAIGN}: expected the same rules of judging, found "
                f"{both}; decide which holds, judge the other run by it (resil run CAMPAIGN.toml --out RUN), "
                "and merge again",
                CAMPAIGN,
            )


def _rules(run: Path) -> dict[str, object]:
    """Return the settings by which a run is judged, as "[table] key"."""
    tables = _tables(run)
    return {
        f"[{table}] {key}": value
        for table, keys in _JUDGED_BY.items()
        for key, value in tables.get(table, {}).items()
        if key in keys or not keys
    }


def _tables(run: Path) -> Mapping[str, Mapping[str, object]]:
    """Return the campaign file of a run; StoreError if it is damaged."""
    try:
        return tomllib.loads((run / CAMPAIGN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise StoreError(f"{run / CAMPAIGN}: damaged, it is no campaign file; restore it", CAMPAIGN) from None


def _require_one_golden(runs: Sequence[Path]) -> None:
    """Raise StoreError unless the runs without a fault were the same in all."""
    first = recorded_provenance(runs[0]).golden
    for run in runs[1:]:
        if recorded_provenance(run).golden != first:
            raise StoreError(
                f"{run}: expected the runs without a fault of {runs[0]}, found others: one of them was made "
                "with another design or simulator; run it again",
                "golden",
            )


def _require_equal(runs: Sequence[Path], identity: Identity) -> None:
    """Raise ConsistencyError if two runs hold an injection with different rows."""
    seen: dict[Path, IntArray] = {}
    for run in runs:
        own = {part: content_of(read_part(part, identity.digest)).injections for part in _parts(run)}
        for part, numbers in own.items():
            for earlier, others in seen.items():
                if np.isin(numbers, others).any():
                    require_equal(part, earlier, identity.digest)
        seen |= own


def _copy(runs: Sequence[Path], folder: RunFolder) -> int:
    """Append the rows of all part files that are not there yet; return how many there are in the end."""
    there = np.zeros(0, dtype=np.int64)
    for run in runs:
        for part in _parts(run):
            rows = read_part(part, folder.identity.digest)
            numbers = content_of(rows).injections
            fresh = ~np.isin(numbers, there)
            if fresh.any():
                folder.append(rows.filter(fresh))
                there = np.concatenate([there, numbers[fresh]])
    return len(there)


def _parts(run: Path) -> list[Path]:
    return sorted((run / INJECTIONS).glob("part-*.parquet"))


def _asked(run: Path) -> tuple[int, str]:
    """Return how many injections the campaign of a run asks for, which its file says."""
    try:
        return int(str(_tables(run)["faults"]["injections"])), str(run)
    except (ValueError, KeyError, TypeError):
        raise StoreError(
            f"{run / CAMPAIGN}: damaged, it does not say how many injections; restore it", CAMPAIGN
        ) from None
