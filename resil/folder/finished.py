# SPDX-License-Identifier: Apache-2.0
"""Whether a folder of results is whole, finished, of this version and unfailed: all that read one ask here.

A run is sealed when it ends: `provenance.json` gets the digests of what it left behind. Reading a folder
compares them, reads every part file, and counts: what is not just as the run left it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from resil.bench.identity import Identity
from resil.campaign.rules import TIMEOUTS, UNTIL
from resil.errors import ConsistencyError, NothingMeasuredError, StoreError
from resil.faults.content import Content
from resil.folder.contents import content_of, repeating, require_equal
from resil.folder.parts import PartError, read_part
from resil.folder.recorded import read_document
from resil.folder.store import (
    CAMPAIGN,
    INJECTIONS,
    PROVENANCE,
    SITES,
    STRATA,
    SUMMARY,
    no_run,
    recorded_definition,
    recorded_provenance,
    require_unfailed,
)
from resil.record.provenance import ESTIMATE, RUN, Provenance, Seal
from resil.record.summary import Summary
from resil.rtl_harness.cache import file_digest
from resil.stats.rates import OUTCOMES

_FINISH = "finish it with: resil run CAMPAIGN.toml --out {} --resume"
_REPAIR = "what is missing is made again by: resil run CAMPAIGN.toml --out {} --resume"
_ESTIMATE_AGAIN = "make it again with: resil estimate CAMPAIGN.toml --out {}"
_SEALED = {RUN: (SUMMARY, CAMPAIGN, SITES, STRATA), ESTIMATE: (SUMMARY, CAMPAIGN)}


@dataclass(frozen=True)
class Finished:
    """A folder whose results may be used.

    Attributes:
        path: The folder.
        kind: `provenance.RUN` or `provenance.ESTIMATE`.
        provenance: What made the results.
        summary: The results.
        digest: SHA-256 of `summary.json`, by which other files say what they rest on.
    """

    path: Path
    kind: str
    provenance: Provenance
    summary: Summary
    digest: str


def finished_run(path: Path) -> Finished:
    """Return a run whose results may be used.

    Raises:
        StoreError: the folder is none of a run, is of another version, unfinished, damaged or altered, or is
            an estimate; the message says which, and what to do.
        ConsistencyError: the run has failed an audit.
    """
    found = finished_results(path)
    if found.kind != RUN:
        raise no_run(path)
    return found


def require_single(found: Finished, why: str) -> None:
    """Raise StoreError if the runs of a campaign made two inferences; `why` says what asks for one."""
    if found.summary.inferences is not None:
        raise StoreError(
            f"{found.path}: expected a run of single inferences, found one with [campaign] inferences = 2: "
            f"{why}; give a run of the same campaign with one",
            "campaign.inferences",
        )


def require_measured(found: Finished) -> None:
    """Raise NothingMeasuredError if what a run watched could have shown no failure."""
    if reason := found.summary.nothing_measured:
        raise NothingMeasuredError(f"{found.path}: not assessed. {reason}", "nothing measured")


def require_distinct(runs: Iterable[tuple[Path, Provenance]]) -> None:
    """Raise StoreError if two runs drew the same faults: a copy, or a part, is no further evidence.

    Args:
        runs: Folder and provenance of each.
    """
    seen: dict[str, Path] = {}
    for path, facts in runs:
        drawn = Identity(facts.definition).faults
        if drawn in seen:
            raise StoreError(
                f"{seen[drawn]} and {path}: expected runs with faults of their own, found two with the same "
                "ones (campaign and seed are alike), which would count twice; name one of them, or inject "
                "with another seed",
                "twice",
            )
        seen[drawn] = path


def require_ends(found: Finished, why: str) -> None:
    """Raise StoreError if an alarm ended the runs of a campaign; `why` says what asks for their ends."""
    if (until := found.summary.campaign.until) != UNTIL[0]:
        raise StoreError(
            f'{found.path}: expected a run with [execution] until = "{UNTIL[0]}", found "{until}": {why}; '
            "give a run of the same campaign without the key",
            "execution.until",
        )


def require_area(found: Finished) -> None:
    """Raise StoreError if the area of a run's blocks was not measured."""
    if not found.summary.total.area > 0:
        raise StoreError(
            f"{found.path}: expected a run that knows the area of its blocks, found one of which it was not "
            "measured, as of a confirmation; give one that resil run has made",
            "blocks.area",
        )


def require_inference_timeout(found: Finished, why: str) -> None:
    """Raise StoreError if operations had a time-out of their own; `why` says what asks for none."""
    if (timeout := found.summary.campaign.timeout) != TIMEOUTS[0]:
        raise StoreError(
            f'{found.path}: expected a run with [execution] timeout = "{TIMEOUTS[0]}", found "{timeout}", '
            f"which counts other hangs: {why}; give a run of the same campaign without the key",
            "execution.timeout",
        )


def require_upsets(found: Finished, why: str) -> None:
    """Raise StoreError if a run injected permanent faults; `why` says what they are not good for."""
    model = found.summary.campaign.fault_model
    if model != "upset":
        raise StoreError(
            f'{found.path}: expected a run with upsets, found one with [faults] model = "{model}": {why}; '
            "give a run of the same campaign with upsets",
            "faults.model",
        )


