# SPDX-License-Identifier: Apache-2.0
"""All mutants of the RTL in one design: a number in a register of the top says which of them it is.

An expression e with a mutation m, number 7, becomes `(mutation_pkg::active == 7 ? (m) : (e))`. With 0 the
design is the original one. So a single build serves for all mutants. `+mutant=7` sets the register.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from resil.rtl_harness.design.target import Target
from testkit.npu.mutation.sites import Mutation

PACKAGE = "mutation_pkg"
NUMBER = "mutant_q"
_PACKAGE_TEXT = (
    f"/// The mutant that the design is; 0: none.\npackage {PACKAGE};\n  logic [15:0] active;\nendpackage\n"
)
_REGISTER = f"""
  logic [15:0] {NUMBER};
  initial if (!$value$plusargs("mutant=%d", {NUMBER})) {NUMBER} = '0;
  always_comb {PACKAGE}::active = {NUMBER};
"""


def mutated_text(source: str, mutants: Sequence[tuple[int, Mutation]]) -> str:
    """Return the text of a file with all its mutations, each with the number of its mutant."""
    places: dict[tuple[int, int], list[tuple[int, str]]] = defaultdict(list)
    for number, mutation in mutants:
        places[mutation.start, mutation.end].append((number, mutation.text))
    ordered = sorted(places, key=lambda place: (place[0], -place[1]))

    def render(start: int, end: int, first: int) -> tuple[str, int]:
        """Return text [start, end) with the places from number `first` on, and the next place behind it."""
        parts, at, place = [], start, first
        while place < len(ordered) and ordered[place][0] < end:
            begin, stop = ordered[place]
            inner, following = render(begin, stop, place + 1)
            choices = "".join(
                f"{PACKAGE}::active == 16'd{number} ? ({text}) : " for number, text in places[ordered[place]]
            )
            parts += [source[at:begin], f"({choices}({inner}))"]
            at, place = stop, following
        return "".join([*parts, source[at:end]]), place

    return render(0, len(source), 0)[0]


def one_mutant(mutation: Mutation) -> str:
    """Return the text of the mutation's file as that mutant has it."""
    source = mutation.file.read_text(encoding="ascii")
    return f"{source[: mutation.start]}({mutation.text}){source[mutation.end :]}"


def mutated_target(target: Target, mutants: Sequence[Sequence[Mutation]], folder: Path) -> Target:
    """Return the target with all of `mutants`, numbered from 1; its sources are written to `folder`.

    A mutant is one mutation or several at once.
    """
    sources = mutated_sources(target.sources, target.top, mutants, folder)
    return dataclasses.replace(target, sources=sources)


def mutated_sources(
    sources: Sequence[Path], top: str, mutants: Sequence[Sequence[Mutation]], folder: Path
) -> tuple[Path, ...]:
    """Write sources with all of `mutants`, numbered from 1, to `folder`; `top` gets the number's register.

    Raises:
        ValueError: If a mutant is of a file that is not among the sources.
    """
    by_file: dict[Path, list[tuple[int, Mutation]]] = defaultdict(list)
    for number, mutant in enumerate(mutants, 1):
        for mutation in mutant:
            by_file[mutation.file.resolve()].append((number, mutation))
    written = [folder / f"{PACKAGE}.sv"]
    written[0].write_text(_PACKAGE_TEXT, encoding="ascii")
    for source in sources:
        text = mutated_text(source.read_text(encoding="ascii"), by_file.pop(source.resolve(), []))
        if source.stem == top:
            head, end, tail = text.rpartition("endmodule")
            text = head + _REGISTER + end + tail
        written.append(folder / source.name)
        written[-1].write_text(text, encoding="ascii")
    if by_file:
        raise ValueError(f"mutants of files that {top} is not made of: {sorted(map(str, by_file))}")
    return tuple(written)
