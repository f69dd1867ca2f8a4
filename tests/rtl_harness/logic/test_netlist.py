# SPDX-License-Identifier: Apache-2.0
"""The synthesised netlist of a closed design: its cells, its pins, and that it is the RTL that runs."""

from dataclasses import replace

import numpy as np
import pytest

from resil.rtl_harness.design import synthesis as design_synthesis
from resil.rtl_harness.design.area_library import gate_table
from resil.rtl_harness.design.cells import Expression, cells_of, parsed, selection
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic import synthesis
from resil.rtl_harness.logic.expand import expanded
from resil.rtl_harness.logic.netlist import (
    NOWHERE,
    TO_FLIP_FLOP,
    TO_GATE,
    packed_netlist,
    unpacked_netlist,
)
from resil.rtl_harness.logic.open_pins import open_sites
from resil.rtl_harness.logic.proof import proven
from resil.rtl_harness.logic.sites import CLOCK, LOGIC, pin_sites, pulse_sites
from resil.rtl_harness.logic.synthesis import logic_netlist
from testkit.awkward import awkward_workload


@pytest.fixture(scope="module")
def model(target, elaboration):
    workload = awkward_workload()
    with VerilatorEngine(target, workload, elaboration, sweep=False) as engine:
        engine.golden()
        yield engine.model


def test_every_pin_of_every_cell_has_its_place(netlist):
    library, pins, gates = cells_of(gate_table().liberty()), netlist.pins, netlist.gates
    assert netlist.cells > 2500
    assert not netlist.left_out
    for cell in range(netlist.cells):
        kind = library[netlist.cell_type(cell)]
        rows = pins[netlist.first_pin[cell] : netlist.first_pin[cell + 1]]
        assert {netlist.pin_names[n] for n in rows["name"]} == {*kind.inputs, *kind.outputs}
        for row in rows:
            if row["consumer"] == TO_GATE:
                assert gates.gates[row["row"], row["column"]] == row["net"]
            elif row["consumer"] == TO_FLIP_FLOP:
                assert gates.flip_flops[row["row"], row["column"]] == row["net"]
            else:
                assert (row["consumer"], netlist.pin_names[row["name"]] in {"C", "CK"}) == (NOWHERE, True)
    # Each place is that of one pin: a fault of it is a fault of nothing else.
    taken = pins[pins["consumer"] != NOWHERE]
    places = {tuple(row) for row in taken[["consumer", "row", "column"]].tolist()}
    assert len(places) == len(taken)


def test_flip_flops_are_named_as_registers_and_have_the_block_of_their_instance(netlist):
    state = netlist.number["u_dut.u_control.state_q[1]"]
    assert (netlist.cell_type(state), netlist.block(state)) == ("DFFR", "control")
    blocks = {netlist.block(cell) for cell in range(netlist.cells)}
    assert blocks == {"", "control", "history", "lanes", "even"}


def test_it_is_kept_as_it_is(netlist):
    again = unpacked_netlist(packed_netlist(netlist))
    assert packed_netlist(again) == packed_netlist(netlist)
    assert again.names == netlist.names
    assert np.array_equal(again.pins, netlist.pins)


def test_it_is_the_rtl_that_runs(netlist, model):
    _, pulses = proven(netlist, model)
    pulses.close()


@pytest.mark.parametrize("operation", [2, 3, 4, 5, 6, 7, 10])
def test_a_cell_of_another_function_is_noticed_by_register_and_cycle(netlist, model, operation):
    """One cell of each sort does something else; the error names a register."""
    gates = netlist.gates.gates
    lanes = {i for i in range(netlist.cells) if netlist.block(i) in ("control", "history")}
    own = netlist.pins[[pin["output"] == 1 and pin["cell"] in lanes for pin in netlist.pins]]
    rows = own["row"][own["consumer"] == TO_GATE].tolist()
    row = next(i for i in rows if gates[i][0] == operation)
    wrong = gates.copy()
    wrong[row, 0] = {2: 4, 3: 5, 4: 2, 5: 3, 6: 7, 7: 6, 10: 11}[operation]
    broken = replace(netlist, gates=replace(netlist.gates, gates=wrong))
    with pytest.raises(HarnessError, match=r"differ in u_dut\.\S+, bit \d+, after cycle \d+"):
        proven(broken, model)


def test_a_memory_that_is_written_otherwise_is_noticed(netlist, model):
    writes = list(netlist.gates.writes)
    number = next(i for i, (memory, *_) in enumerate(writes) if "past_q" in netlist.gates.memories[memory][0])
    memory, address, data, enable = writes[number]
    for changed in (
        (memory, address, (data[1], data[0], *data[2:]), enable),
        (memory, address, data, (0,) * 72),
    ):
        own = tuple(changed if i == number else write for i, write in enumerate(writes))
        with pytest.raises(HarnessError, match=r"memory|past_q"):
            proven(replace(netlist, gates=replace(netlist.gates, writes=own)), model)


def test_a_constant_that_is_none_is_noticed(netlist, model, elaboration):
    site = next(
        first
        for first, e in zip(elaboration.sites.offsets, elaboration.sites.elements, strict=False)
        if e.path == "u_dut.u_control.round_q"
    )
    value = model.injector.cursor.read(model.map.flip(site).storage) & 1
    broken = replace(netlist, constants=np.array([[site, 1 - value]], np.int32))
    with pytest.raises(HarnessError, match=r"round_q\[0\] for constant"):
        proven(broken, model)


