# SPDX-License-Identifier: Apache-2.0
"""Codes on memories: how words are divided, how many check bits they take, and what was built of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resil.rtl_harness.redundancy.editable import Net
from resil.rtl_harness.redundancy.groups import Mechanism

ENCODERS = {Mechanism.SECDED: "resil_secded_enc", Mechanism.MEMORY_PARITY: "resil_parity_enc"}
DECODERS = {Mechanism.SECDED: "resil_secded_dec", Mechanism.MEMORY_PARITY: "resil_parity_dec"}
# Data bits of a code word at most.
MOST_BITS = {Mechanism.SECDED: 64, Mechanism.MEMORY_PARITY: 32}
# Outputs of a decoder that report, by whether the error was corrected.
REPORTS: Mapping[Mechanism, Mapping[bool, str]] = {
    Mechanism.SECDED: {True: "single_error_o", False: "multi_error_o"},
    Mechanism.MEMORY_PARITY: {False: "multi_error_o"},
}


@dataclass(frozen=True, slots=True)
class Coded:
    """A memory that was given a code.

    Attributes:
        path: Of the memory, below the top.
        mechanism: SECDED or MEMORY_PARITY.
        element: Path of the memory in the source.
        group: That asked for it.
        words: How many.
        parts: Data bits of each code word of a word of the memory.
        storage: Paths of the memory and of output latches that the code goes through; either is wider by the
            check bits, which stand above the data.
        latches: Paths of these latches in the netlist before it is renamed.
        decoders: Paths of the decoders.
        ways: Of parity: bits of a code word that neighbours lie under in turn.
    """

    path: str
    mechanism: Mechanism
    element: str
    group: str
    words: int
    parts: tuple[int, ...]
    storage: tuple[str, ...]
    latches: tuple[str, ...]
    decoders: tuple[str, ...]
    ways: int = 1

    @property
    def bits(self) -> int:
        """Data bits that are protected."""
        return self.words * sum(self.parts)

    @property
    def check_bits(self) -> int:
        """Bits that were added to the memory."""
        return self.words * sum(check_bits(self.mechanism, part, self.ways) for part in self.parts)


def check_bits(mechanism: Mechanism, width: int, ways: int = 1) -> int:
    """Return the check bits of a word, as `resil_code_pkg` has them, or its parity bits in turn.

    >>> [check_bits(Mechanism.SECDED, width) for width in (1, 8, 32, 64)]
    [3, 5, 7, 8]
    """
    if mechanism is Mechanism.MEMORY_PARITY:
        return min(ways, width)
    bits = 3
    while 2 ** (bits - 1) - bits < width:
        bits += 1
    return bits


def parts_of_word(enables: Sequence[tuple[Net, ...]], most: int) -> list[tuple[int, int]]:
    """Divide a word into code words: lowest bit and number of bits of each.

    What is written by itself has a code of its own, so that no write has to read first; what is wider than
    `most` is divided evenly.

    Args:
        enables: For each bit, what enables it to be written, one net a write port.
        most: Bits of a code word at most.

    >>> parts_of_word([(5,)] * 9 + [(6,)] * 3, 8)
    [(0, 5), (5, 4), (9, 3)]
    """
    found = []
    first = 0
    for bit in range(1, len(enables) + 1):
        if bit < len(enables) and enables[bit] == enables[first]:
            continue
        bits = bit - first
        number = -(-bits // most)
        for part in range(number):
            own = bits // number + (part < bits % number)
            found.append((first, own))
            first += own
    return found
