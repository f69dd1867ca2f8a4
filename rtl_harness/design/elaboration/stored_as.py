# SPDX-License-Identifier: Apache-2.0
"""What an array counts as where the target says so: flip-flops, SRAM, or SRAM behind a code."""

from __future__ import annotations

from collections.abc import Iterable

from resil.rtl_harness.design.elaboration.blocks import in_macro
from resil.rtl_harness.design.sites import Kind
from resil.rtl_harness.design.target import Target

CODED = "sram_ecc"


class StoredAs:
    """Asked for each array, it says what the target counts it as.

    Args:
        target: With patterns of arrays, and macros that are described by their ports.
    """

    def __init__(self, target: Target) -> None:
        self._patterns = {pattern: kind for kind, own in target.storage.items() for pattern in own}
        self._macros = target.black_boxes
        self._unused = set(self._patterns)

    def __call__(self, path: str, module: str) -> Kind | None:
        """Return what an array that a module declares counts as; None if the target says nothing of it."""
        named = self._of(path)
        self._unused -= named
        kinds = {self._patterns[pattern] for pattern in named}
        if kinds:
            return "ff" if kinds == {"ff"} else "sram"
        return "sram" if module in self._macros else None

    def is_coded(self, path: str) -> bool:
        """Whether a code that is not in the RTL guards an array."""
        return any(self._patterns[pattern] == CODED for pattern in self._of(path))

    def unused(self) -> list[tuple[str, str]]:
        """Return the patterns that have named no array so far, each with its key."""
        return sorted((f"storage.{self._patterns[own]}", own) for own in self._unused)

    def two_kinds(self, paths: Iterable[str]) -> str:
        """Return the first array that is named as two kinds; "" if there is none."""
        return next((p for p in paths if len({self._patterns[own] for own in self._of(p)}) > 1), "")

    def is_macro(self, module: str) -> bool:
        """Whether a module stands for a macro: registers in it lie in the macro."""
        return module in self._macros

    def _of(self, path: str) -> set[str]:
        return {pattern for pattern in self._patterns if in_macro(pattern, path)}
