# SPDX-License-Identifier: Apache-2.0
"""Permanent faults of every pin of small circuits: many machines at once, against one after another."""

from dataclasses import replace

import numpy as np
import pytest

from resil.rtl_harness.engine.fast.lanes.build import paths
from resil.rtl_harness.engine.logic.build import build_library
from resil.rtl_harness.engine.logic.library import (
    KEPT,
    HeldPin,
    How,
    LogicSimulator,
    PinKind,
    dominated,
    flipped,
    flipped_bit,
    opened,
    opened_data,
    pulsed,
    wired,
)
from resil.rtl_harness.errors import SimulationError
from testkit.gate_circuits import (
    AND,
    MUX,
    NAND,
    NOR,
    NOT,
    OR,
    READ,
    XOR,
    GateNetlist,
    JudgedMachines,
    expected,
)

# Runs end as if they had gone on to the time-out, or as the golden run: how that is known is not compared.
ALIKE = {How.LOOP: How.LIMIT, How.SAME: How.DONE, How.UNEXCITED: How.DONE}


@pytest.fixture(scope="module", params=paths())
def library(request):
    return build_library(request.param)


@pytest.fixture(scope="module")
def fastest():
    return build_library()


def any_of(netlist, nets):
    found = nets[0]
    for net in nets[1:]:
        found = netlist.gate(OR, found, net)
    return found


def counter(netlist, bits, end):
    """Count cycles; done where the count is `end`."""
    q = [netlist.flip_flop() for _ in range(bits)]
    carry, equal = 1, 1
    for i, net in enumerate(q):
        netlist.drive(net, netlist.gate(XOR, net, carry))
        carry = netlist.gate(AND, net, carry)
        equal = netlist.gate(AND, equal, net if end >> i & 1 else netlist.gate(NOT, net))
    netlist.done = equal
    netlist.operation = q[3:]
    netlist.uncounted = set(range(bits))
    return q