def test_sites_are_numbered_behind_the_storage(netlist, elaboration):
    storage = elaboration.sites
    all_pins, pulses = pin_sites(storage, netlist), pulse_sites(storage, netlist)
    assert all_pins.first == pulses.first == storage.size
    assert all_pins.table.size == storage.size + len(netlist.pins)
    for site in (storage.size, storage.size + 777, all_pins.table.size - 1):
        found, row = all_pins.table[site], netlist.pins[all_pins.pin(site)]
        assert (found.element.kind, found.element.path) == (LOGIC, netlist.names[row["cell"]])
        assert found.bit == all_pins.pin(site) - netlist.first_pin[row["cell"]]
    # One name for a pin, whichever pins of its cell are sites.
    for sites in (all_pins, pulses, open_sites(storage, netlist)):
        for place in range(0, len(sites.pins), 37):
            site, pin = sites.first + place, sites.pin(sites.first + place)
            name = (
                f"{netlist.names[netlist.pins['cell'][pin]]}/{netlist.pin_names[netlist.pins['name'][pin]]}"
            )
            assert sites.table[site].name == netlist.pin_name(pin) == name
            assert netlist.pin_named(name) == pin
    assert netlist.pin_named("u_dut.nothing/Y") is netlist.pin_named(f"{netlist.names[0]}/none") is None
    assert all_pins.table[0] == storage[0]
    rows = netlist.pins[pulses.pins]
    assert set(rows["output"].tolist()) == {1}
    types = {netlist.cell_type(cell) for cell in rows["cell"].tolist()}
    assert types >= {"NAND2", "ICG"}
    assert not types & {"DFF", "DFFR", "DFFS"}
    classes = {e.register_class for e in pulses.table.elements[len(storage.elements) :]}
    assert classes >= {"NAND2", CLOCK}
    with pytest.raises(IndexError, match="storage"):
        pulses.pin(storage.size - 1)


def test_a_register_that_synthesis_lost_is_named(target, elaboration, monkeypatch):
    """A name that the netlist does not have is an error, not a register without faults."""
    from resil.rtl_harness.logic import synthesis

    joined = synthesis.joined

    def without(*args):
        design = joined(*args)
        del design.wires["u_dut.u_control.round_q"]
        return design

    monkeypatch.setattr(synthesis, "joined", without)
    monkeypatch.setattr(synthesis, "cached_folder", _fresh(synthesis.cached_folder))
    with pytest.raises(
        HarnessError, match=r"not in the synthesised netlist, among them u_dut\.u_control\.round_q"
    ):
        logic_netlist(target, elaboration)


def _fresh(cached):
    def again(kind, key, build):
        return cached(kind, f"{key}-lost" if kind == "logic-netlist" else key, build)

    return again


@pytest.mark.parametrize(
    ("function", "pins", "table"),
    [
        ("!((A&B)|C)", "ABC", lambda a, b, c: not ((a and b) or c)),
        ("(S&B)|((!S)&A)", "ABS", lambda a, b, s: b if s else a),
        ("A B' + (C ^ A)", "ABC", lambda a, b, c: (a and not b) or (c != a)),
        ("A*B+A*C+B*C", "ABC", lambda a, b, c: a + b + c > 1),
        ("1", "", lambda: True),
        ("A", "A", lambda a: a),
    ],
)
def test_functions_of_a_library_become_gates_that_compute_them(function, pins, table):
    bits = iter(range(100, 200))
    inputs = {pin: i for i, pin in enumerate(pins)}
    own = expanded({"Y": parsed(function)}, inputs, {"Y": 99}, lambda: next(bits))
    assert set(own.takes) == set(pins)
    for pin, (gate, column) in own.takes.items():
        assert own.gates[gate][1][column - 1] == inputs[pin]
    uses = [bit for _, operands, _ in own.gates for bit in operands]
    assert all(uses.count(bit) == 1 for bit in inputs.values())
    for number in range(1 << len(pins)):
        values = {i: number >> i & 1 for i in range(len(pins))} | {"0": 0, "1": 1}
        for operation, operands, output in own.gates:
            values[output] = _evaluated(operation, *(values[bit] for bit in operands))
        assert values[99] == bool(table(*(bool(values[i]) for i in range(len(pins)))))


def _evaluated(operation, a, b=0, s=0):
    inner = {0: a, 2: a & b, 4: a | b, 6: a ^ b, 10: b if s else a}[operation & ~1]
    return inner ^ (operation & 1)


def test_a_multiplexer_is_one_gate():
    assert selection(parsed("(S & B) | (A & !S)")) is not None
    assert selection(parsed("(S & B) | (A & S)")) is None
    assert parsed("!!A") == Expression("pin", "A")


@pytest.mark.parametrize("text", ["A &", "A B)", "(A", "&A", ""])
def test_what_is_no_function_is_refused(text):
    with pytest.raises(HarnessError, match="function of pins"):
        parsed(text)


def test_a_netlist_is_made_again_when_other_code_reads_the_design(
    target, elaboration, netlist, monkeypatch, tmp_path
):
    """The fault: cells were synthesised anew, and the netlist was what had been made of the old ones."""

    class MadeError(Exception):
        pass

    def made(*of):
        raise MadeError

    monkeypatch.setattr(synthesis, "_joined", made)
    assert packed_netlist(logic_netlist(target, elaboration)) == packed_netlist(netlist)
    other = tmp_path / "yosys_side.py"
    other.write_text("# another reader\n")
    monkeypatch.setattr(design_synthesis, "_OWN", (other,))
    with pytest.raises(MadeError):
        logic_netlist(target, elaboration)
