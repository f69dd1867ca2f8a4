# SPDX-License-Identifier: Apache-2.0
"""Machines in a lane model are in the states of Verilator's model, and campaigns end as without."""

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetAlarm, TargetMemory
from resil.rtl_harness.engine.fast import acceleration as sweeps
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.lane_library import lanes_of
from resil.rtl_harness.engine.fast.lanes import build, emit
from resil.rtl_harness.engine.fast.lanes.build import lane_model
from resil.rtl_harness.engine.fast.lanes.words import UnsupportedLanesError
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.faults import Fault
from tests.rtl_harness.engine.fast.lanes.machines import MACHINES, Machines

TARGET = Target(
    name="crowd",
    top="crowd",
    sources=(Path(__file__).parent / "crowd.sv",),
    clock="clk_i",
    reset="rst_ni",
    dut="u_core",
    done="done_o",
    alarms={"error": TargetAlarm("error_o")},
    operation="operations_o",
    blocks={"core": ("u_core",)},
    memories={
        "input": TargetMemory("in_q", 1, "input", observed=False),
        "output": TargetMemory("out_q", 4, "output"),
    },
)
ALERTED = dataclasses.replace(TARGET, name="alerted", alarms={"alert": TargetAlarm("alert_o")})
ARRAYS = dataclasses.replace(
    TARGET, name="arrays", top="arrays", sources=(Path(__file__).parent / "arrays.sv",)
)
BEYOND = dataclasses.replace(
    TARGET,
    name="beyond",
    top="beyond",
    sources=(Path(__file__).parent / "beyond.sv",),
    alarms={},
    operation="",
    memories={"output": TargetMemory("out_q", 4, "output")},
)
WORKLOAD = Workload("some", {"input": bytes(range(40, 56))}, OutputSpec("output", 0, (64,)))
SECOND_CLOCK = dataclasses.replace(WORKLOAD, parameters={"SecondClock": 1})


@pytest.fixture(scope="module", params=[TARGET, ARRAYS], ids=lambda target: target.name)
def model(request):
    made = CompiledModel(request.param, WORKLOAD, elaborate(request.param))
    yield made
    made.close()


def different(model, one, other):
    """Paths of the storage in which two states differ."""
    places = {path: model.map.storage(path) for path in model.map.paths}
    return [
        p
        for p, s in places.items()
        if not np.array_equal(one[s.offset :][: s.size], other[s.offset :][: s.size])
    ]


def differences(model, start, cycles):
    """Let machines with different faults go on in lanes and in Verilator's model; yield what then differs."""
    library = lanes_of(lane_model(model.target, {}), model)
    choose, table = random.Random(4), model.elaboration.sites
    machines = Machines(library.library, library.places)
    golden = model.start()
    golden.run_to(start)
    instances, states = [], []
    for number in range(MACHINES):
        instance = model.start()
        instance.copy_from(golden)
        for _ in range(min(number, 3)):
            model.strike(instance, Fault(choose.randrange(table.size), start))
        instance.settle()
        states.append(np.array(instance.state))
        instances.append(instance)
        machines.load(number, states[-1], library.memories)
    assert len({state.tobytes() for state in states}) > MACHINES // 2
    assert machines.run(cycles) == cycles
    for number, (instance, state) in enumerate(zip(instances, states, strict=True)):
        instance.run_to(start + cycles)
        machines.store(number, state, library.memories)
        if instance.cycle == start + cycles:
            yield from ((number, path) for path in different(model, state, np.array(instance.state)))
        instance.close()
    golden.close()
    machines.close()


@pytest.mark.parametrize("path", build.paths())
@pytest.mark.parametrize("span", [(5, 40), (300, 1000)])
def test_machines_with_different_faults_are_verilators(path, span, model, monkeypatch):
    monkeypatch.setattr(build, "path", lambda: path)
    assert list(differences(model, *span)) == []


def test_each_way_to_compute_has_a_library_of_its_own(monkeypatch):
    """The fault: a library for instructions that a processor lacks is taken from the cache."""
    keys = set()
    for path in build.PATHS:
        monkeypatch.setattr(build, "path", lambda path=path: path)
        keys.add(build._key(TARGET, {}))
    monkeypatch.setattr(build, "processor", lambda: "another")
    keys.add(build._key(TARGET, {}))
    assert len(keys) == len(build.PATHS) + 1
    assert build.paths()[-1] == "plain"


def outcomes(workload, faults, lanes, target=TARGET, **options):
    elaboration = elaborate(target, workload.parameters)
    with VerilatorEngine(
        target, workload, elaboration, sweep=True, lanes=lanes, audit=NOTHING, **options
    ) as engine:
        found = {injection.fault: injection for injection in engine.run(faults)}
        return found, engine.notes


def faults_of(workload, number):
    choose, table = random.Random(9), elaborate(TARGET, workload.parameters).sites
    return sorted({Fault(choose.randrange(table.size), choose.randrange(2000)) for _ in range(number)})


@pytest.mark.parametrize("path", build.paths())
def test_a_campaign_ends_as_without_lanes(path, monkeypatch):
    monkeypatch.setattr(build, "path", lambda: path)
    faults = faults_of(WORKLOAD, 400)
    (plain, notes), (found, more) = (outcomes(WORKLOAD, faults, lanes) for lanes in (False, True))
    assert notes == more == []
    assert found == plain
    assert len({injection.outcome for injection in plain.values()}) > 2