def random_netlist(seed, registers=24, gates=140):
    """Return a circuit with registers and a memory in loops, alarms, and a reset that may act at any time."""
    rng = np.random.default_rng(seed)
    netlist = GateNetlist(width=5, memory=[int(v) for v in rng.integers(0, 32, 8)], outputs=2)
    count = counter(netlist, 6, 41)
    own = [netlist.flip_flop(int(rng.integers(2)), int(rng.integers(2))) for _ in range(registers)]
    nets = [0, 1, *count, *own]

    def some(n):
        return [int(v) for v in rng.choice(nets[2:], n)]

    for i in range(gates):
        if i in (gates // 3, gates // 2):
            nets += netlist.read(some(4))
        a, b, s = some(3)
        nets.append(netlist.gate(int(rng.integers(12)), a, b if rng.random() < 0.95 else 1, s))
    # Resets come from registers that have none themselves: they cannot set one another off without an end.
    reset = netlist.gate(AND, netlist.gate(AND, own[0], own[1]), netlist.gate(AND, count[1], own[2]))
    for i, q in enumerate(own):
        netlist.drive(q, some(1)[0], reset if i % 3 == 2 and i > 2 else 0)
    for _ in range(2):
        enable = netlist.gate(AND, *some(2))
        netlist.writes.append((some(4), some(5), [enable] * 3 + some(2)))
    netlist.done = netlist.gate(OR, netlist.done, netlist.gate(AND, any_of(netlist, some(1)), 0))
    netlist.status = some(3)
    netlist.alarms = [
        netlist.gate(AND, netlist.gate(AND, *some(2)), netlist.gate(AND, *some(2))) for _ in range(3)
    ]
    netlist.detects, netlist.corrects = 0b101, 0b010
    return netlist


def compare(netlist, library, faults=None, allowance=None, until=False, *, kept=KEPT, alone=False, **how):
    """Compare all faults with the judge, each in a call of its own if `alone`; return how they end."""
    simulator = LogicSimulator(library, netlist.circuit(), netlist.observed(), kept=kept)
    golden = simulator.golden(500)
    limit = 2 * golden.cycles
    judged = JudgedMachines(netlist, [()]).run(limit, None, False, [False] * len(netlist.alarms))
    assert (golden.cycles, golden.status) == (judged.end[0], judged.status[0])
    assert golden.output == bytes(judged.memory[0, : netlist.outputs].astype(np.uint8))
    faults = netlist.pins() if faults is None else faults
    # A call keeps the nets at which its faults are out of regions of gates that are evaluated as one.
    calls = [[fault] for fault in faults] if alone else [faults]
    found = [end for call in calls for end in simulator.run(call, limit, allowance, until, **how)]
    plain = simulator.judge(faults, limit, allowance, until)
    simulator.close()
    wanted = expected(netlist, faults, judged, limit, allowance, until)
    assert plain == wanted
    for fault, end, right in zip(faults, found, wanted, strict=True):
        assert replace(end, how=ALIKE.get(end.how, end.how)) == right, (fault, end.how)
    return [end.how for end in found]


@pytest.mark.parametrize("seed", range(3))
def test_every_pin_of_random_circuits_ends_as_machines_one_by_one(seed, library):
    ends = compare(random_netlist(seed), library, window=8, far=3)
    assert {How.DONE, How.UNEXCITED} <= set(ends)
    assert {How.LOOP, How.LIMIT} & set(ends)


@pytest.mark.parametrize("kind", ["done", "status", "operation", "alarms", "load"])
def test_what_is_observed_is_seen_where_one_gate_alone_takes_it(fastest, kind):
    """Such a net would be within a region of gates that are evaluated as one."""
    netlist = GateNetlist(width=5, memory=[0] * 8, outputs=2)
    count = counter(netlist, 5, 21)
    a, b, c, d = (netlist.flip_flop(0, 1) for _ in range(4))
    seen = netlist.gate(AND, netlist.gate(XOR, a, count[0]), netlist.gate(OR, b, count[1]))
    netlist.drive(a, netlist.gate(XOR, b, count[2]))
    netlist.drive(b, netlist.gate(NOT, a))
    netlist.drive(c, netlist.gate(XOR, netlist.gate(NAND, seen, count[1]), c))
    netlist.drive(d, count[3], seen if kind == "load" else 0)
    if kind == "done":
        netlist.done = netlist.gate(AND, count[4], count[2])
        netlist.drive(d, netlist.gate(XOR, netlist.done, count[0]))
    elif kind == "operation":
        netlist.operation = [seen]
    elif kind == "status":
        netlist.status = [seen]
    elif kind == "alarms":
        netlist.alarms, netlist.detects = [netlist.gate(AND, count[4], count[3])], 1
        netlist.drive(d, netlist.gate(XOR, netlist.alarms[0], count[0]))
    compare(netlist, fastest, allowance=9 if kind == "operation" else None, alone=True, window=8)


@pytest.mark.parametrize("seed", range(3))
def test_every_pin_alone_ends_as_machines_one_by_one(fastest, seed):
    compare(random_netlist(seed), fastest, alone=True, window=8)


@pytest.mark.parametrize(("allowance", "until"), [(9, False), (None, True), (11, True)])
def test_time_outs_of_operations_and_ends_at_detection(fastest, allowance, until):
    how = {"window": 4, "far": 0}
    ends = [
        e for s in range(6, 9) for e in compare(random_netlist(s), fastest, None, allowance, until, **how)
    ]
    assert (How.DETECTED in ends) == until


def test_a_loop_in_which_no_operation_ends_runs_into_its_time_out(fastest):
    """A counter of operations that stands still, beside one that goes on, and one that counts in the loop."""
    netlist = GateNetlist()
    count = counter(netlist, 6, 41)
    turning = netlist.flip_flop()
    netlist.drive(turning, netlist.gate(NOT, turning))
    netlist.status = [turning, *count]
    stands = tuple(HeldPin(PinKind.DATA, row, 0) for row in (3, 4, 5))
    goes_on = (HeldPin(PinKind.DATA, 4, 0), HeldPin(PinKind.DATA, 5, 0))
    for window in (2, 16):
        ends = compare(netlist, fastest, [stands, goes_on], 33, window=window)
        assert ends == [How.LOOP, How.LOOP]


@pytest.mark.parametrize(("window", "far"), [(1, 0), (5, 2), (64, 4), (256, 12)])
@pytest.mark.parametrize("kept", [0, 6000, KEPT])
def test_how_the_work_is_done_changes_nothing(fastest, window, far, kept):
    compare(random_netlist(9), fastest, window=window, far=far, kept=kept)


@pytest.mark.parametrize("kept", [0, 6000])
def test_a_golden_run_that_is_not_kept_is_there_for_each_call(fastest, kept):
    """Calls that end early, late, and at once, one after another."""
    netlist = random_netlist(4)
    simulators = [
        LogicSimulator(fastest, netlist.circuit(), netlist.observed(), kept=own) for own in (kept, KEPT)
    ]
    goldens = [own.golden(500) for own in simulators]
    assert goldens[0] == goldens[1]
    pins = netlist.pins()
    for some in (pins[:40], pins[40:41], pins[100:], []):
        found = [own.run(some, 2 * goldens[0].cycles, window=3) for own in simulators]
        assert found[0] == found[1]
    assert (simulators[0].values() == simulators[1].values()).all()


def test_several_pins_of_one_fault_are_held_together(fastest):
    netlist = random_netlist(10)
    pins = netlist.pins()
    rng = np.random.default_rng(1)
    pairs = [tuple(pins[i][0] for i in rng.choice(len(pins), 2, replace=False)) for _ in range(200)]
    pairs = [pair for pair in pairs if len({(p.kind, p.at, p.column) for p in pair}) == 2]
    compare(netlist, fastest, pairs, window=16)


def test_upsets_alone_and_with_held_pins_end_as_machines_one_by_one(fastest):
    """Upsets of any row, one that takes a machine back to where it was before among them."""
    rng = np.random.default_rng(2)
    ends = []
    for seed in (11, 12):
        netlist = random_netlist(seed)
        pins = netlist.pins()
        faults = []
        for cycle in rng.integers(0, 60, 400).tolist():
            upset = flipped(int(rng.integers(len(netlist.flip_flops))), cycle)
            if rng.random() < 0.4:
                upset = flipped_bit(0, 8 * int(rng.integers(8)) + int(rng.integers(netlist.width)), cycle)
            held = () if rng.random() < 0.3 else pins[int(rng.integers(len(pins)))]
            faults.append((*held, upset))
        for window in (1, 7, 64):
            ends += compare(netlist, fastest, faults, window=window, far=2)
        compare(netlist, fastest, faults, 9, window=5)
    assert {How.DONE, How.LIMIT} <= set(ends)


def test_pulses_alone_and_with_held_pins_end_as_machines_one_by_one(fastest):
    rng = np.random.default_rng(3)
    netlist = random_netlist(13)
    driven = [y for operation, *_, y in netlist.gates if operation != READ]
    pins, faults = netlist.pins(), []
    for cycle in rng.integers(0, 60, 500).tolist():
        held = () if rng.random() < 0.6 else pins[int(rng.integers(len(pins)))]
        net = int(rng.choice(driven))
        if (net,) not in [(pin.at,) for pin in held]:
            faults.append((*held, pulsed(net, cycle)))
    for window in (1, 7, 64):
        ends = compare(netlist, fastest, faults, window=window, far=2)
    assert {How.DONE, How.LIMIT} <= set(ends)
    compare(netlist, fastest, faults, 9, True, window=5)


def test_a_word_that_is_struck_while_it_is_read_is_read_anew(fastest):
    """One word is read in all cycles, and nothing writes: a port that stands still."""
    netlist = GateNetlist(width=2, memory=[1, 2])
    counter(netlist, 6, 41)
    data = netlist.read([0])
    kept = netlist.flip_flop()
    netlist.drive(kept, netlist.gate(OR, kept, data[1]))
    netlist.status = [kept, *data]
    faults = [(flipped_bit(0, bit, cycle),) for bit in (0, 1, 8) for cycle in (3, 20, 33)]
    ends = compare(netlist, fastest, faults, window=64)
    assert ends == [How.DONE] * 9


def test_a_machine_that_is_still_to_be_struck_is_in_no_loop(fastest):
    """A counter that goes round every 16 cycles: it is set back, or a register is struck, cycles later."""
    netlist = GateNetlist()
    count = counter(netlist, 6, 41)
    kept = netlist.flip_flop()
    netlist.drive(kept, kept)
    netlist.operation, netlist.status = [], [kept, *count]
    round_again = (HeldPin(PinKind.DATA, 4, 0), HeldPin(PinKind.DATA, 5, 0))
    faults = [(*round_again, upset) for upset in (flipped(6, 70), flipped(2, 19), flipped(6, 3))]
    for window in (1, 4):
        assert compare(netlist, fastest, faults, window=window) == [How.LIMIT, How.LOOP, How.LOOP]


@pytest.mark.parametrize("seed", range(20, 23))
def test_open_inputs_and_bridges_of_random_circuits_end_as_machines_one_by_one(seed, fastest):
    netlist, rng = random_netlist(seed), np.random.default_rng(seed)
    opens, bridges = netlist.opens(rng, 160), netlist.bridges(rng, 160)
    ends = compare(netlist, fastest, opens, window=5, far=2)
    assert {How.DONE, How.UNEXCITED} <= set(ends)
    assert {How.LOOP, How.LIMIT} & set(compare(netlist, fastest, bridges, window=7, far=3))
    compare(netlist, fastest, [*opens, *netlist.pins()[::5], *bridges], 11, True, window=64)


def test_a_load_that_acts_in_the_golden_run_alone_is_not_taken_over(fastest):
    """A register that is 0 but for its load, which a held pin keeps from acting from its first cycle on."""
    netlist = GateNetlist()
    count = counter(netlist, 6, 41)
    load = netlist.gate(AND, count[3], count[4])
    loaded, seen = netlist.flip_flop(0, 1), netlist.flip_flop()
    netlist.drive(loaded, 0, load)
    netlist.drive(seen, netlist.gate(OR, seen, loaded))
    netlist.operation, netlist.status = [], [seen]
    row = next(i for i, own in enumerate(netlist.flip_flops) if own[0] == loaded)
    faults = [(HeldPin(PinKind.NET, load, 0),), (HeldPin(PinKind.LOAD, row, 0),)]
    assert compare(netlist, fastest, faults, window=64) == [How.DONE] * 2


def test_an_open_input_that_remembers_is_in_no_loop(fastest):
    """A net keeps what it had when a counter stood elsewhere: no state comes again before that."""
    netlist = GateNetlist()
    count = counter(netlist, 6, 41)
    slow = netlist.flip_flop()
    netlist.drive(slow, netlist.gate(XOR, slow, netlist.gate(AND, count[5], count[3])))
    kept = netlist.gate(NAND, slow, count[2])
    seen = netlist.flip_flop()
    netlist.drive(seen, netlist.gate(XOR, seen, kept))
    netlist.operation, netlist.status = [], [seen, kept, *count]
    row = next(i for i, gate in enumerate(netlist.gates) if gate[4] == kept)
    round_again = (HeldPin(PinKind.DATA, 4, 0), HeldPin(PinKind.DATA, 5, 0))
    faults = [(*round_again, opened(kept, row, column, value)) for column in (1, 2) for value in (0, 1)]
    for window in (1, 4, 16):
        compare(netlist, fastest, faults, window=window)


def test_open_inputs_that_set_one_another_are_in_no_loop_before_all_are_set(fastest):
    """Outputs that stay 1 once they have been 1, each a round of the counter after the one before it."""
    netlist = GateNetlist()
    count = counter(netlist, 6, 41)
    inverted = [netlist.gate(NOT, net) for net in count[:4]]

    def at(number):
        found = 1
        for i in range(4):
            found = netlist.gate(AND, found, count[i] if number >> i & 1 else inverted[i])
        return found

    def staying(net):
        found = netlist.gate(OR, net, net)
        return found, opened(found, len(netlist.gates) - 1, 1, 1)

    round_again = (HeldPin(PinKind.DATA, 4, 0), HeldPin(PinKind.DATA, 5, 0))
    faults, netlist.status, netlist.operation = [], [], []
    for last in range(13):
        opens, net = [], 1
        for number in (15, 13, last):
            net, own = staying(netlist.gate(AND, net, at(number)))
            opens.append(own)
        faults.append((*round_again, *opens))
        netlist.status.append(net)
    for window in (1, 4, 16):
        assert How.LOOP in compare(netlist, fastest, faults, window=window)


def test_an_open_input_behind_which_another_input_changes_drives_again(fastest):
    """Of an AND-OR cell: the inputs of the OR stand still, and another input of the AND decides."""
    netlist = GateNetlist()
    count = counter(netlist, 6, 41)
    low, seen = netlist.flip_flop(), netlist.flip_flop()
    netlist.drive(low, low)
    low_half = netlist.gate(NOR, count[1], count[3])
    sets = netlist.gate(AND, netlist.gate(AND, count[0], count[2]), low_half)
    behind = netlist.gate(AND, low, netlist.gate(NOT, count[3]))
    row = len(netlist.gates) - 1
    net = netlist.gate(OR, behind, sets)
    netlist.drive(seen, netlist.gate(OR, seen, netlist.gate(AND, net, count[3])))
    netlist.status, netlist.operation = [seen, net], []
    for window in (1, 64):
        compare(netlist, fastest, [(opened(net, row, 1, 1),)], window=window)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (dominated(40, 40), "with itself"),
        (dominated(40, 10**6), "no such net"),
        (wired(1, 40, 0), "no such net"),
        ((opened(40, 10**6, 1, 0),), "no such operand"),
        ((opened_data(999, 0),), "no such pin"),
    ],
)
def test_a_bridge_of_nothing_and_an_open_input_of_nothing_are_refused(fastest, fault, why):
    netlist = random_netlist(11)
    simulator = LogicSimulator(fastest, netlist.circuit(), netlist.observed())
    simulator.golden(500)
    with pytest.raises(SimulationError, match=why):
        simulator.run([fault], 100)
    simulator.close()


