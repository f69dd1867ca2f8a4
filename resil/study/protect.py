# SPDX-License-Identifier: Apache-2.0
"""The protection of a study's targets: a set for each that holds for all of its networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from resil.campaign.campaign import load_campaign
from resil.errors import ConsistencyError
from resil.folder.kept_plans import build_folder
from resil.progress import Progress
from resil.protection.build_rtl import built_before, require_unchanged
from resil.protection.flow import protect
from resil.protection.wanted import ProtectionRequest
from resil.record.protection import Protection
from resil.record.study import TargetProtection
from resil.record.study_cell import CellRecord
from resil.study.folder import work_digest
from resil.study.protection import chosen, unassessed
from resil.study.study import ProtectionWanted, slug_of
from resil.user_errors import USER_ERRORS

BUILT = "protected"
_PROBLEMS: tuple[type[Exception], ...] = (ConsistencyError, *USER_ERRORS)


def protect_target(
    wanted: ProtectionWanted,
    target: str,
    cells: Sequence[CellRecord],
    out: Path,
    workers: int | None = None,
    progress: Progress | None = None,
) -> TargetProtection:
    """Choose, and if that is asked confirm, the protection of a target of which `settled` says nothing.

    A plan that rests on the same results and keeps the same targets is not chosen again. Where it is to be
    confirmed it is built and injected into, once. What is in the way is said, and the study goes on: a set
    that could not be built or injected into is not assessed.

    Args:
        wanted: What is asked.
        target: Its name.
        cells: Its own.
        out: Folder of the study.
        workers: Simulator processes; None for as many as the cells had.
        progress: For what goes on.
    """
    place = out / BUILT / slug_of(target)
    try:
        found = protect(
            [out / cell.run for cell in cells],
            replace(_wanted(wanted), workers=workers),
            (lambda plan: _folder_of(plan, place)) if wanted.verify_networks else None,
            progress,
        )
        row = chosen(target, found.protection)
        built = build_folder(found.run_dir, found.plan)
        if row.confirmed and found.build is None and built is not None:
            require_unchanged(built)
    except _PROBLEMS as error:
        return unassessed(target, str(error))
    except OSError as error:
        file = error.filename or out
        return unassessed(target, f"{file}: cannot be read or written ({error.strerror}); free it and go on")
    return row


def _wanted(wanted: ProtectionWanted) -> ProtectionRequest:
    """Return what is asked; other options, and other networks that confirm, give the plan another name."""
    label = [] if wanted.options is None else [_digest(wanted.options.read_bytes())]
    if wanted.verify_networks:
        label.append(f"built-{_digest(*map(_content, wanted.verify_networks))}")
    return ProtectionRequest(
        wanted.targets,
        wanted.granularity,
        wanted.options,
        label="_".join(label),
        verify=bool(wanted.verify_networks),
        networks=wanted.verify_networks,
        reuse=True,
    )


def _folder_of(plan: Protection, place: Path) -> Path:
    """Return the folder in which just this plan was built before, else one that is not there yet."""
    place.parent.mkdir(exist_ok=True)
    for own in sorted(place.parent.glob(f"{place.name}-*")):
        if built_before(own, plan):
            return own
    return next(own for n in range(1, 1000) if not (own := place.with_name(f"{place.name}-{n}")).exists())


def _content(network: str) -> bytes:
    """Return what makes a network to confirm on another one: of a campaign file what it names, too."""
    if not network.endswith(".toml"):
        return network.encode()
    return Path(network).read_bytes() + work_digest(load_campaign(network).work).encode()


def _digest(*parts: bytes) -> str:
    return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()[:8]
