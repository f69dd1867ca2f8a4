# SPDX-License-Identifier: Apache-2.0
"""The assertions of the NPU's RTL: a target that has them, and which of them failed.

Their files end in .sva, so that no target file's glob takes them: campaigns and netlists never see them.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from resil.rtl_harness.design.target import Target

ASSERTIONS = Path(__file__).parent / "rtl" / "assert"
_PLACE = re.compile(r"([\w.]+\.sva):(\d+)")
_LABEL = re.compile(r"\s*(\w+)\s*:\s*$")


def asserting(target: Target) -> Target:
    """Return a target of the NPU with the assertions; a simulator checks them if it is built to do so."""
    return dataclasses.replace(target, sources=(*target.sources, *sorted(ASSERTIONS.glob("*.sva"))))


def labels() -> dict[str, list[str]]:
    """Return the labels of the assertions in each file."""
    found = {}
    for file in sorted(ASSERTIONS.glob("*_sva.sva")):
        lines = file.read_text(encoding="ascii").splitlines()
        found[file.name] = [match[1] for line in lines if (match := _LABEL.match(line))]
    return found


def failed_assertion(message: str) -> str:
    """Return the label of the assertion that a simulator's message names by its place, "" if none."""
    place = _PLACE.search(message)
    if place is None:
        return ""
    lines = (ASSERTIONS / place[1]).read_text(encoding="ascii").splitlines()[: int(place[2])]
    return next((match[1] for line in reversed(lines) if (match := _LABEL.match(line))), "")
