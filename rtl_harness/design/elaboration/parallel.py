# SPDX-License-Identifier: Apache-2.0
"""Choices that the RTL says exclude each other, and a faulty state may not."""

from __future__ import annotations

import re

from resil.rtl_harness.design.snapshot import snapshot_of
from resil.rtl_harness.design.target import Target

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_OPEN = re.compile(r"\bunique0?\s+(if\b|case\s*\(\s*1\s*'\s*b\s*1\s*\))|\bparallel_case\b")


def may_coincide(target: Target) -> str | None:
    """Say where the RTL leaves open what happens if several conditions hold; None if nowhere.

    A correct run never has several. With an inverted bit it may: then the simulator takes one of them, and a
    netlist does something else. A `unique case` with constant items is no such choice.
    """
    for file in snapshot_of(target).rtl:
        text = _COMMENT.sub(lambda m: "\n" * m[0].count("\n"), file.read_text(errors="replace"))
        if found := _OPEN.search(text):
            line = text.count("\n", 0, found.start()) + 1
            return (
                f"{file.name}, line {line}: several conditions of this {' '.join(found[0].split())} may hold "
                "at once in a faulty state, and which counts is left open; write it without unique"
            )
    return None
