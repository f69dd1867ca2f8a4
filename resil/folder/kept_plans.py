# SPDX-License-Identifier: Apache-2.0
"""Protection plans of a folder, kept by name; `protection.json` is the latest one that reaches its target.

A plan says on which results it rests. One that rests on others is not used, and a plan that reaches nothing
takes the place of none that does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resil.errors import StoreError
from resil.files import json_text, read_json, write_text
from resil.folder.finished import Finished
from resil.folder.store import PROTECTION

PLANS = "protection"
INFEASIBLE = "infeasible"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_AGAIN = "make it again with: resil protect {}"


def accepted_plan(path: Path, digest: str) -> dict[str, Any] | None:
    """Return the content of `protection.json`, None if there is none.

    Args:
        path: Folder of a run or of an estimate.
        digest: SHA-256 of its `summary.json`.

    Raises:
        StoreError: it is damaged, or rests on other results.
    """
    file = path / PROTECTION
    if not file.exists():
        return None
    plan = read_json(file, _AGAIN.format(path))
    if not _rests_on(plan, digest):
        raise StoreError(
            f"{file}: rests on other results than {path} holds now; {_AGAIN.format(path)}, or delete it"
        )
    return plan


def check_name(name: str) -> str:
    """Return the name of a plan, which becomes that of a file; StoreError if it cannot."""
    if not _NAME.fullmatch(name):
        raise StoreError(
            f"--name: expected 1 to 64 letters, digits and . _ + -, the first no sign, found {name!r}"
        )
    return name


def keep_plan(found: Finished, name: str, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a plan as `protection/NAME.json`; it becomes `protection.json` too if nothing better is there.

    Args:
        found: The results that it rests on.
        name: Of the plan.
        plan: What was chosen.

    Returns:
        The accepted plan, which may be an earlier one.

    Raises:
        StoreError: the name belongs to a plan for another target, or to one for these results that reaches
            its target while this one does not; or the folder cannot be written.
    """
    named = {**plan, "name": name, "basis": basis_of(found)}
    file = found.path / PLANS / f"{check_name(name)}.json"
    if file.exists():
        _check_replaced(file, named, found.digest)
    file.parent.mkdir(exist_ok=True)
    write_text(file, json_text(named))
    accepted = _valid(found.path / PROTECTION, found.digest)
    if accepted is not None and plan["result"] == INFEASIBLE and accepted["result"] != INFEASIBLE:
        return accepted
    write_text(found.path / PROTECTION, json_text(named))
    return named


def kept_plan(path: Path, name: str) -> dict[str, Any]:
    """Return the plan that is kept by a name; StoreError if there is none."""
    return read_json(path / PLANS / f"{check_name(name)}.json", _AGAIN.format(path))


def add_to_plan(path: Path, name: str, facts: Mapping[str, Any]) -> None:
    """Add what became of a plan to it, as it is kept by name and as `protection.json` if it is that one.

    Raises:
        StoreError: it is not kept there, is damaged, or cannot be written.
    """
    for file in (path / PLANS / f"{check_name(name)}.json", path / PROTECTION):
        plan = read_json(file, _AGAIN.format(path))
        if plan.get("name") == name:
            write_text(file, json_text({**plan, **facts}))


def basis_of(found: Finished) -> dict[str, Any]:
    """Return what a plan says of the results that it rests on."""
    return {"summary": found.digest, "injections": found.summary.total.injections}


def _check_replaced(file: Path, plan: Mapping[str, Any], digest: str) -> None:
    old = read_json(file, "delete it, or choose another --name")
    asked = ("budget_fit", "spfm_target", "fit_share_target", "due_fit_target")
    if any(old.get(key) != plan.get(key) for key in asked):
        told = ", ".join(f"{key} = {old[key]}" for key in asked if key in old)
        raise StoreError(f"{file}: is a plan for {told}; choose another --name")
    if _rests_on(old, digest) and old.get("result") != INFEASIBLE and plan["result"] == INFEASIBLE:
        raise StoreError(
            f"{file}: is a plan that reaches its target on these results, which this one does not; choose "
            "another --name"
        )


def _valid(file: Path, digest: str) -> dict[str, Any] | None:
    """Return a plan that rests on the results with that digest, None if there is no readable one."""
    try:
        plan = read_json(file, "")
    except StoreError:
        return None
    return plan if _rests_on(plan, digest) else None


def _rests_on(plan: Mapping[str, Any], digest: str) -> bool:
    basis = plan.get("basis")
    return isinstance(basis, Mapping) and basis.get("summary") == digest
