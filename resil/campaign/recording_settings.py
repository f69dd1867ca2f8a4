# SPDX-License-Identifier: Apache-2.0
"""The table [workload] of a campaign file with `waves`: a recording that is replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resil.campaign.section import Section
from resil.campaign.workload_settings import ImageSettings, read_images, read_parameters
from resil.rtl_harness.replay.feedback import Answered
from resil.rtl_harness.replay.layout import SAMPLED
from resil.rtl_harness.replay.strobes import Strobe

SUFFIXES = (".vcd", ".fst", ".ghw")


@dataclass(frozen=True)
class RecordingSettings:
    """Recordings of the target in any testbench, one for each input.

    Attributes:
        name: For people.
        waves: Absolute paths of waveforms.
        instance: Path of the instance in them whose ports are those of the target's top.
        begin: Time at which the replay begins, with its unit; "" for the beginning.
        end: Time at which it ends, likewise.
        sampled: One of `SAMPLED`.
        at_edge: Inputs whose values are those at the edges, where those of others are those before.
        clocks: Clocks of the top besides the target's.
        strobes: Which outputs are compared when; all others always.
        parameters: Of the top, in place of the target's.
        closed: Buses that parts of the bench answer, in place of the recordings.
        images: Contents of the memories of these parts; all else is zero.
    """

    name: str
    waves: tuple[Path, ...]
    instance: str
    begin: str = ""
    end: str = ""
    sampled: str = SAMPLED[0]
    at_edge: tuple[str, ...] = ()
    clocks: tuple[str, ...] = ()
    strobes: tuple[Strobe, ...] = ()
    parameters: Mapping[str, int] = field(default_factory=dict)
    closed: tuple[Answered, ...] = ()
    images: tuple[ImageSettings, ...] = ()

    @property
    def decision(self) -> str:
        """Name of the rule by which outputs are judged."""
        return "strobes"


def read_recording_settings(section: Section, name: str) -> RecordingSettings:
    """Check the table; `name` is what it is called if the table does not say.

    Raises:
        CampaignError: a key is missing, unknown, of the wrong type or out of range, or a file is missing.
    """
    expected = f"a waveform that ends in {', '.join(SUFFIXES)}, or a list of them"
    several = isinstance(section.raw("waves", expected), list)
    waves = section.paths("waves", expected) if several else (section.path("waves", expected),)
    for file in waves:
        if file.suffix.lower() not in SUFFIXES:
            section.wrong("waves", expected, f'"{file.name}"', "record it in one of these formats")
    settings = read_recorded(
        section, section.text("name", name), tuple(waves), section.text("instance"), read_parameters(section)
    )
    section.finish(only=("name", "waves", "instance", "parameters", *RECORDED_KEYS))
    return settings


# Of all recordings, wherever they come from.
RECORDED_KEYS = ("from", "to", "sampled", "at_edge", "clocks", "strobes", "closed", "images")


def read_recorded(
    section: Section, name: str, waves: tuple[Path, ...], instance: str, parameters: Mapping[str, int]
) -> RecordingSettings:
    """Take the keys that say how a recording is replayed; the arguments are what its origin says."""
    strobes = section.tables("strobes", "one [[workload.strobes]] a rule") if section.has("strobes") else []
    sampled, clocks = section.choice("sampled"), section.texts("clocks") if section.has("clocks") else ()
    if sampled == "at" and clocks:
        section.wrong(
            "sampled",
            '"before" where clocks names several, as outputs are compared before the clocks act',
            '"at"',
            "remove the key, and name inputs that change with a clock in at_edge; where outputs depend on "
            "inputs by logic alone, let the testbench set these ahead of the clocks, and record again",
        )
    closed = section.tables("closed", "one [[workload.closed]] a bus") if section.has("closed") else []
    if section.has("images") and not closed:
        section.wrong(
            "images",
            "images of the memories of buses that are closed",
            "no [[workload.closed]]",
            "close a bus, or remove the images: all inputs come from the recording",
        )
    images = read_images(section) if section.has("images") else ()
    return RecordingSettings(
        name=name,
        waves=waves,
        instance=instance,
        begin=section.text("from") if section.has("from") else "",
        end=section.text("to") if section.has("to") else "",
        sampled=sampled,
        at_edge=section.texts("at_edge") if section.has("at_edge") else (),
        clocks=clocks,
        strobes=tuple(_strobe(table) for table in strobes),
        parameters=parameters,
        closed=tuple(map(_closed, closed)),
        images=images,
    )


def _closed(section: Section) -> Answered:
    bus = section.text("bus")
    settings = Answered(
        bus=bus,
        memory=section.text("memory", bus.rstrip("_.").lower()),
        words=section.integer("words"),
        kind=section.text("kind") if section.has("kind") else "",
        parameters=read_parameters(section),
        checked=section.flag("checked", default=True),
    )
    section.finish()
    return settings


def _strobe(section: Section) -> Strobe:
    strobe = Strobe(
        outputs=section.texts("outputs"),
        compared=section.flag("compared", default=True),
        when=section.texts("when") if section.has("when") else (),
        cycles=_cycles(section),
        stream=section.flag("stream"),
        tolerance=section.integer("tolerance"),
        signed=section.flag("signed"),
    )
    if strobe.stream and not strobe.when:
        section.missing(
            "when", 'the valid signal of a stream, as when = ["valid_o"]', "nothing", "add the key"
        )
    if strobe.stream and strobe.cycles:
        section.wrong("cycles", "no cycles of a stream, whose words may come at any time", "both", "keep one")
    section.finish()
    return strobe


def _cycles(section: Section) -> tuple[tuple[int, int], ...]:
    if not section.has("cycles"):
        return ()
    expected = "a list of cycles, or of first and last ones: [3, [10, 20]]"
    value = section.raw("cycles", expected)
    items = [(own, own) if type(own) is int else own for own in value] if isinstance(value, list) else []
    spans = []
    for own in items:
        pair = isinstance(own, list | tuple) and len(own) == 2 and all(type(end) is int for end in own)
        if not pair or not 0 <= own[0] <= own[1]:
            section.wrong("cycles", expected, repr(value), "change the value")
            return ()
        spans.append((int(own[0]), int(own[1])))
    if not spans:
        section.wrong("cycles", expected, repr(value), "change the value")
    return tuple(spans)
