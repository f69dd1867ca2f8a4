# SPDX-License-Identifier: Apache-2.0
"""Where the storage that elaboration found lies in the compiled model, and the digest of its contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.model import Location
from resil.rtl_harness.design.sites import StorageElement
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.native.build import SourceVariable
from resil.rtl_harness.engine.fast.native.injector import AlarmBit, Flip
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.fast.native.storage import StoragePlace
from resil.rtl_harness.engine.state_hash import kept_mask
from resil.rtl_harness.errors import UnmappedSiteError
from resil.rtl_harness.faults import Fault, digest

LARGE_BYTES = 1 << 13
"""Memories from this size on are not compared, copied and recorded as a whole: they have whole pages."""


def variables_of(elaboration: Elaboration) -> list[SourceVariable]:
    """Return the variables of the source code that hold the storage of design and bench."""
    return [
        SourceVariable(place.module, place.variable, place.port) for place in elaboration.locations.values()
    ]


class StateMap:
    """The storage of a target in the state of its compiled model.

    Args:
        target: The target.
        elaboration: Its storage.
        instance: Any instance of the compiled model.
        words: Words that memories have, by path, where these are fewer than were built.

    Attributes:
        registers: All registers of design and bench.
        memories: All memories, as far as they have words.
        large: Those memories of which it is followed what is written, for they are too large to be looked at.
        unused: What was built beyond these words.

    Raises:
        UnmappedSiteError: If the simulator lacks an element, or has it in another shape.
    """

    def __init__(
        self,
        target: Target,
        elaboration: Elaboration,
        instance: ModelInstance,
        words: Mapping[str, int] | None = None,
    ) -> None:
        self._sites = elaboration.sites
        self._low = {path: place.low for path, place in elaboration.locations.items()}
        self._width: dict[str, int] = {}
        self._storage: dict[str, StoragePlace] = {}
        self.unused: list[StoragePlace] = []
        problems: list[UnmappedSiteError] = []
        for element in (*elaboration.sites.elements, *elaboration.bench_elements):
            try:
                place = elaboration.locations[element.path]
                built = _mapped(instance, element, place)
                self._storage[element.path] = self._shortened(built, (words or {}).get(element.path))
                self._width[element.path] = element.width
            except UnmappedSiteError as error:
                problems.append(error)
        if problems:
            raise UnmappedSiteError(
                f"target {target.name}: {len(problems)} storage elements of the netlist are not as such in "
                "the compiled model:\n" + "\n".join(map(str, problems)),
                problems[0].field,
            )
        elements = (*elaboration.sites.elements, *elaboration.bench_elements)
        self.registers = [self._storage[e.path] for e in elements if e.kind != "sram"]
        self.memories = [self._storage[e.path] for e in elements if e.kind == "sram"]
        self.large = [memory for memory in self.memories if memory.size >= LARGE_BYTES]
        self._prepare_digest(target, elaboration)

    def _shortened(self, built: StoragePlace, words: int | None) -> StoragePlace:
        if words is None or words >= built.depth:
            return built
        rest = replace(
            built, offset=built.offset + words * built.entry_bytes, depth=built.depth - words, dimensions=()
        )
        self.unused.append(rest)
        return replace(built, depth=words)

    def flips(self, fault: Fault) -> list[Flip]:
        """Return the bits that a fault inverts or holds: all that its flip-flops stand for."""
        return [self.flip(site) for site in self._sites.flipped(fault.site, fault.bits)]

    @property
    def paths(self) -> list[str]:
        """Paths of all storage of design and bench."""
        return list(self._storage)

    def storage(self, path: str) -> StoragePlace:
        """Return where an element, or a memory of the target, lies."""
        return self._storage[path]

    def place(self, path: str) -> tuple[StoragePlace, int, int]:
        """Return where an element lies, its lowest bit there, and its width."""
        return self._storage[path], self._low[path], self._width[path]

    def flip(self, site: int) -> Flip:
        """Return the bit that a site of the site table is."""
        found = self._sites[site]
        path = found.element.path
        return Flip(self._storage[path], found.word, found.bit + self._low[path])

    def contents(self, instance: ModelInstance) -> bytes:
        """Return the present state as `state_hash` takes it: elements, then observed memories."""
        data = instance.state[self._gathered]
        for start, element in self._sliced:
            storage, low = self._storage[element.path], self._low[element.path]
            value = instance.read(storage) >> low & (1 << element.width) - 1
            packed = value.to_bytes(_packed(element.width), "little")
            data[start : start + len(packed)] = np.frombuffer(packed, np.uint8)
        data[: self._kept.size] &= self._kept
        observed = (instance.view(storage)[:, :size].tobytes() for storage, size in self._observed)
        return b"".join([data.tobytes(), *observed])

    def state_hash(self, instance: ModelInstance, held: Flip | None = None, final: int = 0) -> str:
        """Return the digest of the present state; a held bit counts as if it had the value `final`."""
        if held is None or instance.read(held.storage, held.word) >> held.bit & 1 == final:
            return digest(self.contents(instance))
        instance.flip(held.storage, held.bit, held.word)
        found = digest(self.contents(instance))
        instance.flip(held.storage, held.bit, held.word)
        return found

    def counted(self, bits: Sequence[AlarmBit]) -> list[AlarmBit]:
        """Return those of these bits of registers that the digest counts."""
        wanted = {bit.offset for bit in bits}
        found: set[tuple[int, int]] = set()
        absent = {site for run in self._sites.absent for site in range(run.first, run.end)}
        for element, first in zip(self._sites.elements, self._sites.offsets, strict=False):
            storage = self._storage[element.path]
            if not any(storage.offset <= offset < storage.offset + storage.size for offset in wanted):
                continue
            for site in set(range(first, first + element.bits)) - absent:
                flip = self.flip(site)
                byte = storage.offset + flip.word * storage.entry_bytes + flip.bit // 8
                found.add((byte, 1 << flip.bit % 8))
        return [bit for bit in bits if (bit.offset, bit.mask) in found]

    @property
    def watched(self) -> list[StoragePlace]:
        """The storage that has fault sites."""
        return [self._storage[element.path] for element in self._sites.elements]

    def _prepare_digest(self, target: Target, elaboration: Elaboration) -> None:
        """Find the bytes that go into the digest, in their order, and the elements to cut out of others."""
        parts: list[npt.NDArray[np.int64]] = []
        self._sliced: list[tuple[int, StorageElement]] = []
        length = 0
        for element in elaboration.sites.elements:
            storage = self._storage[element.path]
            if element.width != storage.width:
                self._sliced.append((length, element))
            parts.append(_bytes_of(storage, _packed(element.width)))
            length += parts[-1].size
        observed = [memory for _, memory in sorted(target.memories.items()) if memory.observed]
        self._observed = [(self._storage[memory.path], memory.word_bytes) for memory in observed]
        self._gathered = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        self._kept = np.frombuffer(kept_mask(elaboration.sites), np.uint8)


def _mapped(instance: ModelInstance, element: StorageElement, place: Location) -> StoragePlace:
    storage = instance.find(place.path + "".join(f"[{index}]" for index in place.indices))
    wanted, found = (place.packed_width, element.depth), (storage.width, storage.depth)
    if wanted != found:
        raise UnmappedSiteError(
            f"{element.path}: expected {wanted[1]} words of {wanted[0]} bits, found {found[1]} of {found[0]}",
            element.path,
        )
    return storage


def _packed(width: int) -> int:
    return (width + 7) // 8


def _bytes_of(storage: StoragePlace, size: int) -> npt.NDArray[np.int64]:
    words = storage.offset + storage.entry_bytes * np.arange(storage.depth, dtype=np.int64)
    return (words[:, None] + np.arange(size, dtype=np.int64)).ravel()
