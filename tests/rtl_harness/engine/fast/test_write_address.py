# SPDX-License-Identifier: Apache-2.0
"""The address of a write counts: a register that nothing but it looks at decides where data go."""

from pathlib import Path

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.faults import Fault, Seen
from testkit.closed_cores import core_target

TARGET = core_target(Path(__file__).with_name("offset.sv"), alarm=False)
WORKLOAD = Workload("words", {"input": bytes(range(7, 23))}, OutputSpec("output", 0, (64,)), decide=exact)


def test_a_wrong_address_is_seen():
    """The fault: gates towards an address count as unobserved, and a difference that they carry is missed."""
    elaboration = elaborate(TARGET)
    with VerilatorEngine(TARGET, WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as made:
        cycles = made.golden().cycles
        faults = [Fault(site, cycle) for site in range(elaboration.sites.size) for cycle in range(cycles)]
        plain = {injection.fault: injection for injection in made.run(faults)}
    moved = [f for f in faults if elaboration.sites[f.site].element.path.endswith("offset_q")]
    assert sum(plain[fault].seen is Seen.SDC_CRITICAL for fault in moved) > len(moved) // 2
    with VerilatorEngine(TARGET, WORKLOAD, elaboration, sweep=True, lanes=False, audit=NOTHING) as made:
        assert {injection.fault: injection for injection in made.run(faults)} == plain
        assert made.notes == []
