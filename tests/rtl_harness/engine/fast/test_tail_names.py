# SPDX-License-Identifier: Apache-2.0
"""What a tail names is found again in protected RTL, or left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.storage_names import Became, StorageNames, read_storage_names
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.tail_names import TailNames
from resil.rtl_harness.engine.tail import Queue
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.workload import npu_workload
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup, build_protection
from testkit.errors import about
from tests.rtl_harness.engine.fast.test_exits import data_faults

COPIES = ("d.u_state_q.u_copy_a.q_q", "d.u_state_q.u_copy_b.q_q")
NAMES = StorageNames(
    {
        "d.state_q": Became(4, (), COPIES),
        "d.lane[0].data_q": Became(8, ("d.lane_0_data_q",)),
        "d.mixed_q": Became(8, ("d.mixed_q_3_0",), ("d.u_mixed_q_7_4.u_data.q_q",)),
        "d.mem[0].mem_q": Became(64, ("d.mem_0_mem_q",)),
        "d.wide_q": Became(4, ("d.wide",)),
        "d.level_q": Became(2, ("d.fifo_level_q",)),
    },
    ("alert_minor_o",),
)
WIDTHS = {
    **dict.fromkeys(COPIES, 4),
    "d.lane_0_data_q": 8,
    "d.mixed_q_3_0": 4,
    "d.u_mixed_q_7_4.u_data.q_q": 4,
    "d.mem_0_mem_q": 8,
    "d.wide": 6,
    "d.fifo_level_q": 2,
    "d.head_q": 2,
    "d.tail_q": 2,
    "d.kept_q": 1,
}


@dataclass
class Map:
    """Widths of registers; memories have 8 words."""

    widths: dict

    @property
    def paths(self):
        return list(self.widths)

    def place(self, path):
        return self.storage(path), 0, self.widths[path]

    def storage(self, path):
        return SimpleNamespace(depth=8 if "mem" in path else 1)


@dataclass
class Names:
    """A tail as far as it names storage."""

    rings: tuple = ()

    def queues(self):
        return self.rings


def resolved(names=NAMES, **said):
    return TailNames(Names(**said), names, Map(WIDTHS))


def test_queues_keep_their_names_or_are_left_out():
    found = resolved(rings=(Queue("d.level_q", ("d.head_q", "d.tail_q")),))
    assert found.queues == [Queue("d.fifo_level_q", ("d.head_q", "d.tail_q"))]
    found = resolved(rings=(Queue("d.state_q", ("d.head_q", "d.tail_q")),))
    assert found.queues == []
    assert "1 of the queues" in found.notes[0]
    assert "d.state_q" in found.notes[0]
    assert resolved().notes == []
    with pytest.raises(HarnessError, check=about("tail.queue")):
        resolved(rings=(Queue("d.level_q", ("d.gone_q", "d.tail_q")),))


def test_what_holds_more_than_the_register_is_left_out():
    """The fault: a run leaves with wrong bits of another register that now lie in the same variable."""
    assert resolved(rings=(Queue("d.wide_q", ("d.head_q", "d.tail_q")),)).queues == []


def test_a_new_name_is_none_of_the_tail_s():
    """A name is about the design that was protected: what it would be by chance now is not meant."""
    with pytest.raises(HarnessError, check=about("tail.queue")):
        resolved(rings=(Queue("d.nothing_q", ("d.head_q", "d.tail_q")),))


def test_names_are_read_back(tmp_path):
    file = tmp_path / "names.json"
    file.write_text(NAMES.text())
    assert read_storage_names(file) == NAMES
    for damaged in (
        "",
        "[]",
        '{"alerts": [1], "became": {}}',
        '{"alerts": [], "became": {"a": {"bits": 1}}}',
    ):
        file.write_text(damaged)
        with pytest.raises(HarnessError, check=about("names")):
            read_storage_names(file)


@pytest.fixture(scope="module")
def digits():
    network = zoo.load("digits")
    return npu_workload(compile_network(network.path, "ethos-u55-32"), network.heldout_inputs[0])


def test_a_wrong_name_is_found_by_trial(digits):
    """If a name leads to what does matter, scrambling tells, and no run leaves."""
    target = load_target("ethos-u55-32")
    elaboration = elaborate(target, digits.parameters)
    head, tail = (f"u_npu.u_dma.u_piece.u_runs.u_queue.{name}_q" for name in ("head", "tail"))
    wrong_target = replace(target, storage_names=StorageNames({head: Became(0, (tail,))}))
    with VerilatorEngine(wrong_target, digits, elaboration, sweep=True) as engine:
        engine.prepare()
        assert "queues turned; that changed the run" in engine.notes[0]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [Mechanism.TRIPLICATION, Mechanism.PARITY])
def test_protected_npu_in_sweeps_and_lanes(digits, mechanism, tmp_path):
    """Sweeps, runs that leave and lanes give what whole simulations give, alarms included."""
    target = load_target("ethos-u55-32")
    build_protection(
        target, elaborate(target, digits.parameters), [ProtectionGroup("cc", mechanism)], tmp_path / "out"
    )
    protected = load_target(tmp_path / "out" / "target.toml")
    elaboration = elaborate(protected, digits.parameters)
    with VerilatorEngine(protected, digits, elaboration, sweep=False) as engine:
        faults = data_faults(engine, 300, ("u_npu.u_cc.", "u_npu.u_mac.", "u_npu.u_dma."))
        plain = {i.fault: replace(i, corruption=None) for i in engine.run(faults)}
    for lanes in (False, True):
        with VerilatorEngine(protected, digits, elaboration, sweep=True, lanes=lanes) as engine:
            found = {i.fault: replace(i, corruption=None) for i in engine.run(faults)}
            assert found == plain
            assert engine.notes == []
            assert engine.ends["left"] > 0
    told = Counter((i.detected or i.corrected).alarm for i in plain.values() if i.detected or i.corrected)
    assert told["alert_minor" if mechanism.corrects else "alert_major"] > 50