def test_each_bridge_by_itself_ends_as_among_others(fastest):
    """A net may be given what the other one had a cycle before, if nothing else asks for another look."""
    netlist = random_netlist(24)
    faults = netlist.bridges(np.random.default_rng(24), 60)
    simulator = LogicSimulator(fastest, netlist.circuit(), netlist.observed())
    limit = 2 * simulator.golden(500).cycles
    for call in (simulator.run, simulator.judge):
        assert [call([fault], limit)[0] for fault in faults] == call(faults, limit)
    simulator.close()


def test_a_bridge_that_closes_a_loop_is_an_error(fastest):
    netlist = GateNetlist()
    count = counter(netlist, 6, 41)
    first = netlist.gate(NOT, count[0])
    last = netlist.gate(NOT, first)
    netlist.status = [first, last]
    simulator = LogicSimulator(fastest, netlist.circuit(), netlist.observed())
    simulator.golden(500)
    inverting = netlist.gates[-1][4]
    for call in (simulator.run, simulator.judge):
        with pytest.raises(SimulationError, match="closes a loop"):
            call([dominated(first, inverting)], 100)
    simulator.close()


@pytest.mark.parametrize(
    ("upset", "why"),
    [
        (flipped(999, 3), "no such pin"),
        (flipped(0, -1), "before the first edge"),
        (flipped_bit(0, 8 * 8, 3), "no such pin"),
        (flipped_bit(0, 6, 3), "no such bit"),
    ],
)
def test_an_upset_of_nothing_is_refused(fastest, upset, why):
    netlist = random_netlist(11)
    simulator = LogicSimulator(fastest, netlist.circuit(), netlist.observed())
    simulator.golden(500)
    with pytest.raises(SimulationError, match=why):
        simulator.run([(upset,)], 100)
    simulator.close()


