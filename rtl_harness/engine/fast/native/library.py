# SPDX-License-Identifier: Apache-2.0
"""A compiled model in this process: instances, their clock, their ports and their storage."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.snapshot import data_folder
from resil.rtl_harness.engine.fast.native.storage import (
    ModelVariable,
    StoragePlace,
    element,
    split_indices,
)
from resil.rtl_harness.errors import SimulationError, UnmappedSiteError


class Stop(IntEnum):
    """Why `ModelInstance.run` returned."""

    LIMIT = 0
    DONE = 1
    FINISH = 2


class OutputPort(IntEnum):
    """The outputs that a target may name, but for its alarms."""

    DONE = 0
    STATUS = 1
    OPERATION = 2
    INFERENCES = 3


class FirstRise(ctypes.Structure):
    """The first rise of an alarm in a run.

    Attributes:
        alarm: Place in the target's order; -1 if none rose.
        cycle: Number of the active clock edge, as of a fault.
    """

    _fields_ = (("alarm", ctypes.c_int64), ("cycle", ctypes.c_uint64))
    alarm: int
    cycle: int


class Library:
    """A shared library that `build_model` made.

    Args:
        path: The file.
        top: Name of the top module, the first part of every scope's name.
    """

    def __init__(self, path: Path, top: str) -> None:
        self.path = path
        self.top = top
        self.calls = _load(path)
        self.places: dict[str, StoragePlace] = {}  # as far as they were found; each instance has the same

    def create(self, plusargs: Sequence[str] = ()) -> ModelInstance:
        """Return a new instance: initial blocks have run, the clock is low, reset inactive.

        Raises:
            SimulationError: If the design calls $fatal or the like.
        """
        return ModelInstance(self, plusargs)


class ModelInstance:
    """One running copy of the design. Close it, or use it in a `with` statement.

    The clock stays high after each edge, so that storage is seen, and flipped, just after the edge settled.

    Attributes:
        library: Where it comes from.
        state: The live bytes of its state, (bytes,); `StoragePlace.offset` counts from the first.
    """

    def __init__(self, library: Library, plusargs: Sequence[str]) -> None:
        self.library = library
        self._calls = library.calls
        self._process = os.getpid()
        encoded = [f"+{p}".encode() for p in plusargs]
        for plusarg in plusargs:
            self._calls.resil_give(plusarg.partition("=")[2].encode())
        self._handle: int | None = self._calls.resil_create(
            len(encoded), (ctypes.c_char_p * len(encoded))(*encoded)
        )
        if not self._handle:
            raise self._failure("could not start")
        size = self._calls.resil_state_bytes()
        base = self._calls.resil_state(self._handle)
        self.state: npt.NDArray[np.uint8] = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(base))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the instance; its storage views must not be used any more.

        In a process that was forked since it was made, nothing is freed: the end of Verilator's context would
        wait there for threads that a fork does not take along.
        """
        if self._handle:
            if self._process == os.getpid():
                self._calls.resil_destroy(self._handle)
            self._handle = None

    @property
    def handle(self) -> int:
        """Address of the C++ object."""
        if not self._handle:
            raise SimulationError("the model instance was closed already; create a new one", "closed")
        return self._handle

    @property
    def cycle(self) -> int:
        """Active clock edges since reset was released."""
        return int(self._calls.resil_cycle(self.handle))

    def port(self, port: OutputPort) -> int:
        """Return the present value of an output; 0 if the target names none."""
        return int(self._calls.resil_port(self.handle, port))

    @property
    def alarms_up(self) -> int:
        """Alarms that are up now: bit i is the target's alarm number i."""
        return int(self._calls.resil_alarms_up(self.handle))

    def reset(self, cycles: int) -> None:
        """Hold reset for `cycles` clock edges and release it; the next edge is cycle 0."""
        if self._calls.resil_reset(self.handle, cycles) != 0:
            raise self._failure("failed in reset")

    def run(self, limit: int) -> Stop:
        """Clock until done is 1 after an edge, or `limit` edges since reset have passed."""
        return self._stop(self._calls.resil_run(self.handle, limit))

    def run_to(self, cycle: int) -> Stop:
        """Clock until `cycle` edges since reset have passed, whatever done says."""
        return self._stop(self._calls.resil_run_to(self.handle, cycle))

    def record(
        self, places: npt.NDArray[np.intp], rows: npt.NDArray[np.uint8], *, until_done: bool
    ) -> tuple[Stop, int]:
        """Clock edge by edge, and keep some bytes of the state after each.

        Args:
            places: Of these bytes in the state.
            rows: Gets them, a row for each edge.
            until_done: Stop where done is 1, as `run` does; else go on whatever it says, as `run_to` does.

        Returns:
            Why it stopped, and how many rows it has filled.
        """
        calls, handle, take = self._calls, self.handle, self.state.take
        advance = calls.resil_run if until_done else calls.resil_run_to
        first = self.cycle + 1
        for number, row in enumerate(rows):
            code = advance(handle, first + number)
            take(places, None, row, "clip")  # all places are in the state; "clip" spares numpy a copy
            if code:
                return self._stop(code), number + 1
        return Stop.LIMIT, len(rows)

    def settle(self) -> None:
        """Recompute everything that depends on storage; needed after storage was written."""
        if self._calls.resil_settle(self.handle) != 0:
            raise self._failure("failed to settle")

    def operations(self) -> list[tuple[int, int]]:
        """Return (edges since reset, operations finished) at each change of the operation counter."""
        pairs = ctypes.POINTER(ctypes.c_uint64)()
        count = self._calls.resil_operations(self.handle, ctypes.byref(pairs))
        return [(pairs[2 * i], pairs[2 * i + 1]) for i in range(count)]

    def rises(self) -> list[tuple[int, int]]:
        """Return place and cycle of the first rise of each alarm since reset, in the order of their cycles.

        A call of `settle` counts as an alarm's cycle, too.
        """
        found = ctypes.POINTER(FirstRise)()
        count = self._calls.resil_rises(self.handle, ctypes.byref(found))
        return [(found[i].alarm, found[i].cycle) for i in range(count)]

    def find(self, path: str) -> StoragePlace:
        """Return where the register or memory at `path` lies.

        Raises:
            UnmappedSiteError: If the simulator has no such variable.
        """
        places = self.library.places
        if path in places:
            return places[path]
        base, indices = split_indices(path)
        for used in range(len(indices) + 1):
            name = path if used == 0 else base + "".join(f"[{i}]" for i in indices[: len(indices) - used])
            if found := self._find(name):
                places[path] = element(path, found, indices[len(indices) - used :])
                return places[path]
        raise UnmappedSiteError(
            f"expected a register or memory {path} in the simulator, found none; the netlist and the "
            "compiled model disagree, or it was not among the storage named when the model was built",
            path,
        )

    def view(self, storage: StoragePlace) -> npt.NDArray[np.uint8]:
        """Return the live bytes of an element, (depth, entry_bytes), least significant byte first."""
        raw = self.state[storage.offset : storage.offset + storage.size]
        return raw.reshape(storage.depth, storage.entry_bytes)

    def read(self, storage: StoragePlace, word: int = 0) -> int:
        """Return one word as a number."""
        return int.from_bytes(self.view(storage)[word].tobytes(), "little")

    def write(self, storage: StoragePlace, value: int, word: int = 0) -> None:
        """Set one word; call `settle` when all is written."""
        if not 0 <= value < 1 << storage.width:
            raise ValueError(f"{storage.path} has {storage.width} bits, the value {value:#x} does not fit")
        self.view(storage)[word] = np.frombuffer(value.to_bytes(storage.entry_bytes, "little"), np.uint8)

    def flip(self, storage: StoragePlace, bit: int, word: int = 0) -> None:
        """Invert one bit; call `settle` afterwards."""
        if not (0 <= bit < storage.width and 0 <= word < storage.depth):
            raise IndexError(
                f"{storage.path} has {storage.depth} x {storage.width} bits, found word {word}, bit {bit}"
            )
        self.view(storage)[word, bit // 8] ^= np.uint8(1 << bit % 8)

    def keep(self, storage: Sequence[StoragePlace]) -> None:
        """Let storage be as it is: it is not copied with the state any more.

        Either no run reads or writes it, or someone else copies what was written of it. Whoever copies from
        this instance gets it once, and likewise keeps it from then on.
        """
        pieces = [(part.offset, part.size) for part in sorted(storage, key=lambda part: part.offset)]
        flat = [number for piece in pieces for number in piece]
        self._calls.resil_keep(self.handle, (ctypes.c_uint64 * len(flat))(*flat), len(pieces))

    def copy_from(self, other: ModelInstance) -> None:
        """Continue exactly where `other`, an instance of the same library, is now."""
        if other.library is not self.library:
            raise ValueError("state can be copied only between instances of one library")
        self._calls.resil_copy(self.handle, other.handle)

    def _find(self, name: str) -> ModelVariable | None:
        scope, _, leaf = f"{self.library.top}.{name}".rpartition(".")
        found = ModelVariable()
        missing = self._calls.resil_find(self.handle, scope.encode(), leaf.encode(), ctypes.byref(found))
        return None if missing else found

    def _stop(self, code: int) -> Stop:
        if code < 0:
            raise self._failure(f"failed after {self.cycle} cycles")
        return Stop(code)

    def _failure(self, what: str) -> SimulationError:
        return SimulationError(
            f"the compiled model of {self.library.top} {what}: {self._calls.resil_error().decode()}"
        )


@lru_cache
def _load(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    handle, number = ctypes.c_void_p, ctypes.c_uint64
    strings = ctypes.POINTER(ctypes.c_char_p)
    signatures: dict[str, tuple[object, list[object]]] = {
        "resil_error": (ctypes.c_char_p, []),
        "resil_data": (None, [ctypes.c_char_p]),
        "resil_give": (None, [ctypes.c_char_p]),
        "resil_create": (handle, [ctypes.c_uint32, strings]),
        "resil_destroy": (None, [handle]),
        "resil_reset": (ctypes.c_int32, [handle, ctypes.c_uint32]),
        "resil_run": (ctypes.c_int32, [handle, number]),
        "resil_run_to": (ctypes.c_int32, [handle, number]),
        "resil_settle": (ctypes.c_int32, [handle]),
        "resil_cycle": (number, [handle]),
        "resil_port": (number, [handle, ctypes.c_uint32]),
        "resil_alarms_up": (number, [handle]),
        "resil_rises": (number, [handle, ctypes.POINTER(ctypes.POINTER(FirstRise))]),
        "resil_operations": (number, [handle, ctypes.POINTER(ctypes.POINTER(number))]),
        "resil_state": (handle, [handle]),
        "resil_state_bytes": (number, []),
        "resil_find": (
            ctypes.c_int32,
            [handle, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ModelVariable)],
        ),
        "resil_keep": (None, [handle, ctypes.POINTER(number), number]),
        "resil_copy": (None, [handle, handle]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    library.resil_data(str(data_folder(path.parent)).encode())
    return library
