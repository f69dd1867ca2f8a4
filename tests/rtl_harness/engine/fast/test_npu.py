# SPDX-License-Identifier: Apache-2.0
"""The fast engine on the NPU. The slow tests build it for cocotb and turn it into gates."""

import random

import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.npu.workload import npu_workload

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def parts():
    digits = zoo.load("digits")
    workload = npu_workload(compile_network(digits.path, "ethos-u55-32"), digits.heldout_inputs[0])
    target = load_target("ethos-u55-32")
    return target, workload, elaborate(target, workload.parameters)


@pytest.fixture(scope="module")
def engine(parts):
    with VerilatorEngine(*parts) as made:
        yield made


@pytest.fixture(scope="module")
def faults(engine):
    """Every block and kind of storage as often as any other, elements likewise."""
    choose = random.Random(11)
    table, cycles = engine.elaboration.sites, engine.golden().end.end_cycle
    groups: dict[tuple[str, str], list[int]] = {}
    for index, element in enumerate(table.elements):
        groups.setdefault((element.block, element.kind), []).append(index)
    chosen = set()
    while len(chosen) < 520:
        group = sorted(groups)[len(chosen) % len(groups)]
        index = choose.choice(groups[group])
        site = choose.randrange(table.offsets[index], table.offsets[index + 1])
        chosen.add(Fault(site, choose.randrange(cycles), min(choose.choice((1, 1, 2, 3)), table.room(site))))
    return sorted(chosen)


@pytest.fixture(scope="module")
def injections(engine, faults):
    return {injection.fault: injection for injection in engine.run(faults, workers=2)}


def test_agrees_with_the_cocotb_engine(parts, engine, faults, injections):
    with CocotbEngine(*parts) as reference:
        assert reference.golden() == engine.golden()
        assert {i.fault: i for i in reference.run(faults, workers=2)} == injections


@pytest.mark.parametrize(
    ("shortcuts", "sweep"), [(Shortcut.NONE, False), (~Shortcut.LEAVE, True), (Shortcut.ALL, True)]
)
def test_shortcuts_change_nothing(parts, faults, injections, shortcuts, sweep):
    with VerilatorEngine(*parts, shortcuts=shortcuts, sweep=sweep) as made:
        assert {i.fault: i for i in made.run(faults)} == injections
        assert made.notes == []


def test_faults_while_the_design_comes_out_of_reset(parts, engine):
    """Blocks are then held in reset by a register; a sweep enters these cycles from later ones."""
    choose, size = random.Random(5), engine.elaboration.sites.size
    faults = [Fault(choose.randrange(size), cycle) for cycle in range(4) for _ in range(40)]
    with VerilatorEngine(*parts, sweep=True) as made:
        found = {i.fault: i for i in made.run(faults)}
    with VerilatorEngine(*parts, sweep=False) as plain:
        assert found == {i.fault: i for i in plain.run(list(found))}


def test_lanes_change_nothing(parts, faults, injections):
    with VerilatorEngine(*parts, sweep=True, lanes=True) as made:
        assert {i.fault: i for i in made.run(faults)} == injections
        assert made.notes == []


@pytest.mark.parametrize("factor", [1.02, 2.0])
def test_a_time_out_of_each_operation(parts, engine, factor):
    """Faults in control and in the copies: many hang, some end late, one within an operation that is late."""
    options = {"timeout": Timeout.OPERATION, "timeout_factor": factor}
    choose, table = random.Random(7), engine.elaboration.sites
    control = [i for i, e in enumerate(table.elements) if e.kind == "ff" and e.block in ("cc", "dma")]
    faults = set()
    while len(faults) < 600:
        index = choose.choice(control)
        site = choose.randrange(table.offsets[index], table.offsets[index + 1])
        faults.add(Fault(site, choose.randrange(engine.golden().cycles)))
    plain = {"shortcuts": Shortcut.NONE, "audit": NOTHING}
    with VerilatorEngine(*parts, **plain, **options) as made:
        expected = {i.fault: i for i in made.run(sorted(faults), workers=2)}
    for further in ({"sweep": False}, {"sweep": True, "lanes": False}, {"sweep": True, "lanes": True}):
        with VerilatorEngine(*parts, audit=NOTHING, **further, **options) as made:
            assert {i.fault: i for i in made.run(sorted(faults))} == expected
            assert made.notes == []
    hangs = [fault for fault, i in expected.items() if i.seen is Seen.HANG]
    assert len(hangs) > 40
    chosen = sorted({*choose.sample(sorted(faults), 40), *choose.sample(hangs, 20)})
    with CocotbEngine(*parts, **options) as reference:
        assert {i.fault: i for i in reference.run(chosen, workers=2)} == {f: expected[f] for f in chosen}