def applied(build, inputs):
    """Return a circuit to which all patterns are applied, beside a copy with which it is compared.

    Its register is 1 from the first pattern on in which an output is not that of the copy.
    """
    netlist = GateNetlist()
    q = counter(netlist, inputs + 1, 1 << inputs)
    netlist.operation = []
    copy = build(netlist, q[:inputs])
    first = len(netlist.gates)
    outputs = build(netlist, q[:inputs])
    last = len(netlist.gates)
    wrong = any_of(netlist, [netlist.gate(XOR, a, b) for a, b in zip(outputs, copy, strict=True)])
    seen = netlist.flip_flop()
    netlist.drive(seen, netlist.gate(OR, seen, wrong))
    return netlist, range(first, last), outputs, q[:inputs]


def c17(netlist, q):
    """Six NANDs of two inputs, five inputs, two outputs: the smallest of the textbooks' benchmarks."""
    n = netlist.gate
    g10, g11 = n(NAND, q[0], q[2]), n(NAND, q[2], q[3])
    g16, g19 = n(NAND, q[1], g11), n(NAND, g11, q[4])
    return [n(NAND, g10, g16), n(NAND, g16, g19)]


def full_adder(netlist, a, b, c):
    half = netlist.gate(XOR, a, b)
    carry = netlist.gate(OR, netlist.gate(AND, a, b), netlist.gate(AND, half, c))
    return netlist.gate(XOR, half, c), carry


