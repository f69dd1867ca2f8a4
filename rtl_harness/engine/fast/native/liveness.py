# SPDX-License-Identifier: Apache-2.0
"""Liveness analysis: storage that is dead when an operation has ended, along the gates of the golden run."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.native.circuit import Circuit, PackedCircuit
from resil.rtl_harness.engine.fast.native.injector import Injector, StatePiece
from resil.rtl_harness.engine.fast.native.sweep import BYTE, GatesError

# Windows of 512 cycles that are gone through backwards: minutes in a design of half a million cells. Of a
# longer run only some behind each end of an operation are; what dies later is taken for alive, and runs
# that differ in it leave later.
MOST_WINDOWS = 4096


class DeadStorage(NamedTuple):
    """What does not matter at the ends of operations of the golden run, whatever external memories hold.

    Attributes:
        bits: For each end of an operation, bits of the state that may have any value, all at once, as `BYTE`,
            ascending; none of external memories.
        settled: Edges after which nothing that an observer sees, the end of the run say, depends on external
            memories any more; before, runs that differ in these may take another course.
    """

    bits: Sequence[npt.NDArray[np.void]]
    settled: int


def find_dead_storage(
    injector: Injector,
    circuit: Circuit,
    external: Sequence[tuple[int, int]],
    fixed: Sequence[Sequence[tuple[int, int]]],
    most_windows: int = MOST_WINDOWS,
) -> DeadStorage:
    """Return what does not matter.

    Args:
        injector: Has had its golden pass.
        circuit: The same design as gates.
        external: First byte and bytes, in the state, of the external memories.
        fixed: In the first cycle, and for each end of an operation, likewise, ascending, parts of these that
            hold what they do in the golden run; all else in them may be anything from there on.
        most_windows: That are gone through backwards.

    Raises:
        GatesError: The gates do not do what the model does.
    """
    calls = injector.origin.library.calls
    handle, number = ctypes.c_void_p, ctypes.c_uint64
    calls.resil_liveness_find.restype = handle
    calls.resil_liveness_find.argtypes = [handle, handle, handle]
    calls.resil_liveness_destroy.restype = None
    calls.resil_liveness_destroy.argtypes = [handle]
    calls.resil_liveness_bits.restype = number
    calls.resil_liveness_bits.argtypes = [handle, number, ctypes.POINTER(handle)]
    calls.resil_liveness_settled.restype = number
    calls.resil_liveness_settled.argtypes = [handle]

    gates = PackedCircuit(circuit)
    memories = (StatePiece * len(external))(*(StatePiece(*piece) for piece in external))
    first = np.cumsum([0, *map(len, fixed)]).astype(np.uint64)
    pieces = np.array([piece for parts in fixed for piece in parts], np.uint64).reshape(-1)
    places = [ctypes.addressof(memories), len(external), first.ctypes.data, pieces.ctypes.data]
    given = np.array([*places, most_windows], np.uint64)
    found = calls.resil_liveness_find(injector.handle, gates.address, given.ctypes.data)
    if not found:
        raise GatesError(f"no search for dead storage: {calls.resil_error().decode()}")
    try:
        bits = [_bits(calls, found, place) for place in range(len(fixed) - 1)]
        return DeadStorage(bits, int(calls.resil_liveness_settled(found)))
    finally:
        calls.resil_liveness_destroy(found)


def _bits(calls: ctypes.CDLL, found: int, place: int) -> npt.NDArray[np.void]:
    address = ctypes.c_void_p()
    count = calls.resil_liveness_bits(found, place, ctypes.byref(address))
    raw = ctypes.string_at(address.value, count * BYTE.itemsize) if address.value and count else b""
    return np.frombuffer(raw, BYTE)
