# SPDX-License-Identifier: Apache-2.0
"""Kinds of buses, found by the names of ports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from resil.rtl_harness.replay.ports import TopPort

# What stands around a signal's name to say its direction.
_SUFFIX = re.compile(r"_(?:i|o|ni|no|in|out)$")
_PREFIX = re.compile(r"^(?:i|o|in|out)_(?=[a-z])")


@dataclass(frozen=True)
class BusKind:
    """A kind of bus.

    Attributes:
        name: Of the protocol.
        signals: Without all of these it is none.
        optional: Further ones.
        absent: With one of these it is another kind.
        leads: Signal that a manager drives, by which it is known.
        channels: Signals that say when others count, by the beginning of these others' names; "!" for low.
        answers: Likewise, where what a subordinate drives has the name of what a manager drives.
    """

    name: str
    signals: tuple[str, ...]
    optional: tuple[str, ...]
    absent: tuple[str, ...]
    leads: str
    channels: Mapping[str, tuple[str, ...]]
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_AXI: tuple[str, ...] = ("awaddr", "awvalid", "awready", "wdata", "wvalid", "wready", "bvalid", "bready")
_AXI += ("araddr", "arvalid", "arready", "rdata", "rvalid", "rready")
_AXI_MORE = ("awprot", "arprot", "wstrb", "bresp", "rresp")
_AXI_FULL: tuple[str, ...] = (
    "awid",
    "awlen",
    "awsize",
    "awburst",
    "awlock",
    "awcache",
    "awqos",
    "awregion",
    "awuser",
    "awatop",
)
_AXI_FULL += ("arid", "arlen", "arsize", "arburst", "arlock", "arcache", "arqos", "arregion", "aruser")
_AXI_FULL += ("wlast", "wuser", "bid", "buser", "rid", "rlast", "ruser")
_AXI_CHANNELS = {"aw": ("awvalid",), "w": ("wvalid",), "b": ("bvalid",), "ar": ("arvalid",), "r": ("rvalid",)}
_TILELINK_MORE: tuple[str, ...] = (
    "a_param",
    "a_size",
    "a_source",
    "a_mask",
    "a_corrupt",
    "a_user",
    "d_opcode",
    "d_param",
)
_TILELINK_MORE += ("d_size", "d_source", "d_sink", "d_denied", "d_corrupt", "d_user", "d_error")

KINDS = (
    BusKind("AXI4", (*_AXI, "awlen", "wlast"), (*_AXI_MORE, *_AXI_FULL), (), "awvalid", _AXI_CHANNELS),
    BusKind("AXI4-Lite", _AXI, _AXI_MORE, ("awlen", "arlen", "wlast"), "awvalid", _AXI_CHANNELS),
    BusKind(
        "AXI4-Stream",
        ("tdata", "tvalid"),
        ("tready", "tlast", "tkeep", "tstrb", "tid", "tdest", "tuser"),
        (),
        "tvalid",
        {"t": ("tvalid",)},
    ),
    BusKind(
        "APB",
        ("psel", "penable", "paddr", "pwrite", "pwdata", "prdata"),
        ("pready", "pslverr", "pstrb", "pprot"),
        (),
        "psel",
        {
            "paddr": ("psel",),
            "pwrite": ("psel",),
            "pwdata": ("psel", "pwrite"),
            "pstrb": ("psel",),
            "pprot": ("psel",),
            "prdata": ("psel", "penable", "!pwrite"),
            "pslverr": ("psel", "penable"),
        },
    ),
    BusKind(
        "AHB-Lite",
        ("haddr", "htrans", "hwrite", "hwdata", "hrdata", "hready"),
        ("hsize", "hburst", "hprot", "hresp", "hmastlock", "hsel", "hreadyout"),
        (),
        "htrans",
        {},
    ),
    BusKind(
        "TileLink-UL",
        ("a_valid", "a_ready", "a_opcode", "a_address", "a_data", "d_valid", "d_ready", "d_data"),
        _TILELINK_MORE,
        (),
        "a_valid",
        {"a_": ("a_valid",), "d_": ("d_valid",)},
    ),
    BusKind(
        "OBI",
        ("req", "gnt", "addr", "rvalid", "rdata"),
        ("we", "be", "wdata", "rready", "err", "aid", "rid"),
        (),
        "req",
        {"addr": ("req",), "we": ("req",), "be": ("req",), "wdata": ("req", "we"), "rdata": ("rvalid",)},
    ),
    BusKind(
        "Wishbone",
        ("cyc", "stb", "adr", "ack"),
        ("we", "sel", "dat", "stall", "err", "cti", "bte"),
        (),
        "stb",
        {"adr": ("stb",), "we": ("stb",), "sel": ("stb",), "dat": ("stb", "we")},
        {"dat": ("ack", "!we")},
    ),
    BusKind(
        "SRAM port",
        ("addr", "wdata", "rdata"),
        ("req", "en", "ce", "cs", "we", "wmask", "be"),
        ("gnt", "rvalid", "ready"),
        "addr",
        {},
    ),
)


@dataclass(frozen=True)
class Bus:
    """A bus among the ports of a design.

    Attributes:
        kind: Of the protocol.
        prefix: With which its ports begin; may be "".
        ports: By signal.
        manager: The design drives it, and is answered.
    """

    kind: BusKind
    prefix: str
    ports: Mapping[str, TopPort]
    manager: bool

    @property
    def title(self) -> str:
        """In words."""
        role = "manager" if self.manager else "subordinate"
        if self.kind.name == "AXI4-Stream":
            role = "source" if self.manager else "sink"
        return f"{self.kind.name} {role} {self.prefix.rstrip('_.') or '(no prefix)'}"

    def conditions(self, *, answers: bool = False) -> dict[tuple[str, ...], list[str]]:
        """Return which outputs of it, or inputs, count only when, by names of ports."""
        found: dict[tuple[str, ...], list[str]] = {}
        answered = self.manager == answers
        channels = {**self.kind.channels, **(self.kind.answers if answered else {})}
        for signal, port in self.ports.items():
            if port.is_driven != answers:
                continue
            starts = [start for start in channels if signal.startswith(start)]
            when = channels[max(starts, key=len)] if starts else ()
            said = signal in when or signal.endswith(("valid", "ready"))
            if said or not when or any(own.removeprefix("!") not in self.ports for own in when):
                continue
            names = tuple(self._level(own) for own in when)
            found.setdefault(names, []).append(port.name)
        return found

    def _level(self, condition: str) -> str:
        name = condition.removeprefix("!")
        return condition.replace(name, self.ports[name].name)


def bare(name: str) -> str:
    """Return a port's name in lower case without what says its direction."""
    return _PREFIX.sub("", _SUFFIX.sub("", name.lower()))