def multiplier(netlist, q):
    """Three bits by three, as an array of full adders."""
    a, b = q[:3], q[3:]
    row = [netlist.gate(AND, x, b[0]) for x in a]
    out = [row[0]]
    high = [row[1], row[2], 0]
    for y in b[1:]:
        partial = [netlist.gate(AND, x, y) for x in a]
        carry, total = 0, []
        for one, other in zip(high, partial, strict=True):
            bit, carry = full_adder(netlist, one, other, carry)
            total.append(bit)
        out.append(total[0])
        high = [*total[1:], carry]
    return [*out, *high]


def alu(netlist, q):
    """Two bits: and, or, xor or sum, as two selects say."""
    a, b, s = q[:2], q[2:4], q[4:]
    low, carry = full_adder(netlist, a[0], b[0], 0)
    high, carry = full_adder(netlist, a[1], b[1], carry)
    n, found = netlist.gate, []
    for x, y, total in ((a[0], b[0], low), (a[1], b[1], high)):
        logic = n(MUX, n(AND, x, y), n(OR, x, y), s[0])
        found.append(n(MUX, logic, n(MUX, n(XOR, x, y), total, s[0]), s[1]))
    return [*found, carry]


@pytest.mark.parametrize(("build", "inputs"), [(c17, 5), (multiplier, 6), (alu, 6)])
def test_coverage_of_combinational_circuits_is_that_of_all_patterns(fastest, build, inputs):
    """A fault is covered if some pattern gives a wrong output, by truth tables alone."""
    netlist, rows, outputs, q = applied(build, inputs)
    pins = [f for f in netlist.pins() if within(netlist, f[0], rows)]
    simulator = LogicSimulator(fastest, netlist.circuit(), netlist.observed())
    golden = simulator.golden(2000)
    ends = dict(zip(pins, simulator.run(pins, 2 * golden.cycles), strict=True))
    patterns = np.arange(1 << inputs)
    good = evaluated(netlist, rows, outputs, q, patterns, None)
    covered = {f: bool((evaluated(netlist, rows, outputs, q, patterns, f[0]) != good).any()) for f in pins}
    assert {fault: end.differs for fault, end in ends.items()} == covered
    # Every fault of the first is known to have a test; the others tie inputs to 0: some there have none.
    assert (sum(covered.values()), len(pins)) == {c17: (36, 36), multiplier: (215, 234), alu: (136, 144)}[
        build
    ]


