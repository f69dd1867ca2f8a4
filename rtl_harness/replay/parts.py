# SPDX-License-Identifier: Apache-2.0
"""Which bench module serves which kind of bus, and how its pins are connected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resil.rtl_harness.design.target import PACKAGE
from resil.rtl_harness.replay.buses import Bus

_NUMBER = re.compile(r"^\s*parameter int unsigned\s+(\w+)\s*=\s*(\d+)", re.MULTILINE)
_PIN = re.compile(r"^\s*(?:in|out)put\s+logic\s+(?:\[([^\]:]+):0\]\s*)?(\w+)", re.MULTILINE)
_LOW = re.compile(r"_n[io]?$")


@dataclass(frozen=True)
class BenchPart:
    """A bench module behind a bus that the design drives, or in front of a stream that it takes.

    Attributes:
        module: Its name.
        memory: Path of its memory below it.
        inputs: Pins that the design drives, by their signals of the bus; of several that may be the first.
        outputs: Pins that drive the design, likewise.
        absent: What an input pin gets if the bus has no such signal; zero without an entry.
        widths: Parameters that are widths of signals, of several that of the widest.
        fixed: Further parameters.
        data: Signal that is as wide as a word of the memory.
    """

    module: str
    memory: str
    inputs: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, tuple[str, ...]]
    absent: Mapping[str, str] = field(default_factory=dict)
    widths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    data: str = "wdata"

    def word_bytes(self, bus: Bus) -> int:
        """Return the bytes of a word of the memory; of a stream with its flags beside the data."""
        width = bus.ports[self.data].width
        return (width + width // 8 + 9) // 8 if self.data == "tdata" else width // 8

    def parameters(self, bus: Bus) -> dict[str, str]:
        """Return the parameters but those of the memory's size and content."""
        found: dict[str, str] = {}
        for name, signals in self.widths.items():
            own = [bus.ports[signal].width for signal in signals if signal in bus.ports]
            found |= {name: str(max(own))} if own else {}
        if bus.kind.name == "Wishbone":
            found["Pipelined"] = "1'b1" if "stall" in bus.ports else "1'b0"
        return {**found, **self.fixed}

    def pins(self, bus: Bus) -> dict[str, str]:
        """Return what each pin is connected to; an output that the design does not have to nothing."""
        found = {}
        for pin, signals in self.inputs.items():
            own = next((bus.ports[name].name for name in signals if name in bus.ports), None)
            found[f"{pin}_i"] = own or self.absent.get(pin, "'0").replace("FULL", str(_full(self, bus)))
        for pin, signals in self.outputs.items():
            found[f"{pin}_o"] = next((bus.ports[name].name for name in signals if name in bus.ports), "")
        return found


def module_file(module: str) -> Path:
    """Return the file of a bench module."""
    return PACKAGE / "bench" / f"{module}.sv"


def misfit(part: BenchPart, bus: Bus) -> str:
    """Return what of a bus the pins of a module cannot take, in words; "" if nothing."""
    if part.data not in bus.ports or bus.ports[part.data].width % 8:
        return f"no {part.data} of whole bytes"
    low = [port.name for port in bus.ports.values() if _LOW.search(port.name.lower())]
    if low:
        return f"{low[0]}, which by its name is active low"
    text = module_file(part.module).read_text(encoding="utf-8")
    values = {**dict(_NUMBER.findall(text)), **part.parameters(bus)}
    pins = {name: _pin_width(high, values) for high, name in _PIN.findall(text)}
    wide = {name for high, name in _PIN.findall(text) if "Data" in high}
    for end, joined in (("i", part.inputs), ("o", part.outputs)):
        for pin, signals in joined.items():
            port = next((bus.ports[name] for name in signals if name in bus.ports), None)
            name = f"{pin}_{end}"
            if port is None or port.width == pins[name]:
                continue
            # What else is narrower is extended by zeros.
            if name in wide or (end == "i" and port.width > pins[name]):
                return f"{port.name} of {port.width} bits in place of {pins[name]}"
    return ""


def _pin_width(high: str, values: Mapping[str, str]) -> int:
    """Return the width of a pin; its highest bit is a number, or NAME-1, or NAME/8-1."""
    if high.isdigit() or not high:
        return int(high or 0) + 1
    name, _, divisor = high.removesuffix("-1").partition("/")
    return int(values[name]) // int(divisor or 1)


