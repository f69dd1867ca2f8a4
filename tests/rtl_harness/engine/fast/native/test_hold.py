# SPDX-License-Identifier: Apache-2.0
"""Held bits in a compiled model, against the same done plainly from Python."""

import random

import pytest

from resil.rtl_harness.engine.fast.native.injector import Ending, Flip, Injector, Shortcut
from resil.rtl_harness.engine.fast.native.library import OutputPort
from resil.rtl_harness.errors import SimulationError
from tests.rtl_harness.engine.fast.native.design import ELEMENTS

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
def injector(origin, storage):
    memories = [storage["in_q"], storage["out_q"]]
    made = Injector(origin, [s for s in storage.values() if s not in memories], memories)
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
    return [([flip], value) for flip in found for value in (0, 1)]


@pytest.fixture(scope="module")
def groups(storage, bits):
    """Bits that have nothing to do with one another, held together; the first often never changes."""
    choose = random.Random(4)
    still = [Flip(storage[f"{u}.zero_q"], 0, bit) for u in ("u_low", "u_high") for bit in range(4)]
    others = [own[0] for own, value in bits if value]
    return [
        ([choose.choice(still), *choose.sample(others, count)][skip:], value)
        for count in (1, 2, 3)
        for skip in (0, 0, count > 1)
        for value in (0, 1)
        for _ in range(8)
    ]


def held_plainly(library, origin, bits, value, limit, released=None):
    """Set the bits before every edge and after it; leave them alone in the cycle `released`."""
    with library.create() as plain:
        plain.copy_from(origin)

        def hold():
            wrong = [bit for bit in bits if plain.read(bit.storage, bit.word) >> bit.bit & 1 != value]
            if wrong and plain.cycle != released:
                for bit in wrong:
                    plain.flip(bit.storage, bit.bit, bit.word)
                plain.settle()

        hold()
        while plain.cycle < limit:
            plain.run_to(plain.cycle + 1)
            hold()
            if plain.port(OutputPort.DONE):
                break
        return bool(plain.port(OutputPort.DONE)), plain.cycle, contents(plain)


def contents(instance):
    return {path: instance.view(instance.find(path)).tobytes() for path in ELEMENTS}


@pytest.fixture(scope="module")
def expected(closed_library, origin, bits):
    return [held_plainly(closed_library, origin, *pair, LIMIT) for pair in bits]


@pytest.mark.parametrize("shortcuts", [Shortcut.NONE, Shortcut.ALL])
def test_a_held_bit_ends_as_one_that_is_set_in_every_cycle(injector, bits, expected, shortcuts):
    golden = injector.cursor
    endings = set()
    for (own, value), (done, cycles, final) in zip(bits, expected, strict=True):
        result = injector.hold(own, value, LIMIT, shortcuts)
        endings.add(Ending(result.stop))
        assert result.end_cycle == cycles
        if result.stop == Ending.REJOINED:
            assert done
            continue
        assert result.stop == (Ending.DONE if done else Ending.LIMIT)
        assert contents(injector.faulty) == final
    assert (Ending.REJOINED in endings) == bool(shortcuts)
    assert {Ending.DONE, Ending.LIMIT} <= endings
    assert golden.library is injector.origin.library


@pytest.mark.parametrize("shortcuts", [Shortcut.NONE, Shortcut.ALL])
def test_bits_held_together_end_as_if_all_were_set_in_every_cycle(
    injector, groups, closed_library, origin, shortcuts
):
    alone = 0
    for own, value in groups:
        done, cycles, final = held_plainly(closed_library, origin, own, value, LIMIT)
        result = injector.hold(own, value, LIMIT, shortcuts)
        assert result.end_cycle == cycles
        if result.stop == Ending.REJOINED:
            assert done
        else:
            assert result.stop == (Ending.DONE if done else Ending.LIMIT)
            assert contents(injector.faulty) == final
        first = held_plainly(closed_library, origin, own[:1], value, LIMIT)
        alone += first != (done, cycles, final)
    assert alone > 20


def test_the_first_effect_of_bits_held_together_is_that_of_the_earliest(injector, groups):
    later = 0
    for own, value in groups:
        single = [injector.first_effect([bit], value) for bit in own]
        assert injector.first_effect(own, value) == min(single)
        later += single[0] > min(single)
    assert later > 5


def test_a_hold_that_is_released_for_a_cycle_would_be_seen(closed_library, origin, bits, expected):
    """What the test above rests on: many bits end otherwise if they are free for one cycle."""
    other = [held_plainly(closed_library, origin, *pair, LIMIT, released=40) for pair in bits]
    assert sum(a != b for a, b in zip(other, expected, strict=True)) > 10


def test_a_bit_that_never_has_another_value_is_known_at_once(injector, storage, origin, closed_library):
    """The golden run's history proves it: no cycle is simulated, and a plain run ends in the golden state."""
    with closed_library.create() as golden:
        golden.copy_from(origin)
        golden.run(1000)
        final = contents(golden)
    found = 0
    for path in ELEMENTS:
        for bit in range(storage[path].width):
            held = [Flip(storage[path], 0, bit)]
            for value in (0, 1):
                result = injector.hold(held, value, LIMIT, Shortcut.ALL)
                if result.stop == Ending.REJOINED and result.simulated == 0:
                    found += 1
                    assert held_plainly(closed_library, origin, held, value, LIMIT) == (True, END, final)
    assert found > 20


def test_a_machine_whose_run_bit_is_stuck_is_not_clocked_to_the_limit(injector, storage):
    stuck, limit = [Flip(storage["run_q"], 0, 0)], 100_003
    short = injector.hold(stuck, 0, limit, Shortcut.ALL)
    final = contents(injector.faulty)
    plain = injector.hold(stuck, 0, limit, Shortcut.NONE)
    assert (short.stop, short.end_cycle) == (plain.stop, plain.end_cycle) == (Ending.LIMIT, limit)
    assert final == contents(injector.faulty)
    assert short.simulated < 2000
    assert plain.simulated == limit


def test_shortcuts_need_a_bit_that_was_watched(origin, storage):
    made = Injector(origin, [s for s in storage.values() if s.depth == 1], [])
    made.golden(1000)
    made.watch([storage["run_q"]])
    with pytest.raises(SimulationError, match="was not watched"):
        made.hold([Flip(storage["count_q"], 0, 0)], 1, LIMIT, Shortcut.ALL)
    made.close()