def alerted_runs(elaboration):
    """Faults of the register that an alarm watches, and what runs to the end say of each."""
    table = elaboration.sites
    (place,) = [i for i, e in enumerate(table.elements) if e.path == "u_core.random_q"]
    faults = [Fault(table.offsets[place] + bit, 40 * bit) for bit in range(32)]
    plain, _ = outcomes(WORKLOAD, faults, False, ALERTED, shortcuts=Shortcut.NONE)
    return faults, plain


def test_alarms_that_rise_in_lanes_are_told_in_their_cycle():
    """The fault: an alarm of a machine in a lane is missed, or told of another cycle."""
    elaboration, told = elaborate(ALERTED), []
    faults, plain = alerted_runs(elaboration)
    with VerilatorEngine(ALERTED, WORKLOAD, elaboration, sweep=True, lanes=True, audit=NOTHING) as made:
        made.observer = lambda done: told.append(done.in_lane and done.injection.detected is not None)
        assert {injection.fault: injection for injection in made.run(faults)} == plain
        assert made.notes == []
    assert sum(told) > 8


def test_runs_in_lanes_end_at_detection():
    """The fault: a machine in a lane goes on though it has told, or is taken for one that told."""
    elaboration = elaborate(ALERTED)
    faults, plain = alerted_runs(elaboration)
    cut = {fault: injection.until_detection() for fault, injection in plain.items()}
    ways = []
    options = {"sweep": True, "lanes": True, "audit": NOTHING, "until_detection": True}
    with VerilatorEngine(ALERTED, WORKLOAD, elaboration, **options) as made:
        made.observer = lambda done: ways.append((done.in_lane, done.how))
        assert {injection.fault: injection for injection in made.run(faults)} == cut
        assert made.notes == []
    assert ways.count((True, "detected")) > 8


def test_what_is_selected_beyond_an_end_is_left_to_the_simulator():
    """The fault: gates and lanes take it for 0, where Verilator takes bits from elsewhere in the word."""
    workload = Workload("none", {}, OutputSpec("output", 0, (256,)))
    table = elaborate(BEYOND, {}).sites
    starts = dict(zip((e.path.rsplit(".", 1)[-1] for e in table.elements), table.offsets, strict=False))
    pointers = [starts[name] for name in ("short_at_q", "long_at_q", "word_at_q", "wide_at_q")]
    faults = [
        Fault(first + bit, cycle, bits)
        for first, width in zip(pointers, (3, 4, 5, 7), strict=True)
        for bit in range(width)
        for bits in range(1, width - bit + 1)
        for cycle in range(20, 1500, 200)
    ]
    plain, _ = outcomes(workload, faults, False, BEYOND, shortcuts=Shortcut.NONE)
    for lanes in (False, True):
        found, notes = outcomes(workload, faults, lanes, BEYOND)
        assert notes == []
        assert found == plain


@pytest.mark.parametrize(
    ("least", "making", "there", "used", "faster"),
    [
        (2, 4, True, False, True),
        (1, 4, False, False, True),
        (1, 4, True, True, True),
        (1, 1, False, True, True),
        (0.4, 0.5, False, True, True),
        (0.4, 0.5, True, False, False),
    ],
)
def test_lanes_are_used_where_they_pay(least, making, there, used, faster, monkeypatch):
    """`least` and `making` are the work from which on they do, as multiples of what is asked for; `faster` is
    whether they are, on this processor.
    """
    faults, asked = faults_of(WORKLOAD, 20), []

    def asked_for(*arguments):
        asked.append(arguments)
        return lane_model(*arguments)

    monkeypatch.setattr(sweeps, "lane_model", asked_for)
    monkeypatch.setattr(sweeps, "is_made", lambda *arguments: there)
    monkeypatch.setattr(sweeps, "pays", lambda: faster)
    with VerilatorEngine(TARGET, WORKLOAD, elaborate(TARGET), sweep=True, audit=NOTHING) as one:
        work = len(faults) * one.golden().end.end_cycle
        monkeypatch.setattr(sweeps, "LANES_FROM", least * work)
        monkeypatch.setattr(sweeps, "LANES_MADE_FROM", making * work)
        list(one.run(faults))
    assert len(asked) == used


def test_no_structure_has_more_members_than_a_compiler_takes_in_its_stride(tmp_path, monkeypatch):
    """The fault: a compiler looks for the name of each among all before it, for minutes in the NPU."""
    monkeypatch.setattr(emit, "MEMBERS", 8)
    build._generate(build.frozen(TARGET), WORKLOAD.parameters, tmp_path)
    text = (tmp_path / build.SOURCE).read_text()
    state = text[text.index("struct State0") : text.index("struct alignas(64) State :")]
    sizes = [len(one.splitlines()) - 2 for one in state.split("struct ")[1:]]
    assert len(sizes) > 3
    assert max(sizes) == 8


def test_a_second_clock_is_refused_by_name_and_the_campaign_goes_on():
    with pytest.raises(UnsupportedLanesError, match=r"other_q.* has a clock of its own"):
        lane_model(TARGET, SECOND_CLOCK.parameters)
    faults = faults_of(SECOND_CLOCK, 60)
    (plain, _), (found, notes) = (outcomes(SECOND_CLOCK, faults, lanes) for lanes in (False, True))
    assert found == plain
    assert notes
