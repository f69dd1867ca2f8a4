# SPDX-License-Identifier: Apache-2.0
import dataclasses
import math
import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.elaboration.model import Location
from resil.rtl_harness.design.sites import SiteTable, StorageElement
from resil.rtl_harness.engine.reference.build import public_storage, wave_format
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.errors import (
    HarnessError,
    SimulationError,
    ToolMissingError,
    UnmappedSiteError,
)
from resil.rtl_harness.faults import Fault, Outcome, Reported, Rise, Seen
from testkit.awkward import awkward_target
from testkit.errors import about

OUTPUT = OutputSpec("sink", 0, (48, 8), "uint8")


@pytest.fixture(scope="module")
def target():
    return awkward_target()


@pytest.fixture(scope="module")
def elaboration(target):
    return elaborate(target)


@pytest.fixture(scope="module")
def workload():
    return Workload("random", {"source": np.random.default_rng(1).bytes(256)}, OUTPUT)


@pytest.fixture(scope="module")
def engine(target, workload, elaboration):
    with CocotbEngine(target, workload, elaboration) as made:
        yield made


def site(elaboration, path, bit=0, word=0):
    table = elaboration.sites
    index = next(i for i, e in enumerate(table.elements) if e.path == path)
    return table.offsets[index] + word * table.elements[index].width + bit


def keyed(injections):
    return {i.fault: i for i in injections}


@pytest.fixture(scope="module")
def some_faults(engine, elaboration):
    choose, table, cycles = random.Random(3), elaboration.sites, engine.golden().end.end_cycle
    sites = [choose.randrange(table.size) for _ in range(60)]
    return [Fault(s, choose.randrange(cycles), min(choose.randint(1, 3), table.room(s))) for s in sites]


def lane_sums(words):
    """The first round's lane sums by the definition of the example, from its 32-bit input words."""
    coefficients = [w & 0xFF for w in words[:4]]
    operands = [(w ^ w >> 8) & 0xFF for w in words[4:8]]
    return [
        sum((c * ((o + step) & 0xFF)) & 0xFFFF for step in range(16)) & 0x3FFFFFF
        for c, o in zip(coefficients, operands, strict=True)
    ]


def test_golden_run(engine, workload):
    golden = engine.golden()
    assert golden.end.finished
    assert golden.end.alarms == ()
    assert golden.end.end_cycle == 1 + 4 + 12 * (4 + 16 + 4)
    assert golden.operation_ends == tuple(29 + 24 * i for i in range(12))
    assert golden.end.status == 12 << 8 | 5
    words = np.frombuffer(golden.end.output, "<u8")
    sums = lane_sums(np.frombuffer(workload.images["source"], "<u4").tolist())
    assert [int(w >> np.uint64(6)) & 0x3FFFFFF for w in words[:4]] == sums


def test_every_flip_flop_and_every_kind_of_memory_bit_flips(engine, elaboration):
    table = elaboration.sites
    chosen = [
        s
        for i, e in enumerate(table.elements)
        for s in range(table.offsets[i], table.offsets[i + 1])
        if e.kind == "ff" or (s - table.offsets[i]) % 53 == 0 or s == table.offsets[i + 1] - 1
    ]
    assert len(chosen) > 349
    injections = list(engine.run([Fault(s, 292) for s in chosen], workers=2))
    assert sorted(i.fault.site for i in injections) == chosen
    # Flipped in the last cycle a bit cannot be overwritten any more, so none may look masked.
    assert Outcome.MASKED not in {i.outcome for i in injections}


def test_workers_and_order_do_not_matter(engine, some_faults):
    one = keyed(engine.run(some_faults, workers=1))
    two = keyed(engine.run(some_faults[::-1], workers=2))
    again = keyed(engine.run(some_faults[::2], workers=2))
    assert one == two
    assert again == {f: one[f] for f in again}
    assert len({i.outcome for i in one.values()}) >= 3


def test_replay_from_reset_gives_the_same(engine, some_faults):
    recorded = keyed(engine.run(some_faults[:4]))
    assert {f: engine.replay(f) for f in recorded} == recorded


