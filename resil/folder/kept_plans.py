# SPDX-License-Identifier: Apache-2.0
"""Protection plans of a folder, kept by name; `protection.json` is the latest one that reaches its target.

A plan says on which results it rests. One that rests on others is not used, and a plan that reaches nothing
takes the place of none that does. What was built of it is read where it was built.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TypeVar

from resil.errors import StoreError
from resil.files import write_text
from resil.folder.finished import Finished
from resil.folder.looks import not_confirmed_by
from resil.folder.recorded import read_document
from resil.folder.store import PROTECTION
from resil.record.protection import INFEASIBLE, TARGETS, Protection
from resil.record.protection_build import Build
from resil.record.protection_confirmation import Confirmation
from resil.record.protection_parts import PlanBasis
from resil.record.protection_state import ProtectionState
from resil.record.typed import Document

PLANS = "protection"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_AGAIN = "make it again with: resil protect {}"
Read = TypeVar("Read", bound=Document)


def accepted_plan(path: Path, digest: str) -> ProtectionState | None:
    """Return the plan of `protection.json` as it stands, None if there is none.

    Args:
        path: Folder of a run or of an estimate.
        digest: SHA-256 of its `summary.json`.

    Raises:
        StoreError: it is damaged, or rests on other results.
    """
    file = path / PROTECTION
    if not file.exists():
        return None
    plan = read_document(file, Protection, _AGAIN.format(path))
    if plan.basis.summary != digest:
        raise StoreError(
            f"{file}: rests on other results than {path} holds now; {_AGAIN.format(path)}, or delete it",
            "basis",
        )
    return state_of(path, plan)


def check_name(name: str) -> str:
    """Return the name of a plan, which becomes that of a file; StoreError if it cannot."""
    if not _NAME.fullmatch(name):
        raise StoreError(
            f"--name: expected 1 to 64 letters, digits and . _ + -, the first no sign, found {name!r}",
            "--name",
        )
    return name


def keep_plan(found: Finished, plan: Protection) -> ProtectionState:
    """Keep a plan as `protection/NAME.json`; it becomes `protection.json` too if nothing better is there.

    Args:
        found: The results that it rests on.
        plan: What was chosen.

    Returns:
        The accepted plan, which may be an earlier one.

    Raises:
        StoreError: the name belongs to a plan for another target, or to one for these results that reaches
            its target while this one does not; or the folder cannot be written.
    """
    file = _file_of(found.path, plan.name)
    _check_replaced(file, plan, found.digest)
    file.parent.mkdir(exist_ok=True)
    write_text(file, plan.text())
    accepted = _readable(found.path / PROTECTION)
    better = accepted is not None and accepted.result != INFEASIBLE and plan.result == INFEASIBLE
    if accepted is not None and better and accepted.basis.summary == found.digest:
        return state_of(found.path, accepted)
    write_text(found.path / PROTECTION, plan.text())
    return state_of(found.path, plan)


def kept_plan(path: Path, name: str) -> Protection:
    """Return the plan that is kept by a name; StoreError if there is none."""
    return read_document(_file_of(path, name), Protection, _AGAIN.format(path))


def note_build(path: Path, name: str, folder: Path) -> None:
    """Note in a plan, as it is kept by name and as `protection.json` if it is that one, where it was built.

    Whatever was built of it before, and what injections have said of that, counts no more.

    Raises:
        StoreError: it is not kept there, is damaged, or cannot be written.
    """
    build = os.path.relpath(folder.resolve(), path.resolve())
    for file in (_file_of(path, name), path / PROTECTION):
        plan = read_document(file, Protection, _AGAIN.format(path))
        if plan.name == name:
            write_text(file, plan.changed(build=build).text())


def state_of(path: Path, plan: Protection) -> ProtectionState:
    """Return a plan with what was built of it and what injections have said of that.

    What a folder holds of another choice is nothing of this plan.

    Args:
        path: Folder of the run that keeps it.
        plan: As it is kept there.

    Raises:
        StoreError: What is in the folder of the build is damaged.
    """
    if (folder := build_folder(path, plan)) is None:
        return ProtectionState(plan)
    build = read_build(folder)
    if build is None or build.choice != plan.choice_digest:
        return ProtectionState(plan)
    return ProtectionState(plan, build, confirmation_of(folder, build))


def build_folder(path: Path, plan: Protection) -> Path | None:
    """Return the folder in which a plan of a run was built last; None if it was not."""
    return None if plan.build is None else path / plan.build


def read_build(folder: Path) -> Build | None:
    """Return what a folder of built protection records, None if it is none; StoreError if damaged."""
    return _read(folder, Build)


def confirmation_of(folder: Path, build: Build) -> Confirmation | None:
    """Return what injections into just this build have said, None if there were none.

    That it is confirmed is believed only where the ledger beside it has that look, with that result, and
    neither that nor the user's has a later one that failed or was not ended; else it is not, for that reason.
    It is about the RTL that was proven and measured by `build.json`; whether files of RTL were changed since
    is not looked at.

    Raises:
        StoreError: It, or the ledger beside it, is damaged.
    """
    found = _read(folder, Confirmation)
    if found is None or found.choice != build.choice:
        return None
    if not found.confirmed:
        return found
    if found.rtl_digest != build.rtl_digest:
        return None
    why = not_confirmed_by(folder, found)
    return found.changed(confirmed=False, reasons=(why,)) if why else found


def keep_in_build(folder: Path, document: Build | Confirmation) -> None:
    """Write what a build records, or what injections have said of it, into its folder."""
    write_text(folder / document.FILE, document.text())


def basis_of(found: Finished) -> PlanBasis:
    """Return what a plan says of the results that it rests on."""
    return PlanBasis(summary=found.digest, injections=found.summary.total.injections)


def _file_of(path: Path, name: str) -> Path:
    return path / PLANS / f"{check_name(name)}.json"


def _read(folder: Path, document: type[Read]) -> Read | None:
    file = folder / document.FILE
    return read_document(file, document, document.REMEDY) if file.exists() else None


def _check_replaced(file: Path, plan: Protection, digest: str) -> None:
    """Refuse a name that belongs to another plan; what is no plan of this version is replaced."""
    if (old := _readable(file)) is None:
        return
    if any(getattr(old, key) != getattr(plan, key) for key in TARGETS):
        asked = ", ".join(f"{key} = {getattr(old, key)}" for key in TARGETS)
        raise StoreError(f"{file}: is a plan for {asked}; choose another --name", "--name")
    reached = old.basis.summary == digest and old.result != INFEASIBLE
    if reached and plan.result == INFEASIBLE:
        raise StoreError(
            f"{file}: is a plan that reaches its target on these results, which this one does not; choose "
            "another --name",
            "--name",
        )


def _readable(file: Path) -> Protection | None:
    """Return a plan, None if there is none or it cannot be read."""
    try:
        return read_document(file, Protection, "")
    except StoreError:
        return None
