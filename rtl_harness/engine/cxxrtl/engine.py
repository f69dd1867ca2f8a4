# SPDX-License-Identifier: Apache-2.0
"""The engine `cxxrtl`: the injector of the plain engine on the netlist of Yosys, without Verilator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.model import Location
from resil.rtl_harness.design.sites import StorageElement
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.cxxrtl.build import build_injector
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.run_limits import RunLimits
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError

# The register of a bench's memory that says which bits of a word's address lie beyond it; an initial block
# sets it from the number of words.
_BEYOND = "beyond_q"


class CxxrtlEngine(PlainEngine):
    """Simulates every fault by itself on the design as Yosys writes it in C++.

    It shares with the plain engine the program that injects, and with all engines the front end (slang and
    Yosys), the target file, the workload and the rule of the decision; with none of them a simulator. Initial
    blocks of the RTL do not run: memories are filled by name, and all else begins at zero.
    """

    name = "cxxrtl"

    def __init__(
        self,
        target: Target,
        workload: Workload,
        elaboration: Elaboration,
        **limits: Unpack[RunLimits],
    ) -> None:
        self._source = elaboration
        super().__init__(target, workload, _by_net(elaboration), **limits)

    def _injector(self) -> Path:
        return build_injector(self.target, self._source)

    def _furnish(self, home: Path, plusargs: list[str]) -> None:
        files = dict(argument.removeprefix("+").split("=", 1) for argument in plusargs)
        lines = [
            f"load {self._source.locations[memory.path].net} {files[memory.plusarg]}"
            for memory in self.target.memories.values()
        ]
        (home / "cxxrtl").write_text("\n".join([*lines, *self._words()]) + "\n", encoding="utf-8")

    def _words(self) -> Iterator[str]:
        """Yield what sets the number of words of each memory that takes one."""
        for name, memory in self.target.memories.items():
            if not memory.words_plusarg:
                continue
            path = f"{memory.path.rpartition('.')[0]}.{_BEYOND}"
            try:
                register = self._source.bench_element(path)
            except KeyError:
                raise HarnessError(
                    f"target {self.target.name}: memories.{name}: expected a register {path} that says "
                    "what lies beyond the memory's words, found none; the engine cxxrtl runs no initial "
                    "block, use another"
                ) from None
            built = self._source.bench_element(memory.path).depth
            words = self.workload.words.get(name, built)
            yield f"set {_part(self._source, register)} {~(words - 1) & ((1 << register.width) - 1)}"


def _by_net(elaboration: Elaboration) -> Elaboration:
    """Return the same storage, each element found by its part of a net and not by its variable."""
    elements = (*elaboration.sites.elements, *elaboration.bench_elements)
    found = {own.path: Location("", "", _part(elaboration, own), packed_width=own.width) for own in elements}
    return replace(elaboration, locations={**elaboration.locations, **found})


def _part(elaboration: Elaboration, element: StorageElement) -> str:
    place = elaboration.locations[element.path]
    if element.kind == "sram":
        return place.net
    return f"{place.net}@{place.net_low}:{element.width}"
