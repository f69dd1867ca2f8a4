# SPDX-License-Identifier: Apache-2.0
"""Gives the shipped model the present digests of RTL that is the same but for its text.

    python -m resil.sensitivity.rebind

A model keeps the digest of the RTL that was injected into, and warns where it meets another. After a change
that no result depends on, as of comments, that warning is wrong. What says so is not this command's user but
the tables that the package ships: all of them are made anew from the present RTL, and have to be the same
bytes. It is run before `python -m resil.rtl_harness.ship`, which replaces what there is to compare with.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from resil.errors import ResilError
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.ship.make import results_of
from resil.rtl_harness.shipped.results import FILES, FOLDER, shipped_content, shipped_results
from resil.sensitivity.model import SHIPPED, load_model, save_model

_PROOF = "elaboration"


def rebind(model: Path, shipped: Path, said: Callable[[str], object]) -> None:
    """Give a model the digests that its targets have now.

    Args:
        model: File that is read and written.
        shipped: Folder of the tables of the RTL that the model was learnt from.
        said: Is called with what was found of each target.

    Raises:
        ResilError: The results of a target are not what they were, or nothing is left to compare with.
        HarnessError: A target cannot be read.
    """
    read = load_model(model)
    bound = {}
    for name, own in read.accelerators.items():
        digest = rtl_digest(load_target(name))
        if digest != own.rtl:
            _require_same_results(name, shipped)
        said(f"{name}: {own.rtl[:12]} {'stays' if digest == own.rtl else 'becomes ' + digest[:12]}")
        bound[name] = replace(own, rtl=digest)
    save_model(replace(read, accelerators=bound), model)


def _require_same_results(name: str, shipped: Path) -> None:
    before = {r.kind: r for r in shipped_results(shipped) if r.file == f"{name}.{r.kind}.xz"}
    made = results_of(load_target(name))
    if missing := sorted(set(FILES) - {*before}):
        raise ResilError(
            f"{shipped}: expected tables of {name}, found none of {', '.join(missing)}; restore them",
            "tables.missing",
        )
    for (kind, key), content in made.items():
        if kind == _PROOF and key == before[kind].key:
            raise ResilError(
                f"{shipped}: expected tables of {name} from before the change, found those of the present "
                "RTL, which prove nothing; restore the former ones, run this, then make them anew",
                "tables",
            )
        if content != shipped_content(kind, before[kind].key, shipped):
            raise ResilError(
                f"{name}: expected the {kind} that ships, found another: the RTL is not what the model was "
                "learnt from; learn it anew (resil learn)",
                kind,
            )


if __name__ == "__main__":
    try:
        rebind(SHIPPED, FOLDER, print)
    except (ResilError, HarnessError) as error:
        sys.exit(f"resil: {error}")
