# SPDX-License-Identifier: Apache-2.0
"""Memories that are too large to be looked at as a whole: what runs have written of them is followed."""

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Injector, Shortcut
from resil.rtl_harness.engine.fast.native.library import Stop
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.faults import Fault, Seen
from testkit.plain_runner import PlainRunner

TARGET = Target(
    name="far",
    top="far",
    sources=(Path(__file__).with_name("far.sv"),),
    clock="clk_i",
    reset="rst_ni",
    dut="u_core",
    done="done_o",
    blocks={"core": ("u_core",)},
    memories={"memory": TargetMemory("mem_q", 8, "memory")},
)
BYTES = 8 << 18
IMAGE = np.random.default_rng(3).integers(0, 256, BYTES, np.uint8).tobytes()
# The last place that a run comes to, and writes.
WORKLOAD = Workload("words", {"memory": IMAGE}, OutputSpec("memory", 8 * 0x201, (8,)), decide=exact)


# More of its pages are written in a round than stay open when an instance gets the state of another cycle.
MANY_PAGES = dataclasses.replace(TARGET, name="far_many", parameters={"Round": 100, "Every": 1})


@pytest.fixture(scope="module", params=[TARGET, MANY_PAGES], ids=["few pages", "many pages"])
def target(request):
    return request.param


@pytest.fixture(scope="module")
def elaboration(target):
    return elaborate(target)


@pytest.fixture(scope="module")
def faults(elaboration):
    sites = [*range(elaboration.sites.size)]
    chosen = random.Random(5)
    return [Fault(chosen.choice(sites), cycle) for cycle in range(0, 400, 3)]


@pytest.fixture(scope="module")
def plain(target, elaboration, faults):
    """What runs to the end give, of which the state is compared as a whole."""
    with VerilatorEngine(target, WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as made:
        return {injection.fault: injection for injection in made.run(faults)}


def test_wild_writes_anywhere_are_found(plain, elaboration):
    """The address of a write is wrong: pages are written that the golden run does not write, and stay so."""
    address = {f: i for f, i in plain.items() if elaboration.sites[f.site].element.path.endswith("at_q")}
    assert sum(injection.seen is Seen.LATENT for injection in address.values()) > 10


@pytest.mark.parametrize("kept", [None, 2000, 0], ids=["all", "some", "little"])
@pytest.mark.parametrize("sweep", [False, True])
def test_early_stops_see_all_of_the_memory(target, plain, elaboration, faults, sweep, kept):
    """The fault: a block is not known to be written, and a state that differs there counts as equal.

    Also where the golden run is not kept as a whole, and parts of it are simulated again.
    """
    with VerilatorEngine(target, WORKLOAD, elaboration, sweep=sweep, lanes=False, audit=NOTHING) as made:
        if kept is not None:
            made.model.injector.bound(kept, 16)
        assert {injection.fault: injection for injection in made.run(faults)} == plain
        assert made.notes == []
        assert made.early_stops > len(faults) // 4
        assert (made.model.injector.recalled > 0) == (kept is not None)


def test_a_copy_of_a_run_has_all_of_its_memory(target, elaboration):
    """The fault: a checkpoint, as of a trace, has of a large memory what was there at the start."""
    with VerilatorEngine(target, WORKLOAD, elaboration, audit=NOTHING) as made:
        made.golden()
        with made.start() as run, made.start() as copy, made.start() as again:
            run.run_to(300)
            copy.copy_from(run)
            again.copy_from(copy)
            assert made.same_state(run, copy)
            assert made.same_state(run, again)


def test_restarts_begin_with_all_of_the_memory(target, plain, elaboration, faults):
    """The fault: an instance that runs anew has of a large memory what the run before has left in it."""
    with VerilatorEngine(target, WORKLOAD, elaboration, sweep=False, lanes=False, audit=NOTHING) as made:
        runner = PlainRunner(made, 0)
        assert {fault: runner.inject(fault) for fault in faults} == plain
        runner.close()


def test_the_golden_run_is_what_a_run_to_the_end_leaves(target, elaboration):
    with VerilatorEngine(target, WORKLOAD, elaboration) as made:
        made.golden()
        found = made._model.injector.recall_memories(400)
        storage = made._model.map.storage("mem_q")
        with made.start() as other:
            other.run_to(400)
            expected = other.view(storage)
            assert np.array_equal(found.view(storage), expected)
            assert (expected.reshape(-1) != np.frombuffer(IMAGE, np.uint8)).any()


SELDOM = """
module seldom_core (input logic clk_i, input logic rst_ni, output logic [9:0] count_o);
  logic [9:0] count_q;
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) count_q <= '0; else count_q <= count_q + 10'd1;
  assign count_o = count_q;
endmodule
module seldom (input logic clk_i, input logic rst_ni, output logic done_o);
  logic [63:0] mem_q [2048];
  logic [9:0] count;
  initial begin
    string file;
    if ($value$plusargs("memory=%s", file)) $readmemh(file, mem_q);
  end
  seldom_core u_core (.clk_i(clk_i), .rst_ni(rst_ni), .count_o(count));
  always_ff @(posedge clk_i) if (count[6:0] == 7'd100) mem_q[{count[9:7], 8'd7}] <= 64'(count);
  assign done_o = count == 10'd1000;
endmodule
"""


@pytest.mark.parametrize("others", [40, 2060])
def test_as_many_engines_as_a_campaign_has_inputs(tmp_path, others):
    """The fault: a page that nobody is told of is closed again, and the next write to it ends the process.

    There are places for 4,096 instances; without one a memory is looked at as a whole.
    """
    source = tmp_path / "seldom.sv"
    source.write_text(SELDOM)
    target = dataclasses.replace(TARGET, name="seldom", top="seldom", sources=(source,))
    workload = Workload("words", {"memory": IMAGE[:16384]}, OutputSpec("memory", 56, (8,)), decide=exact)
    with VerilatorEngine(target, workload, elaborate(target)) as made:
        expected, model = made.golden(), made.model
        assert model.map.large
        more = [
            Injector(model.origin, model.map.registers, model.map.memories, (), (), model.map.large)
            for _ in range(others)
        ]
        try:
            for own in more[-2:]:
                assert own.golden(2000) is Stop.DONE
                assert own.cursor.cycle == expected.end.end_cycle
                last = own.recall_memories(own.cursor.cycle).view(model.map.storage("mem_q"))
                assert (last.reshape(-1) != np.frombuffer(IMAGE[:16384], np.uint8)).sum() >= 7
        finally:
            for own in more:
                own.close()


@pytest.mark.parametrize("checkpoints", [0, 3])
def test_a_restart_begins_anew_whatever_the_last_one_wrote(target, plain, elaboration, faults, checkpoints):
    """The fault: the plain runner takes a memory on from fault to fault, and calls all after it corrupted."""
    chosen = random.Random(6).sample(faults, 40)
    with VerilatorEngine(target, WORKLOAD, elaboration, lanes=False, audit=NOTHING) as made:
        runner = PlainRunner(made, checkpoints)
        found = {fault: runner.inject(fault) for fault in chosen}
        runner.close()
    assert found == {fault: plain[fault] for fault in chosen}
    assert len({injection.seen for injection in found.values()}) > 1
