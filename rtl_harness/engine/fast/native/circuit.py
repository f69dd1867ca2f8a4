# SPDX-License-Identifier: Apache-2.0
"""The gates between the storage of a compiled model, as the driver takes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Circuit(NamedTuple):
    """Gates between the storage of a compiled model, as structured arrays of the types below."""

    nets: int
    gates: npt.NDArray[np.void]
    flip_flops: npt.NDArray[np.void]
    memories: npt.NDArray[np.void]
    reads: npt.NDArray[np.void]
    writes: npt.NDArray[np.void]
    ports: npt.NDArray[np.int32]
    alarms: npt.NDArray[np.void]
    operation: npt.NDArray[np.int32]
    undefined: npt.NDArray[np.int32]
    lists: npt.NDArray[np.int32]


GATE = np.dtype([(name, np.int32) for name in ("operation", "a", "b", "s", "y")], align=True)
FLIP_FLOP = np.dtype(
    [
        *((name, np.int32) for name in ("q", "d", "load", "active", "sensitive")),
        *(("offset", np.uint64), ("bit", np.int32)),
    ],
    align=True,
)
MEMORY = np.dtype(
    [*(("offset", np.uint64), ("words", np.uint64)), *(("entry_bytes", np.uint32), ("first_word", np.int32))],
    align=True,
)
ALARM = np.dtype([(name, np.int32) for name in ("net", "alarm")], align=True)
PORT = np.dtype([(name, np.int32) for name in ("memory", "address", "data", "first")], align=True)


class PackedCircuit:
    """A circuit as the driver takes it, for as long as this lives.

    Attributes:
        address: Of the driver's structure.
    """

    def __init__(self, circuit: Circuit) -> None:
        self._arrays = [np.ascontiguousarray(array) for array in circuit[1:]]
        fields = [circuit.nets]
        for array in self._arrays:
            fields += [array.ctypes.data, array.size]
        self._fields = np.array(fields, np.uint64)
        self.address = self._fields.ctypes.data
