# SPDX-License-Identifier: Apache-2.0
"""Faults in logic of designs of several edges, and of random ones, beside their netlists."""

from pathlib import Path

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.sites import pin_sites
from resil.rtl_harness.logic.stuck_engine import StuckEngine
from resil.rtl_harness.logic.synthesis import logic_netlist
from testkit.closed_cores import core_target
from testkit.fault_models import MODELS, compared_faults
from testkit.random_core import RandomCore

FALLING = Path(__file__).with_name("falling.sv")
WORK = Workload("nothing", {}, OutputSpec("output", 0, (16,)), decide=exact)


def require_equal(target, folder, number, seed):
    """Compare faults of all four models; return outcomes by model."""
    found = {}
    for model in MODELS:
        (folder / model).mkdir()
        compared = compared_faults(model, target, WORK, number, seed, folder / model)
        assert compared.different == [], model
        found[model] = set(compared.outcomes)
    return found


def test_what_depends_on_the_falling_edge_is_as_in_the_netlist(tmp_path):
    """The fault: gates took what such a flip-flop had before, and every such design was refused."""
    target = core_target(FALLING)
    found = require_equal(target, tmp_path, 500, 5)
    for outcomes in found.values():
        assert {"masked", "sdc_critical"} <= outcomes
    netlist = logic_netlist(target, with_hardware(target, elaborate(target)))
    assert netlist.clock_cells.size
    # What changes within a cycle has no sites, and it is said.
    bare = {netlist.names[cell] for cell in np.flatnonzero(np.diff(netlist.first_pin) == 0)}
    storing = {name for name in bare if name.endswith("]")}
    assert {name.partition("[")[0] for name in storing} == {
        # Those of the falling edge, and those that they take without logic between or through it.
        *("u_core.half_q", "u_core.kept_q", "u_core.step_q", "u_core.sum_q")
    }
    assert len(netlist.left_out) == len(bare)
    assert {own.reason for own in netlist.left_out.values()} == {"within_cycle", "falling_edge"}
    # Their pins are listed, those of the cells that could not be followed.
    table = pin_sites(with_hardware(target, elaborate(target)).sites, netlist).table
    pins = {own.name: own for own in table.no_sites}
    assert {own.path for own in pins.values()} == bare
    assert {"u_core.half_q[0]/D", "u_core.half_q[0]/C", "u_core.half_q[0]/Q"} <= set(pins)
    assert pins["u_core.half_q[0]/Q"].reason == "within_cycle"
    assert pins["u_core.half_q[0]/Q"].block == "core"


def test_a_falling_edge_before_the_first_cycle_is_none(tmp_path):
    """The fault: along the gates the first cycle began with a falling edge, which the RTL has not."""
    target = core_target(FALLING, parameters={"Early": 1})
    elaboration = with_hardware(target, elaborate(target))
    netlist = logic_netlist(target, elaboration)
    with (
        StuckEngine(target, WORK, elaboration, netlist, pin_sites(elaboration.sites, netlist)) as engine,
        pytest.raises(HarnessError, match=r"sum_q, bit 0: expected 0 after the first edge"),
    ):
        _ = engine.simulator


@pytest.mark.parametrize("seed", [207, 213])
def test_random_designs_are_as_their_netlists(seed, tmp_path):
    source = tmp_path / f"random_{seed}.sv"
    source.write_text(RandomCore(source.stem, seed).text)
    found = require_equal(core_target(source), tmp_path, 150, seed)
    assert len(set.union(*found.values())) >= 3


def test_random_designs_are_many_and_the_same_again():
    texts = [RandomCore("one", seed).text for seed in range(40)]
    assert len({*texts}) == 40
    assert texts == [RandomCore("one", seed).text for seed in range(40)]
    kinds = ("negedge clk_i", "_gate u_gate", "clear_", "m0_q[64]", "m1_q[128]", "if (!rst_ni) r0_q")
    assert all(1 < sum(kind in text for text in texts) <= 40 for kind in kinds)
    assert np.mean([text.count("always_ff") for text in texts]) > 6
