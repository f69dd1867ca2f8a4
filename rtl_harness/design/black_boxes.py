# SPDX-License-Identifier: Apache-2.0
"""Macros whose source is not there, by the description of their ports: modules that stand for them.

All front ends and simulators take the same module. A memory is SRAM whatever its size, and the registers of
what it has read lie inside it; of any other macro each output is a constant or follows an input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically

WORDS = "resil_words"
"""Name of the array of a memory macro: it is SRAM wherever it lies."""
READ = "resil_read"
"""Begin of the names of registers of a memory macro: they lie inside it."""

FILE = "black_boxes.sv"
WHILE_WRITING = ("keep", "old", "new")

_NAME = re.compile(r"[A-Za-z_]\w*")
_CONSTANT = re.compile(r"(\d+)'([bdh])([0-9a-fA-F_]+)")


class PortsError(Exception):
    """What is wrong with the description of a macro, as "key: message"; `module` says of which."""

    module = ""


@dataclass(frozen=True)
class MemoryPort:
    """A port of a memory macro. A pin that is active at 0 has "!" before its name.

    Attributes:
        clock: Its clock; the rising edge is active.
        address: Of a word.
        enable: Without it the port does nothing; "" if it is always enabled.
        write: It writes; else it reads. "" of a port that does one of them alone.
        mask: Which parts of the word are written; "" if all.
        data_in: The word to write; "" if the port only reads.
        data_out: The word that was read, which stays until the next; "" if the port only writes.
        while_writing: What `data_out` has after a write: what it had ("keep"), what the word had ("old"), or
            what was written ("new").
    """

    clock: str
    address: str
    enable: str = ""
    write: str = ""
    mask: str = ""
    data_in: str = ""
    data_out: str = ""
    while_writing: str = "keep"

    @property
    def pins(self) -> tuple[str, ...]:
        """Names of its inputs."""
        own = (self.clock, self.address, self.enable, self.write, self.mask, self.data_in)
        return tuple(pin.removeprefix("!") for pin in own if pin)


@dataclass(frozen=True)
class BlackBox:
    """A macro whose source is not there, by its module's name.

    With `words`, `width` and `ports` it is a memory.

    Attributes:
        words: Words of a memory; an address beyond them reads 0 and writes nothing. 0 if it is none.
        width: Bits of a word.
        mask_bits: Bits of a word that one bit of a mask stands for.
        latency: Clock edges from an address to its word; 0 if it is there at once.
        ports: Of a memory.
        plusarg: A memory begins as the file +<plusarg>=FILE, read with `$readmemh`; "" if with zeros.
        outputs: Other outputs, each with a constant as in Verilog ("1'b1"), or the input that it follows,
            with "!" before it if inverted.
        inputs: Inputs that do nothing, or that outputs follow, each with its bits.
        area_ge: Area in gate equivalents. None if it is not known.
        area_um2: Area in um2, for reports with a Liberty file. None if it is not known.
    """

    words: int = 0
    width: int = 0
    mask_bits: int = 8
    latency: int = 1
    ports: tuple[MemoryPort, ...] = ()
    plusarg: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, int] = field(default_factory=dict)
    area_ge: float | None = None
    area_um2: float | None = None

    @property
    def is_memory(self) -> bool:
        """Whether its storage is known."""
        return self.words > 0

    @property
    def needed(self) -> tuple[str, ...]:
        """Inputs that decide something."""
        followed = [pin.removeprefix("!") for pin in self.outputs.values() if not _CONSTANT.fullmatch(pin)]
        return tuple(dict.fromkeys([*(pin for port in self.ports for pin in port.pins), *followed]))


def black_box_models(boxes: Mapping[str, BlackBox]) -> Path:
    """Return a file with the modules of macros; from the cache.

    Raises:
        PortsError: A description makes no module.
    """
    texts = ["// Macros by the description of their ports."]
    for name, box in boxes.items():
        try:
            texts.append(_module(name, box))
        except PortsError as error:
            error.module = name
            raise
    text = "\n".join(texts)

    def build(folder: Path) -> None:
        write_atomically(folder / FILE, text.encode())

    return cached_folder("black-boxes", content_key(text), build) / FILE


def _module(name: str, box: BlackBox) -> str:
    if not _NAME.fullmatch(name):
        raise PortsError(f"expected the name of a module, found {name!r}; correct it")
    _require_memory(box)
    pins = _pins(box)
    declared = [f"{way} wire {_range(width)}{pin}" for pin, (way, width) in pins.items()]
    lines = [f"module {name} ({', '.join(declared)});"]
    if box.is_memory:
        lines += [f"  {line}" for line in _memory(box)]
    for pin, value in box.outputs.items():
        width = pins[pin][1]
        lines.append(f"  assign {pin} = {_signal(value) if not _CONSTANT.fullmatch(value) else value};")
        if (found := _CONSTANT.fullmatch(value)) and int(found[1]) != width:
            raise PortsError(f"outputs.{pin}: expected a constant of {width} bits, found {value}; correct it")
    return "\n".join([*lines, "endmodule", ""])


def _require_memory(box: BlackBox) -> None:
    if not box.is_memory:
        if box.width or box.ports or box.plusarg:
            raise PortsError("words: expected at least 1 of a memory (width, ports), found none; add it")
        return
    if box.width < 1:
        raise PortsError("width: expected at least 1, the bits of a word; add it")
    if not box.ports:
        raise PortsError("ports: expected at least one port of the memory; add [[...ports]]")
    if not any(port.data_out for port in box.ports):
        raise PortsError("ports: expected a port that reads (data_out); add it")
    for number, port in enumerate(box.ports):
        where = f"ports[{number}]."
        if not port.data_in and not port.data_out:
            raise PortsError(f"{where}data_out: expected data_out, data_in or both, found none; add one")
        if port.data_in and port.data_out and not port.write:
            raise PortsError(f"{where}write: a port that reads and writes needs it; add the write enable")
        if port.write and not port.data_in:
            raise PortsError(f"{where}data_in: a port with a write enable needs it; add it")
        if port.mask and not port.data_in:
            raise PortsError(f"{where}data_in: a port with a mask needs it; add it")
        if port.mask and (box.mask_bits < 1 or box.width % box.mask_bits):
            raise PortsError(f"mask_bits: expected a divisor of the width {box.width}; correct it")
        if port.while_writing not in WHILE_WRITING:
            said = ", ".join(WHILE_WRITING)
            raise PortsError(
                f"{where}while_writing: expected one of {said}, found {port.while_writing!r}; correct it"
            )
        for pin in (port.clock, port.address, port.data_in, port.data_out):
            if pin.startswith("!"):
                raise PortsError(f"{where}{pin[1:]}: only enable, write and mask may be active at 0")
    if box.latency < 0:
        raise PortsError("latency: expected 0 or more; correct it")


def _pins(box: BlackBox) -> dict[str, tuple[str, int]]:
    """Return direction and bits of each port of a module."""
    found: dict[str, tuple[str, int]] = {}

    def add(pin: str, way: str, width: int, shared: bool = False) -> None:
        name = pin.removeprefix("!")
        if not _NAME.fullmatch(name) or name.startswith("resil_"):
            raise PortsError(f"expected the name of a port, found {pin!r}; correct it")
        if width < 1:
            raise PortsError(f"inputs.{name}: expected at least 1 bit, found {width}; correct it")
        if found.get(name, (way, width)) != (way, width) or (name in found and not shared):
            raise PortsError(f"{name}: a port for two things; name it once")
        found[name] = way, width

    lanes = box.width // max(box.mask_bits, 1)
    for port in box.ports:
        add(port.clock, "input", 1, shared=True)
        add(port.address, "input", _address_bits(box))
        for pin, width in ((port.enable, 1), (port.write, 1), (port.mask, lanes), (port.data_in, box.width)):
            if pin:
                add(pin, "input", width)
        if port.data_out:
            add(port.data_out, "output", box.width)
    for pin, width in box.inputs.items():
        add(pin, "input", width)
    for pin, value in box.outputs.items():
        constant, source = _CONSTANT.fullmatch(value), value.removeprefix("!")
        if constant is None and found.get(source, ("", 0))[0] != "input":
            raise PortsError(
                f"outputs.{pin}: expected a constant (1'b0) or an input that inputs or ports name, found "
                f"{value!r}; correct it, or add {source} to inputs"
            )
        add(pin, "output", int(constant[1]) if constant else found[source][1])
    return found


def _range(width: int) -> str:
    return "" if width == 1 else f"[{width - 1}:0] "


def _address_bits(box: BlackBox) -> int:
    return max((box.words - 1).bit_length(), 1)


def _signal(pin: str) -> str:
    """Return a pin as it is meant: active at 1."""
    return f"~{pin[1:]}" if pin.startswith("!") else pin


def _memory(box: BlackBox) -> Iterator[str]:
    word = _range(box.width)
    yield f"logic {word}{WORDS} [{box.words}];"
    if box.plusarg:
        yield "string resil_file;"
        yield f'initial if ($value$plusargs("{box.plusarg}=%s", resil_file)) $readmemh(resil_file, {WORDS});'
    clocks: dict[str, list[int]] = {}
    for number, port in enumerate(box.ports):
        clocks.setdefault(port.clock, []).append(number)
        bits = _address_bits(box)
        inside = "1'b1" if 1 << bits == box.words else f"({port.address} < {bits}'d{box.words})"
        enabled = _signal(port.enable) if port.enable else "1'b1"
        # A port without a write enable does one of the two.
        writes = _signal(port.write) if port.write else ("1'b1" if port.data_in else "1'b0")
        yield f"wire resil_on{number} = {enabled};"
        yield f"wire resil_writes{number} = resil_on{number} & {writes};"
        yield f"wire resil_inside{number} = {inside};"
        if port.data_out:
            stored = f"resil_inside{number} ? {WORDS}[{port.address}] : {box.width}'d0"
            yield f"wire {word}resil_found{number} = {stored};"
            yield from _read_registers(box, number, port)
    # Ports of one clock that write one word at once: the last one counts.
    for clock, numbers in clocks.items():
        yield f"always @(posedge {clock}) begin"
        for number in numbers:
            port = box.ports[number]
            if port.data_in:
                yield f"  if (resil_writes{number} & resil_inside{number}) begin"
                yield from (f"    {line}" for line in _written(box, port))
                yield "  end"
        yield "end"


def _read_registers(box: BlackBox, number: int, port: MemoryPort) -> Iterator[str]:
    word, found = _range(box.width), f"resil_found{number}"
    if box.latency == 0:
        yield f"assign {port.data_out} = {found};"
        return
    first = f"{READ}{number}_1"
    yield from (f"logic {word}{READ}{number}_{step + 1};" for step in range(box.latency))
    yield f"always @(posedge {port.clock}) begin"
    if port.data_in and port.while_writing == "new":
        yield f"  if (resil_writes{number}) {first} <= {_merged(box, port, found)};"
        yield f"  else if (resil_on{number}) {first} <= {found};"
    elif port.data_in and port.while_writing == "keep":
        yield f"  if (resil_on{number} & ~resil_writes{number}) {first} <= {found};"
    else:
        yield f"  if (resil_on{number}) {first} <= {found};"
    for step in range(1, box.latency):
        yield f"  {READ}{number}_{step + 1} <= {READ}{number}_{step};"
    yield "end"
    yield f"assign {port.data_out} = {READ}{number}_{box.latency};"


def _lanes(box: BlackBox, port: MemoryPort) -> Sequence[tuple[str, int]]:
    """Return the mask of each part of a word, and its lowest bit."""
    count = box.width // box.mask_bits
    inverted, mask = port.mask.startswith("!"), port.mask.removeprefix("!")
    own = [mask if count == 1 else f"{mask}[{lane}]" for lane in range(count)]
    return [(f"~{bit}" if inverted else bit, lane * box.mask_bits) for lane, bit in enumerate(own)]


def _written(box: BlackBox, port: MemoryPort) -> Iterator[str]:
    if not port.mask:
        yield f"{WORDS}[{port.address}] <= {port.data_in};"
        return
    for mask, low in _lanes(box, port):
        part = "" if box.width == 1 else f"[{low} +: {box.mask_bits}]"
        yield f"if ({mask}) {WORDS}[{port.address}]{part} <= {port.data_in}{part};"


def _merged(box: BlackBox, port: MemoryPort, old: str) -> str:
    """Return a word with what a port writes into it."""
    if not port.mask:
        return port.data_in
    parts = []
    for mask, low in reversed(_lanes(box, port)):
        part = "" if box.width == 1 else f"[{low} +: {box.mask_bits}]"
        parts.append(f"({mask} ? {port.data_in}{part} : {old}{part})")
    return f"{{{', '.join(parts)}}}"
