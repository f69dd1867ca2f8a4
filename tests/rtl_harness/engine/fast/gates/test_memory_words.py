# SPDX-License-Identifier: Apache-2.0
"""A memory whose size is said when the simulation starts is one that was built with that size."""

import dataclasses
import re
from pathlib import Path

import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.elaboration.yosys import rtl_key
from resil.rtl_harness.design.target import Target, TargetMemory, load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Outcome
from resil.rtl_harness.npu.model.status import Status
from resil.rtl_harness.npu.workload import npu_workload
from testkit.errors import about

IN_USE = 16
IMAGE = bytes(range(3, 3 + IN_USE))
TARGET = Target(
    name="sized",
    top="sized",
    sources=(Path(__file__).with_name("sized.sv"),),
    clock="clk_i",
    reset="rst_ni",
    dut="u_dut",
    done="done_o",
    blocks={"all": ("u_dut",)},
    memories={"mem": TargetMemory("mem_q", 1, "mem", words_plusarg="mem_words")},
)
TOLD = Workload("told", {"mem": IMAGE}, OutputSpec("mem", 0, (IN_USE,), "uint8"), words={"mem": IN_USE})
BUILT = dataclasses.replace(TOLD, name="built", words={}, parameters={"Words": IN_USE})


def engine(workload, **options):
    return VerilatorEngine(TARGET, workload, elaborate(TARGET, workload.parameters), **options)


def all_faults(made):
    cycles = made.golden().cycles
    return [Fault(site, cycle) for site in range(made.elaboration.sites.size) for cycle in range(cycles)]


def outcomes(made, faults):
    return {injection.fault: injection for injection in made.run(faults)}


@pytest.mark.parametrize("sweep", [False, True])
def test_every_fault_ends_as_with_a_memory_of_that_size(sweep):
    with engine(TOLD, sweep=sweep) as told, engine(BUILT, sweep=sweep) as built:
        faults = all_faults(told)
        found = outcomes(told, faults)
        assert not told.notes
        assert found == outcomes(built, faults)
        assert told.golden() == built.golden()
    outside = [f for f in faults if told.elaboration.sites[f.site].name.startswith("u_dut.address_q[7")]
    assert any(found[fault].outcome is not Outcome.MASKED for fault in outside)


def test_agrees_with_the_cocotb_engine():
    with engine(TOLD) as fast, CocotbEngine(TARGET, TOLD, fast.elaboration) as reference:
        faults = all_faults(fast)[::37]
        assert reference.golden() == fast.golden()
        assert outcomes(reference, faults) == outcomes(fast, faults)


@pytest.mark.parametrize("sweep", [False, True])
def test_a_bench_that_writes_beyond_is_found_out(sweep):
    believing = dataclasses.replace(TOLD, parameters={"Bounded": 0})
    with (
        engine(believing, sweep=sweep) as made,
        pytest.raises(SimulationError, match=r"no word of mem_q beyond those .* found one that is"),
    ):
        outcomes(made, all_faults(made))


def test_what_is_not_used_is_neither_copied_nor_compared():
    with engine(TOLD) as made:
        one, other = made.start(), made.start()
        memory = one.find("mem_q")
        assert memory.depth == 64
        for word in (IN_USE - 1, IN_USE, 63):
            one.write(memory, 0x5A, word)
        assert not made.same_state(one, other)
        other.copy_from(one)
        assert [other.read(memory, word) for word in (IN_USE - 1, IN_USE, 63)] == [0x5A, 0, 0]
        assert made.same_state(one, other)


def test_sizes_that_cannot_be_are_named():
    with pytest.raises(HarnessError, check=about("memories.mem.words")):
        engine(dataclasses.replace(TOLD, words={"mem": 128}))
    silent = dataclasses.replace(TARGET, memories={"mem": TargetMemory("mem_q", 1, "mem")})
    with pytest.raises(HarnessError, check=about("memories.mem.words_plusarg")):
        VerilatorEngine(silent, TOLD, elaborate(silent, {}))
    with pytest.raises(HarnessError, check=about("images")):
        engine(dataclasses.replace(TOLD, words={"other": 16}))


@pytest.fixture(scope="module")
def npu():
    return Runner(load_target("ethos-u55-32"), {})


@pytest.mark.parametrize("words", [96, 131072])
def test_the_bench_of_the_npu_takes_powers_of_two_that_it_has(npu, capfd, words):
    with pytest.raises(SimulationError, match=r"could not start: .*axi_mem.sv"):
        npu.library.create([f"sram_words={words}"])
    assert re.search(f"sram_words: expected .*, found {words}", capfd.readouterr().out)


@pytest.mark.parametrize(("words", "error"), [(1024, 0), (64, Status.BUS_ERROR)])
def test_the_npu_gets_an_error_beyond_the_words(npu, words, error):
    digits = zoo.load("digits")
    workload = npu_workload(compile_network(digits.path, "ethos-u55-32"), digits.heldout_inputs[0])
    images = {**workload.images, "sram": workload.images["sram"][: 8 * words]}
    run = npu.run(dataclasses.replace(workload, images=images, words={"sram": words}), 100_000)
    assert run.finished
    assert run.status & Status.BUS_ERROR == error


def test_networks_share_the_bench_of_an_npu():
    target = load_target("ethos-u55-32")
    keys, words = set(), set()
    for name in zoo.names():
        network = zoo.load(name)
        workload = npu_workload(compile_network(network.path, target.name), network.heldout_inputs[0])
        keys.add(rtl_key(target, {**target.parameters, **workload.parameters}))
        words.add(tuple(workload.words.items()))
    assert len(keys) == 1
    assert len(words) > 1
