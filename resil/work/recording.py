# SPDX-License-Identifier: Apache-2.0
"""The table [workload] with `waves`: recordings that are replayed, and the target that they close."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.bench.bench import NetworkFacts
from resil.campaign.campaign import Campaign
from resil.campaign.recording_settings import RecordingSettings
from resil.record.golden import EQUAL, GoldenComparison
from resil.rtl_harness.cache import cached_folder, content_key, file_digest, write_atomically
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.snapshot import frozen, rtl_digest
from resil.rtl_harness.design.target import SHIPPED_TARGETS, Target, load_target
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Truths
from resil.rtl_harness.replay.closed import Closed, ReplayRequest, close_by_recordings
from resil.rtl_harness.replay.drivers import with_drivers
from resil.rtl_harness.replay.images import Images, images_of
from resil.rtl_harness.replay.ports import TopPort
from resil.rtl_harness.replay.recording import Recording, Span
from resil.rtl_harness.replay.results import (
    beyond_tolerance,
    differences,
    expected_results,
    output_of,
)
from resil.work.work import RunAgain, Work

ENVIRONMENT = (
    "Inputs are those of the recording, whatever the design does: an environment that would react to a wrong "
    "output (retry, stop, answer otherwise) is not simulated. A run ends where the recording does, or at its "
    "first wrong output if the design has no alarm."
)
# Inputs whose lost changes are named.
_NAMED = 4
_NOTED = "noted.bin"
# A cycle that is so many times as long as others is said.
_UNEVEN = 1.5


def close_target(campaign: Campaign, settings: RecordingSettings, target: Target) -> Closed:
    """Return the target with a bench that replays the campaign's recordings.

    Raises:
        HarnessError: A recording, the target and the strobes do not fit.
    """
    place = campaign.target
    file = place if isinstance(place, Path) else SHIPPED_TARGETS / f"{place}.toml"
    spans = tuple(Span(waves, settings.instance, settings.begin, settings.end) for waves in settings.waves)
    asked = ReplayRequest(
        spans,
        settings.strobes,
        settings.clocks,
        settings.sampled,
        settings.at_edge,
        settings.parameters,
    )
    return close_by_recordings(target, asked, file)


def recorded_work(campaign: Campaign, settings: RecordingSettings, closed: Closed) -> Work:
    """Return what runs: one replay for each recording.

    Raises:
        HarnessError: Nothing of a recording can be compared.
    """
    closed = with_drivers(closed, lambda own: _without_fault(closed.target, own))
    # What could still report a wrong output has to run on; where nothing can, all is known with the first.
    ends = not closed.target.alarms
    images = [images_of(own, closed.layout, closed.rules, ends=ends) for own in closed.recordings]
    for own, made in zip(closed.recordings, images, strict=True):
        if not made.compared_bits:
            raise HarnessError(
                f"{own.span.file}: expected outputs with known values where strobes compare them, found "
                "none: no difference could be seen; correct the strobes, or record the outputs",
                "strobes.compared",
            )
    never = _never_compared(closed, images)
    _refuse_copies(closed.recordings, images)
    workloads = tuple(
        _workload(settings, closed, made.memories, number) for number, made in enumerate(images)
    )
    hashes = {"recordings": _digest(closed.recordings, settings)}
    facts = NetworkFacts(
        settings.name,
        str(campaign.file),
        hashes["recordings"],
        (),
        0,
        None,
        settings.decision,
        remarks=_remarks(closed, images, never),
    )
    return Work(
        facts,
        tuple(range(len(workloads))),
        tuple((workload,) for workload in workloads),
        hashes,
        compare_with=lambda again: lambda outputs: _compared(settings, closed, images, outputs, again),
    )


def _without_fault(target: Target, workload: Workload) -> bytes:
    """Return the raw output of a run on the plain engine, kept in the cache."""
    own = frozen(target)

    def build(folder: Path) -> None:
        with PlainEngine(own, workload, elaborate(own, workload.parameters)) as engine:
            write_atomically(folder / _NOTED, engine.golden().end.output)

    images = {name: sha256(image).hexdigest() for name, image in workload.images.items()}
    key = content_key(rtl_digest(own), images, repr(workload.output), dict(workload.parameters))
    return (cached_folder("drivers", key, build) / _NOTED).read_bytes()


def recorded_rows(closed: Closed) -> list[npt.NDArray[np.uint8]]:
    """Return what ports but clocks have before each edge of each recording, (cycles, bytes); X is 0."""
    layout = closed.layout
    ports = sorted((*layout.inputs, *layout.outputs), key=lambda port: port.name)
    found = []
    for own in closed.recordings:
        bits = []
        for port in (port for port in ports if port.name in own.signals):
            values, known = own.signals[port.name].sampled(own.times, before=True)
            bits.append(values & known)
        found.append(np.packbits(np.concatenate(bits, axis=1), axis=1))
    return found


def _workload(
    settings: RecordingSettings, closed: Closed, memories: dict[str, bytes], number: int
) -> Workload:
    return Workload(
        f"{settings.name}, recording {number}",
        memories,
        output_of(closed.layout),
        parameters=closed.parameters,
        decide=beyond_tolerance,
    )


def _digest(recordings: Sequence[Recording], settings: RecordingSettings) -> str:
    state = sha256(repr((settings.instance, settings.begin, settings.end, settings.strobes)).encode())
    for own in recordings:
        state.update(file_digest(own.span.file).encode())
    return state.hexdigest()


def _never_compared(closed: Closed, images: Sequence[Images]) -> list[str]:
    """Return outputs of which no recording has a known value where they are compared.

    A bus that a recording does not use is valid nowhere; that is in what each verdict says.

    Raises:
        HarnessError: One is never compared in the cycles that its strobe names.
    """
    found: list[str] = []
    for rule in closed.rules:
        names = [own.port.name for own in rule.outputs]
        never = [name for name in names if not any(made.compared[name] for made in images)]
        if never and rule.strobe.cycles:
            length = max(own.cycles for own in closed.recordings)
            raise HarnessError(
                f"strobes: expected known values of {never[0]} where its strobe compares it, found none in "
                f"{len(images)} recordings of up to {length:,} cycles: no difference of it could be seen; "
                "correct its cycles, or say compared = false",
                "strobes.compared",
            )
        found += never
    return found


def _refuse_copies(recordings: Sequence[Recording], images: Sequence[Images]) -> None:
    """Raise HarnessError where two recordings are one: it would count as two independent inputs."""
    first: dict[bytes, Recording] = {}
    for own, made in zip(recordings, images, strict=True):
        state = sha256()
        for name, data in sorted(made.memories.items()):
            state.update(repr((name, len(data))).encode() + data)
        other = first.setdefault(state.digest(), own)
        if other is not own:
            raise HarnessError(
                f"waves: expected recordings that differ, found {own.span.file}, which is {other.span.file} "
                "cycle by cycle and would count twice; name each recording once",
                "waves",
            )


def _uneven_text(recordings: Sequence[Recording]) -> str:
    """Return that cycles last differently long; nothing where they hardly do."""
    steps = np.concatenate([np.diff(own.times) for own in recordings])
    usual = np.median(steps) if len(steps) else 0
    if not usual or steps.max() <= _UNEVEN * usual:
        return ""
    return (
        f" Cycles last {steps.min() / usual:.3g} to {steps.max() / usual:.3g} times their median: faults are "
        "drawn evenly over cycles, not over time."
    )


def cycles_in_reset(closed: Closed) -> tuple[Truths, ...]:
    """Return in which cycles of each recording a fault finds the design in reset; nothing without one."""
    own = closed.target.replay
    bare = None if own is None else load_target(own.of)
    if bare is None or not all(bare.reset in recording.signals for recording in closed.recordings):
        return ()
    return tuple(own.in_reset(bare.reset, active_low=bare.reset_active_low) for own in closed.recordings)


def _reset_text(closed: Closed) -> str:
    """Return how many cycles find the design in reset; nothing where the recordings do not drive one."""
    active = cycles_in_reset(closed)
    if not (count := sum(int(own.sum()) for own in active)):
        return ""
    cycles = sum(own.cycles for own in closed.recordings)
    return f" In {count:,} of {cycles:,} cycles a fault finds the design in reset."


def _remarks(closed: Closed, images: Sequence[Images], never: Sequence[str]) -> tuple[str, ...]:
    cycles = sum(own.cycles for own in closed.recordings)
    bits = sum(own.compared_bits for own in images)
    first = f"{ENVIRONMENT} {bits:,} bits of outputs are compared in {cycles:,} cycles."
    if never:
        first += f" Never compared, as X or Z or not valid throughout: {', '.join(never)}."
    remarks = [first + _uneven_text(closed.recordings) + _reset_text(closed)]
    if closed.layout.inouts:
        remarks.append(
            f"Ports in both directions ({', '.join(port.name for port in closed.layout.inouts)}) have what "
            "the recording has where the design does not drive them; each bit that it drives in another cycle "
            "than without a fault is a difference."
        )
    unknown = sum(own.unknown_inputs for own in images)
    if unknown:
        remarks.append(f"{unknown:,} bits of inputs are X or Z in the recording: 0 is driven in their place.")
    free = sum(own.unknown_outputs for own in images)
    if free:
        remarks.append(
            f"{free:,} bits of outputs are X or Z in the recording where they would be compared: any value "
            "passes there."
        )
    lost: dict[str, int] = {}
    for own in closed.recordings:
        for name, count in own.lost(closed.layout.inputs).items():
            lost[name] = lost.get(name, 0) + count
    if lost:
        names = ", ".join(f"{name} ({count:,})" for name, count in [*lost.items()][:_NAMED])
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        remarks.append(f"Changes of inputs within a cycle are not replayed: {names}{more}.")
    return tuple(remarks)


def _compared(
    settings: RecordingSettings,
    closed: Closed,
    images: Sequence[Images],
    outputs: Sequence[bytes],
    again: RunAgain,
) -> GoldenComparison:
    """Return that the design reproduces its recordings.

    Raises:
        HarnessError: It does not: with the first difference by time and signal.
    """
    for number, (own, made, found) in enumerate(zip(closed.recordings, images, outputs, strict=True)):
        expected = expected_results(closed.layout, made)
        if found == expected:
            continue
        firsts = images_of(own, closed.layout, closed.rules, first=True)
        raw = again(_workload(settings, closed, firsts.memories, number))
        remedy = _remedy(settings, made, closed.layout.inputs, own)
        raise HarnessError(
            f"{own.span.file}: expected the design to reproduce the outputs of the recording, found a "
            f"difference, {differences(closed.layout, own, raw, expected)}; {remedy}",
            "golden",
        )
    return GoldenComparison(
        state=EQUAL,
        reference="the recording " + " and ".join(own.span.file.name for own in closed.recordings[:2]),
        inputs=len(outputs),
        elements=sum(own.compared_bits for own in images),
        differing=0,
        text="",
    )


def _remedy(
    settings: RecordingSettings, made: Images, inputs: Sequence[TopPort], recording: Recording
) -> str:
    hints = ["check that RTL, parameters and macros are those that were recorded"]
    if settings.sampled == "before":
        if not settings.clocks:
            hints.append('if the testbench changes inputs together with the clock, try sampled = "at"')
        released = [own for own in recording.released(inputs) if own not in settings.at_edge]
        if released:
            names = ", ".join(f'"{own}"' for own in released)
            hints.append(
                "some inputs change in the instant of a clock edge, and the recording does not say which "
                f"comes first: if the design sees the new value, at_edge = [{names}]"
            )
    if settings.begin:
        hints.append(
            "let the window begin before a reset: the state at its beginning is not in the recording"
        )
    if made.unknown_inputs:
        hints.append(
            f"{made.unknown_inputs:,} bits of inputs are X in the recording and 0 here, and what depends on "
            "them may come out otherwise: set them in the testbench, its memories above all, or end the "
            "window before"
        )
    if not settings.clocks:
        hints.append("name further clocks in clocks = [...]")
    return "; ".join(hints)
