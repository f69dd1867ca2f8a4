# SPDX-License-Identifier: Apache-2.0
"""A register that resets others asynchronously, beside a gated clock: the reset acts as soon as it begins."""

from pathlib import Path

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.faults import Fault
from testkit.closed_cores import core_target

SOURCE = Path(__file__).parents[2] / "logic" / "pulsed.sv"
WORKLOAD = Workload(
    "sum", {"input": bytes(37 * i % 251 for i in range(16))}, OutputSpec("output", 0, (16,)), decide=exact
)


def test_every_register_bit_in_every_cycle_is_as_in_a_run_to_the_end():
    target = core_target(SOURCE)
    elaboration = elaborate(target)
    sites = elaboration.sites
    bits = [site for site in range(sites.size) if sites[site].element.kind == "ff"]
    with VerilatorEngine(target, WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as plain:
        faults = [Fault(site, cycle) for site in bits for cycle in range(plain.golden().cycles)]
        expected = {injection.fault: injection for injection in plain.run(faults)}
    with VerilatorEngine(target, WORKLOAD, elaboration, sweep=True, audit=NOTHING) as made:
        found = {injection.fault: injection for injection in made.run(faults)}
        assert made.notes == []
    assert found == expected
