# SPDX-License-Identifier: Apache-2.0
"""Which mutants are judged: a draw that an edit elsewhere in the RTL leaves as it is."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from testkit.npu.mutation.sites import Mutation, mutations

FEWEST = 20


def block_of(file: Path) -> str:
    """Return the block of a source file: its folder, "npu" for what lies above the blocks."""
    return "npu" if file.parent.name == "rtl" else file.parent.name


def draw(files: Sequence[Path], count: int, seed: int) -> list[Mutation]:
    """Return about `count` mutations: some of each block, more of those that have more to mutate.

    Each mutation has a rank, a hash of the seed, its file, its line's text and its change; the first of each
    block are drawn. So a change of the RTL replaces the mutants of the changed lines and hardly any other.
    """
    blocks: dict[str, list[tuple[str, Mutation]]] = defaultdict(list)
    for file in files:
        seen: Counter[tuple[str, str]] = Counter()
        for mutation in mutations(file, files):
            seen[mutation.context, mutation.change] += 1
            number = seen[mutation.context, mutation.change]
            parts = (seed, file.name, mutation.context, mutation.kind, mutation.change, number)
            rank = hashlib.sha256(repr(parts).encode()).hexdigest()
            blocks[block_of(file)].append((rank, mutation))
    total = sum(map(len, blocks.values()))
    drawn: list[Mutation] = []
    for found in blocks.values():
        share = max(FEWEST, round(count * len(found) / total))
        chosen = sorted(found, key=lambda entry: entry[0])[:share]
        drawn += sorted((m for _, m in chosen), key=lambda m: (str(m.file), m.start, m.end, m.text))
    return drawn
