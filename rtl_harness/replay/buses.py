# SPDX-License-Identifier: Apache-2.0
"""Kinds of buses, found by the names of ports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from resil.rtl_harness.replay.ports import TopPort

# What stands around a signal's name to say its direction.
_SUFFIX = re.compile(r"_(?:i|o|ni|no|in|out)$")
# What says when others count; a bus without conditions has these alone compared.
_HANDSHAKE = ("ready", "valid", "gnt", "ack", "stall", "err", "resp")
_PREFIX = re.compile(r"^(?:i|o|in|out)_(?=[a-z])")


@dataclass(frozen=True)
class Reads:
    """How the answers to reads are known: only they have data, and what is asked meanwhile may be a write.

    Signals are named as in `BusKind`; "[1]" behind one is its bit. One that a bus does not have says nothing.

    Attributes:
        data: Signal that counts.
        taken: A request is taken where all of these hold.
        read: It is a read where these hold as well.
        ended: The answer to the oldest request ends where all of one of these rows hold.
        good: Its data count where these hold.
        given_up: Where one of these holds, no request is open any more.
        latency: Parameter of the part, of 1 by default: data count so many cycles after the request, and
            then alone. Without it they count in answers.
        where: They are known by conditions alone in a bus without this signal.
    """

    data: str
    taken: tuple[str, ...]
    read: tuple[str, ...]
    ended: tuple[tuple[str, ...], ...] = ()
    good: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()
    latency: str = ""
    where: str = ""


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
        reads: Which answers have data, where no signal of the same cycle says it.
        unused: What a subordinate drives, and no manager of this kind looks at.
        asked: Handshakes that a subordinate drives, and signals without which it may drive them at will.
    """

    name: str
    signals: tuple[str, ...]
    optional: tuple[str, ...]
    absent: tuple[str, ...]
    leads: str
    channels: Mapping[str, tuple[str, ...]]
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reads: Reads | None = None
    unused: tuple[str, ...] = ()
    asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


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
_AXI_ASKED = {f"{channel}ready": (f"{channel}valid",) for channel in ("aw", "w", "ar")}
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
    BusKind(
        "AXI4",
        (*_AXI, "awlen", "wlast"),
        (*_AXI_MORE, *_AXI_FULL),
        (),
        "awvalid",
        _AXI_CHANNELS,
        asked=_AXI_ASKED,
    ),
    BusKind(
        "AXI4-Lite",
        _AXI,
        _AXI_MORE,
        ("awlen", "arlen", "wlast"),
        "awvalid",
        _AXI_CHANNELS,
        asked=_AXI_ASKED,
    ),
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
        reads=Reads(
            "hrdata",
            ("htrans[1]", "hready", "hsel"),
            ("!hwrite",),
            (("hready",),),
            ("hready", "!hresp[0]"),
        ),
    ),
    BusKind(
        "TileLink-UL",
        ("a_valid", "a_ready", "a_opcode", "a_address", "a_data", "d_valid", "d_ready", "d_data"),
        _TILELINK_MORE,
        (),
        "a_valid",
        {"a_": ("a_valid",), "d_": ("d_valid",)},
        reads=Reads(
            "d_data",
            ("a_valid", "a_ready"),
            ("a_opcode[2]",),
            (("d_valid", "d_ready"),),
            ("d_valid", "!d_denied", "!d_error"),
        ),
        # Of messages that TileLink-UL does not have.
        unused=("d_sink",),
        asked={"a_ready": ("a_valid",)},
    ),
    BusKind(
        "OBI",
        ("req", "gnt", "addr", "rvalid", "rdata"),
        ("we", "be", "wdata", "rready", "err", "aid", "rid"),
        (),
        "req",
        {"addr": ("req",), "we": ("req",), "be": ("req",), "wdata": ("req", "we"), "rdata": ("rvalid",)}
        | {"aid": ("req",), "err": ("rvalid",), "rid": ("rvalid",)},
        reads=Reads("rdata", ("req", "gnt"), ("!we",), (("rvalid", "rready"),), ("rvalid", "!err")),
        asked={"gnt": ("req",)},
    ),
    BusKind(
        "Wishbone",
        ("cyc", "stb", "adr", "ack"),
        ("we", "sel", "dat", "stall", "err", "cti", "bte"),
        (),
        "stb",
        {"adr": ("stb",), "we": ("stb",), "sel": ("stb",), "dat": ("stb", "we")},
        {"dat": ("ack", "!we")},
        Reads(
            "dat_i",
            ("cyc", "stb", "!stall"),
            ("!we",),
            (("ack",), ("err",)),
            ("ack",),
            ("!cyc",),
            where="stall",
        ),
        asked={"stall": ("cyc", "stb"), "ack": ("cyc",), "err": ("cyc",)},
    ),
    BusKind(
        "SRAM port",
        ("addr", "wdata", "rdata"),
        ("req", "en", "ce", "cs", "we", "wmask", "be"),
        ("gnt", "rvalid", "ready"),
        "addr",
        {},
        reads=Reads("rdata", ("req", "en", "ce", "cs"), ("!we",), latency="Latency"),
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

    def handshakes(self) -> dict[str, tuple[str, ...]]:
        """Return the handshakes that a subordinate drives, and ports that are high where they count."""
        return {
            port.name: tuple(
                self.ports[own].name for own in self.kind.asked.get(signal, ()) if own in self.ports
            )
            for signal, port in self.ports.items()
            if signal in self.kind.asked or signal.endswith(_HANDSHAKE)
        }

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
