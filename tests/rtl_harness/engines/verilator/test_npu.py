"""The fast engine on the NPU. The slow tests build it for cocotb and turn it into gates."""

import random

import pytest

from networks import zoo
from networks.compile import compile_network
from rtl_harness.elaboration import elaborate
from rtl_harness.engines.cocotb.engine import CocotbEngine
from rtl_harness.engines.verilator.engine import VerilatorEngine
from rtl_harness.faults import Fault
from rtl_harness.npu.workload import npu_workload
from rtl_harness.target import load_target
from rtl_harness.verilated.campaign import Shortcut

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
