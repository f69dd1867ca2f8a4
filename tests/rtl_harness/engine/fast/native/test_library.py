# SPDX-License-Identifier: Apache-2.0
import os
import signal

import numpy as np
import pytest

from resil.rtl_harness.engine.fast.native.library import OutputPort, Stop
from resil.rtl_harness.errors import SimulationError, UnmappedSiteError
from testkit.errors import about
from tests.rtl_harness.engine.fast.native.design import ELEMENTS

CYCLES = 128


def storage(instance):
    return [instance.find(path) for path in ELEMENTS]


def state(instance):
    return {s.path: instance.view(s).tobytes() for s in storage(instance)}


def test_runs_to_done_and_reads_ports(instance, input_words):
    instance.reset(3)
    assert instance.cycle == 0
    assert instance.run(10_000) is Stop.DONE
    assert instance.cycle == CYCLES
    assert (instance.port(OutputPort.DONE), instance.alarms_up, instance.rises()) == (1, 0, [])
    assert instance.port(OutputPort.STATUS) & 0xFFFF == 64
    assert instance.operations() == [(32 * k, k) for k in (1, 2, 3, 4)]
    assert [instance.read(instance.find("in_q"), i) for i in range(64)] == input_words.tolist()


def test_time_limit_stops_the_run_and_it_can_go_on(instance):
    instance.reset(3)
    assert instance.run(50) is Stop.LIMIT
    assert instance.cycle == 50
    assert instance.run(10_000) is Stop.DONE
    assert instance.cycle == CYCLES


@pytest.mark.parametrize("path", sorted(ELEMENTS))
def test_every_element_is_found_with_its_shape(instance, path):
    found = instance.find(path)
    assert (found.width, found.depth) == ELEMENTS[path]


def test_whole_array_has_the_words_of_all_dimensions(instance):
    grid = instance.find("u_low.grid_q")
    assert grid.depth == 6
    assert instance.find("u_low.grid_q[1]").offset == grid.offset + 3 * grid.entry_bytes
    assert instance.find("u_low.grid_q[1]").first_word == 1


@pytest.mark.parametrize(
    "path", ["u_low.nothing_q", "u_none.first_q", "u_low.grid_q[2][1]", "u_low.first_q[0]", "low"]
)
def test_what_is_not_there_is_an_error_with_its_name(instance, path):
    with pytest.raises(UnmappedSiteError, match=path.split("[")[0]):
        instance.find(path)


def test_a_write_reads_back_and_settles(instance):
    instance.reset(3)
    instance.run(20)
    count = instance.find("count_q")
    instance.write(count, 33)
    instance.settle()
    assert instance.read(count) == 33
    assert instance.port(OutputPort.OPERATION) == 2
    assert instance.port(OutputPort.STATUS) & 0xFFFF == 33
    with pytest.raises(ValueError, match="16 bits"):
        instance.write(count, 1 << 16)


def test_each_bit_of_each_element_flips_alone(instance):
    instance.reset(3)
    instance.run(40)
    for element in storage(instance):
        for bit in range(element.width):
            before = state(instance)
            word = bit % element.depth
            instance.flip(element, bit, word)
            instance.settle()
            after = state(instance)
            changed = [path for path in before if before[path] != after[path]]
            assert changed == [element.path]
            difference = int.from_bytes(before[element.path], "little") ^ int.from_bytes(
                after[element.path], "little"
            )
            assert difference == 1 << (bit + 8 * element.entry_bytes * word)
            instance.flip(element, bit, word)
            instance.settle()
            assert state(instance) == before


def test_a_copy_continues_as_the_original(closed_library, instance, input_file):
    instance.reset(3)
    instance.run(70)
    with closed_library.create() as copy:
        copy.copy_from(instance)
        assert copy.cycle == 70
        assert state(copy) == state(instance)
        instance.run(10_000)
        assert copy.run(10_000) is Stop.DONE
        assert state(copy) == state(instance)
        assert copy.operations() == instance.operations()
        assert copy.port(OutputPort.STATUS) == instance.port(OutputPort.STATUS)


def test_settling_without_a_write_changes_nothing(closed_library, instance, input_file):
    """Every cycle settled again: a settle that touched anything would show in the final state."""
    instance.reset(3)
    with closed_library.create([f"input={input_file}"]) as other:
        other.reset(3)
        for cycle in range(1, CYCLES + 1):
            instance.run_to(cycle)
            instance.settle()
        other.run(10_000)
        assert state(instance) == state(other)


def test_storage_is_the_whole_state(closed_library, instance, input_file):
    """What the element list holds, put into a fresh instance, decides the future."""
    instance.reset(3)
    instance.run(61)
    with closed_library.create() as other:
        other.reset(3)
        for element in storage(instance):
            other.view(element)[:] = instance.view(element)
        other.settle()
        for _ in range(CYCLES - 61):
            instance.run_to(instance.cycle + 1)
            other.run_to(other.cycle + 1)
            assert state(other) == state(instance)


def test_two_instances_do_not_disturb_each_other(closed_library, instance, tmp_path):
    (tmp_path / "zero.hex").write_text("0\n" * 64)
    instance.reset(3)
    with closed_library.create([f"input={tmp_path / 'zero.hex'}"]) as other:
        other.reset(3)
        for cycle in range(1, 60):
            instance.run_to(cycle)
            other.run_to(cycle)
        assert not other.view(other.find("in_q")).any()
        assert instance.view(instance.find("in_q")).any()
        assert not np.array_equal(other.view(other.find("out_q")), instance.view(instance.find("out_q")))


def test_fatal_in_the_design_is_an_error(closed_library):
    with pytest.raises(SimulationError, match=r"closed\.sv"):
        closed_library.create(["fatal"])


def test_a_closed_instance_says_so(closed_library):
    made = closed_library.create()
    made.close()
    with pytest.raises(SimulationError, check=about("closed")):
        made.run(1)


def test_an_instance_may_be_closed_in_a_forked_process(closed_library):
    """The fault: the end of a context of Verilator waits for threads that a fork does not take along."""
    with closed_library.create() as instance:
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            instance.close()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert instance.handle
