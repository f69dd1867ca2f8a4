# SPDX-License-Identifier: Apache-2.0
"""A recording as what a replay needs of it: values of ports in each cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from resil.rtl_harness.design.parameter_values import TopParameter
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.ports import TopPort
from resil.rtl_harness.replay.waves import Signal, Times, Waves, plain_path

# An input that changes more often than once in so many cycles on the average is a clock.
_CLOCK_LIKE = 1.5


@dataclass(frozen=True)
class Span:
    """Part of a recording.

    Attributes:
        file: The waveform.
        instance: Path of the instance in it whose ports are the top's.
        begin: Time, as "100 ns"; "" for the beginning.
        end: Likewise.
    """

    file: Path
    instance: str
    begin: str = ""
    end: str = ""


# Changes of an input that is a reset, as it seems.
_FEW = 4


@dataclass(frozen=True)
class Recording:
    """Values of the ports of a top in each cycle.

    Attributes:
        span: Where they come from.
        waves: The file.
        times: Edge that ends each cycle, in ticks.
        clocks: Of several clocks all, in their order; of a single one nothing.
        signals: By port.
        before: Values of a cycle are those before its edge, else those at it.
        at_edge: Inputs whose values are those at the edge even so.
        same_clocks: Inputs of interfaces that change as a clock does, at all times, and its number.
    """

    span: Span
    waves: Waves
    times: Times
    clocks: tuple[Signal, ...]
    signals: dict[str, Signal]
    before: bool
    at_edge: frozenset[str] = frozenset()
    same_clocks: Mapping[str, int] = field(default_factory=dict)

    def is_before(self, port: str) -> bool:
        """Whether the values of an input in a cycle are those before its edge."""
        return self.before and port not in self.at_edge

    @property
    def cycles(self) -> int:
        """How many."""
        return len(self.times)

    def in_reset(self, reset: str, *, active_low: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return in which cycles a fault finds the design in reset.

        A fault strikes after the edge that ends its cycle: what counts is the reset of the next one.

        Args:
            reset: Name of the input.
            active_low: Whether the design is in reset where it is 0.
        """
        values, _ = self.signals[reset].sampled(self.times, before=self.is_before(reset))
        active = values[:, 0] != active_low
        return np.append(active[1:], active[-1:])

    @property
    def extent(self) -> str:
        """How long it is, in words: nothing else shows that a file was cut off in the middle."""
        last = max(int(signal.times[-1]) for signal in self.signals.values())
        return (
            f"{self.span.file.name}: {self.cycles:,} cycles, the last ends at "
            f"{self.waves.time(int(self.times[-1]))}; the last change of a port is at {self.waves.time(last)}"
        )

    def released(self, inputs: Sequence[TopPort]) -> list[str]:
        """Return inputs of a bit that change once or a few times, and each time in the instant of an edge."""
        found = []
        for port in (own for own in inputs if own.width == 1):
            signal = self.signals[port.name]
            inside = signal.times[(signal.times > self.times[0]) & (signal.times <= self.times[-1])]
            if 0 < len(inside) <= _FEW and np.isin(inside, self.times).all():
                found.append(port.name)
        return found

    def lost(self, inputs: Sequence[TopPort]) -> dict[str, int]:
        """Return changes of inputs that no cycle sees, as they are gone again before its edge, by input."""
        found = {}
        for port in inputs:
            signal = self.signals[port.name]
            inside = signal.times[(signal.times > self.times[0]) & (signal.times <= self.times[-1])]
            cycle = np.searchsorted(self.times, inside, "left" if self.is_before(port.name) else "right")
            gone = len(cycle) - len(np.unique(cycle))
            if gone:
                found[port.name] = gone
        return found


