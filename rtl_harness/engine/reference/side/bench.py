# SPDX-License-Identifier: Apache-2.0
"""The closed bench as a cocotb test sees it: its clock, its storage, its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from cocotb.handle import ArrayObject, Immediate, LogicObject, PackedObject

from resil.rtl_harness.engine.state_hash import pack_words, state_hash

Handle: TypeAlias = Any  # cocotb finds the type of a handle when it meets the design


class NotAppliedError(Exception):
    """A flip was not found in the register afterwards."""


@dataclass(frozen=True)
class StoredWords:
    """A storage element in the simulator.

    Attributes:
        path: Its name.
        words: Handle of each word.
        low: Position of its bit 0 in the handle's value.
        width: Bits of a word.
        latch: It is made of latches, which lose a flip while they are open.
    """

    path: str
    words: tuple[Handle, ...]
    low: int
    width: int
    latch: bool

    def read(self, word: int) -> int:
        """Return the value of a word."""
        return (_bits(self.words[word]) >> self.low) & ((1 << self.width) - 1)

    def pack(self) -> bytes:
        """Return the value as the state hash wants it."""
        return pack_words((self.read(word) for word in range(len(self.words))), self.width)

    def invert(self, word: int, mask: int) -> int:
        """Invert bits of a whole word of the simulator and return the word as it was before."""
        handle = self.words[word]
        before = _bits(handle)
        handle.set(Immediate(before ^ mask))
        return before

    def check_inverted(self, word: int, mask: int, before: int) -> None:
        """Raise NotAppliedError unless exactly those bits differ from `before`, of latches some of them."""
        wanted = before ^ mask
        found = _bits(self.words[word])
        differing = found ^ before
        if differing & ~mask or (differing != mask and not self.latch):
            raise NotAppliedError(
                f"the flip did not take: expected {wanted:#x}, found {found:#x}, before {before:#x}"
            )

    def hold(self, word: int, mask: int, value: int) -> None:
        """Set bits of a whole word of the simulator to 0 or 1, where they are not so already."""
        handle = self.words[word]
        before = _bits(handle)
        wanted = before | mask if value else before & ~mask
        if wanted != before:
            handle.set(Immediate(wanted))

    def check_held(self, word: int, mask: int, value: int) -> None:
        """Raise NotAppliedError unless bits of a whole word of the simulator are all 0 or all 1."""
        if _bits(self.words[word]) & mask != (mask if value else 0):
            raise NotAppliedError(f"{self.path}: the bit did not stay at {value}")

    def mask(self, bit: int) -> int:
        """Return the mask of a bit in the simulator's word."""
        return 1 << (self.low + bit)


class BenchHandles:
    """Handles of everything that the engine reads and writes.

    Args:
        top: Handle of the top module.
        config: What `CocotbEngine` wrote for the simulator.
    """

    def __init__(self, top: Handle, config: Mapping[str, Any]) -> None:
        self.top = top
        self.problems: list[str] = []
        self.kept = bytes.fromhex(config["kept"])
        self.cells = [cell for e in config["elements"] if (cell := self._cell(e)) is not None]
        self.memories = {
            name: cell for name, m in config["memories"].items() if (cell := self._cell(m)) is not None
        }
        self.observed = [name for name in self.memories if config["memories"][name]["observed"]]
        self.ports = {role: self._port(name) for role, name in config["ports"].items() if name}
        self.alarms = {alarm: self._port(name) for alarm, name in config["alarms"].items()}

    def value(self, role: str) -> int:
        """Return the value of an output of the top; 0 if the target has none for that role."""
        handle = self.ports.get(role)
        return 0 if handle is None else _bits(handle)

    def state(self) -> bytes:
        """Return the present contents of all elements, one after the other, zero where no hardware is."""
        contents = b"".join(cell.pack() for cell in self.cells)
        if not self.kept:
            return contents
        masked = int.from_bytes(contents, "little") & int.from_bytes(self.kept, "little")
        return masked.to_bytes(len(contents), "little")

    def alarms_up(self) -> list[str]:
        """Return the names of the alarms that are up now, in the target's order."""
        return [name for name, handle in self.alarms.items() if _bits(handle)]

    def state_hash(self) -> str:
        """Return the digest of the present state."""
        return state_hash([self.state()], {name: self.memories[name].pack() for name in self.observed})

    def memory_bytes(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes of a memory from byte `offset`."""
        memory = self.memories[name]
        word_bytes = (memory.width + 7) // 8
        first, last = offset // word_bytes, (offset + size - 1) // word_bytes
        packed = pack_words((memory.read(word) for word in range(first, last + 1)), memory.width)
        return packed[offset - first * word_bytes :][:size]

    def _port(self, name: str) -> Handle:
        handle = _child(self.top, name)
        if handle is None:
            self.problems.append(f"{name}: no such port in the simulator")
        return handle

    def _cell(self, element: Mapping[str, Any]) -> StoredWords | None:
        path = element["path"]
        handle = self._find(element)
        if handle is None:
            self.problems.append(f"{path}: not found in the simulator")
            return None
        words: tuple[Handle, ...] = (handle,)
        if element["kind"] == "sram":
            if not isinstance(handle, ArrayObject) or len(handle) != element["depth"]:
                self.problems.append(
                    f"{path}: expected an array of {element['depth']} words, found {handle!r}"
                )
                return None
            first = element["first_word"]
            words = tuple(
                handle[index] for index in range(first, first + element.get("words", element["depth"]))
            )
        if any(_width(word) != element["packed_width"] for word in words):
            self.problems.append(
                f"{path}: expected a packed value of {element['packed_width']} bits, found {words[0]!r}"
            )
            return None
        return StoredWords(path, words, element["low"], element["width"], element["latch"])

    def _find(self, element: Mapping[str, Any]) -> Handle:
        handle = self.top
        for name in [*element["scope"], element["variable"]]:
            handle = _child(handle, name)
            if handle is None:
                return None
        for index in element["indices"]:
            try:
                handle = handle[index]
            except (IndexError, KeyError, TypeError):
                return None
        return handle


def _child(handle: Handle, name: str) -> Handle:
    try:
        return handle[name]
    except (KeyError, TypeError, AttributeError, IndexError):
        pass
    base, bracket, index = name.rpartition("[")
    if not bracket:
        return None
    try:
        return handle[base][int(index[:-1])]
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        return None


def _width(handle: Handle) -> int | None:
    if isinstance(handle, LogicObject):
        return 1
    return len(handle) if isinstance(handle, PackedObject) else None


def _bits(handle: Handle) -> int:
    """Return a handle's value; an order of magnitude cheaper than `handle.value`."""
    return int(handle._handle.get_signal_val_binstr(), 2)
