# SPDX-License-Identifier: Apache-2.0
"""Several clocks: every edge of any is a step; outcomes are those of the testbench itself."""

import random

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.replay.closed import ReplayRequest, close_by_recordings
from resil.rtl_harness.replay.images import images_of
from resil.rtl_harness.replay.recording import Span
from resil.rtl_harness.replay.results import beyond_tolerance, expected_results, output_of
from resil.rtl_harness.replay.waves import Waves
from testkit.recorded import compiled_testbench, run_testbench
from tests.rtl_harness.replay.model import HERE

OUTPUTS = ("a_o", "b_o", "late_o")
FAULTS = 200


@pytest.fixture(scope="module")
def program():
    folder = HERE / "clocks"
    return compiled_testbench([folder / "crossing.sv", folder / "crossing_tb.sv"], "crossing_tb", "--trace")


@pytest.fixture(scope="module")
def closed(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crossing")
    run_testbench(program, folder, "+verilator+seed+1")
    target = folder / "crossing.toml"
    target.write_text(
        f'name = "crossing"\ntop = "crossing"\nsources = ["{HERE}/clocks/crossing.sv"]\nclock = "clk_a_i"\n'
    )
    asked = ReplayRequest((Span(folder / "crossing.vcd", "crossing_tb.u_dut"),), clocks=("clk_b_i",))
    return close_by_recordings(load_target(target), asked, target)


@pytest.fixture(scope="module")
def workload(closed):
    images = images_of(closed.recordings[0], closed.layout, closed.rules)
    made = Workload(
        "crossing",
        images.memories,
        output_of(closed.layout),
        parameters=closed.parameters,
        decide=beyond_tolerance,
    )
    return made, expected_results(closed.layout, images)


def values(file, times):
    """Outputs just before each time, as numbers."""
    waves = Waves(file)
    variables = waves.below("crossing_tb.u_dut")
    found = []
    for name in OUTPUTS:
        bits, _ = waves.signal([variables[name]], 1 if name == "late_o" else 4).sampled(times, before=True)
        found.append((bits * (1 << np.arange(bits.shape[1]))).sum(axis=1))
    return np.stack(found)


def test_the_recording_is_reproduced_on_both_engines(closed, workload):
    made, expected = workload
    elaboration = elaborate(closed.target, closed.parameters)
    for kind in (PlainEngine, VerilatorEngine):
        with kind(closed.target, made, elaboration) as engine:
            assert engine.golden().end.output == expected
    assert closed.recordings[0].cycles > 300


def test_outcomes_are_those_of_the_testbench_itself(closed, workload, program, tmp_path):
    made, _ = workload
    elaboration, recording = elaborate(closed.target, closed.parameters), closed.recordings[0]
    draw = random.Random(5)
    steps = range(8, recording.cycles - 1)
    faults = {Fault(draw.randrange(elaboration.sites.size), draw.choice(steps)) for _ in range(FAULTS)}
    rows = {}
    for kind in (PlainEngine, VerilatorEngine):
        with kind(closed.target, made, elaboration) as engine:
            rows[kind] = {row.fault: row for row in engine.run([*faults])}
    assert rows[PlainEngine] == rows[VerilatorEngine]
    times = recording.times
    golden = values(recording.span.file, times)
    seen = set()
    for fault in faults:
        # The bench steps, then the fault strikes, then the clocks of this step have their edges.
        site = elaboration.sites[fault.site]
        path = site.element.path.replace("u_dut", "crossing_tb.u_dut", 1)
        moment = int(times[fault.cycle]) - 1
        run_testbench(program, tmp_path, "+verilator+seed+1", f"+flip={moment},{path},{site.bit}")
        differs = bool((values(tmp_path / "crossing.vcd", times) != golden).any())
        own = rows[PlainEngine][fault]
        assert own.seen.value.startswith("sdc") == differs, (site.name, fault)
        seen.add(differs)
    assert seen == {True, False}


def test_a_clock_that_is_not_named_is_noticed(closed, tmp_path):
    target = tmp_path / "crossing.toml"
    target.write_text(
        f'name = "crossing"\ntop = "crossing"\nsources = ["{HERE}/clocks/crossing.sv"]\nclock = "clk_b_i"\n'
    )
    asked = ReplayRequest((Span(closed.recordings[0].span.file, "crossing_tb.u_dut"),))
    with pytest.raises(HarnessError) as raised:
        close_by_recordings(load_target(target), asked, target)
    assert raised.value.field == "waves.clk_a_i.clock"