def within(netlist, pin, rows):
    if pin.kind is PinKind.OPERAND:
        return pin.at in rows
    return pin.kind is PinKind.NET and any(netlist.gates[row][4] == pin.at for row in rows)


def evaluated(netlist, rows, outputs, q, patterns, fault):
    """Outputs for all patterns at once, (outputs, patterns), by arithmetic on arrays."""
    value = {0: patterns * 0, 1: patterns * 0 + 1} | {net: patterns >> i & 1 for i, net in enumerate(q)}
    for row in rows:
        operation, a, b, s, y = netlist.gates[row]
        a, b, s = (value[net] for net in (a, b, s))
        if fault is not None and fault.kind is PinKind.OPERAND and fault.at == row:
            a, b, s = (
                patterns * 0 + fault.value if fault.column == i + 1 else v for i, v in enumerate((a, b, s))
            )
        found = {AND: a * b, NAND: 1 - a * b, OR: a + b - a * b, XOR: (a + b) % 2, MUX: a + s * (b - a)}[
            operation
        ]
        if fault is not None and fault.kind is PinKind.NET and fault.at == y:
            found = patterns * 0 + fault.value
        value[y] = found
    return np.array([value[net] for net in outputs])


def test_a_sequential_circuit_of_three_registers(fastest):
    """Three registers, ten gates, four inputs from a counter: every pin."""
    netlist = GateNetlist()
    q = counter(netlist, 7, 100)
    a, b, c = (netlist.flip_flop() for _ in range(3))
    n = netlist.gate
    g14, g8 = n(NOT, q[0]), n(AND, n(NOT, q[0]), b)
    g15, g16 = n(OR, n(NOT, c), g8), n(OR, q[3], g8)
    g9 = n(NAND, g16, g15)
    g10 = n(NOT, n(OR, g14, a))
    (
        netlist.drive(a, g10),
        netlist.drive(b, n(NOT, n(OR, q[1], a))),
        netlist.drive(c, n(AND, q[2], n(NOT, g9))),
    )
    netlist.status = [n(NOT, g9)]
    ends = compare(netlist, fastest)
    assert len(ends) > 100
    assert How.LOOP in compare(netlist, fastest, window=4)


