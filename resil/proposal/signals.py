# SPDX-License-Identifier: Apache-2.0
"""Clocks, resets and alarms of a design, proposed from names and from a recording."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from resil.proposal.buses import bare
from resil.rtl_harness.replay.ports import TopPort
from resil.rtl_harness.replay.waves import Signal

_CLOCK = re.compile(r"(?:^|_)(?:[a-z0-9]*clk[a-z0-9]*|clock|ck)(?:_|$)|clk$|clock$")
_NO_CLOCK = re.compile(r"en(?:able)?$|gate|sel|div|req|ack|valid|ready|stop")
_RESET = re.compile(r"(?:^|_)[a-z]*(?:rst|reset|por)[a-z]*\d*(?:_|$)|(?:^|_)n?resn?(?:_|$)")
_NO_RESET = re.compile(r"vector|addr|req|ack|val|cause")
_LOW = re.compile(
    r"(?:rst|reset|res|por)_?(?:n|b|ni|l)$|(?:^|_)(?:n|a?n)(?:rst|reset|res)|_n$|_ni$|resetn|rstn|_b$"
)
_ALARM = re.compile(
    r"(?:^|_)(?:err|error|errors|alarm|alert|alerts|fault|faults|parity|ecc|mismatch|fatal|uncorrectable|corrected"
    r"|correctable)(?:_|$)"
)
_CORRECTED = re.compile(r"correct(?:ed|able)|minor|single|_ce(?:_|$)")
_UNCORRECTED = re.compile(r"uncorrect")


@dataclass(frozen=True)
class Reset:
    """A reset.

    Attributes:
        port: The input.
        active_low: Its polarity.
        known: It was seen in a recording, not only guessed from the name.
    """

    port: TopPort
    active_low: bool
    known: bool = False


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
    """Return the resets, those that a recording uses first; polarity by it, as it ends with them inactive.

    Without a recording of it a reset has the polarity that its name says.
    """
    found = []
    for port in ports:
        name = port.name.lower()
        if port.direction != "input" or port.width != 1 or _NO_RESET.search(name):
            continue
        if not (_RESET.search(bare(port.name)) or _RESET.search(name)):
            continue
        signal = (recorded or {}).get(port.name)
        levels = [] if signal is None else signal.values[signal.known[:, 0], 0].astype(int).tolist()
        if len(set(levels)) == 2:
            found.append(Reset(port, levels[-1] == 1, known=True))
        else:
            found.append(Reset(port, bool(_LOW.search(name))))
    return sorted(found, key=lambda own: not own.known)


def find_alarms(ports: Sequence[TopPort], taken: Collection[str]) -> list[Alarm]:
    """Return outputs whose names say that they report a fault; `taken` are ports of buses."""
    found = []
    for port in ports:
        name = bare(port.name)
        if port.direction == "output" and port.name not in taken and _ALARM.search(name):
            corrected = _CORRECTED.search(name) and not _UNCORRECTED.search(name)
            found.append(Alarm(port, "corrected" if corrected else "detected"))
    return found
