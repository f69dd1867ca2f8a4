# SPDX-License-Identifier: Apache-2.0
"""Code of the shared buffer, parity of the AXI ports: nothing changes without faults; what they say."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.faults import Fault, Injection, Seen
from resil.rtl_harness.npu.workload import npu_workload
from testkit.npu.coded import BANK, PARITY, SECDED, WORD, coded, moved

NPU = "ethos-u55-32"
HARMFUL = {Seen.SDC_CRITICAL, Seen.SDC_TOLERABLE, Seen.HANG}


@pytest.fixture(scope="module")
def workload():
    digits = zoo.load("digits")
    return npu_workload(compile_network(digits.path, NPU), digits.heldout_inputs[0])


def engine(target: Target, workload) -> VerilatorEngine:
    return VerilatorEngine(target, workload, elaborate(target, workload.parameters))


@pytest.fixture(scope="module")
def plain(workload) -> Iterator[VerilatorEngine]:
    with engine(load_target(NPU), workload) as made:
        yield made


@pytest.fixture(scope="module")
def secded(workload) -> Iterator[VerilatorEngine]:
    with engine(coded(load_target(NPU), SECDED, bus_parity=True), workload) as made:
        yield made


@pytest.fixture(scope="module")
def parity(workload) -> Iterator[VerilatorEngine]:
    with engine(coded(load_target(NPU), PARITY), workload) as made:
        yield made


def buffer_faults(plain: VerilatorEngine, bits: int, count: int) -> list[Fault]:
    """Clusters of data bits within a word, in banks and their output latches."""
    rng, sites = random.Random(bits), plain.elaboration.sites
    banks = [i for i, e in enumerate(sites.elements) if BANK.fullmatch(e.path)]
    found = []
    for _ in range(count):
        index = rng.choice(banks)
        words = (sites.offsets[index + 1] - sites.offsets[index]) // WORD
        site = sites.offsets[index] + WORD * rng.randrange(words) + rng.randrange(WORD + 1 - bits)
        found.append(Fault(site, rng.randrange(plain.golden().end.end_cycle), bits))
    return sorted(set(found))


def register_faults(made: VerilatorEngine, paths: Sequence[str], count: int) -> list[Fault]:
    rng, sites = random.Random(1), made.elaboration.sites
    offsets = [
        range(sites.offsets[i], sites.offsets[i + 1])
        for i, e in enumerate(sites.elements)
        if e.path.removeprefix("u_npu.u_dma.") in paths
    ]
    assert len(offsets) == len(paths)
    every = [site for own in offsets for site in own]
    return sorted(
        {Fault(rng.choice(every), rng.randrange(made.golden().end.end_cycle)) for _ in range(count)}
    )


def outcomes(made: VerilatorEngine, faults: Sequence[Fault]) -> list[Injection]:
    found = {i.fault: i for i in made.run(sorted(faults), workers=2)}
    return [found[fault] for fault in faults]


def check_without_faults(plain, made):
    wanted, found = plain.golden().end, made.golden().end
    assert found.output == wanted.output
    assert (found.end_cycle, found.status) == (wanted.end_cycle, wanted.status)
    assert found.alarms == ()


def test_outputs_and_cycles_are_those_without(plain, secded):
    check_without_faults(plain, secded)


def test_secded_mends_what_was_harm_and_finds_two_wrong_bits(plain, secded):
    for bits, said in ((1, "corrected"), (2, "detected")):
        faults = buffer_faults(plain, bits, 1000)
        before = outcomes(plain, faults)
        sites = plain.elaboration.sites, secded.elaboration.sites
        after = outcomes(secded, [moved(fault, *sites, SECDED) for fault in faults])
        harmful = [(b, a) for b, a in zip(before, after, strict=True) if b.seen in HARMFUL]
        assert len(harmful) > 5
        for b, a in harmful:
            assert getattr(a, said) is not None, b
            assert bits == 2 or (a.seen not in HARMFUL and a.detected is None), a


@pytest.mark.slow
def test_parity_finds_one_wrong_bit_and_not_two(plain, parity):
    check_without_faults(plain, parity)
    for bits in (1, 2):
        faults = buffer_faults(plain, bits, 1000)
        before = outcomes(plain, faults)
        sites = plain.elaboration.sites, parity.elaboration.sites
        after = outcomes(parity, [moved(fault, *sites, PARITY) for fault in faults])
        harmful = [(b, a) for b, a in zip(before, after, strict=True) if b.seen in HARMFUL]
        assert len(harmful) > 5
        assert all((a.detected is not None) == (bits == 1) for _, a in harmful)
        assert all(a.seen == b.seen for b, a in harmful)


def test_parity_of_the_bus_finds_wrong_beats_and_addresses(secded):
    paths = ["u_m0_read.r_data_q", "u_m1_read.r_data_q", "u_m0_read.ar_q", "u_m1_read.ar_q"]
    paths += ["u_m0_write.aw_q", "u_m0_write.w_q"]
    found = outcomes(secded, register_faults(secded, paths, 400))
    harmful = [i for i in found if i.seen in HARMFUL]
    assert len(harmful) > 5
    assert all(i.detected is not None and i.detected.alarm == "bus_parity" for i in harmful)
    assert any(i.detected is None for i in found)
