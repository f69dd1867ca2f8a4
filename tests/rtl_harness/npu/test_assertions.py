# SPDX-License-Identifier: Apache-2.0
"""The assertions in the RTL hold in operations, damaged streams and networks, and each of them can fail.

All faults that are put into the RTL for that are in one build: a register says which of them is there.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import SimulationError
from resil.rtl_harness.npu.assertions import failed_assertion, labels, modules
from testkit.npu.fuzz.cases import network_cases
from testkit.npu.fuzz.damage import Trial, sound
from testkit.npu.fuzz.judge import LIMIT, STALLED_LIMIT, trials
from testkit.npu.mutation.judge import LONGEST, PATIENCE, MutantBench, operation_trials
from testkit.npu.mutation.schemata import mutated_target
from testkit.npu.mutation.sites import Mutation
from tests.rtl_harness.npu.seeded_faults import SEEDED

NPU = "ethos-u55-32"
TARGET = load_target(NPU)
# Modules that have a clock and no assertions bound to them, with the reason.
WITHOUT = {
    "ao_element": "connects modules that have",
    "ao_fetch": "connects modules that have",
    "cc": "connects modules that have",
    "cc_decode": "connects modules that have",
    "wd": "connects modules that have",
    "cc_apb": "its ports are the NPU's, where the rules of APB are bound",
    "clock_gate": "a latch and a gate, and not there by default",
}


def wrong(file: str, around: str, new: str) -> Mutation:
    """The mutation of the expression between ⟦ and ⟧."""
    (path,) = (source for source in TARGET.sources if source.name == file)
    text = path.read_text(encoding="ascii")
    before, _, rest = around.partition("⟦")
    old, _, after = rest.partition("⟧")
    assert text.count(before + old + after) == 1, (
        f"{file}: found {text.count(before + old + after)}: {around}"
    )
    start = text.index(before + old + after) + len(before)
    line = text.count("\n", 0, start) + 1
    context = text.splitlines()[line - 1].strip()
    return Mutation(path, start, start + len(old), line, "seeded", new, old, context)


@pytest.fixture(scope="module")
def bench() -> Iterator[MutantBench]:
    faults = [[wrong(*place) for place in places] for places in SEEDED.values()]
    with tempfile.TemporaryDirectory() as folder:
        bench = MutantBench(mutated_target(TARGET, faults, Path(folder)), assertions=True)
    yield bench
    bench.close()


def run(bench: MutantBench, trial: Trial, capfd: pytest.CaptureFixture[str]) -> str:
    """Return the assertion that failed, "" if none; whose it is, only the simulator's own words say."""
    try:
        bench.run(trial, STALLED_LIMIT if trial.stalls else LIMIT, PATIENCE, LONGEST)
    except SimulationError as error:
        ctypes.CDLL(None).fflush(None)
        return failed_assertion(f"{capfd.readouterr().out}{error}") or str(error)
    return ""


@lru_cache
def stimuli() -> list[Trial]:
    """Stalls first: they make handshakes wait."""
    found = [trial for _, trial in trials([NPU], range(300), seed=11)]
    stalled = [trial for trial in found if trial.stalls]
    return [*stalled, *operation_trials(NPU, range(3)), *(t for t in found if not t.stalls)][:120]


def test_they_hold_in_operations(bench, capfd):
    bench.select(0)
    failures = {trial.case.name: run(bench, trial, capfd) for trial in operation_trials(NPU, range(8))}
    assert set(failures.values()) == {""}, failures


def test_they_hold_in_damaged_streams_and_on_a_bus_that_stalls_and_fails(bench, capfd):
    bench.select(0)
    failures = {number: run(bench, trial, capfd) for number, trial in trials([NPU], range(200), seed=7)}
    assert set(failures.values()) == {""}, {n: f for n, f in failures.items() if f}


def test_they_hold_in_networks(bench, capfd):
    bench.select(0)
    failures = {case.name: run(bench, sound(case), capfd) for case in network_cases(NPU)}
    assert len(failures) > 10
    assert set(failures.values()) == {""}, failures


def test_each_has_a_fault_that_it_finds():
    assert sorted(SEEDED) == sorted(label for found in labels().values() for label in found)


def test_each_module_with_a_clock_has_some_or_a_reason():
    assert {name for name, bound in modules().items() if not bound} == set(WITHOUT)


@pytest.mark.parametrize("label", SEEDED)
def test_it_fails_where_its_fault_is(bench, capfd, label: str):
    bench.select(list(SEEDED).index(label) + 1)
    seen = set()
    for trial in stimuli():
        seen.add(run(bench, trial, capfd))
        if label in seen:
            return
    pytest.fail(f"it never failed; others that did: {sorted(seen - {''})}")
