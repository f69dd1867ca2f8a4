# SPDX-License-Identifier: Apache-2.0
import random

import numpy as np
import pytest

from resil.rtl_harness.engine.fast.native.injector import Ending, Flip, Injector, Shortcut
from resil.rtl_harness.engine.fast.native.library import OutputPort, Stop
from resil.rtl_harness.errors import SimulationError
from testkit.errors import about
from tests.rtl_harness.engine.fast.native.design import ELEMENTS

END = 128


@pytest.fixture(scope="module")
def origin(closed_library, input_file):
    with closed_library.create([f"input={input_file}"]) as made:
        made.reset(3)
        yield made


@pytest.fixture(scope="module")
def storage(origin):
    return {path: origin.find(path) for path in ELEMENTS}


# What is kept of the golden run: all; little, in segments of few cycles; hardly anything.
KEPT = {"all": None, "some": (500, 5), "little": (0, 3)}


@pytest.fixture(scope="module", params=KEPT)
def bounds(request):
    return KEPT[request.param]


@pytest.fixture(scope="module")
def injector(bounds, origin, storage):
    memories = [storage["in_q"], storage["out_q"]]
    made = Injector(origin, [s for s in storage.values() if s not in memories], memories)
    if bounds:
        made.bound(*bounds)
    assert made.golden(1000) is Stop.DONE
    yield made
    made.close()


def test_memories_are_those_of_a_plain_run_in_any_cycle(closed_library, origin, injector, storage, bounds):
    """The fault: what is no longer kept is not simulated again from where it began."""
    written = [storage["in_q"], storage["out_q"]]
    expected = []
    with closed_library.create() as plain:
        plain.copy_from(origin)
        for edges in range(1, END + 1):
            plain.run_to(edges)
            expected.append([plain.view(s).tobytes() for s in written])
    assert len({tuple(contents) for contents in expected}) > 8
    before = injector.recalled
    choose = random.Random(9)
    for edges in [*range(1, END + 1), *range(END, 0, -1), *(choose.randint(1, END) for _ in range(200))]:
        found = injector.recall_memories(edges)
        assert [found.view(s).tobytes() for s in written] == expected[edges - 1]
    again = injector.recalled - before
    assert (again > 20) == (bounds is not None)


def state(instance, storage):
    return {path: instance.view(s).tobytes() for path, s in storage.items()}


def from_reset(closed_library, origin, flips, cycle, limit):
    """The same injection done plainly, with one instance from reset."""
    with closed_library.create() as plain:
        plain.copy_from(origin)
        plain.run_to(cycle + 1)
        for flip in flips:
            plain.flip(flip.storage, flip.bit, flip.word)
        plain.settle()
        stop = plain.run(limit)
        return stop, plain.cycle, {path: plain.view(plain.find(path)).tobytes() for path in ELEMENTS}


def test_golden_run_ends_where_a_plain_run_does(closed_library, origin, injector, storage):
    with closed_library.create() as plain:
        plain.copy_from(origin)
        assert plain.run(1000) is Stop.DONE
        with closed_library.create() as other:
            other.copy_from(plain)
            assert state(other, storage) == state(plain, storage)
    assert injector.remembered_bytes > END * 16


def test_injections_end_as_runs_from_reset_do(closed_library, origin, injector, storage):
    choose = random.Random(4)
    golden = from_reset(closed_library, origin, [], 0, 1000)
    endings = set()
    for _ in range(300):
        element = choose.choice(list(storage.values()))
        word, bit = choose.randrange(element.depth), choose.randrange(element.width)
        flips = [
            Flip(element, word, b) for b in range(bit, min(bit + choose.choice([1, 1, 2, 3]), element.width))
        ]
        cycle = choose.randrange(END)
        stop, end, final = from_reset(closed_library, origin, flips, cycle, 2 * END)
        result = injector.inject(flips, cycle, 2 * END, Shortcut.ALL)
        endings.add(Ending(result.stop))
        assert result.end_cycle == end
        if result.stop == Ending.REJOINED:
            assert (stop, final) == (golden[0], golden[2])
            assert end == golden[1] + result.shift
        else:
            assert {Ending.DONE: Stop.DONE, Ending.LIMIT: Stop.LIMIT}[Ending(result.stop)] is stop
            assert state(injector.faulty, storage) == final
    assert endings == {Ending.DONE, Ending.LIMIT, Ending.REJOINED}


def test_a_machine_that_stands_still_is_not_clocked_to_the_limit(injector, storage):
    stuck = [Flip(storage["run_q"], 0, 0)]
    limit = 100_003
    short = injector.inject(stuck, 40, limit, Shortcut.ALL)
    final = state(injector.faulty, storage)
    status = injector.faulty.port(OutputPort.STATUS)
    plain = injector.inject(stuck, 40, limit, Shortcut.NONE)
    assert (short.stop, short.end_cycle) == (plain.stop, plain.end_cycle) == (Ending.LIMIT, limit)
    assert (final, status) == (state(injector.faulty, storage), injector.faulty.port(OutputPort.STATUS))
    assert short.simulated < 1000
    assert plain.simulated == limit - 41


def test_a_bit_that_does_not_keep_the_flip_is_reported(injector, storage):
    """A bit inverted twice is as it was: the read-back must see that nothing was injected."""
    twice = [Flip(storage["count_q"], 0, 0)] * 2
    assert injector.inject(twice, 5, 200, Shortcut.ALL).stop == Ending.NOT_APPLIED


def test_memory_contents_are_compared_in_every_cycle(injector, storage):
    """A word that the run will overwrite: the state is the golden one again only from then on."""
    flip = [Flip(storage["out_q"], 50, 3)]
    result = injector.inject(flip, 10, 1000, Shortcut.SAME_CYCLE)
    assert result.stop == Ending.REJOINED
    assert 10 + result.simulated >= 2 * 50
    unread = [Flip(storage["in_q"], 3, 60)]
    assert injector.inject(unread, 10, 1000, Shortcut.SAME_CYCLE).stop == Ending.DONE


def test_going_back_in_time_gives_the_same(injector, storage):
    flips = [Flip(storage["u_low.first_q"], 0, 2)]
    results = [injector.inject(flips, cycle, 1000, Shortcut.ALL) for cycle in (5, 90, 5, 91, 90, 5)]
    found = [(r.stop, r.shift, r.end_cycle, r.simulated) for r in results]
    assert found[0] == found[2] == found[5]
    assert found[1] == found[4]


def test_golden_limit_and_design_errors(origin, storage):
    made = Injector(origin, list(storage.values()), [])
    assert made.golden(50) is Stop.LIMIT
    made.close()
    assert np.array_equal(origin.view(storage["count_q"]), np.zeros((1, 2), np.uint8))
    with pytest.raises(SimulationError, check=about("closed")):
        made.faulty.run(1)
