# SPDX-License-Identifier: Apache-2.0
"""The protection of a study's targets: a set for each that holds for all of its networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from resil.campaign.campaign import load_campaign
from resil.errors import ConsistencyError, StoreError
from resil.folder.kept_plans import kept_plan
from resil.protection.basis import Basis, read_basis
from resil.protection.build_rtl import build_plan, built_before, require_unchanged
from resil.protection.flow import asked_of, plan_name, protect_units, rests_on
from resil.protection.judge import Targets
from resil.protection.plan import SCHEMA
from resil.protection.verify import CONFIRMATION, longest_operations, verify_build
from resil.study.folder import work_digest
from resil.study.protection import REACHED, chosen, is_whole, settled, unassessed
from resil.study.study import ProtectionWanted, slug_of
from resil.user_errors import USER_ERRORS

BUILT = "protected"
_PROBLEMS: tuple[type[Exception], ...] = (ConsistencyError, *USER_ERRORS)


def protect_target(
    wanted: ProtectionWanted, target: str, cells: Sequence[Mapping[str, Any]], out: Path
) -> dict[str, Any]:
    """Return what is known of a target's protection; choose it if all its networks are there.

    A plan that rests on the same results and keeps the same targets is not chosen again. Where it is to be
    confirmed it is built and injected into, once. What is in the way is said, and the study goes on: a set
    that could not be built or injected into is not assessed.

    Args:
        wanted: What is asked.
        target: Its name.
        cells: Its own, as in `study.json`.
        out: Folder of the study.
    """
    if (row := settled(wanted, target, cells)) is not None:
        return row
    folders = [out / cell["run"] for cell in cells]
    try:
        basis = read_basis(folders)
        plan = _kept(wanted, basis) or _choose(wanted, basis)
        row = chosen(target, plan)
        if wanted.verify_networks and row["result"] == REACHED:
            row = chosen(target, _confirmed(wanted, folders, plan, out / BUILT / slug_of(target)))
        elif row["confirmed"]:
            require_unchanged(Path(plan["rtl"]))
    except _PROBLEMS as error:
        return unassessed(target, str(error))
    except OSError as error:
        file = error.filename or out
        return unassessed(target, f"{file}: cannot be read or written ({error.strerror}); free it and go on")
    return row


def _choose(wanted: ProtectionWanted, basis: Basis) -> dict[str, Any]:
    verify, folders = wanted.verify_networks, [found.path for found in basis.found]
    protect_units(
        folders,
        granularity=wanted.granularity,
        targets=wanted.targets,
        options=wanted.options,
        name=_name(wanted, asked_of(basis, wanted.targets)),
        buildable=bool(verify),
        also_longest=longest_operations(folders, verify, wanted.options) if verify else (),
    )
    plan = _kept(wanted, basis)
    assert plan is not None
    return plan


def _confirmed(
    wanted: ProtectionWanted, folders: Sequence[Path], plan: Mapping[str, Any], place: Path
) -> dict[str, Any]:
    """Return the plan with what came of building and injecting into it; what was done before is not again."""
    name = str(plan["name"])
    if (folder := _build_of(plan, place)) is None:
        folder = next(
            own for n in range(1, 1000) if not (own := place.with_name(f"{place.name}-{n}")).exists()
        )
        folder.parent.mkdir(exist_ok=True)
        build_plan(folders[0], plan, folder, options=wanted.options)
    elif "measured" in plan and plan["rtl"] == str(folder) and (folder / f"{CONFIRMATION}.json").exists():
        require_unchanged(folder)
        return dict(plan)
    verify_build(folders, plan, folder, options=wanted.options, networks=wanted.verify_networks)
    return kept_plan(folders[0], name)


def _build_of(plan: Mapping[str, Any], place: Path) -> Path | None:
    """Return the folder in which just this plan was built before, None if there is none."""
    return next(
        (own for own in sorted(place.parent.glob(f"{place.name}-*")) if built_before(own, plan)), None
    )


def _name(wanted: ProtectionWanted, asked: Targets) -> str:
    """Return the name of the plan: another for other options, and for other networks to confirm it on."""
    name = plan_name(asked, wanted.granularity)
    if wanted.options is not None:
        name += f"_{_digest(wanted.options.read_bytes())}"
    if not wanted.verify_networks:
        return name
    return f"{name}_built-{_digest(*map(_content, wanted.verify_networks))}"


def _content(network: str) -> bytes:
    """Return what tells a network to confirm on from others: of a campaign file what it names, too."""
    if not network.endswith(".toml"):
        return network.encode()
    return Path(network).read_bytes() + work_digest(load_campaign(network).work).encode()


def _digest(*parts: bytes) -> str:
    return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()[:8]


def _kept(wanted: ProtectionWanted, basis: Basis) -> dict[str, Any] | None:
    """Return the plan kept in all these runs for what is asked, None if none is whole and holds."""
    asked = asked_of(basis, wanted.targets)
    name = _name(wanted, asked)
    plans = []
    for found in basis.found:
        try:
            plans.append(kept_plan(found.path, name))
        except StoreError:
            return None
    expected = {
        "schema": SCHEMA,
        "granularity": wanted.granularity.value,
        "budget_fit": asked.budget_fit,
        "spfm_target": asked.spfm,
        "fit_share_target": asked.fit_share,
        "due_fit_target": asked.due_fit,
        "based_on": rests_on(basis),
        "models": [],
    }
    if any(plan.get(key) != value for plan in plans for key, value in expected.items()):
        return None
    names = [network.name for network in basis.networks]
    return plans[0] if all(is_whole(plan, names) for plan in plans) else None