def find_buses(ports: Sequence[TopPort]) -> list[Bus]:
    """Return the buses among the ports, each port in one at the most."""
    taken: set[str] = set()
    found: list[Bus] = []
    for kind in KINDS:
        for prefix in _prefixes(kind, ports):
            own = _bus(kind, prefix, [port for port in ports if port.name not in taken])
            if own is not None:
                found.append(own)
                taken.update(port.name for port in own.ports.values())
    return found


def _prefixes(kind: BusKind, ports: Sequence[TopPort]) -> list[str]:
    names = [bare(port.name) for port in ports]
    return [*dict.fromkeys(name.removesuffix(kind.leads) for name in names if _ends(name, kind.leads))]


def _ends(name: str, signal: str) -> bool:
    """Whether a name is that of a signal behind a prefix that ends where a word does."""
    prefix = name.removesuffix(signal)
    return name.endswith(signal) and (not prefix or prefix.endswith(("_", ".")))


def _bus(kind: BusKind, prefix: str, ports: Sequence[TopPort]) -> Bus | None:
    # Of two names that differ in their direction alone, that of the output has conditions.
    names = {bare(port.name): port for port in sorted(ports, key=lambda own: own.direction == "output")}
    every = (*kind.signals, *kind.optional)
    own = {signal: names[prefix + signal] for signal in every if prefix + signal in names}
    if kind.name == "Wishbone":
        # dat_i and dat_o of the design have one bare name.
        both = {port.direction: port for port in ports if bare(port.name) == f"{prefix}dat"}
        own.pop("dat", None)
        own |= {f"dat_{direction[0]}": port for direction, port in both.items()}
    if any(signal not in own for signal in kind.signals):
        return None
    if any(prefix + signal in names for signal in kind.absent):
        return None
    return Bus(kind, prefix, own, own[kind.leads].direction == "output")
