# SPDX-License-Identifier: Apache-2.0
"""Traces against full waveforms that cocotb and an untouched Verilator write, and their claims."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter

import numpy as np
import pytest
import pywellen

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.reference.side.timeline import PERIOD, SAMPLE
from resil.rtl_harness.engine.trace import causal_path, fan_in
from resil.rtl_harness.engine.trace.causal_path import PathStay
from resil.rtl_harness.engine.trace.history import DifferenceHistory
from resil.rtl_harness.engine.trace.pair_run import PairRun
from resil.rtl_harness.engine.trace.storage_bits import StorageBits
from resil.rtl_harness.engine.trace.tracer import Tracer
from resil.rtl_harness.engine.trace.waves import written_kinds
from resil.rtl_harness.engine.trace.window import TraceWindow
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Seen, digest
from testkit.awkward import awkward_target
from testkit.errors import about
from testkit.waveform import Waveform

OUTPUT = OutputSpec("sink", 0, (48, 8), "uint8")
EACH = {
    Seen.HANG: 2,
    Seen.MASKED: 3,
    Seen.LATENT: 2,
    Seen.SDC_CRITICAL: 3,
    Seen.SDC_TOLERABLE: 3,
}


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
    with VerilatorEngine(target, workload, elaboration) as made:
        yield made


@pytest.fixture(scope="module")
def tracer(engine):
    return Tracer(engine)


def site_of(elaboration, path):
    sites = elaboration.sites
    return next(sites.offsets[i] for i, one in enumerate(sites.elements) if one.path == path)


@pytest.fixture(scope="module")
def injections(engine, elaboration):
    """Some injections of each kind, and one that an alarm reported."""
    draw = random.Random(7)
    kept = [site for site in range(elaboration.sites.size) if elaboration.sites.hardware(site) is None]
    faults = [Fault(draw.choice(kept), draw.randrange(engine.golden().cycles - 2)) for _ in range(400)]
    rounds = site_of(elaboration, "u_dut.u_control.round_q")
    faults += [Fault(rounds + 7, cycle) for cycle in (100, 228)]
    found, wanted = [], Counter(EACH)
    alarmed = None
    for injection in engine.run(faults):
        if injection.detected is not None:
            alarmed = alarmed or injection
        elif wanted[injection.seen] > 0:
            wanted[injection.seen] -= 1
            found.append(injection)
    assert wanted.total() == 0
    assert alarmed is not None
    return [*found, alarmed]


class Recorded:
    """What the waveform of a run holds, by element and word, in each cycle."""

    def __init__(self, waveform, target, elaboration):
        self._waveform, self._target = waveform, target
        self._names = {
            (element.path, word): name
            for element in elaboration.sites.elements
            for word in range(element.depth)
            if (name := self._name(element, word, elaboration.locations[element.path])) in waveform.names
        }

    @property
    def words(self):
        return self._names.keys()

    def value(self, word, cycle):
        time = PERIOD // 2 + PERIOD * (self._target.reset_cycles + cycle) + SAMPLE
        return self._waveform.value(self._names[word], time)

    def _name(self, element, word, place):
        index = f"[{word + element.first_word}]" if element.kind == "sram" else ""
        if place.packed_width != element.width:
            return ""  # a part of a variable: whole variables are enough
        return f"{self._target.top}.{element.path}{index}"


@pytest.fixture(scope="module")
def recorded(target, elaboration, workload, injections, tmp_path_factory):
    """Waveforms of the golden run and of each injection, and digests of outputs."""
    folder = tmp_path_factory.mktemp("waves")
    with CocotbEngine(target, workload, elaboration) as reference:
        golden = reference.golden()
        # In the last cycle the run without a fault is over, but for this bit.
        reference.replay(Fault(0, golden.cycles - 1), folder / "golden.vcd")
        found = {}
        for number, injection in enumerate(injections):
            again = reference.replay(injection.fault, folder / f"{number}.vcd")
            found[injection.fault] = (
                Recorded(Waveform(folder / f"{number}.vcd"), target, elaboration),
                again,
            )
        yield Recorded(Waveform(folder / "golden.vcd"), target, elaboration), golden, found


def differences(golden, faulty, first, end):
    """By path, the cycles in which it differs, and values of the first word when it first does."""
    cycles, values = {}, {}
    for cycle in range(first, end):
        for word in golden.words & faulty.words:
            pair = golden.value(word, cycle), faulty.value(word, cycle)
            if pair[0] != pair[1]:
                cycles.setdefault(word[0], set()).add(cycle)
                if min(cycles[word[0]]) == cycle:
                    values.setdefault(word[0], {})[word[1]] = pair
    return cycles, values


def test_what_differs_is_what_full_waveforms_show(tracer, injections, recorded, elaboration):
    golden, run, others = recorded
    compared = 0
    known = {path for path, _ in golden.words}
    assert len(known) > 0.6 * len(elaboration.sites.elements)
    for injection in injections:
        faulty, again = others[injection.fault]
        assert again == injection
        trace = tracer.trace(injection.fault)
        assert trace.injection == injection
        # The last cycle of the golden waveform has a fault of its own.
        end = min(trace.end, run.cycles - 1)
        cycles, values = differences(golden, faulty, injection.fault.cycle, end)
        touched = {one.element.path: one for one in trace.touched if one.element.path in known}
        touched = {path: one for path, one in touched.items() if one.first < end}
        assert touched.keys() == cycles.keys()
        for path, one in touched.items():
            assert one.first == min(cycles[path])
            word = min(values[path])
            assert (one.word, one.golden, one.faulty) == (word, *values[path][word])
            if one.last < end:
                assert (one.last, one.cycles) == (max(cycles[path]), len(cycles[path]))
            compared += 1
    assert compared > 30


def test_blocks_are_reached_when_full_waveforms_say(tracer, injections, recorded, elaboration):
    golden, run, others = recorded
    blocks = {element.path: element.block for element in elaboration.sites.elements}
    known = {path for path, _ in golden.words}
    compared = 0
    for injection in injections:
        trace = tracer.trace(injection.fault)
        end = min(trace.end, run.cycles - 1)
        cycles, _ = differences(golden, others[injection.fault][0], injection.fault.cycle, end)
        for crossing in trace.crossings:
            own = [min(at) for path, at in cycles.items() if blocks[path] == crossing.block]
            if crossing.of_bench or crossing.cycle >= end or crossing.site.element.path not in known:
                continue
            assert min(own) == crossing.cycle
            for source in crossing.sources:
                if source.element.path in known:
                    assert crossing.cycle - 1 in cycles[source.element.path]
            compared += 1
    assert compared > 5


def test_wrong_bytes_are_those_of_the_reference(tracer, injections, recorded):
    _, run, others = recorded
    wrong = 0
    for injection in injections:
        trace = tracer.trace(injection.fault)
        assert digest(trace.output) == others[injection.fault][1].output_hash
        expected = [i for i, (a, b) in enumerate(zip(run.end.output, trace.output, strict=True)) if a != b]
        assert list(trace.wrong_bytes) == expected
        wrong += bool(expected)
    assert wrong > 5


def test_every_difference_that_was_seen_has_a_path(tracer, injections):
    goals, lost = Counter(), []
    for injection in injections:
        trace = tracer.trace(injection.fault)
        seen = {way.to for way in trace.ways if way.steps}
        goals.update(seen)
        if injection.seen is Seen.HANG:
            assert "done" in seen
        if injection.seen in (Seen.SDC_CRITICAL, Seen.SDC_TOLERABLE) and injection.detected is None:
            assert "output" in seen
        if injection.seen is Seen.LATENT:
            assert "state" in seen
        if injection.seen is Seen.MASKED:
            assert not trace.ways
            assert trace.vanished is not None
        lost += [way.problem for way in trace.ways if not way.steps]
        for way in filter(lambda way: way.steps, trace.ways):
            assert way.steps[0].site == tracer.bits.site(tracer.bits.site_number(*place(way.steps[0].site)))
            assert way.steps[0].first == injection.fault.cycle
    assert goals.keys() >= {"done", "output", "state", "alarm error"}
    assert all(lost), "a way without a path says why"
    assert len(lost) <= 1


def place(site):
    return site.element.path, site.word, site.bit


def test_a_path_is_the_shortest_of_all(engine, tracer, injections):
    """Forwards from the struck bit, through all bits that differ: the fewest moves to each of them."""
    compared = 0
    for injection in injections:
        first, end = injection.fault.cycle, injection.end_cycle
        found = tracer.trace(injection.fault).ways
        ways = [way for way in found if way.to in ("output", "state") and way.steps]
        history = DifferenceHistory(first)
        with PairRun(engine, injection.fault) as run:
            run.go(end, lambda one, other, _, history=history: history.add(tracer.bits.differing(one, other)))
            window = TraceWindow(tracer._netlist[0], tracer.bits, first, history.end - first)
            run.again(run.checkpoints[0], history.end, window.take)
        struck = tracer.bits.site_number(*place(engine.elaboration.sites[injection.fault.site]))
        moves = {struck: 0}
        by_cycle = {first: moves}
        for cycle in range(first, history.end - 1):
            after = {}
            for bit in history.at(cycle + 1).tolist():
                sources = fan_in.bit_sources(window, bit, cycle - first) or ()
                costs = [moves[source] + (source != bit) for source in sources if source in moves]
                if costs:
                    after[bit] = min(costs)
            moves = by_cycle[cycle + 1] = after
        for way in ways:
            last = way.steps[-1]
            assert by_cycle[way.cycle][tracer.bits.site_number(*place(last.site))] == len(way.steps) - 1
            compared += 1
    assert compared > 5


@pytest.mark.parametrize("broken", ["bit", "gap", "end"])
def test_a_path_that_is_none_is_noticed(monkeypatch, tracer, injections, broken):
    injection = next(i for i in injections if i.seen is Seen.SDC_CRITICAL and i.detected is None)
    made = causal_path._path

    def wrong(search, first, struck):
        path = made(search, first, struck)
        stays = list(path.stays)
        if broken == "bit":
            stays[-2:-1] = [PathStay(stays[-2].bit + 1, stays[-2].first, stays[-2].last)]
        elif broken == "gap":
            stays[-1] = PathStay(stays[-1].bit, stays[-1].first + 1, stays[-1].last)
        else:
            stays[-1] = PathStay(stays[-1].bit, stays[-1].first, stays[-1].last + 1)
        return dataclasses.replace(path, stays=tuple(stays))

    monkeypatch.setattr(causal_path, "_path", wrong)
    with pytest.raises(SimulationError, check=about("path")):
        tracer.trace(injection.fault)


def test_gates_that_are_not_the_model_give_no_path(monkeypatch, tracer, injections):
    """A gate that is evaluated wrongly is noticed: what it gives is not what the model holds."""
    injection = next(i for i in injections if i.seen is Seen.SDC_CRITICAL and i.detected is None)
    window = fan_in.TraceWindow
    monkeypatch.setattr(window, "_gate", lambda self, operation, a, b, s: a ^ b ^ s ^ self._all)
    ways = tracer.trace(injection.fault).ways
    assert ways
    assert all(way.problem and not way.steps for way in ways)


def test_a_comparison_that_misses_memories_is_noticed(monkeypatch, engine, injections, recorded):
    """Seeded: were memories not compared, the trace would not be that of the waveforms."""
    golden, run, others = recorded
    whole = StorageBits.differing

    def registers_alone(bits, one, other):
        found = whole(bits, one, other)
        return found[found < 8 * len(bits.register_bytes)]

    monkeypatch.setattr(StorageBits, "differing", registers_alone)
    missed, tracer = 0, Tracer(engine)
    for injection in injections:
        cycles, _ = differences(golden, others[injection.fault][0], injection.fault.cycle, run.cycles - 1)
        found = tracer.trace(injection.fault, ways=False)
        missed += not cycles.keys() <= {one.element.path for one in found.touched}
    assert missed


def test_waves_hold_what_differed_in_both_runs(tracer, injections, recorded, tmp_path):
    golden, run, others = recorded
    injection = next(i for i in injections if i.seen is Seen.SDC_CRITICAL and i.detected is None)
    trace = tracer.trace(injection.fault, waves=tmp_path / "own.vcd")
    own = Waveform(tmp_path / "own.vcd")
    sides = {"golden": golden, "faulty": others[injection.fault][0]}
    compared = 0
    for one in trace.touched:
        word = (one.element.path, one.word)
        if word not in golden.words:
            continue
        scope, _, leaf = one.element.path.replace("[", "_").replace("]", "").rpartition(".")
        name = f"{leaf}_{one.word}" if one.element.kind == "sram" else leaf
        for side, other in sides.items():
            for cycle in range(injection.fault.cycle, min(trace.end, run.cycles - 1)):
                assert own.value(f"{side}.{scope}.{name}", cycle) == other.value(word, cycle)
                compared += 1
    assert compared > 100


def values_in_time(file, end):
    """Return what each signal is worth at all times up to an end, as Wellen reads it."""
    waves = pywellen.Waveform(str(file))
    return {var.full_name: [var.signal.value_at(time) for time in range(end)] for var in waves.all_vars()}


def test_both_kinds_of_waveforms_say_the_same(tracer, injections, tmp_path):
    if ".fst" not in written_kinds():
        pytest.skip("pylibfst is not installed: pip install 'resil[waves]'")
    injection = next(i for i in injections if i.seen is Seen.SDC_CRITICAL and i.detected is None)
    files = [tmp_path / "own.vcd", tmp_path / "own.fst"]
    ends = [tracer.trace(injection.fault, waves=file).end for file in files]
    plain, packed = (values_in_time(file, end) for file, end in zip(files, ends, strict=True))
    assert packed == plain
    assert any(len(set(values)) > 2 for values in plain.values())
    assert any(plain[name] != plain[name.replace("golden", "faulty", 1)] for name in plain)


def test_stuck_bits_and_later_cycles_are_refused(tracer, engine):
    with pytest.raises(HarnessError, check=about("fault.held")):
        tracer.trace(Fault(0, 0, held=1))
    with pytest.raises(HarnessError, check=about("fault.cycle")):
        tracer.trace(Fault(0, engine.golden().cycles))


def test_all_storage_has_a_number_and_a_name(engine, elaboration):
    bits = StorageBits(engine.elaboration, engine.model.map)
    for site in range(elaboration.sites.size):
        one = elaboration.sites[site]
        assert bits.site(bits.site_number(*place(one))) == one
