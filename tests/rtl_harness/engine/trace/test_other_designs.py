# SPDX-License-Identifier: Apache-2.0
"""Traces of designs that make clocks themselves or fall behind: each path is one, or says why not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.trace.tracer import Tracer
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.faults import Fault, Seen
from testkit.closed_cores import core_target

SOURCES = Path(__file__).parents[1] / "fast"
DESIGNS = [("gated", {"Kind": kind}) for kind in range(6)] + [("stall", {})]


def target(name: str, parameters: dict[str, int]) -> Target:
    source = SOURCES / f"{name}.sv"
    return core_target(source, f"{name}-{parameters.get('Kind', 0)}", parameters=parameters)


@pytest.mark.parametrize(("name", "parameters"), DESIGNS)
def test_traces_are_what_runs_to_the_end_say(name, parameters):
    design = target(name, parameters)
    size = 48 if name == "stall" else 16
    workload = Workload(
        "sum",
        {"input": bytes(37 * i % 251 for i in range(16))},
        OutputSpec("output", 0, (size,)),
        decide=exact,
    )
    elaboration = elaborate(design)
    found: Counter[str] = Counter()
    with VerilatorEngine(design, workload, elaboration) as engine:
        tracer = Tracer(engine)
        length = engine.golden().cycles
        for site in range(0, elaboration.sites.size, 1 if name == "gated" else 3):
            fault = Fault(site, (7 + 5 * site) % (length - 1))
            trace = tracer.trace(fault)
            assert trace.injection == engine.replay(fault)
            assert not trace.no_ways
            found.update("path" if way.steps else "none" for way in trace.ways)
            for way in trace.ways:
                assert bool(way.steps) != bool(way.problem)
            on_time = trace.injection.end_cycle == length
            if trace.injection.seen is Seen.MASKED and trace.injection.detected is None and on_time:
                assert trace.vanished is not None or not trace.touched
            if trace.injection.seen in (Seen.SDC_CRITICAL, Seen.SDC_TOLERABLE):
                assert "output" in {way.to for way in trace.ways}
            if trace.injection.seen is Seen.HANG:
                assert "done" in {way.to for way in trace.ways}
    assert found["path"] > 4 * found["none"]
