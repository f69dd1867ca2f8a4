"""How long a flipped bit stays alone: evaluated along the gates, 64 cycles at a time, without simulating."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rtl_harness.errors import SimulationError
from rtl_harness.verilated.campaign import Campaign


class Question(NamedTuple):
    """A flipped bit: of a flip-flop of the circuit, or of a word of one of its memories.

    Attributes:
        flip_flop: Number of the flip-flop, or -1.
        memory: Number of the memory, or -1.
        word: Word of the memory, from 0.
        bit: Bit of the word.
        cycle: Cycle of the fault.
    """

    flip_flop: int
    memory: int
    word: int
    bit: int
    cycle: int


class Circuit(NamedTuple):
    """Gates between the storage of a compiled model, as structured arrays of the types below."""

    nets: int
    gates: npt.NDArray[np.void]
    flip_flops: npt.NDArray[np.void]
    memories: npt.NDArray[np.void]
    reads: npt.NDArray[np.void]
    writes: npt.NDArray[np.void]
    ports: npt.NDArray[np.int32]
    lists: npt.NDArray[np.int32]


GATE = np.dtype([(name, np.int32) for name in ("operation", "a", "b", "s", "y")], align=True)
FLIP_FLOP = np.dtype(
    [
        *((name, np.int32) for name in ("q", "d", "load", "active")),
        *(("offset", np.uint64), ("bit", np.int32)),
    ],
    align=True,
)
MEMORY = np.dtype(
    [*(("offset", np.uint64), ("words", np.uint64)), *(("entry_bytes", np.uint32), ("first_word", np.int32))],
    align=True,
)
PORT = np.dtype([(name, np.int32) for name in ("memory", "address", "data", "first")], align=True)
QUESTION = np.dtype(
    [
        *(("flip_flop", np.int32), ("memory", np.int32), ("word", np.uint32), ("bit", np.uint32)),
        ("cycle", np.uint64),
    ],
    align=True,
)
ANSWER = np.dtype([("prospect", np.int32), ("cycle", np.uint64)], align=True)

VANISHES, MATTERS = 0, 1


class Foresight:
    """Answers how long flipped bits stay alone in the golden run of a campaign.

    Args:
        campaign: Has had its golden pass.
        circuit: The same design as gates.
    """

    def __init__(self, campaign: Campaign, circuit: Circuit) -> None:
        self._calls = campaign.origin.library.calls
        self._calls.resil_foresight_create.restype = ctypes.c_void_p
        self._calls.resil_foresight_create.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self._calls.resil_foresight_destroy.argtypes = [ctypes.c_void_p]
        self._calls.resil_foresight_ask.argtypes = [
            *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)
        ]
        fields = [np.uint64(circuit.nets)]
        arrays = [np.ascontiguousarray(array) for array in circuit[1:]]
        for array in arrays:
            fields += [np.uint64(array.ctypes.data), np.uint64(array.size)]
        packed = np.array(fields, np.uint64)
        self._handle: int | None = self._calls.resil_foresight_create(campaign.handle, packed.ctypes.data)
        if not self._handle:
            raise SimulationError(f"foresight could not start: {self._calls.resil_error().decode()}")

    def close(self) -> None:
        """Free it."""
        if self._handle:
            self._calls.resil_foresight_destroy(self._handle)
            self._handle = None

    def ask(self, questions: Sequence[Question]) -> npt.NDArray[np.void]:
        """Return an `ANSWER` for each question.

        `VANISHES`: after `cycle` nothing is left of the fault; the run ends as the golden one. `MATTERS`: the
        fault is the same as if it had come in `cycle`.

        Raises:
            SimulationError: If gates and model differ in the golden run.
        """
        asked = np.array([tuple(q) for q in questions], QUESTION)
        order = np.argsort(asked["cycle"], kind="stable")
        ordered = np.ascontiguousarray(asked[order])
        answers = np.zeros(len(asked), ANSWER)
        if self._calls.resil_foresight_ask(
            self._handle, ordered.ctypes.data, len(ordered), answers.ctypes.data
        ):
            raise SimulationError(f"foresight failed: {self._calls.resil_error().decode()}")
        result = np.zeros(len(asked), ANSWER)
        result[order] = answers
        return result
