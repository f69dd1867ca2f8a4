# SPDX-License-Identifier: Apache-2.0
"""Tests of cocotb that drive a design: what they say with a bit inverted, against cocotb's own runner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetAlarm
from resil.rtl_harness.engine.reference.declaration import DECLARATION
from resil.rtl_harness.engine.reference.testbench import CocotbTestEngine, record_test
from resil.rtl_harness.engine.testbench import CocotbTest, Driven
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.engine.workload import driven_workload
from resil.rtl_harness.errors import CocotbTestError, HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Outcome, Seen
from resil.rtl_harness.replay.shell import in_shell
from testkit.cocotb_runner import built, failures

HERE = Path(__file__).parent
DESIGN = Target(
    name="counter",
    top="bench_counter",
    sources=(HERE / "bench_counter.sv",),
    clock="clk_i",
    reset="rst_ni",
    dut="",
    done="",
    blocks={"counter": (".",)},
    memories={},
    alarms={"parity": TargetAlarm("parity_o")},
)
SEED = 11


@pytest.fixture(scope="module")
def target():
    return in_shell(DESIGN, {})


@pytest.fixture(scope="module")
def elaboration(target):
    return elaborate(target)


@pytest.fixture(scope="module")
def made(target, elaboration):
    engines = []

    def make(name, factor=2.0, **given):
        test = CocotbTest("bench_tests", name, SEED, (HERE,), **given)
        workload = driven_workload(name, Driven(test, DESIGN, {}, "u_dut"))
        engines.append(CocotbTestEngine(target, workload, elaboration, timeout_factor=factor))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


def site(elaboration, name, bit=0):
    table = elaboration.sites
    return next(table.offsets[i] + bit for i, e in enumerate(table.elements) if e.path == f"u_dut.{name}")


@pytest.fixture(scope="module")
def own_runner(tmp_path_factory):
    """Run a test under cocotb's runner, beside a task that inverts a bit; return its verdict."""
    folder = tmp_path_factory.mktemp("runner")
    build = built(DESIGN.sources, DESIGN.top, folder)
    (folder / "flipping.py").write_text(
        "import os, sys, cocotb\nfrom cocotb.handle import Immediate\n"
        "from cocotb.triggers import RisingEdge, Timer\nimport bench_tests\n"
        "own = getattr(bench_tests, os.environ['OWN'])\n"
        "@cocotb.test(name=os.environ['OWN'])\nasync def flipped(dut):\n"
        "    import random\n    random.seed(SEED)\n".replace("SEED", "int(os.environ['OWN_SEED'])")
        + "    name, bit, cycle = os.environ['FLIP'].split()\n"
        "    async def flip():\n"
        "        for _ in range(int(cycle) + 1):\n            await RisingEdge(dut.clk_i)\n"
        "        await Timer(1, unit='step')\n        word = getattr(dut, name)\n"
        "        word.set(Immediate(int(word.value) ^ (1 << int(bit))))\n"
        "    if int(cycle) >= 0:\n        cocotb.start_soon(flip())\n"
        "    await own.func(dut)\n"
    )

    def run(test, name, bit, cycle, seed):
        given = {"OWN": test, "FLIP": f"{name} {bit} {cycle}", "OWN_SEED": str(seed)}
        return not failures(build, DESIGN.top, "flipping", [HERE], given)

    return run


def test_verdicts_are_those_of_cocotbs_own_runner(made, elaboration, own_runner):
    """A test without random numbers, so that both runs drive the same; each bit in two cycles."""
    engine = made("checks_at_the_edge")
    assert own_runner("checks_at_the_edge", "sum_q", 0, -1, 0)
    faults = {
        Fault(site(elaboration, name, bit), cycle): (name, bit, cycle)
        for name, bit in [("sum_q", 0), ("sum_q", 7), ("valid_q", 0), ("last_q", 1), ("parity_q", 0)]
        for cycle in (1, 5)
    }
    found = {own.fault: own for own in engine.run([*faults])}
    verdicts = set()
    for fault, (name, bit, cycle) in faults.items():
        passed = own_runner("checks_at_the_edge", name, bit, cycle, 0)
        assert (found[fault].seen is not Seen.SDC_CRITICAL) == passed, (name, bit, cycle)
        verdicts.add(passed)
    assert verdicts == {True, False}


def test_outcomes_are_what_arithmetic_says(made, elaboration):
    """Every bit in every cycle: the sum is read at the end, and what is in it after the reset stays there."""
    engine = made("sums")
    cycles = engine.golden().cycles
    # The first edge is in the reset, and the test ends at the falling edge after the last.
    assert cycles == 1 + 10 + 3
    faults = [Fault(number, cycle) for number in range(elaboration.sites.size) for cycle in range(cycles)]
    found = {own.fault: own for own in engine.run(faults)}
    for fault, own in found.items():
        name = elaboration.sites[fault.site].element.path
        if name == "u_dut.sum_q":
            assert own.seen is Seen.SDC_CRITICAL, fault
        elif name == "u_dut.last_q":
            # It is written with every value; the last one is taken at edge 10.
            assert own.seen is (Seen.LATENT if fault.cycle >= 10 else Seen.MASKED), fault
        if name in ("u_dut.sum_q", "u_dut.parity_q"):
            assert own.detected is not None
            assert own.detected.cycle == fault.cycle
    assert len(found) == len(faults)