def finished_results(path: Path) -> Finished:
    """Return a run or an estimate whose results may be used.

    Raises:
        StoreError, ConsistencyError: as `finished_run`, but for estimates.
    """
    provenance = recorded_provenance(path)
    require_unfailed(path, provenance)
    kind = provenance.kind
    again = (_FINISH if kind == RUN else _ESTIMATE_AGAIN).format(path)
    sealed = provenance.results
    if not provenance.finished or sealed is None:
        raise StoreError(
            f"{path}: expected a finished {kind}, found an unfinished one; {again}", "unfinished"
        )
    for name in _SEALED[kind]:
        if _digest(path / name, again) != sealed.files.get(name):
            raise StoreError(
                f"{path / name}: altered since the {kind} ended: {PROVENANCE} has another digest of it; "
                f"{again}",
                name,
            )
    summary = read_document(path / SUMMARY, Summary, again)
    if summary.predicted != (kind == ESTIMATE):
        raise StoreError(
            f"{path / SUMMARY}: expected that of {_a(kind)}, found that of "
            f"{_a(ESTIMATE if summary.predicted else RUN)}; {again}",
            "kind",
        )
    if kind == RUN:
        _check_identity(path, provenance, summary, again)
    if kind == RUN:
        _check_injections(path, summary, sealed)
    return Finished(path, kind, provenance, summary, sealed.files[SUMMARY])


def shortcoming(path: Path) -> str:
    """Return why the results of a run folder may not be used; "" if they may.

    For commands that use single injections, each of which carries a checksum of its own.
    """
    try:
        finished_run(path)
    except (StoreError, ConsistencyError) as error:
        return str(error)
    return ""


def sealed_summary(path: Path) -> Summary | None:
    """Return the summary that a run ended with, None if there is none, or it is not as the run left it."""
    try:
        sealed = recorded_provenance(path).results
        if sealed is None or _digest(path / SUMMARY, "") != sealed.files.get(SUMMARY):
            return None
        return read_document(path / SUMMARY, Summary, "")
    except StoreError:
        return None


def seal(path: Path, kind: str, content: Content | None = None) -> Seal:
    """Return what `provenance.json` says of the files that are now in a folder.

    Args:
        path: The folder, with all its files but `provenance.json`.
        kind: `provenance.RUN` or `provenance.ESTIMATE`.
        content: All stored injections of a run.
    """
    return Seal(
        files={name: _digest(path / name, "") for name in _SEALED[kind]},
        injections=None if content is None else len(content.injections),
        content=None if content is None else _content_digest(content),
    )


def stored_injections(path: Path, identity: Identity) -> Content:
    """Return what all part files of a run hold, none of which may be damaged.

    Raises:
        StoreError: a part is damaged, of another campaign, or repeats another.
        ConsistencyError: two parts hold one injection with different outcomes.
    """
    kept: dict[Path, Content] = {}
    for part in sorted((path / INJECTIONS).glob("part-*.parquet")):
        try:
            kept[part] = content_of(read_part(part, identity.digest))
        except PartError as error:
            raise StoreError(f"{part}: {error}; {_REPAIR.format(path)}", "injections/") from None
    for part, other in repeating(kept):
        require_equal(part, other, identity.digest)
        raise StoreError(f"{part}: repeats injections of {other.name}; {_REPAIR.format(path)}", "injections/")
    return Content.joined(kept.values())


def _check_identity(path: Path, provenance: Provenance, summary: Summary, again: str) -> None:
    identity = Identity(recorded_definition(path)).digest
    for name, found in ((PROVENANCE, provenance), (SUMMARY, summary.provenance)):
        own = found.hashes.get("campaign")
        if own != identity:
            raise StoreError(
                f"{path / name}: of another campaign: expected {identity[:12]}, as the definition in "
                f"provenance.json says, found {str(own)[:12]}; {again}",
                "identity",
            )


def _check_injections(path: Path, summary: Summary, sealed: Seal) -> None:
    content = stored_injections(path, Identity(recorded_definition(path)))
    stored = len(content.injections)
    if stored != sealed.injections or _content_digest(content) != sealed.content:
        raise StoreError(
            f"{path / INJECTIONS}: expected the {sealed.injections} injections that the run ended "
            f"with, found {stored:,}{'' if stored != sealed.injections else ' others'}; "
            + _REPAIR.format(path),
            "injections/",
        )
    judged = content.within(summary.campaign.detection_cycles)
    found = np.bincount(judged.outcomes, minlength=len(OUTCOMES)).tolist()
    for outcome, count in zip(OUTCOMES, found, strict=True):
        if (claimed := summary.total.counts[outcome]) > count:
            raise StoreError(
                f"{path / SUMMARY}: claims {claimed:,} injections with the outcome "
                f"{outcome}, {INJECTIONS}/ holds {count:,}; {_REPAIR.format(path)}",
                f"outcomes.{outcome}",
            )


def _content_digest(content: Content) -> str:
    digest = sha256()
    for column in content.columns:
        digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def _digest(file: Path, remedy: str) -> str:
    try:
        return file_digest(file)
    except OSError as error:
        raise StoreError(f"{file}: expected a file, {error.strerror}; {remedy}", file.name) from None


def _a(kind: str) -> str:
    return f"an {kind}" if kind == ESTIMATE else f"a {kind}"