def read_recording(
    span: Span,
    ports: Sequence[TopPort],
    clocks: Sequence[str],
    sampled: str,
    optional: Sequence[str] = (),
    at_edge: Sequence[str] = (),
    parameters: Sequence[TopParameter] = (),
) -> Recording:
    """Read the ports of an instance.

    Args:
        span: What is read.
        ports: Of the top, clocks among them.
        clocks: Names of the clocks; cycles end at the rising edges of a single one, at any edge of several.
        sampled: "before" or "at" the edges.
        optional: Outputs that need not be there.
        at_edge: Inputs that change with the clock, and whose new value the design is to see at that edge.
        parameters: Of the top, which has the values of the recording where that has them.

    Raises:
        HarnessError: The file or the instance is not there, a parameter has another value in it, a port is
            not in it or has another width, the window holds no edge, or an input looks like another clock.
    """
    waves = Waves(span.file)
    _require_parameters(waves, span, parameters)
    variables, found = waves.below(span.instance), fields_of(waves, span.instance, ports)
    signals = {}
    for port in ports:
        fields = found.get(port.name, [])
        if fields:
            signals[port.name] = waves.signal(fields, port.width)
        elif port.name not in optional:
            raise HarnessError(
                f"{span.file}: expected the port {port.name} in {span.instance}, found none; it has "
                f"{', '.join([*variables][:20]) or 'no signals'}; record the ports of the instance, or "
                "correct the path",
                f"waves.{port.name}",
            )
    times = _edges([signals[name] for name in clocks])
    begin, end = (_time(waves, span, key) for key in ("begin", "end"))
    if begin is not None:
        times = times[times >= begin]
    if end is not None:
        times = times[times <= end]
    if not len(times):
        raise HarnessError(
            f"{span.file}: expected edges of the clock {', '.join(clocks)} in the window, found none; "
            "correct the clock of the target, or from and to",
            "waves.clock",
        )
    several = tuple(signals[name] for name in clocks) if len(clocks) > 1 else ()
    same = {
        port.name: number
        for port in ports
        if port.holder is not None and port.name in port.holder.inputs and port.name in signals
        for number, name in enumerate(clocks)
        if name != port.name and np.array_equal(signals[port.name].toggles, signals[name].toggles)
    }
    recording = Recording(span, waves, times, several, signals, sampled == "before", frozenset(at_edge), same)
    ruled_out = {*clocks, *optional, *same}
    inputs = [own for own in ports if own.direction == "input" and own.name not in ruled_out]
    _no_other_clock(recording, inputs)
    return recording


def fields_of(waves: Waves, instance: str, ports: Sequence[TopPort]) -> dict[str, list[Any]]:
    """Return the variables that make up each port that a recording of an instance has, by its name.

    Raises:
        HarnessError: The waveform has no such instance.
    """
    variables = {name.lower(): [own] for name, own in waves.below(instance).items()}
    structures = {name.lower(): own for name, own in waves.structures(instance).items()}
    parts = waves.parts(instance) if any(port.holder is not None for port in ports) else {}
    found: dict[str, list[Any]] = {}
    for port in ports:
        name = port.name.lower()
        own = (
            variables.get(name) or structures.get(name)
            if port.holder is None
            else parts.get(plain_path(name))
        )
        if own:
            found[port.name] = _of_union(own, port.width) if port.is_union else own
    return found


def _of_union(fields: list[Any], width: int) -> list[Any]:
    """Return one member of a union that was written member by member: all are the same bits."""
    bits = np.cumsum([int(own.bitwidth or 0) for own in fields])
    if bits[-1] % width or width not in bits:
        return fields
    return fields[: int(np.flatnonzero(bits == width)[0]) + 1]


def _require_parameters(waves: Waves, span: Span, parameters: Sequence[TopParameter]) -> None:
    recorded = waves.constants(span.instance, [own.name for own in parameters])
    for own in parameters:
        if own.name in recorded and not own.is_recorded(*recorded[own.name]):
            kept, found = (f"{own.name} = {v}" for v in (own.literal, own.literal_of(*recorded[own.name])))
            raise HarnessError(
                f"{span.file}: expected the parameters of the design in {span.instance}, {kept}, found "
                f"{found}: the recording is of another design; give the target file this value under "
                "[parameters] (a literal as a string), or record this design",
                f"waves.{own.name}.parameter",
            )


def _edges(clocks: Sequence[Signal]) -> Times:
    if len(clocks) == 1:
        return clocks[0].edges
    return np.unique(np.concatenate([clock.toggles for clock in clocks]))


def _time(waves: Waves, span: Span, key: str) -> int | None:
    text = str(getattr(span, key))
    if not text:
        return None
    name = {"begin": "from", "end": "to"}[key]
    try:
        return waves.ticks(text)
    except (KeyError, ValueError):
        raise HarnessError(
            f'{name}: expected a time with its unit, as "1200 ns", found "{text}"; correct it', name
        ) from None


def _no_other_clock(found: Recording, inputs: Sequence[TopPort]) -> None:
    for name, changes in found.lost([port for port in inputs if port.width == 1]).items():
        if found.cycles > 8 and changes > found.cycles * (_CLOCK_LIKE - 1):
            raise HarnessError(
                f"{found.span.file}: {name}: expected inputs that change at most once in a cycle of the "
                f"clock, found {changes:,} more in {found.cycles:,} cycles: it is a clock too; name all "
                "clocks: clocks = [...] in [workload]",
                f"waves.{name}.clock",
            )