def test_a_machine_whose_memory_counts_is_in_no_loop(fastest):
    """Its registers are what they were two cycles ago, but it writes: half as fast as it should, it ends."""
    netlist = GateNetlist(width=5, memory=[13], outputs=1)
    n = netlist.gate
    slow, always = netlist.flip_flop(), netlist.flip_flop(1)
    netlist.drive(slow, n(NOT, slow)), netlist.drive(always, n(OR, always, 0))
    value, carry, following, equal = netlist.read([0]), 1, [], 1
    for i, net in enumerate(value):
        following.append(n(XOR, net, carry))
        carry = n(AND, net, carry)
        equal = n(AND, equal, net if 20 >> i & 1 else n(NOT, net))
    enable = n(OR, slow, always)
    netlist.writes.append(([0], following, [enable] * 5))
    netlist.done = equal
    row = next(i for i, gate in enumerate(netlist.gates) if gate[4] == enable)
    slowed = (HeldPin(PinKind.OPERAND, row, 0, 2),)
    # The golden run has gone on by then: what this one has is compared with what that had at its end.
    netlist.uncounted = {0}
    assert compare(netlist, fastest, [slowed], window=2) == [How.DONE]
    assert How.LOOP in compare(netlist, fastest, window=2)


def test_what_nothing_observes_and_what_is_never_excited_is_not_simulated(fastest):
    netlist = GateNetlist()
    q = counter(netlist, 4, 9)
    blind, still = netlist.gate(NOT, q[0]), netlist.gate(AND, q[0], netlist.gate(NOT, q[0]))
    keeper = netlist.flip_flop()
    netlist.drive(keeper, netlist.gate(OR, keeper, still))
    simulator = LogicSimulator(fastest, netlist.circuit(), netlist.observed())
    simulator.golden(100)
    net = PinKind.NET
    ends = simulator.run(
        [(HeldPin(net, blind, 0),), (HeldPin(net, still, 0),), (HeldPin(net, still, 1),)], 40
    )
    assert [end.how for end in ends] == [How.SAME, How.UNEXCITED, How.DONE]
    assert [end.differs for end in ends] == [False, False, True]
    assert simulator.counts.lane_cycles == 9 + 1
    assert not simulator.reaches()[blind]
    assert simulator.reaches()[still]
    assert simulator.values()[[blind, still]].tolist() == [3, 1]


