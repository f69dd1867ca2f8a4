# SPDX-License-Identifier: Apache-2.0
"""All gates of a netlist in one cycle, with a pulse and without: judges what is followed event by event.

It shares no code with the C++ that follows pulses, and reads the state of the model, not of a window.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.gates.circuit import circuit_of
from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.logic.expand import GIVES
from resil.rtl_harness.logic.netlist import LogicNetlist

Values = npt.NDArray[np.uint8]


class Evaluation:
    """Evaluates the gates of a netlist in the golden run of a model.

    Args:
        netlist: Of the model's target.
        model: Has had its golden run.
    """

    def __init__(self, netlist: LogicNetlist, model: CompiledModel) -> None:
        self._netlist = netlist
        self._model = model
        self._circuit = circuit_of(netlist.gates, model.origin, model.memory_words)
        self._gates = netlist.gates.gates.tolist()

    def difference(self, net: int, cycle: int) -> dict[int, int] | None:
        """Return the bits that differ a cycle after a pulse, as a mask by byte of the state.

        None if an asynchronous reset acts that does not without the pulse, or the other way round, in this
        cycle or the next: that is not evaluated here.
        """
        state = self._model.injector.seek(cycle + 1).state.copy()
        right, wrong = self._values(state, None), self._values(state, net)
        rows = self._netlist.gates.flip_flops
        loads = rows[:, 2]
        if (right[loads] != wrong[loads]).any():
            return None
        differs = (right[rows[:, 1]] != wrong[rows[:, 1]]) & ~self._acts(right)
        if (loads > 1).any():
            after = self._model.injector.seek(cycle + 2).state.copy()
            later = self._values(after, None)
            for place in self._circuit.flip_flops[differs & ~self._acts(later)]:
                after[int(place["offset"])] ^= 1 << int(place["bit"])
            if (later[loads] != self._values(after, None)[loads]).any():
                return None
            differs &= ~self._acts(later)
        found: dict[int, int] = {}
        for place in self._circuit.flip_flops[differs]:
            offset = int(place["offset"])
            found[offset] = found.get(offset, 0) | 1 << int(place["bit"])
        for offset, mask in self._memories(state, right, wrong):
            found[offset] = mask
        return found

    def _acts(self, values: Values) -> npt.NDArray[np.bool_]:
        """Return which flip-flops are in an asynchronous reset or load."""
        rows = self._netlist.gates.flip_flops
        return np.equal(values[rows[:, 2]], rows[:, 3])

    def _values(self, state: Values, pulsed: int | None) -> Values:
        """Return the value of each net."""
        gates = self._netlist.gates
        values = [0] * gates.nets
        values[1] = 1
        for f in self._circuit.flip_flops.tolist():
            values[f[0]] = int(state[f[5]]) >> f[6] & 1
        if pulsed is not None and gates.flip_flops[:, 0].tolist().count(pulsed):
            values[pulsed] ^= 1
        for operation, a, b, s, y in self._gates:
            if operation == READ:
                memory, address, data = gates.reads[a]
                word = self._word(state, memory, [values[n] for n in address])
                for i, n in enumerate(data):
                    values[n] = word >> i & 1
                continue
            values[y] = GIVES[operation](values[a], values[b], values[s]) ^ (y == pulsed)
        return np.array(values, np.uint8)

    def _word(self, state: Values, memory: int, address: Iterable[int]) -> int:
        at = self._place(memory, address)
        if at is None:
            return 0
        return int.from_bytes(state[at[0] : at[0] + at[1]].tobytes(), "little")

    def _place(self, memory: int, address: Iterable[int]) -> tuple[int, int] | None:
        """Return first byte and bytes of a word; None beyond the end of the memory."""
        own = self._circuit.memories[memory]
        word = sum(bit << i for i, bit in enumerate(address)) - int(own["first_word"])
        if not 0 <= word < int(own["words"]):
            return None
        size = int(own["entry_bytes"])
        return int(own["offset"]) + word * size, size

    def _memories(self, state: Values, right: Values, wrong: Values) -> list[tuple[int, int]]:
        """Return bytes of memories that differ after the writes of the cycle."""
        images: list[dict[int, int]] = []
        for values in (right, wrong):
            image: dict[int, int] = {}
            for memory, address, data, enable in self._netlist.gates.writes:
                at = self._place(memory, [int(values[n]) for n in address])
                if at is None:
                    continue
                for i, (d, e) in enumerate(zip(data, enable, strict=True)):
                    if values[e]:
                        byte, bit = at[0] + i // 8, i % 8
                        held = image.get(byte, int(state[byte]))
                        image[byte] = held | 1 << bit if values[d] else held & ~(1 << bit)
            images.append(image)
        one, other = images
        return [
            (byte, mask)
            for byte in sorted({*one, *other})
            if (mask := one.get(byte, int(state[byte])) ^ other.get(byte, int(state[byte])))
        ]
