# SPDX-License-Identifier: Apache-2.0
"""Clocks, resets and alarms of a design, proposed from names and from a recording."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from resil.rtl_harness.replay.buses import bare
from resil.rtl_harness.replay.ports import TopPort
from resil.rtl_harness.replay.waves import Signal

_CLOCK = re.compile(r"(?:^|_)(?:[a-z0-9]*clk[a-z0-9]*|clock|ck)(?:_|$)|clk$|clock$")
_NO_CLOCK = re.compile(r"en(?:able)?$|gate|sel|div|req|ack|valid|ready|stop")
# A word of a name that is a reset: one letter or a usual word may stand before it, so that first, burst and
# worst are none. A preset is a reset only with the mark of AMBA's, PRESETn.
_BEFORE = (
    "async|sync|sys|soft|sw|hard|hw|cold|warm|power|por?|core|cpu|wb|bus|axi|apb|ahb|gl(?:o?b|obal)|main|master|ext"
    "|dbg|debug|ndm|usb|pll|rx|tx|wr|rd|test|clk|[a-oq-z]|p(?!reset(?!n|b))"
)
_RESET = re.compile(
    rf"n?(?:{_BEFORE})?n?(?:rst|reset)(?:ni?|bi?|l|z|i|in)?\d*"
    r"|n?por[nb]?\d*"
    r"|n?(?:a|s|sys)?res[nb]?\d*"
)
_PLAIN_RESET = re.compile(r"n?a?n?(?:rst|reset)(?:ni?|b|l)?")
# Of such words those that say active low.
_LOW_RESET = re.compile(
    r"(?:n|an)(?:rst|reset|res|sys|po|core|cpu)\w*|\w*(?:rst|reset|res|por)(?:ni?|bi?|l|z)\d*"
)
_LOW = frozenset(("n", "ni", "b", "bi", "l"))
_DIRECTION = frozenset(("i", "in"))
_NO_RESET = re.compile(
    r"vector|addr|req|ack|val|cause|(?:^|_)(?:done|busy|status|pending|count|cnt|type)(?:_|$)"
)
_ALARM = re.compile(
    r"err|errors?|alarm|alerts?|faults?|parity|ecc|mismatch|fatal|uncorrectable|corrected|correctable"
)
# Of more bits than one these are the code of data, not what a check of it says.
_CODES = frozenset(("parity", "ecc"))
_CORRECTED = re.compile(r"correct(?:ed|able)|minor|single|_ce(?:_|$)")
_UNCORRECTED = re.compile(r"uncorrect")


@dataclass(frozen=True)
class Reset:
    """A reset.

    Attributes:
        port: The input.
        active_low: Its polarity.
        known: It was seen in a recording, not only guessed from the name.
        doubt: Where name and recording disagree about the polarity, by which of them it is; else "".
    """

    port: TopPort
    active_low: bool
    known: bool = False
    doubt: str = ""


@dataclass(frozen=True)
class Alarm:
    """An output that may report a fault.

    Attributes:
        port: The output.
        reports: "detected" or "corrected".
    """

    port: TopPort
    reports: str


def find_clocks(ports: Sequence[TopPort], recorded: dict[str, Signal] | None = None) -> list[TopPort]:
    """Return the clocks, the fastest of a recording first; by names, in the order of the ports."""
    single = [port for port in ports if port.direction == "input" and port.width == 1]
    named = [p for p in single if _CLOCK.search(bare(p.name)) and not _NO_CLOCK.search(bare(p.name))]
    if not recorded:
        return named
    edges = {port.name: len(recorded[port.name].edges) for port in single if port.name in recorded}
    found = [port for port in named if edges.get(port.name)]
    if not found and edges:
        fastest = max(single, key=lambda port: edges.get(port.name, 0))
        found = [fastest] if edges.get(fastest.name) else []
    return sorted(found, key=lambda port: -edges[port.name])


def find_resets(ports: Sequence[TopPort], recorded: dict[str, Signal] | None = None) -> list[Reset]:
    """Return the resets, those that a recording uses first, then those whose names say little else.

    A name that says active low is believed. One without a mark has the polarity with which a recording ends
    inactive, if it begins with the other level; else it is active high.
    """
    found: list[tuple[bool, int, Reset]] = []
    for port in ports:
        name = port.name.lower()
        words = [word for word in name.split("_") if _RESET.fullmatch(word)]
        if port.direction != "input" or port.width != 1 or _NO_RESET.search(name) or not words:
            continue
        signal = (recorded or {}).get(port.name)
        levels = [] if signal is None else signal.values[signal.known[:, 0], 0].astype(int).tolist()
        reset = _polarised(port, words, levels)
        found.append((not reset.known, _distance(name, words), reset))
    return [reset for _, _, reset in sorted(found, key=lambda own: own[:2])]


def _distance(name: str, words: Sequence[str]) -> int:
    """Return how far a name is from one that says reset and nothing else."""
    others = {word for word in name.split("_") if word and word not in words}
    if others - _DIRECTION - _LOW:
        return 2
    return 0 if _PLAIN_RESET.fullmatch(words[0]) else 1


def _polarised(port: TopPort, words: Sequence[str], levels: Sequence[int]) -> Reset:
    low = any(map(_LOW_RESET.fullmatch, words)) or not _LOW.isdisjoint(port.name.lower().split("_")[-2:])
    if len(set(levels)) != 2:
        return Reset(port, low)
    ends_low = levels[-1] == 1
    if low == ends_low:
        return Reset(port, low, known=True)
    if low or levels[0] == levels[-1]:
        return Reset(port, low, known=True, doubt=f"by its name, but the recording ends with {levels[-1]}")
    return Reset(
        port,
        ends_low,
        known=True,
        doubt=f"by the recording, which ends with {levels[-1]}; its name has no mark",
    )


def find_alarms(ports: Sequence[TopPort], taken: Collection[str]) -> list[Alarm]:
    """Return outputs whose names say that they report a fault; `taken` are ports of buses."""
    found = []
    for port in ports:
        name = bare(port.name)
        words = set(filter(_ALARM.fullmatch, name.split("_")))
        if port.width > 1:
            words -= _CODES
        if port.direction == "output" and port.name not in taken and words:
            corrected = _CORRECTED.search(name) and not _UNCORRECTED.search(name)
            found.append(Alarm(port, "corrected" if corrected else "detected"))
    return found