def test_repeated_faults_each_get_an_injection(engine):
    assert len(list(engine.run([Fault(0, 5), Fault(0, 5)], workers=4))) == 2
    assert list(engine.run([])) == []


def test_known_outcomes(engine, elaboration):
    def outcome(path, bit, cycle):
        (injection,) = engine.run([Fault(site(elaboration, path, bit), cycle)])
        return injection

    # Counting past the last round, the design runs on until its 8-bit round counter wraps.
    hang = outcome("u_dut.u_control.round_q", 7, 10)
    assert (hang.outcome, hang.end_cycle, hang.seen) == (Outcome.HANG, math.ceil(2.0 * 293), Seen.HANG)
    # Bit 0 of the guard alone is the mismatch that the flush checks.
    due = outcome("u_dut.u_history.guard_q", 0, 40)
    assert (due.outcome, due.reported, due.status & 7) == (Outcome.DUE, Reported.DETECTED, 6)
    assert due.detected == Rise("error", Reported.DETECTED, due.end_cycle - 1)
    assert due.end_cycle < 293
    # Shifted out after three cycles, and nothing reads it.
    assert outcome("u_dut.u_control._unread_q", 2, 40).outcome == Outcome.MASKED
    assert outcome("u_dut.u_control._unread_q", 2, 292).outcome == Outcome.LATENT
    # An operand is not used before it is loaded.
    assert outcome("u_dut.u_lanes.operand_q", 3, 2).outcome == Outcome.MASKED
    assert outcome("u_dut.u_lanes.operand_q", 3, 10).outcome in {Outcome.SDC_CRITICAL, Outcome.SDC_TOLERABLE}


def test_flip_of_done_state_in_the_last_cycle_runs_on(engine, elaboration):
    # StDone (5) with bit 1 inverted is an unused code: the next edge goes to StFailed.
    (injection,) = engine.run([Fault(site(elaboration, "u_dut.u_control.state_q", 1), 292)])
    assert (injection.outcome, injection.end_cycle) == (Outcome.DUE, 294)


def test_combinational_signal_is_no_site(target, workload, elaboration):
    path = "u_dut.u_lanes.g_lane[0].product"
    place = Location("u_dut.u_lanes.g_lane[0]", "lanes", "product", packed_width=16)
    wrong = dataclasses.replace(
        elaboration,
        sites=SiteTable.of([*elaboration.sites.elements, StorageElement(path, "ff", 16)]),
        locations={**elaboration.locations, path: place},
    )
    with (
        CocotbEngine(target, workload, wrong) as made,
        pytest.raises(SimulationError, check=about("flip")),
    ):
        list(made.run([Fault(site(wrong, path, 2), 100)]))


def test_unmapped_sites_are_named(target, workload, elaboration):
    place = elaboration.locations["u_dut.u_control.round_q"]
    path = "u_dut.u_control.round_q"
    wide = [dataclasses.replace(e, width=9) if e.path == path else e for e in elaboration.sites.elements]
    wrong = dataclasses.replace(
        elaboration,
        sites=SiteTable.of(wide),
        locations={**elaboration.locations, path: dataclasses.replace(place, packed_width=9)},
    )
    with (
        CocotbEngine(target, workload, wrong) as made,
        pytest.raises(UnmappedSiteError, check=about("sites")),
    ):
        made.golden()


def test_killed_simulator_is_reported_and_replaced(engine, some_faults):
    expected = keyed(engine.run(some_faults[:6]))
    os.killpg(engine._workers[0]._process.pid, signal.SIGKILL)
    with pytest.raises(SimulationError, check=about("worker")):
        list(engine.run(some_faults[:6]))
    assert keyed(engine.run(some_faults[:6])) == expected


def test_crash_of_an_injection_names_the_fault(engine, some_faults):
    running = engine.run(some_faults)
    next(running)
    worker = engine._workers[0]
    fault = max(some_faults, key=lambda f: f.cycle)
    for child in processes_of_group(worker._process.pid) - {worker._process.pid}:
        with suppress(ProcessLookupError):  # an injection may just have ended
            os.kill(child, signal.SIGSEGV)
    with pytest.raises(SimulationError, match=r"fault at site .*cycle .*workload random"):
        list(running)
    assert len(list(engine.run([fault]))) == 1