@pytest.mark.parametrize(
    ("pin", "says"),
    [
        (HeldPin(PinKind.NET, 1, 0), "constant"),
        (HeldPin(PinKind.NET, 10**6, 0), "no such pin"),
        (HeldPin(PinKind.OPERAND, 0, 0, 4), "no such operand"),
        (HeldPin(PinKind.DATA, 99, 0), "no such pin"),
    ],
)
def test_pins_that_are_not_there_are_refused(fastest, pin, says):
    netlist = GateNetlist()
    counter(netlist, 4, 9)
    simulator = LogicSimulator(fastest, netlist.circuit(), netlist.observed())
    simulator.golden(100)
    with pytest.raises(SimulationError, match=says):
        simulator.run([(pin,)], 18)


def test_a_circuit_that_does_not_end_is_refused(fastest):
    netlist = GateNetlist()
    counter(netlist, 3, 6)
    netlist.done = 0
    simulator = LogicSimulator(fastest, netlist.circuit(), netlist.observed())
    with pytest.raises(SimulationError, match="not done"):
        simulator.golden(100)


def test_a_run_that_is_interrupted_ends_at_once_and_the_next_one_is_whole(fastest):
    netlist = random_netlist(4)
    simulator = LogicSimulator(fastest, netlist.circuit(), netlist.observed())
    cycles = simulator.golden(500).cycles
    pins, seen = netlist.pins(), []

    def interrupt(cycle):
        seen.append(cycle)
        if len(seen) == 3:
            raise KeyboardInterrupt

    whole = simulator.run(pins, 2 * cycles, window=3)
    with pytest.raises(KeyboardInterrupt):
        simulator.run(pins, 2 * cycles, window=3, reached=interrupt)
    assert seen == [3, 6, 9]
    assert simulator.run(pins, 2 * cycles, window=3) == whole


def test_a_golden_run_that_is_not_done_in_time_is_an_error_and_may_go_on(fastest, monkeypatch):
    netlist = random_netlist(4)
    wanted = LogicSimulator(fastest, netlist.circuit(), netlist.observed()).golden(500)
    monkeypatch.setattr("resil.rtl_harness.engine.logic.library._STEP", 7)
    simulator = LogicSimulator(fastest, netlist.circuit(), netlist.observed())
    with pytest.raises(SimulationError, match=f"not done within {wanted.cycles - 1} cycles"):
        simulator.golden(wanted.cycles - 1)
    assert simulator.golden(500) == wanted
