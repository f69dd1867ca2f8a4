# SPDX-License-Identifier: Apache-2.0
"""Clocks that a design makes itself: sweeps say of every bit in every cycle what runs to the end say."""

from dataclasses import replace
from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING, NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.gates import gates
from resil.rtl_harness.engine.fast.gates.cycle import Cycle
from resil.rtl_harness.engine.fast.gates.logic import ONE, ZERO
from resil.rtl_harness.engine.fast.gates.moments import Moment
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Fault
from testkit.closed_cores import core_target

SOURCE = Path(__file__).parent / "gated.sv"
KINDS = {"latch": 0, "series": 1, "falling": 2, "and": 3, "divided": 4, "lockup": 5}
WORKLOAD = Workload(
    "sum", {"input": bytes(37 * i % 251 for i in range(16))}, OutputSpec("output", 0, (16,)), decide=exact
)


def target(kind: str) -> Target:
    return core_target(SOURCE, f"gated-{kind}", parameters={"Kind": KINDS[kind]})


def swept(made, faults):
    """Answers of sweeps, of which nothing was simulated by itself."""
    found = {injection.fault: injection for injection in made.run(faults)}
    assert made.notes == []
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_in_every_cycle_is_as_in_a_run_to_the_end(kind):
    elaboration = elaborate(target(kind))
    with VerilatorEngine(target(kind), WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as plain:
        faults = [Fault(s, c) for s in range(elaboration.sites.size) for c in range(plain.golden().cycles)]
        expected = {injection.fault: injection for injection in plain.run(faults)}
    with VerilatorEngine(target(kind), WORKLOAD, elaboration, sweep=True, audit=NOTHING) as made:
        assert swept(made, faults) == expected
    assert len({injection.outcome for injection in expected.values()}) >= 3


@pytest.mark.slow
def test_the_reference_engine_says_the_same():
    """All storage of one design, in cycles that are no two alike; cocotb sees the same latches and edges."""
    elaboration = elaborate(target("series"))
    with VerilatorEngine(target("series"), WORKLOAD, elaboration, sweep=True, audit=NOTHING) as made:
        faults = [Fault(s, 7 + 5 * s % 31) for s in range(elaboration.sites.size)]
        found = swept(made, faults)
    with CocotbEngine(target("series"), WORKLOAD, elaboration) as reference:
        assert {injection.fault: injection for injection in reference.run(faults)} == found


@pytest.mark.parametrize("kind", ["latch", "series"])
def test_most_is_followed_along_the_gates(kind):
    """An enable that is wrong makes its latch wrong; that alone is no reason to simulate."""
    elaboration = elaborate(target(kind))
    with VerilatorEngine(target(kind), WORKLOAD, elaboration, sweep=True, audit=NOTHING) as made:
        faults = [Fault(s, c) for s in range(elaboration.sites.size) for c in range(made.golden().cycles)]
        assert len(swept(made, faults)) == len(faults)
        followed = made.simulated
    with VerilatorEngine(target(kind), WORKLOAD, elaboration, sweep=False, audit=NOTHING) as alone:
        assert len(list(alone.run(faults))) == len(faults)
    assert followed < alone.simulated / 2


def inverted(self, part):
    return self._parts.logic.not_(latched(self, part))


def transparent(self, part):
    return self.net(part.inputs["D"][0])


def late(self, part, port):
    return self._parts.logic.not_(level(self, part, port)) if port == "E" else level(self, part, port)


def always(self, *arguments):
    return ONE if rises(self, *arguments) != ZERO else ZERO


latched, level, rises = Moment._latched, Moment._level, Cycle._rises


@pytest.mark.parametrize(
    ("holder", "name", "wrong"),
    [
        (Moment, "_latched", inverted),
        (Moment, "_latched", transparent),
        (Moment, "_level", late),
        (Cycle, "_rises", always),
    ],
    ids=["an enable inverted", "a latch ignored", "an enable a phase late", "a gate ignored"],
)
def test_gates_that_gate_wrongly_are_seen_on_the_golden_run(holder, name, wrong, monkeypatch, tmp_path):
    elaboration = elaborate(target("latch"))
    faults = [Fault(site, 20) for site in range(elaboration.sites.size)]
    with VerilatorEngine(target("latch"), WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as plain:
        expected = {injection.fault: injection for injection in plain.run(faults)}
    monkeypatch.setattr(gates, "cached_folder", lambda kind, key, build: (build(tmp_path), tmp_path)[1])
    monkeypatch.setattr(holder, name, wrong)
    with VerilatorEngine(target("latch"), WORKLOAD, elaboration, sweep=True) as made:
        assert {injection.fault: injection for injection in made.run(faults)} == expected
        assert "simulated every fault by itself: " in made.notes[0]


def test_an_upset_of_a_gate_that_counts_as_any_other_is_seen_by_the_audit(monkeypatch, tmp_path):
    """The fault: what an upset does at once, an edge of the clock behind the gate, is left out."""
    elaboration = elaborate(target("latch"))
    (gate,) = [i for i, e in enumerate(elaboration.sites.elements) if elaboration.is_latch(e.path)]
    faults = [Fault(elaboration.sites.offsets[gate], cycle) for cycle in range(2, 50)]
    monkeypatch.setattr(gates, "cached_folder", lambda kind, key, build: (build(tmp_path), tmp_path)[1])
    monkeypatch.setattr(Cycle, "sensitive", lambda self: [])
    with (
        VerilatorEngine(target("latch"), WORKLOAD, elaboration, sweep=True, audit=EVERYTHING) as made,
        pytest.raises(AuditError),
    ):
        list(made.run(faults))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("posedge gclk) if (write)", "negedge gclk) if (write)"), "a memory is written at another edge"),
        (("assign data_o = sum_q", "assign data_o = {8{clk_i}} ^ sum_q"), "the clock is used as data"),
        (("always_ff @(posedge other) slow", "always_ff @(posedge ~gclk) slow"), None),
    ],
)
def test_what_cannot_be_converted_is_named_and_simulated(change, reason, tmp_path):
    source = tmp_path / "gated.sv"
    text = (Path(__file__).parent / "gated.sv").read_text()
    assert change[0] in text
    source.write_text(text.replace(*change))
    other = replace(target("lockup"), sources=(source,))
    elaboration = elaborate(other)
    faults = [Fault(site, 20) for site in range(0, elaboration.sites.size, 3)]
    with VerilatorEngine(other, WORKLOAD, elaboration, sweep=True, audit=EVERYTHING) as made:
        assert len(list(made.run(faults))) == len(faults)
        if reason is None:
            assert made.notes == []
        else:
            assert f"simulated every fault by itself: {reason}" in made.notes[0]