def test_a_copy_is_a_run_from_the_beginning(made, elaboration):
    """Random numbers, tasks and objects of the test are those of a process that was never copied."""
    engine = made("sums")
    faults = [Fault(site(elaboration, "sum_q", bit), cycle) for bit, cycle in ((0, 3), (3, 8), (7, 13))]
    for own in engine.run(faults):
        assert engine.replay(own.fault) == own


def test_time_outs_of_the_test_and_of_the_injection_are_hangs(made, elaboration):
    fault = Fault(site(elaboration, "sum_q", 7), 4)
    # The test's own time-out comes first, or the limit of the injection.
    for name, factor in (("waits", 100.0), ("waits_for_ever", 2.0)):
        engine = made(name, factor)
        (own,) = engine.run([fault])
        assert own.end_cycle in ((39, 40) if name == "waits" else (engine.timeout_cycles,))
        assert (own.end_cycle < engine.timeout_cycles) == (name == "waits")
        assert own.outcome is Outcome.DUE
        assert own.seen is Seen.HANG, name


def test_an_exception_that_is_no_verdict_is_an_error_and_keeps_what_was_answered(made, elaboration):
    masked, wrong = Fault(site(elaboration, "last_q", 0), 1), Fault(site(elaboration, "sum_q", 6), 2)
    answered = []
    with pytest.raises(
        CocotbTestError, match=r"(?s)sum_q.*IndexError.*failures = \[\"IndexError\"\]"
    ) as raised:
        answered.extend(made("looks_up").run([masked, wrong]))
    assert raised.value.field == "workload.failures"
    assert [own.fault for own in answered] == [masked]
    (own,) = made("looks_up", failures=("LookupError",)).run([wrong])
    assert own.seen is Seen.SDC_CRITICAL


def test_a_test_that_lets_no_time_pass_is_ended(made, elaboration, monkeypatch):
    monkeypatch.setattr("resil.rtl_harness.engine.reference.testbench._LEAST_SECONDS", 3.0)
    with pytest.raises(SimulationError, match="SIGALRM"):
        list(made("spins").run([Fault(site(elaboration, "sum_q", 6), 2)]))


def test_a_test_with_threads_has_a_process_for_each_fault(made, elaboration):
    engine = made("has_a_thread")
    faults = [Fault(site(elaboration, "sum_q", 0), 3), Fault(site(elaboration, "last_q", 0), 2)]
    found = {own.fault: own.seen for own in engine.run([*faults, faults[0]])}
    assert found == {faults[0]: Seen.SDC_CRITICAL, faults[1]: Seen.MASKED}
    assert "process" in engine.notes[0]


def test_an_expected_error_that_does_not_come_is_a_failure(made, elaboration):
    (own,) = made("expects_an_error").run([Fault(site(elaboration, "sum_q", 6), 2)])
    assert own.seen is Seen.SDC_CRITICAL


def test_a_test_gets_what_it_is_given(made, tmp_path):
    (tmp_path / "v").write_text("7")
    given = {"plusargs": ("+mode=fast",), "environment": {"DEPTH": "8"}}
    assert made("is_given", **given, files={"data/vector.txt": tmp_path / "v"}).golden().cycles == 2
    with pytest.raises(CocotbTestError, match="FileNotFoundError"):
        made("is_given", **given).golden()


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("fails", CocotbTestError, "the sum is one"),
        ("goes_by_the_time_of_day", SimulationError, "does the same each time"),
        ("is_not_there", SimulationError, "No tests left after filtering"),
    ],
)
def test_tests_that_are_refused(name, error, says, made):
    with pytest.raises(error, match=says):
        made(name).golden()


def test_what_a_test_cannot_do_is_refused(target, elaboration, made):
    engine = made("sums")
    with pytest.raises(HarnessError, match="stuck bit") as raised:
        list(engine.run([Fault(0, 0, held=1)]))
    assert raised.value.field == "fault.held"
    counted = replace(target, operation="sum_o")
    with pytest.raises(HarnessError, match="timeout"):
        CocotbTestEngine(counted, engine.workload, elaboration, timeout=Timeout.OPERATION)


def test_the_reference_engine_takes_a_test(target, elaboration, made):
    limits = {"timeout_factor": 2.0, "timeout": Timeout.INFERENCE, "until_detection": False}
    own = made("sums")
    options = DECLARATION.values({})
    with DECLARATION.make(target, own.workload, elaboration, limits, options) as engine:
        assert engine.golden() == own.golden()


def test_a_recording_has_the_ports_and_is_the_same_each_time(tmp_path, made):
    driven = made("sums").workload.driven
    for name in ("one", "two"):
        record_test(driven, tmp_path / f"{name}.vcd", 1000)
    text = (tmp_path / "one.vcd").read_text()
    assert text == (tmp_path / "two.vcd").read_text()
    assert text.count("#") > 20
    with pytest.raises(CocotbTestError, match="timed out: 5 cycles"):
        record_test(driven, tmp_path / "three.vcd", 5)


def test_a_closed_design_has_no_shell(repository):
    from resil.rtl_harness.design.target import load_target

    with pytest.raises(HarnessError, match="the design alone") as raised:
        in_shell(load_target(repository / "examples" / "awkward" / "target.toml"), {})
    assert raised.value.field == "dut"
