# SPDX-License-Identifier: Apache-2.0
"""Stuck bits in a lane model: many are simulated together, each from where it first has an effect."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from resil.rtl_harness.engine.fast.native.injector import (
    Flip,
    HeldBit,
    InjectionResult,
    Injector,
    Shortcut,
    held_bits,
)
from resil.rtl_harness.engine.fast.native.sweep import LaneLibrary
from resil.rtl_harness.errors import SimulationError


class HeldResult(NamedTuple):
    """What came of a stuck bit.

    Attributes:
        job: Its number.
        in_lane: It was in a lane for a while.
        result: As of one that is simulated by itself.
    """

    job: int
    in_lane: bool
    result: InjectionResult


class _HeldEvent(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int32),
        ("in_lane", ctypes.c_int32),
        ("job", ctypes.c_uint64),
        ("result", InjectionResult),
    )


class HeldLanes:
    """Simulates stuck bits in lanes beside the compiled model of an injector.

    Args:
        injector: Has had its golden pass, and has watched it; it stays the caller's.
        lanes: The lane model.

    Raises:
        SimulationError: If its storage is not that of the injector.
    """

    def __init__(self, injector: Injector, lanes: LaneLibrary) -> None:
        self._calls = injector.origin.library.calls
        self._declare()
        with lanes.given() as model:
            self._handle: int | None = self._calls.resil_held_create(injector.handle, model)
        if not self._handle:
            raise SimulationError(f"the lane model does not fit: {self._error()}", "lanes")

    def close(self) -> None:
        """Free it."""
        if self._handle:
            self._calls.resil_held_destroy(self._handle)
            self._handle = None

    def run(
        self, jobs: Iterable[tuple[Sequence[Flip], int]], limit: int, shortcuts: Shortcut
    ) -> Iterator[HeldResult]:
        """Yield what comes of each stuck bit, in the order in which they end.

        Where a run does not end as the golden one, the injector's `faulty` instance stands at its end until
        the next result is asked for.

        Args:
            jobs: Bits and the value that they are held at; the number of each is its place. First effects do
                not descend.
            limit: Cycles from reset to the time-out.
            shortcuts: What may be used.

        Raises:
            SimulationError: If the model breaks.
        """
        self._calls.resil_held_begin(self._handle, limit, int(shortcuts))
        for number, (bits, value) in enumerate(jobs):
            held = held_bits(bits, value)
            if self._calls.resil_held_add(self._handle, number, held, len(held)):
                raise SimulationError(self._error(), "lanes")
        while True:
            event = _HeldEvent()
            self._calls.resil_held_next(self._handle, ctypes.byref(event))
            if event.kind < 0:
                raise SimulationError(f"stuck bits in lanes failed: {self._error()}", "lanes")
            if event.kind == 0:
                return
            yield HeldResult(event.job, bool(event.in_lane), event.result)

    @property
    def differ(self) -> bool:
        """The lane model was seen to do what the compiled model does not do; it is not used any more."""
        return bool(self._calls.resil_held_differ(self._handle))

    def _error(self) -> str:
        return str(self._calls.resil_error().decode())

    def _declare(self) -> None:
        handle, number, word = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32
        signatures: dict[str, tuple[object, list[object]]] = {
            "resil_held_create": (handle, [handle, handle]),
            "resil_held_destroy": (None, [handle]),
            "resil_held_begin": (None, [handle, number, word]),
            "resil_held_add": (ctypes.c_int32, [handle, number, ctypes.POINTER(HeldBit), number]),
            "resil_held_next": (None, [handle, ctypes.POINTER(_HeldEvent)]),
            "resil_held_differ": (ctypes.c_int32, [handle]),
        }
        for name, (returned, arguments) in signatures.items():
            function = getattr(self._calls, name)
            function.restype = returned
            function.argtypes = arguments
