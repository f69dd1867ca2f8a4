# SPDX-License-Identifier: Apache-2.0
"""What registers, memories and outputs take from a net that is inverted for one cycle, along the netlist."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.native.circuit import Circuit, PackedCircuit
from resil.rtl_harness.engine.fast.native.injector import Injector
from resil.rtl_harness.engine.fast.native.sweep import BYTE, GatesError
from resil.rtl_harness.errors import SimulationError

DONE, UNDEFINED, RESET, STATE = 1, 2, 4, 8
"""Flags: `done` has the other value; gates do not say all; an asynchronous reset acts otherwise; one that
acts has set a register to another value in the very cycle of the pulse."""

PULSE = np.dtype([("net", np.int32), ("cycle", np.uint64)], align=True)
EFFECT = np.dtype(
    [
        *((name, np.uint64) for name in ("end", "alarms", "status")),
        *((name, np.uint32) for name in ("flags", "registers")),
    ],
    align=True,
)


@dataclass(frozen=True)
class PulseEffects:
    """What comes of pulses, in their order.

    Attributes:
        found: As `EFFECT`: alarms up in the cycle of the pulse, bits of the status word that differ in it,
            flags, flip-flops that differ a cycle later, and where the bytes of each end.
        bytes: Bytes of the state that differ a cycle later, as `native.sweep.BYTE`, one pulse after the
            other.
    """

    found: npt.NDArray[np.void]
    bytes: npt.NDArray[np.void]

    def difference(self, index: int) -> npt.NDArray[np.void]:
        """Return what differs after a pulse."""
        begin = int(self.found["end"][index - 1]) if index else 0
        return self.bytes[begin : int(self.found["end"][index])]


class NetPulses:
    """Works out pulses in the golden run of an injector.

    Args:
        injector: Has had its golden pass; it stays the caller's.
        circuit: The netlist, with places in the model of the injector.
        reset_values: Of each flip-flop while its asynchronous load acts, -1 if unknown.
        done_bits: Bits of the output that says that a run is over; the first of the circuit's ports.
    """

    def __init__(
        self, injector: Injector, circuit: Circuit, reset_values: npt.NDArray[np.int32], done_bits: int
    ) -> None:
        self._calls = injector.origin.library.calls
        self._declare()
        gates = PackedCircuit(circuit)
        values = np.ascontiguousarray(reset_values, np.int32)
        self._handle: int | None = self._calls.resil_pulses_create(
            injector.handle, gates.address, values.ctypes.data, done_bits
        )
        if not self._handle:
            raise SimulationError(f"pulses in logic could not start: {self._error()}", "start")

    def close(self) -> None:
        """Free it."""
        if self._handle:
            self._calls.resil_pulses_destroy(self._handle)
            self._handle = None

    def verify(self) -> None:
        """Compare netlist and model in every cycle of the golden run: flip-flops, memories and alarms.

        Raises:
            GatesError: Where they differ.
        """
        if self._calls.resil_pulses_verify(self._handle):
            raise GatesError(self._error())

    def effects(self, nets: Sequence[int], cycles: Sequence[int]) -> PulseEffects:
        """Return what comes of each pulse.

        Args:
            nets: Of the circuit.
            cycles: Of the golden run, which do not descend.

        Raises:
            GatesError: If netlist and model differ in the golden run.
        """
        pulses = np.zeros(len(nets), PULSE)
        pulses["net"], pulses["cycle"] = nets, cycles
        if self._calls.resil_pulses_run(self._handle, pulses.ctypes.data, len(pulses)):
            raise GatesError(self._error())
        found = self._array(self._calls.resil_pulses_effects(self._handle), len(pulses), EFFECT)
        total = int(found["end"][-1]) if len(found) else 0
        return PulseEffects(found, self._array(self._calls.resil_pulses_bytes(self._handle), total, BYTE))

    @property
    def effort(self) -> int:
        """Gates evaluated so far."""
        return int(self._calls.resil_pulses_effort(self._handle))

    @staticmethod
    def _array(address: int | None, count: int, kind: np.dtype[np.void]) -> npt.NDArray[np.void]:
        if not address or not count:
            return np.zeros(0, kind)
        return np.frombuffer(ctypes.string_at(address, count * kind.itemsize), kind)

    def _error(self) -> str:
        return str(self._calls.resil_error().decode())

    def _declare(self) -> None:
        handle, number, flag = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32
        signatures: dict[str, tuple[object, list[object]]] = {
            "resil_pulses_create": (handle, [handle, handle, handle, number]),
            "resil_pulses_destroy": (None, [handle]),
            "resil_pulses_run": (flag, [handle, handle, number]),
            "resil_pulses_verify": (flag, [handle]),
            "resil_pulses_effects": (handle, [handle]),
            "resil_pulses_bytes": (handle, [handle]),
            "resil_pulses_effort": (number, [handle]),
        }
        for name, (returned, arguments) in signatures.items():
            function = getattr(self._calls, name)
            function.restype = returned
            function.argtypes = arguments
