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


def test_paths_go_through_resets_that_the_design_makes():
    """A flip of what resets others acts in its cycle; one of what asks for it, in the next."""
    design = core_target(Path(__file__).parent / "restart.sv")
    workload = Workload(
        "sum",
        {"input": bytes(37 * i % 251 for i in range(16))},
        OutputSpec("output", 0, (16,)),
        decide=exact,
    )
    elaboration = elaborate(design)
    sites = elaboration.sites
    number = {element.path: sites.offsets[i] for i, element in enumerate(sites.elements)}
    with VerilatorEngine(design, workload, elaboration) as engine:
        tracer, paths = Tracer(engine), 0
        for name in ("u_core.run_nq", "u_core.ask_q"):
            for cycle in (2, 5, 6, 9, 20, 41):
                trace = tracer.trace(Fault(number[name], cycle))
                assert trace.injection == engine.replay(Fault(number[name], cycle))
                if trace.injection.seen is not Seen.SDC_CRITICAL:
                    continue
                assert not trace.no_ways
                (way,) = [way for way in trace.ways if way.to == "output"]
                assert way.steps, way.problem
                first, second = way.steps[:2]
                assert (first.site.element.path, first.first, first.last) == (name, cycle, cycle)
                assert second.first == cycle + 1
                # A reset acts at once: what it resets is reached in its cycle, and seen in the next.
                assert second.site.element.path in ("u_core.run_nq", "u_core.sum_q", "u_core.step_q", "out_q")
                paths += 1
        assert paths > 6
        # What nothing resets goes along the gates, as everywhere.
        (way,) = tracer.trace(Fault(number["u_core.sum_q"] + 3, 20)).ways
        assert way.steps
