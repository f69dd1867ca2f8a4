# SPDX-License-Identifier: Apache-2.0
"""Bits that synthesis takes for constant, or for equal to others, looked at after every edge of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.sites import Absent, Hardware
from resil.rtl_harness.engine.fast.native.library import ModelInstance, Stop
from resil.rtl_harness.engine.fast.state_map import StateMap

# Edges whose bytes are compared at once.
_ROWS = 512


class Claims:
    """What is said of bits, as bytes of the state with masks.

    Args:
        runs: Sites that are no hardware; of these constants and duplicates are looked at.
        state_map: Where they lie.
        begin: An instance in the first cycle, in which each bit is as it is said to be.
    """

    def __init__(self, runs: Iterable[Absent], state_map: StateMap, begin: ModelInstance) -> None:
        constant: defaultdict[int, int] = defaultdict(int)  # mask by byte
        # Mask by bytes, and by how much further up the bit lies in the first of the two.
        equal: defaultdict[tuple[int, int, int], int] = defaultdict(int)
        for run in runs:
            for step in range(run.bits):
                if run.hardware is Hardware.CONSTANT:
                    byte, bit = _place(state_map, run.first + step)
                    constant[byte] |= 1 << bit
                elif run.hardware is Hardware.DUPLICATE and run.same_as is not None:
                    byte, bit = _place(state_map, run.first + step)
                    other, from_bit = _place(state_map, run.same_as + step)
                    equal[byte, other, bit - from_bit] |= 1 << min(bit, from_bit)
        used = sorted({*constant, *(byte for key in equal for byte in key[:2])})
        column = {byte: number for number, byte in enumerate(used)}
        self._bytes = np.array(used, np.intp)
        self._constant = np.array([column[byte] for byte in constant], np.intp)
        self._masks = np.array(list(constant.values()), np.uint8)
        self._values = begin.state[self._bytes][self._constant] & self._masks
        self._copies = np.array([column[byte] for byte, _, _ in equal], np.intp)
        self._originals = np.array([column[byte] for _, byte, _ in equal], np.intp)
        self._down = np.array([max(up, 0) for _, _, up in equal], np.uint8)
        self._original_down = np.array([max(-up, 0) for _, _, up in equal], np.uint8)
        self._equal_masks = np.array(list(equal.values()), np.uint8)
        self._rows = np.empty((_ROWS, len(used)), np.uint8)

    def __bool__(self) -> bool:
        """Whether anything is said of any bit."""
        return self._bytes.size > 0

    def refuted(self, instance: ModelInstance, edges: int, *, until_done: bool) -> int | None:
        """Let an instance go on, and return after how many edges since reset a claim first failed.

        Args:
            instance: Of which the state is looked at.
            edges: Since reset, at which it ends; it ends before that where the design stops itself.
            until_done: It ends where done is 1, too.

        Returns:
            Edges after which a bit was not as it is said to be; the instance may have gone on. None if each
            bit always was.
        """
        stop = Stop.LIMIT
        while stop is Stop.LIMIT and instance.cycle < edges:
            before = instance.cycle
            rows = self._rows[: edges - before]
            stop, count = instance.record(self._bytes, rows, until_done=until_done)
            wrong = self._wrong(rows[:count])
            if wrong.size:
                return before + int(wrong[0]) + 1
        return None

    def _wrong(self, rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.intp]:
        """Return the numbers of the rows that differ from what is said."""
        wrong = ((rows[:, self._constant] & self._masks) != self._values).any(axis=1)
        copies = rows[:, self._copies] >> self._down
        originals = rows[:, self._originals] >> self._original_down
        wrong |= (((copies ^ originals) & self._equal_masks) != 0).any(axis=1)
        return np.flatnonzero(wrong)


def _place(state_map: StateMap, site: int) -> tuple[int, int]:
    """Return the byte of the state that holds a site, and the bit in it."""
    flip = state_map.flip(site)
    return flip.storage.offset + flip.word * flip.storage.entry_bytes + flip.bit // 8, flip.bit % 8
