# SPDX-License-Identifier: Apache-2.0
"""The memories of a replay: what drives the inputs, and what outputs must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.bench import RECORDING, stream_name
from resil.rtl_harness.replay.layout import ENDS, FIRST, LAST, NOTED, Condition, ReplayLayout, WordStream
from resil.rtl_harness.replay.ports import TopPort
from resil.rtl_harness.replay.reads import reads_answered
from resil.rtl_harness.replay.recording import Recording
from resil.rtl_harness.replay.strobes import Ruled
from resil.rtl_harness.replay.waves import Bits, Times

# Cycles that are laid out at a time: bits take a byte each meanwhile.
_CHUNK = 8192


@dataclass(frozen=True)
class Images:
    """What a replay of one recording is given.

    Attributes:
        memories: Bytes by memory.
        compared_cycles: Times that something is compared: cycles, and words of streams.
        compared: Bits of each output that are compared, by its name; 0 of one that never is.
        unknown_inputs: Bits of inputs that are neither 0 nor 1 in the recording: 0 is driven.
        unknown_outputs: Bits of outputs likewise, where they would be compared: they may be anything.
    """

    memories: dict[str, bytes]
    compared_cycles: int
    compared: Mapping[str, int]
    unknown_inputs: int
    unknown_outputs: int

    @property
    def compared_bits(self) -> int:
        """Bits that are compared in all."""
        return sum(self.compared.values())


def words_of_stream(recording: Recording, when: Sequence[Condition]) -> Times:
    """Return the cycles in which a word of a stream is there."""
    return np.flatnonzero(_holding(recording, when, recording.times)).astype(np.int64)


def images_of(
    recording: Recording,
    layout: ReplayLayout,
    rules: Sequence[Ruled],
    *,
    first: bool = False,
    ends: bool = False,
    noted: bool = False,
    checked: bool = False,
) -> Images:
    """Return the memories of a replay.

    Args:
        recording: All ports.
        layout: Of the memories.
        rules: What is compared when; those by cycles and the streams in the order of the layout.
        first: The bench keeps the first difference, not the last.
        ends: A difference beyond tolerance ends the run.
        noted: The bench notes which ports in both directions the design drives; see `with_drivers`. Nothing
            says so before, and it is not compared.
        checked: What parts of the bench answer is compared, too.

    Raises:
        HarnessError: It has to be noted first.
    """
    unknown = [port.name for port in layout.inouts if port.enable.name not in recording.signals]
    if unknown and not noted:
        raise HarnessError(
            f"{recording.span.file}: expected that a run without a fault has noted when the design drives "
            f"{unknown[0]}, found none: no driver that fails could be seen; see with_drivers",
            "waves.driven",
        )
    flags = {FIRST: first, ENDS: ends, **({NOTED: noted} if layout.inouts else {})}
    state = _Counts()
    rules = [own for own in rules if checked or not own.answer]
    state.compared = dict.fromkeys((own.port.name for rule in rules for own in rule.outputs), 0)
    state.reads = {
        number: reads_answered(recording, own.reads) for number, own in enumerate(rules) if own.reads
    }
    parts = [
        _chunk(recording, layout, rules, start, flags, state) for start in range(0, recording.cycles, _CHUNK)
    ]
    memories = {RECORDING: b"".join(parts)}
    for number, stream in enumerate(layout.streams):
        memories[stream_name(number)] = _stream(recording, layout, stream, state)
    return Images(memories, state.cycles, state.compared, state.unknown_inputs, state.unknown_outputs)


@dataclass
class _Counts:
    cycles: int = 0
    reads: dict[int, Bits] = field(default_factory=dict)
    compared: dict[str, int] = field(default_factory=dict)
    unknown_inputs: int = 0
    unknown_outputs: int = 0


def _chunk(
    recording: Recording,
    layout: ReplayLayout,
    rules: Sequence[Ruled],
    start: int,
    flags: Mapping[int, bool],
    state: _Counts,
) -> bytes:
    times = recording.times[start : start + _CHUNK]
    count, before = len(times), recording.before
    bits = np.zeros((count, 8 * layout.word_bytes), bool)
    bits[:, [*flags]] = [*flags.values()]
    bits[:, LAST] = np.arange(start, start + count) == recording.cycles - 1
    for number, clock in enumerate(recording.clocks):
        bits[:, layout.clock_bits.low + number] = clock.sampled(times, before=False)[0][:, 0]
    low = layout.input_bits.low
    for port in layout.inputs:
        at = recording.is_before(port.name)
        values, known = recording.signals[port.name].sampled(times, before=at)
        bits[:, low : low + port.width] = values
        state.unknown_inputs += int((~known).sum())
        low += port.width
    low, mask_low = layout.value_bits.low, layout.mask_bits.low
    any_compared = np.zeros(count, bool)
    for number, own in enumerate(rules):
        if own.strobe.stream:
            continue
        active = _active(recording, own, times, start)
        if number in state.reads:
            active &= state.reads[number][start : start + count]
        for compared in own.outputs:
            width = compared.port.width
            values, known = _values(recording, compared.port, times, before=before)
            counts = known & active[:, None]
            bits[:, low : low + width] = values & counts
            bits[:, mask_low : mask_low + width] = counts
            state.unknown_outputs += int(
                (_driven(recording, compared.port, times) & ~known & active[:, None]).sum()
            )
            state.compared[compared.port.name] += int(counts.sum())
            any_compared |= counts.any(axis=1)
            low, mask_low = low + width, mask_low + width
    for stream in layout.streams:
        any_compared |= _holding(recording, stream.when, times)
    state.cycles += int(any_compared.sum())
    return np.packbits(bits, axis=1, bitorder="little").tobytes()


def _values(recording: Recording, port: TopPort, times: Times, *, before: bool) -> tuple[Bits, Bits]:
    """Return bits of an output and which are known; of what was not noted yet none is."""
    if port.name not in recording.signals:
        nothing = np.zeros((len(times), port.width), bool)
        return nothing, nothing
    return recording.signals[port.name].sampled(times, before=before)


def _driven(recording: Recording, port: TopPort, times: Times) -> Bits:
    """Return which bits of an output the design drives: of a port in one direction all."""
    if not port.is_inout:
        return np.ones((len(times), port.width), bool)
    return _values(recording, port.enable, times, before=recording.before)[0]


def _active(recording: Recording, own: Ruled, times: Times, start: int) -> Bits:
    active = _holding(recording, own.when, times)
    if own.strobe.cycles:
        numbers = np.arange(start, start + len(times))
        spans = [(numbers >= first) & (numbers <= last) for first, last in own.strobe.cycles]
        active = active & np.any(spans, axis=0)
    return active


def _holding(recording: Recording, when: Sequence[Condition], times: Times) -> Bits:
    active = np.ones(len(times), bool)
    for own in when:
        values, known = recording.signals[own.port.name].sampled(times, before=recording.before)
        active &= known[:, 0] & (values[:, 0] == own.high)
    return active


def _stream(recording: Recording, layout: ReplayLayout, stream: WordStream, state: _Counts) -> bytes:
    places = words_of_stream(recording, stream.when)
    times = recording.times[places]
    bits = np.zeros((len(places), 8 * layout.stream_bytes(stream)), bool)
    bits[:, 0] = True
    width = sum(own.port.width for own in stream.outputs)
    low = 1
    for own in stream.outputs:
        values, known = _values(recording, own.port, times, before=recording.before)
        bits[:, low : low + own.port.width] = values
        bits[:, low + width : low + width + own.port.width] = known
        state.compared[own.port.name] += int(known.sum())
        state.unknown_outputs += int((_driven(recording, own.port, times) & ~known).sum())
        low += own.port.width
    return np.packbits(bits, axis=1, bitorder="little").tobytes()
