# SPDX-License-Identifier: Apache-2.0
"""Injections that run to where nothing can change any more, beside a run without a fault: see `audit.h`."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from resil.rtl_harness.engine.fast.native.injector import (
    Ending,
    Flip,
    FlippedBit,
    flipped_bits,
)
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.errors import SimulationError


class _AuditEvent(ctypes.Structure):
    _fields_ = (
        ("job", ctypes.c_uint64),
        ("instance", ctypes.c_uint64),
        ("stop", ctypes.c_int32),
        ("shift", ctypes.c_int64),
        ("end_cycle", ctypes.c_uint64),
        ("simulated", ctypes.c_uint64),
    )


@dataclass(frozen=True, slots=True)
class AuditLimits:
    """How long runs may go on, in cycles since reset.

    Attributes:
        run: A run, or its first inference.
        operation: Cycles for which the counter of operations may stand still; None if it may for ever.
        golden: The run without a fault.
        pause: Its first inference, at which runs pause; 0 if they do not.
    """

    run: int
    operation: int | None
    golden: int
    pause: int = 0


@dataclass(frozen=True, slots=True)
class AuditRun:
    """How a run ended.

    Attributes:
        job: Number of the injection.
        ending: REJOINED: it goes on as the golden run did `shift` cycles earlier. LIMIT: a time-out.
        instance: Stands at the end, as far as that was simulated, until the next one is asked for.
        shift: Cycles.
        end_cycle: Of the whole run.
        simulated: Cycles that were.
    """

    job: int
    ending: Ending
    instance: ModelInstance
    shift: int
    end_cycle: int
    simulated: int


class BrokenRunError(SimulationError):
    """The design stopped itself in the run of the injection number `job`."""

    def __init__(self, message: str, job: int) -> None:
        super().__init__(message)
        self.job = job


class AuditRuns:
    """Runs of injections, as many at once as there are instances for them.

    Args:
        origin: An instance that has just come out of reset; it stays as it is.
        limits: How long runs may go on.
        count: Runs at once; one more when all are busy is what makes the oldest go on by itself.

    Attributes:
        instances: All that runs are made in.
    """

    def __init__(self, origin: ModelInstance, limits: AuditLimits, count: int) -> None:
        self._calls = origin.library.calls
        self._declare()
        golden, *others = self.instances = [origin.library.create() for _ in range(count + 1)]
        self._faulty = others
        numbers = (limits.run, limits.operation or 0, limits.golden, limits.pause)
        self._handle: int | None = self._calls.resil_audit_create(
            origin.handle,
            golden.handle,
            (ctypes.c_void_p * count)(*(instance.handle for instance in others)),
            count,
            (ctypes.c_uint64 * len(numbers))(*numbers),
        )
        if not self._handle:
            raise SimulationError(f"the audit could not start: {self._error()}", "start")

    def close(self) -> None:
        """Free it and its instances."""
        if self._handle:
            self._calls.resil_audit_destroy(self._handle)
            self._handle = None
            for instance in self.instances:
                instance.close()

    def run(self, jobs: Iterable[tuple[Sequence[Flip], int]]) -> Iterator[AuditRun]:
        """Yield how the run of each injection ended, in the order in which they end; one that pauses twice.

        Args:
            jobs: Bits to invert, and the cycle, of each; its number is its place. Cycles do not descend.

        Raises:
            BrokenRunError: If the design stops itself.
        """
        for number, (flips, cycle) in enumerate(jobs):
            self._calls.resil_audit_add(self._handle, number, flipped_bits(flips), len(flips), cycle)
        event = _AuditEvent()
        while (code := self._calls.resil_audit_next(self._handle, ctypes.byref(event))) > 0:
            yield AuditRun(
                event.job,
                Ending(event.stop),
                self._faulty[event.instance],
                event.shift,
                event.end_cycle,
                event.simulated,
            )
        if code < 0:
            raise BrokenRunError(self._error(), event.job)

    def resume(self, limit: int) -> None:
        """Let the run that has just paused go on, until so many cycles since reset."""
        self._calls.resil_audit_resume(self._handle, limit)

    def _error(self) -> str:
        return str(self._calls.resil_error().decode())

    def _declare(self) -> None:
        handle, number = ctypes.c_void_p, ctypes.c_uint64
        numbers, handles = ctypes.POINTER(number), ctypes.POINTER(handle)
        signatures: dict[str, tuple[object, list[object]]] = {
            "resil_audit_create": (
                handle,
                [handle, handle, handles, number, numbers],
            ),
            "resil_audit_destroy": (None, [handle]),
            "resil_audit_add": (None, [handle, number, ctypes.POINTER(FlippedBit), number, number]),
            "resil_audit_next": (ctypes.c_int32, [handle, ctypes.POINTER(_AuditEvent)]),
            "resil_audit_resume": (None, [handle, number]),
        }
        for name, (returned, arguments) in signatures.items():
            function = getattr(self._calls, name)
            function.restype = returned
            function.argtypes = arguments
