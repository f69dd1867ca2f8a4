# SPDX-License-Identifier: Apache-2.0
"""Which bench module serves which kind of bus, and how its pins are connected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from resil.rtl_harness.replay.buses import Bus


@dataclass(frozen=True)
class BenchPart:
    """A bench module behind a bus that the design drives, or in front of a stream that it takes.

    Attributes:
        module: Its name.
        memory: Path of its memory below it.
        inputs: Pins that the design drives, by their signals of the bus; of several that may be the first.
        outputs: Pins that drive the design, likewise.
        absent: What an input pin gets if the bus has no such signal; zero without an entry.
        widths: Parameters that are widths of signals.
        fixed: Further parameters.
        data: Signal that is as wide as a word of the memory.
    """

    module: str
    memory: str
    inputs: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, tuple[str, ...]]
    absent: Mapping[str, str] = field(default_factory=dict)
    widths: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    data: str = "wdata"

    def word_bytes(self, bus: Bus) -> int:
        """Return the bytes of a word of the memory; of a stream with its flags beside the data."""
        width = bus.ports[self.data].width
        return (width + width // 8 + 9) // 8 if self.data == "tdata" else width // 8

    def parameters(self, bus: Bus) -> dict[str, str]:
        """Return the parameters but those of the memory's size and content."""
        found = {name: str(bus.ports[own].width) for name, own in self.widths.items() if own in bus.ports}
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


def _full(part: BenchPart, bus: Bus) -> int:
    return (bus.ports[part.data].width // 8).bit_length() - 1


def _same(*names: str) -> dict[str, tuple[str, ...]]:
    return {name: (name,) for name in names}


_TL = {f"a_{own}": (f"a_{own}",) for own in ("valid", "opcode", "size", "source", "address", "mask", "data")}
_STREAM = {"DataWidth": "tdata"}

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
    {"DataWidth": "wdata", "AddrWidth": "araddr", "IdWidth": "arid"},
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
        {"DataWidth": "rdata", "AddrWidth": "addr", "IdWidth": "aid"},
        data="rdata",
    ),
    "AHB-Lite": BenchPart(
        "resil_ahb_mem",
        "u_words.mem_q",
        {**_same("haddr", "htrans", "hwrite", "hsize", "hwdata", "hsel"), "hready": ("hready",)},
        _same("hready", "hresp", "hrdata"),
        {"hsize": "3'dFULL", "hsel": "1'b1"},
        {"DataWidth": "hwdata", "AddrWidth": "haddr"},
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
        {"DataWidth": "a_data", "AddrWidth": "a_address", "SourceWidth": "a_source", "SizeWidth": "a_size"},
        data="a_data",
    ),
    "Wishbone": BenchPart(
        "resil_wishbone_mem",
        "u_words.mem_q",
        {**_same("cyc", "stb", "we", "adr", "sel"), "dat": ("dat_o",)},
        {**_same("ack", "err", "stall"), "dat": ("dat_i",)},
        {"sel": "'1"},
        {"DataWidth": "dat_i", "AddrWidth": "adr"},
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
        {"DataWidth": "rdata", "AddrWidth": "addr"},
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


def part_of(bus: Bus) -> BenchPart | None:
    """Return the module that serves a bus; None if there is none."""
    if bus.kind.name == "AXI4-Stream":
        return PARTS[bus.kind.name] if bus.manager else SOURCE
    part = PARTS.get(bus.kind.name) if bus.manager else None
    return (
        part if part is not None and part.data in bus.ports and bus.ports[part.data].width % 8 == 0 else None
    )
