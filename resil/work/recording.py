# SPDX-License-Identifier: Apache-2.0
"""The table [workload] with `waves`: recordings that are replayed, and the target that they close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.bench.bench import NetworkFacts
from resil.campaign.campaign import Campaign
from resil.campaign.recording_settings import RecordingSettings
from resil.errors import CampaignError
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
from resil.rtl_harness.replay.recording import Recording, Span
from resil.rtl_harness.replay.results import (
    beyond_tolerance,
    differences,
    expected_results,
    output_of,
)
from resil.work.memory_images import contents_of, laid_out
from resil.work.work import RunAgain, Work

_REACTS = (
    "are those of the recording, whatever the design does: an environment that would react to a wrong "
    "output (retry, stop, answer otherwise) is not simulated"
)
_ENDS = "A run ends where the recording does, or at its first wrong output if the design has no alarm."
_NOTED = "noted.bin"
# Inputs whose lost changes are named; those that do not react.
_NAMED, _LISTED = 4, 16
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
        settings.closed,
    )
    return close_by_recordings(target, asked, file)


def recorded_work(campaign: Campaign, settings: RecordingSettings, closed: Closed) -> Work:
    """Return what runs: one replay for each recording.

    Raises:
        HarnessError: Nothing of a recording can be compared.
    """
    contents = _contents(campaign, settings, closed)
    target = closed.target
    closed = with_drivers(closed, lambda own: _without_fault(target, own), contents)
    # What could still report a wrong output has to run on; where nothing can, all is known with the first.
    ends = not closed.target.alarms
    images = [images_of(own, closed.layout, closed.rules, ends=ends) for own in closed.recordings]
    images = [replace(m, memories={**m.memories, **c}) for m, c in zip(images, contents, strict=True)]
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
        compare_with=lambda again: (
            lambda outputs: _compared(settings, closed, images, contents, outputs, again)
        ),
    )


def _contents(
    campaign: Campaign, settings: RecordingSettings, closed: Closed
) -> tuple[dict[str, bytes], ...]:
    """Return what the memories of parts of the bench hold at the start, for each recording.

    Raises:
        CampaignError: An image is of another memory, does not fit into it, or there is not one a recording.
    """
    known = {own.memory: own.words * own.word_bytes for own in closed.layout.answered}
    count = len(closed.recordings)
    parts = []
    for number, image in enumerate(settings.images):
        key = f"images[{number}]"
        if image.memory not in known:
            raise CampaignError(
                f"{campaign.file}: [workload] {key} memory: expected the memory of a bus that is closed "
                f'({", ".join(known)}), found "{image.memory}"; correct the name',
                f"workload.{key}.memory",
            )
        own = contents_of(image, closed.target.memories[image.memory])
        if image.way != "file" and len(own) != count:
            raise CampaignError(
                f"{campaign.file}: [workload] {key}: expected one image for each of {count} recordings, "
                f"found {len(own)}; give as many, or one file for all",
                f"workload.{key}",
            )
        parts.append(own)
    found = tuple(
        laid_out(campaign, settings.images, [part[number % len(part)] for part in parts])
        for number in range(count)
    )
    for name, size in known.items():
        longest = max(len(own.get(name, b"")) for own in found)
        if longest > size:
            raise CampaignError(
                f"{campaign.file}: [workload] images: expected at most {size:,} bytes in {name}, found "
                f"{longest:,}; give the memory more words in [[workload.closed]]",
                "workload.images",
            )
    return found


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
    named = {port.name: port for port in (*layout.inputs, *layout.answers, *layout.outputs)}
    ports = [named[name] for name in sorted(named)]
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
    state = sha256(repr(_asked(settings)).encode())
    for own in recordings:
        state.update(file_digest(own.span.file).encode())
    return state.hexdigest()


def _asked(settings: RecordingSettings) -> tuple[object, ...]:
    asked = (settings.instance, settings.begin, settings.end, settings.strobes)
    return (*asked, settings.closed) if settings.closed else asked


def _never_compared(closed: Closed, images: Sequence[Images]) -> list[str]:
    """Return outputs of which no recording has a known value where they are compared.

    A bus that a recording does not use is valid nowhere; that is in what each verdict says.

    Raises:
        HarnessError: One is never compared in the cycles that its strobe names.
    """
    found: list[str] = []
    for rule in (own for own in closed.rules if not own.answer):
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
    first = f"{_environment(closed)} {bits:,} bits of outputs are compared in {cycles:,} cycles."
    if never:
        first += f" Never compared, as X or Z or not valid throughout: {', '.join(never)}."
    remarks = [first + _uneven_text(closed.recordings) + _reset_text(closed)]
    if closed.layout.inouts:
        remarks.append(
            f"Ports in both directions ({', '.join(port.name for port in closed.layout.inouts)}) have what "
            "the recording has where the design does not drive them; each bit that it drives in another "
            "cycle than without a fault is a difference."
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


def _environment(closed: Closed) -> str:
    """Return what is assumed of the environment: which inputs do not react."""
    layout = closed.layout
    if not layout.answered:
        return f"Inputs {_REACTS}. {_ENDS}"
    buses = "; ".join(f"{own.title} ({own.module} with {own.words:,} words)" for own in layout.answered)
    fixed = [port.name for port in layout.inputs]
    named = ", ".join(fixed[:_LISTED]) + (f" and {len(fixed) - _LISTED} more" if len(fixed) > _LISTED else "")
    said = f"The other inputs ({named}) {_REACTS}." if fixed else ""
    return f"Answered by memories of the bench, as the design asks: {buses}. {said} {_ENDS}"


def _compared(
    settings: RecordingSettings,
    closed: Closed,
    images: Sequence[Images],
    contents: Sequence[dict[str, bytes]],
    outputs: Sequence[bytes],
    again: RunAgain,
) -> GoldenComparison:
    """Return that the design reproduces its recordings.

    Raises:
        HarnessError: It does not: with the first difference by time and signal.
    """
    for number, (own, made, found) in enumerate(zip(closed.recordings, images, outputs, strict=True)):
        expected = expected_results(closed.layout, made)
        checked = any(bus.checks for bus in closed.layout.answered)
        if found == expected and not checked:
            continue
        firsts = images_of(own, closed.layout, closed.rules, first=True, checked=True)
        memories = {**firsts.memories, **contents[number]}
        raw = again(_workload(settings, closed, memories, number))
        wanted = expected_results(closed.layout, firsts)
        if found == expected and raw == wanted:
            continue
        expected = wanted
        remedy = _remedy(settings, made, closed, own)
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


def _remedy(settings: RecordingSettings, made: Images, closed: Closed, recording: Recording) -> str:
    hints = ["check that RTL, parameters and macros are those that were recorded"]
    inputs = closed.layout.inputs
    for own in closed.layout.answered:
        hints.insert(
            0,
            f"if it is at the bus {own.prefix.rstrip('_.') or own.memory}: where answers come at other "
            f"times, give the memory the recorded latencies by parameters of {own.module}, or, if none has "
            "them, checked = false and strobes with stream = true; where data differ, its images are not "
            "what the recorded memory held, or Base and words are others",
        )
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
