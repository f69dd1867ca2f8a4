# SPDX-License-Identifier: Apache-2.0
"""The run folder: what a campaign leaves behind, and what a resumed one continues."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from filelock import FileLock, Timeout

from resil.bench.identity import Identity
from resil.errors import ConsistencyError, Interrupted, StoreError
from resil.faults.content import Content
from resil.files import TEMPORARY_SUFFIX, read_json, write_text
from resil.folder.contents import content_of, repeating, require_equal
from resil.folder.parts import PartError, read_part, write_part
from resil.folder.recorded import read_document
from resil.record.provenance import ESTIMATE, RUN, Provenance
from resil.user_errors import USER_ERRORS

CAMPAIGN = "campaign.toml"
PROVENANCE = "provenance.json"
SITES = "sites.parquet"
SUMMARY = "summary.json"
STRATA = "strata.parquet"
PROTECTION = "protection.json"
DERIVED = (SUMMARY, STRATA, PROTECTION, "blocks.csv", "report.html", "fmeda.xlsx")
INJECTIONS = "injections"
LOCK = ".lock"
_REJECTED_SUFFIX = ".rejected"
_START_ANEW = "move the folder away or choose another one with --out, and run the campaign again"

Check = Callable[[pa.Table], str | None]


@dataclass(frozen=True)
class StoredRun:
    """What a run folder holds.

    Attributes:
        content: As far as it is kept in memory, in order of injection.
        rejected: What was wrong with the files that could not be used.
    """

    content: Content
    rejected: tuple[str, ...]


@dataclass(frozen=True)
class RunFolder:
    """A run folder that this process has for itself.

    Attributes:
        path: The folder.
        identity: Of the campaign.
    """

    path: Path
    identity: Identity

    @property
    def unfinished(self) -> bool:
        """Whether it holds injections that no result rests on yet."""
        begun = any((self.path / INJECTIONS).glob("part-*.parquet"))
        return begun and not (self.provenance().finished and (self.path / SUMMARY).exists())

    def load(self, check: Check) -> StoredRun:
        """Read all part files, one at a time.

        A file that is truncated, altered, of another campaign, that `check` finds fault with, or that repeats
        injections of other files is set aside (renamed), so that what it alone held is missing and is made
        again.

        Args:
            check: Returns what is wrong with a part's rows, or None.

        Raises:
            ConsistencyError: two files hold the same injection with different outcomes.
        """
        kept: dict[Path, Content] = {}
        rejected = []
        for path in sorted((self.path / INJECTIONS).glob("part-*.parquet")):
            try:
                rows = read_part(path, self.identity.digest)
                if (fault := check(rows)) is not None:
                    raise PartError(fault)
                kept[path] = content_of(rows)
            except PartError as error:
                rejected.append(_set_aside(path, str(error)))
        while found := repeating(kept):
            for path, other in found:
                require_equal(path, other, self.identity.digest)
                rejected.append(_set_aside(path, f"repeats injections of {other.name}"))
                del kept[path]
        return StoredRun(Content.joined(kept.values()), tuple(rejected))

    def append(self, rows: pa.Table) -> None:
        """Keep `rows`, of `parts.SCHEMA`, as a new part file."""
        folder = self.path / INJECTIONS
        folder.mkdir(exist_ok=True)
        write_part(folder / f"part-{self.next_part:06d}.parquet", rows, self.identity.digest)

    @property
    def next_part(self) -> int:
        """Number of the next part file: greater than that of any there ever was."""
        return max(map(_number, (self.path / INJECTIONS).glob("part-*.parquet*")), default=-1) + 1

    def parts_from(self, number: int) -> list[Path]:
        """Return the part files from this number on, in order."""
        parts = sorted((self.path / INJECTIONS).glob("part-*.parquet"))
        return [path for path in parts if _number(path) >= number]

    def rows(self) -> Iterator[pa.Table]:
        """Yield the rows of each part file; all have been read before and found whole."""
        return (read_part(path, self.identity.digest) for path in self.parts_from(0))

    def note(self, **fields: object) -> None:
        """Keep other values of fields of `provenance.json`, beside what is there."""
        write_text(self.path / PROVENANCE, self.provenance().changed(**fields).text())

    def provenance(self) -> Provenance:
        """Return the content of `provenance.json`."""
        return read_document(self.path / PROVENANCE, Provenance, _START_ANEW)


def check_run(path: Path, identity: Identity, *, resume: bool) -> None:
    """Check that a campaign may write to `path`, without writing anything.

    Args:
        path: The run folder; may be missing or empty.
        identity: Of the campaign that wants to write.
        resume: Whether an unfinished run may be finished.

    Raises:
        StoreError: the path is no folder, or one of something else, of another campaign or damaged; or it
            holds an unfinished run and `resume` is not set.
        ConsistencyError: the run in it has failed an audit.
    """
    if not path.exists():
        return
    if not path.is_dir():
        raise StoreError(f"{path}: expected a folder, found a file; choose another --out", "--out")
    if not (path / PROVENANCE).exists():
        if content := sorted(entry.name for entry in path.iterdir() if not _left_by_a_kill(entry.name)):
            raise StoreError(
                f"{path}: expected a new, an empty or a run folder, found {content[0]} but no {PROVENANCE}; "
                "choose another folder with --out",
                "--out",
            )
        return
    provenance = recorded_provenance(path)
    if provenance.kind != RUN:
        raise StoreError(
            f"{path}: expected a run folder, found one of an {ESTIMATE}; choose another --out", "kind"
        )
    identity.require(recorded_definition(path), str(path))
    require_unfailed(path, provenance)
    if RunFolder(path, identity).unfinished and not resume:
        raise StoreError(
            f"{path}: expected a new or a finished run, found an unfinished one of this campaign; "
            "add --resume to finish it, or choose another --out",
            "unfinished",
        )


@contextmanager
def open_run(path: Path, identity: Identity, provenance: Provenance) -> Iterator[RunFolder]:
    """Open a run folder for writing, or make it, and keep other processes out meanwhile.

    Args:
        path: The folder; may be missing or empty.
        identity: Of the campaign that wants to write.
        provenance: What a new folder begins with.

    Raises:
        StoreError: as `check_run` with `resume`; or the folder cannot be written, or is in use.

    A run that is refused before it has stored an injection leaves nothing behind.
    """
    check_run(path, identity, resume=True)
    make_folder(path)
    with locked(path):
        for stale in [
            *path.glob(f".*{TEMPORARY_SUFFIX}"),
            *(path / INJECTIONS).glob(f".*{TEMPORARY_SUFFIX}"),
        ]:
            stale.unlink(missing_ok=True)
        check_run(path, identity, resume=True)
        if fresh := not (path / PROVENANCE).exists():
            write_text(path / PROVENANCE, provenance.text())
        try:
            yield RunFolder(path, identity)
        except USER_ERRORS as error:
            if fresh and not isinstance(error, _KEPT) and not any((path / INJECTIONS).glob("part-*")):
                _empty(path)
            raise


# What a folder is kept for that holds no injection: a failure that stays, and what will be resumed.
_KEPT = (ConsistencyError, Interrupted)


def _empty(path: Path) -> None:
    """Remove what a refused run has begun: it would keep the corrected one out."""
    for entry in path.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != LOCK:
            entry.unlink()


def _left_by_a_kill(name: str) -> bool:
    """Whether a run that was ended before it had made its folder may have left such a file."""
    return name == LOCK or (name.startswith(f".{PROVENANCE}.") and name.endswith(TEMPORARY_SUFFIX))


def recorded_provenance(path: Path) -> Provenance:
    """Return the content of `provenance.json` of a run or an estimate of this version.

    Raises:
        StoreError: the folder is none of results, is damaged, or was made by another version.
    """
    try:
        lost = path.is_dir() and not (path / PROVENANCE).exists() and (path / INJECTIONS).exists()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}); give a run folder", "folder") from None
    if lost:
        raise StoreError(
            f"{path}: it has lost its {PROVENANCE}, so nothing says what its injections are; restore that "
            f"file, or {_START_ANEW}",
            PROVENANCE,
        )
    remedy = "give a run folder, or " + _START_ANEW
    found = read_json(path / PROVENANCE, remedy)
    if (schema := found.get("schema")) != Provenance.SCHEMA:
        raise StoreError(
            f"{path}: expected a folder of schema {Provenance.SCHEMA}, found one of schema {schema or 1}, "
            f"made by another version (resil {found.get('resil', 'without a number')}); read it with that "
            f"one, or {_START_ANEW}",
            "schema",
        )
    return read_document(path / PROVENANCE, Provenance, _START_ANEW)


def require_unfailed(path: Path, provenance: Provenance) -> None:
    """Raise ConsistencyError if a run has failed an audit."""
    if provenance.failed is not None:
        raise ConsistencyError(
            f"{path}: this run has failed and stays so: {provenance.failed}; {_START_ANEW}", "failed"
        )


def no_run(path: Path) -> StoreError:
    """Return the error for a folder of an estimate where injections are asked for."""
    return StoreError(
        f"{path}: expected a run, found an estimate: nothing in it was injected, all is predicted by a "
        "model; give a folder made by: resil run CAMPAIGN.toml"
    )


def recorded_definition(path: Path) -> Mapping[str, str]:
    """Return the definition that the run folder was made with.

    Raises:
        StoreError: the folder is none of a run but of an estimate, is damaged, or was made by another
            version.
    """
    provenance = recorded_provenance(path)
    if provenance.kind != RUN:
        raise no_run(path)
    if not provenance.definition:
        raise StoreError(
            f"{path / PROVENANCE}: damaged, it has no definition of the campaign; {_START_ANEW}", "definition"
        )
    return provenance.definition


def make_folder(path: Path) -> None:
    """Make a folder of results if it is not there; StoreError if it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be made a folder of results ({error.strerror}); choose another --out", "--out"
        ) from None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes out of a folder; StoreError if one works in it, or it cannot be written."""
    lock = FileLock(path / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise StoreError(
            f"{path}: another resil process works in this folder; wait for it or choose another --out", "lock"
        ) from None
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror}); choose another --out", "--out"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _number(part: Path) -> int:
    return int(part.name.split("-")[1].split(".")[0])


def _set_aside(path: Path, reason: str) -> str:
    path.rename(path.with_name(path.name + _REJECTED_SUFFIX))
    return f"{path}: {reason}; set aside, its injections will be made again"
