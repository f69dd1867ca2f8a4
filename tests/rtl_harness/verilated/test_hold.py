"""Held bits in a compiled model, against the same done plainly from Python."""

import random

import pytest

from rtl_harness.errors import SimulationError
from rtl_harness.verilated.campaign import Campaign, Ending, Flip, Shortcut
from rtl_harness.verilated.library import Port
from tests.rtl_harness.verilated.design import ELEMENTS

END = 128
LIMIT = 2 * END


@pytest.fixture(scope="module")
def origin(closed_library, input_file):
    with closed_library.create([f"input={input_file}"]) as made:
        made.reset(3)
        yield made


@pytest.fixture(scope="module")
def storage(origin):
    return {path: origin.find(path) for path in ELEMENTS}


@pytest.fixture(scope="module")
def campaign(origin, storage):
    memories = [storage["in_q"], storage["out_q"]]
    made = Campaign(origin, [s for s in storage.values() if s not in memories], memories)
    made.golden(1000)
    made.watch(list(storage.values()))
    yield made
    made.close()


@pytest.fixture(scope="module")
def bits(storage):
    """Every bit of the registers, some of the memories, at both values."""
    choose = random.Random(2)
    found = [Flip(s, 0, bit) for s in storage.values() if s.depth == 1 for bit in range(s.width)]
    for name in ("in_q", "out_q"):
        s = storage[name]
        found += [Flip(s, choose.randrange(s.depth), choose.randrange(s.width)) for _ in range(20)]
    return [(flip, value) for flip in found for value in (0, 1)]


def held_plainly(library, origin, bit, value, limit, released=None):
    """Set the bit before every edge and after it; leave it alone in the cycle `released`."""
    with library.create() as plain:
        plain.copy_from(origin)

        def hold():
            if plain.read(bit.storage, bit.word) >> bit.bit & 1 != value and plain.cycle != released:
                plain.flip(bit.storage, bit.bit, bit.word)
                plain.settle()

        hold()
        while plain.cycle < limit:
            plain.run_to(plain.cycle + 1)
            hold()
            if plain.port(Port.DONE):
                break
        return bool(plain.port(Port.DONE)), plain.cycle, contents(plain)


def contents(instance):
    return {path: instance.view(instance.find(path)).tobytes() for path in ELEMENTS}


@pytest.fixture(scope="module")
def expected(closed_library, origin, bits):
    return [held_plainly(closed_library, origin, bit, value, LIMIT) for bit, value in bits]


@pytest.mark.parametrize("shortcuts", [Shortcut.NONE, Shortcut.ALL])
def test_a_held_bit_ends_as_one_that_is_set_in_every_cycle(campaign, bits, expected, shortcuts):
    golden = campaign.cursor
    endings = set()
    for (bit, value), (done, cycles, final) in zip(bits, expected, strict=True):
        result = campaign.hold(bit, value, LIMIT, shortcuts)
        endings.add(Ending(result.stop))
        assert result.end_cycle == cycles
        if result.stop == Ending.REJOINED:
            assert done
            continue
        assert result.stop == (Ending.DONE if done else Ending.LIMIT)
        assert contents(campaign.faulty) == final
    assert (Ending.REJOINED in endings) == bool(shortcuts)
    assert {Ending.DONE, Ending.LIMIT} <= endings
    assert golden.library is campaign.origin.library


def test_a_hold_that_is_released_for_a_cycle_would_be_seen(closed_library, origin, bits, expected):
    """What the test above rests on: many bits end otherwise if they are free for one cycle."""
    other = [held_plainly(closed_library, origin, *pair, LIMIT, released=40) for pair in bits]
    assert sum(a != b for a, b in zip(other, expected, strict=True)) > 10


def test_a_bit_that_never_has_another_value_is_known_at_once(campaign, storage, origin, closed_library):
    """The golden run's history proves it: no cycle is simulated, and a plain run ends in the golden state."""
    with closed_library.create() as golden:
        golden.copy_from(origin)
        golden.run(1000)
        final = contents(golden)
    found = 0
    for path in ELEMENTS:
        for bit in range(storage[path].width):
            held = Flip(storage[path], 0, bit)
            for value in (0, 1):
                result = campaign.hold(held, value, LIMIT, Shortcut.ALL)
                if result.stop == Ending.REJOINED and result.simulated == 0:
                    found += 1
                    assert held_plainly(closed_library, origin, held, value, LIMIT) == (True, END, final)
    assert found > 20


def test_a_machine_whose_run_bit_is_stuck_is_not_clocked_to_the_limit(campaign, storage):
    stuck, limit = Flip(storage["run_q"], 0, 0), 100_003
    short = campaign.hold(stuck, 0, limit, Shortcut.ALL)
    final = contents(campaign.faulty)
    plain = campaign.hold(stuck, 0, limit, Shortcut.NONE)
    assert (short.stop, short.end_cycle) == (plain.stop, plain.end_cycle) == (Ending.LIMIT, limit)
    assert final == contents(campaign.faulty)
    assert short.simulated < 2000
    assert plain.simulated == limit


def test_shortcuts_need_a_bit_that_was_watched(origin, storage):
    made = Campaign(origin, [s for s in storage.values() if s.depth == 1], [])
    made.golden(1000)
    made.watch([storage["run_q"]])
    with pytest.raises(SimulationError, match="was not watched"):
        made.hold(Flip(storage["count_q"], 0, 0), 1, LIMIT, Shortcut.ALL)
    made.close()