def _full(part: BenchPart, bus: Bus) -> int:
    return (bus.ports[part.data].width // 8).bit_length() - 1


def _same(*names: str) -> dict[str, tuple[str, ...]]:
    return {name: (name,) for name in names}


_TL = {f"a_{own}": (f"a_{own}",) for own in ("valid", "opcode", "size", "source", "address", "mask", "data")}
_STREAM = {"DataWidth": ("tdata",)}

_AXI_IN: tuple[str, ...] = ("arvalid", "arid", "araddr", "arlen", "arsize", "arburst", "rready")
_AXI_IN += ("awvalid", "awid", "awaddr", "awlen", "awsize", "awburst", "wvalid", "wdata", "wstrb", "wlast")
_AXI_OUT: tuple[str, ...] = ("arready", "rvalid", "rid", "rdata", "rresp", "rlast", "awready", "wready")
_AXI = BenchPart(
    "resil_axi_mem",
    "mem_q",
    _same(*_AXI_IN, "bready"),
    _same(*_AXI_OUT, "bvalid", "bid", "bresp"),
    {
        **{f"{channel}size": "3'dFULL" for channel in ("ar", "aw")},
        **{f"{channel}burst": "2'd1" for channel in ("ar", "aw")},
        "wlast": "1'b1",
        "wstrb": "'1",
    },
    {"DataWidth": ("wdata",), "AddrWidth": ("araddr", "awaddr"), "IdWidth": ("arid", "awid")},
)

# Of buses that the design drives.
PARTS = {
    "AXI4": _AXI,
    "AXI4-Lite": _AXI,
    "OBI": BenchPart(
        "resil_obi_mem",
        "u_words.mem_q",
        _same("req", "addr", "we", "be", "wdata", "aid", "rready"),
        _same("gnt", "rvalid", "rdata", "err", "rid"),
        {"be": "'1", "rready": "1'b1"},
        {"DataWidth": ("rdata",), "AddrWidth": ("addr",), "IdWidth": ("aid",)},
        data="rdata",
    ),
    "AHB-Lite": BenchPart(
        "resil_ahb_mem",
        "u_words.mem_q",
        {**_same("haddr", "htrans", "hwrite", "hsize", "hwdata", "hsel"), "hready": ("hready",)},
        _same("hready", "hresp", "hrdata"),
        {"hsize": "3'dFULL", "hsel": "1'b1"},
        {"DataWidth": ("hwdata",), "AddrWidth": ("haddr",)},
        data="hwdata",
    ),
    "TileLink-UL": BenchPart(
        "resil_tilelink_mem",
        "u_words.mem_q",
        {**_TL, "d_ready": ("d_ready",)},
        {
            **_same("a_ready", "d_valid", "d_opcode", "d_size", "d_source", "d_data", "d_corrupt"),
            "d_denied": ("d_denied", "d_error"),
        },
        {"a_size": "'dFULL", "a_mask": "'1"},
        {
            "DataWidth": ("a_data",),
            "AddrWidth": ("a_address",),
            "SourceWidth": ("a_source",),
            "SizeWidth": ("a_size",),
        },
        data="a_data",
    ),
    "Wishbone": BenchPart(
        "resil_wishbone_mem",
        "u_words.mem_q",
        {**_same("cyc", "stb", "we", "adr", "sel"), "dat": ("dat_o",)},
        {**_same("ack", "err", "stall"), "dat": ("dat_i",)},
        {"sel": "'1"},
        {"DataWidth": ("dat_i",), "AddrWidth": ("adr",)},
        data="dat_i",
    ),
    "SRAM port": BenchPart(
        "resil_sram",
        "u_words.mem_q",
        {
            "req": ("req", "en", "ce", "cs"),
            **_same("we", "addr", "wdata"),
            "be": ("be", "wmask"),
        },
        {"rdata": ("rdata",), "rvalid": ()},
        {"req": "1'b1", "be": "'1"},
        {"DataWidth": ("rdata",), "AddrWidth": ("addr",)},
        data="rdata",
    ),
    "AXI4-Stream": BenchPart(
        "resil_axis_sink",
        "u_words.mem_q",
        _same("tvalid", "tdata", "tkeep", "tlast"),
        {**_same("tready"), "words": (), "packets": (), "overflow": ()},
        {"tkeep": "'1"},
        _STREAM,
        data="tdata",
    ),
}
# In front of a stream that the design takes.
SOURCE = BenchPart(
    "resil_axis_source",
    "u_words.mem_q",
    _same("tready"),
    {**_same("tvalid", "tdata", "tkeep", "tlast"), "done": ()},
    {"tready": "1'b1"},
    _STREAM,
    data="tdata",
)


def memory_of(bus: Bus) -> BenchPart | None:
    """Return the memory that answers a bus as a recorded environment did; None if there is none."""
    return part_of(bus) if bus.manager and bus.kind.name != "AXI4-Stream" else None


def part_of(bus: Bus) -> BenchPart | None:
    """Return the module that serves a bus; None if there is none."""
    if bus.kind.name == "AXI4-Stream":
        return PARTS[bus.kind.name] if bus.manager else SOURCE
    part = PARTS.get(bus.kind.name) if bus.manager else None
    return None if part is None or misfit(part, bus) else part
