# SPDX-License-Identifier: Apache-2.0
"""Makes the results that come with the package, for the shipped targets."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from resil.rtl_harness.cache import without_shipped
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import SHIPPED_TARGETS, Target, load_target
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.shipped.results import FILES, INDEX, SCHEMA, ShippedResult

_PRESET = 9 | lzma.PRESET_EXTREME


def shipped_targets() -> list[str]:
    """Return the names of the targets that come with the package."""
    return sorted(path.stem for path in SHIPPED_TARGETS.glob("*.toml"))


def results_of(target: Target) -> dict[tuple[str, str], bytes]:
    """Make what comes with the package of a target; return it by kind and key.

    Nothing is taken from the package. What lies in between, as the gates of synthesis, may be in the cache.

    Raises:
        HarnessError: If the target cannot be read or made into gates.
    """
    with without_shipped() as asked:
        elaboration = with_hardware(target, elaborate(target))
        area_per_block(target, elaboration)
        read_gates(target, elaboration)
    return {
        (folder.parent.name, folder.name): (folder / FILES[folder.parent.name]).read_bytes()
        for folder in asked
        if folder.parent.name in FILES
    }


def make_shipped(
    folder: Path, names: Iterable[str], said: Callable[[str], object] = lambda line: None
) -> list[ShippedResult]:
    """Write the results of targets and their index to a folder, in place of what it holds.

    Args:
        folder: Where they go.
        names: Shipped targets, or paths of target files.
        said: Is called with each result when it is made.

    Returns:
        What the index lists.

    Raises:
        HarnessError: If a target cannot be read or made into gates; the folder is as it was.
    """
    made: dict[str, bytes] = {}
    index: list[ShippedResult] = []
    for name in names:
        target = load_target(name)
        for (kind, key), content in results_of(target).items():
            file = f"{target.name}.{kind}.xz"
            if file in made:
                raise HarnessError(f"target {target.name}: expected one result {kind}, found two")
            made[file] = lzma.compress(content, preset=_PRESET)
            index.append(ShippedResult(file, kind, key, sha256(content).hexdigest()))
            said(f"{file}: {len(content):,} bytes, compressed {len(made[file]):,}")
    for file, data in made.items():
        (folder / file).write_bytes(data)
    listed = {"schema": SCHEMA, "results": [asdict(result) for result in index]}
    (folder / INDEX).write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    for old in folder.glob("*.xz"):
        if old.name not in made:
            old.unlink()
    return index
