# SPDX-License-Identifier: Apache-2.0
"""A target that recordings close, with engines on it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cached_property

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.replay.closed import ReplayRequest, close_by_recordings
from resil.rtl_harness.replay.drivers import with_drivers
from resil.rtl_harness.replay.images import images_of
from resil.rtl_harness.replay.recording import Span
from resil.rtl_harness.replay.results import beyond_tolerance, differences, expected_results, output_of


def closed_by(target_file, *vcds, instance="tb.u_dut", **asked):
    target = load_target(target_file)
    return close_by_recordings(
        target, ReplayRequest(tuple(Span(v, instance) for v in vcds), **asked), target_file
    )


class Replayed:
    """A closed target and one of its replays."""

    def __init__(self, closed, *, first=False, ends=False, number=0, checked=False, contents=None):
        self.elaboration = elaborate(closed.target, closed.parameters)
        self.closed = closed = with_drivers(
            closed,
            lambda own: self._golden(closed, own).end.output,
            [contents or {}] * len(closed.recordings),
        )
        self.recording = closed.recordings[number]
        self.images = images_of(
            self.recording, closed.layout, closed.rules, first=first, ends=ends, checked=checked
        )
        self.workload = Workload(
            "replay",
            {**self.images.memories, **(contents or {})},
            output_of(closed.layout),
            parameters=closed.parameters,
            decide=beyond_tolerance,
        )
        self.expected = expected_results(closed.layout, self.images)

    def _golden(self, closed, workload):
        with PlainEngine(closed.target, workload, self.elaboration) as engine:
            return engine.golden()

    def engine(self, kind):
        return kind(self.closed.target, self.workload, self.elaboration)

    def golden(self, kind=PlainEngine):
        with self.engine(kind) as engine:
            return engine.golden()

    def first_difference(self):
        return differences(self.closed.layout, self.recording, self.golden().end.output, self.expected)

    @cached_property
    def places(self):
        """Number of the first site of each element, by its path below the design."""
        sites = self.elaboration.sites
        return {e.path.removeprefix("u_dut."): sites.offsets[i] for i, e in enumerate(sites.elements)}

    def faults(self, registers: Mapping[str, int], count, seed=7):
        """Faults by what a model calls them: cycle, register, bit."""
        draw = random.Random(seed)
        found = {}
        while len(found) < count:
            name = draw.choice([*registers])
            place, cycle = draw.randrange(registers[name]), draw.randrange(self.recording.cycles - 1)
            found[Fault(self.places[name] + place, cycle)] = (cycle, name, place)
        return found

    def injections(self, kind, faults):
        with self.engine(kind) as engine:
            return {injection.fault: injection for injection in engine.run([*faults])}