def test_no_process_is_left(target, workload, elaboration, some_faults):
    made = CocotbEngine(target, workload, elaboration)
    running = made.run(some_faults, workers=2)
    next(running)
    groups = [w._process.pid for w in made._workers]
    folders = [w.folder for w in made._workers]
    assert len(groups) == 2
    running.close()
    deadline = time.monotonic() + 10  # what was killed takes a moment to go
    while any(processes_of_group(g) for g in groups) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [processes_of_group(g) for g in groups] == [set(), set()]
    assert not any(f.exists() for f in folders)
    made.close()
    with pytest.raises(HarnessError, check=about("closed")):
        made.replay(some_faults[0])


def processes_of_group(group):
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.add(int(stat.parent.name))
    return found


def test_waveform(engine, some_faults, tmp_path):
    path = tmp_path / "run.vcd"
    injection = engine.replay(some_faults[0], path)
    assert [injection] == list(engine.run(some_faults[:1]))
    text = path.read_text()
    assert "$enddefinitions" in text
    assert "wide_q" in text


def test_waveform_formats(tmp_path):
    assert [wave_format(p) for p in (None, tmp_path / "a.vcd", tmp_path / "a.fst")] == ["none", "vcd", "fst"]
    with pytest.raises(HarnessError, check=about("waves")):
        wave_format(tmp_path / "a.ghw")


def test_only_storage_and_ports_are_public(target, elaboration):
    control = public_storage(target, elaboration)
    assert 'public_flat_rw -module "history" -var "past_q"' in control
    assert "product" not in control
    assert "-module *" not in control


@pytest.mark.parametrize(
    ("fault", "field"), [(Fault(10**6, 0), "fault.site"), (Fault(0, 293), "fault.cycle")]
)
def test_faults_outside_the_population(engine, fault, field):
    with pytest.raises(HarnessError, check=about(field)):
        list(engine.run([fault]))


def test_a_cluster_stays_within_its_word(engine, elaboration):
    table = elaboration.sites
    last = table.elements[0].width - 1
    assert (table.room(0), table.room(last)) == (last + 1, 1)
    with pytest.raises(HarnessError, check=about("fault.bits")):
        list(engine.run([Fault(last, 0, 2)]))


def test_design_that_does_not_finish(target, workload, elaboration):
    with (
        CocotbEngine(target, workload, elaboration, golden_limit=100) as made,
        pytest.raises(SimulationError, check=about("done")),
    ):
        made.golden()


def test_missing_compiler(target, workload, elaboration, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with (
        CocotbEngine(target, workload, elaboration) as made,
        pytest.raises(ToolMissingError, match=r"install g\+\+"),
    ):
        made.golden()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"images": {"sauce": b""}}, "memories.sauce"),
        (
            {"images": {"source": bytes(257)}},
            "memories.source.size",
        ),
        ({"output": OutputSpec("sink", 8, (512,))}, "memories.sink.size"),
        ({"parameters": {"SourceWords": 128}}, "parameters"),
    ],
)
def test_workload_that_does_not_fit(target, workload, elaboration, change, field):
    with pytest.raises(HarnessError, check=about(field)):
        CocotbEngine(target, dataclasses.replace(workload, **change), elaboration)


def test_memory_words_of_another_size(target, workload, elaboration):
    memories = {**target.memories, "sink": dataclasses.replace(target.memories["sink"], word_bytes=4)}
    with pytest.raises(HarnessError, check=about("memories.sink.word_bytes")):
        CocotbEngine(dataclasses.replace(target, memories=memories), workload, elaboration)


def test_settings(target, workload, elaboration, engine):
    with pytest.raises(HarnessError, check=about("timeout_factor")):
        CocotbEngine(target, workload, elaboration, timeout_factor=0.5)
    with pytest.raises(HarnessError, check=about("workers")):
        list(engine.run([Fault(0, 0)], workers=0))
