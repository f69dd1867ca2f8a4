# SPDX-License-Identifier: Apache-2.0
"""Open inputs and bridges: the engine beside the netlist in an untouched simulator, and lists of pairs."""

import numpy as np
import pytest

from resil.rtl_harness.engine.logic.library import PinKind
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Outcome
from resil.rtl_harness.logic.bridges import MOST_WEIGHTS, NetPair, Way, bridges_of, read_pairs
from resil.rtl_harness.logic.netlist import NOWHERE, TO_FLIP_FLOP, TO_GATE
from resil.rtl_harness.logic.open_pins import OpenHolder, open_sites
from testkit.held import compared_bridges, compared_opens, drawn_pairs


def test_open_inputs_end_as_those_of_the_netlist_in_an_untouched_simulator(
    target, workload, elaboration, tmp_path
):
    compared = compared_opens(target, workload, elaboration, 300, 20261126, tmp_path)
    assert [compared.pins[place] for place in compared.different] == []
    assert {own.outcome for own in compared.found} >= {Outcome.MASKED, Outcome.SDC_CRITICAL, Outcome.DUE}


def test_bridges_end_as_those_of_the_netlist_in_an_untouched_simulator(
    target, workload, elaboration, tmp_path
):
    compared = compared_bridges(target, workload, elaboration, 300, 20261126, tmp_path)
    assert [compared.pins[place] for place in compared.different] == []
    assert len({own.outcome for own in compared.found}) >= 4
    ways = {name[-2] for name, _ in compared.pins}
    assert ways == {"0", "1", "2", "3"}


def test_open_inputs_are_those_of_cells_but_for_clocks_and_resets(elaboration, netlist):
    sites = open_sites(elaboration.sites, netlist)
    own = netlist.pins[sites.pins]
    assert not own["output"].any()
    assert set(own["consumer"].tolist()) == {TO_GATE, TO_FLIP_FLOP}
    assert not ((own["consumer"] == TO_FLIP_FLOP) & (own["column"] == 2)).any()
    assert not np.isin(own["cell"], netlist.clock_cells[:, 0]).any()
    holder = OpenHolder(netlist, np.zeros(0, np.int8))
    kinds = {pin.kind for place in sites.pins.tolist() for pin in holder.held(place, 1)}
    assert kinds == {PinKind.OPEN, PinKind.OPEN_DATA}
    clock = int(np.flatnonzero(netlist.pins["consumer"] == NOWHERE)[0])
    with pytest.raises(HarnessError, match="expected an input"):
        holder.held(clock, 0)


def names_of(netlist, pins):
    return [netlist.pin_name(pin) for pin in pins]


def test_a_bridge_that_closes_a_loop_of_gates_has_no_site(elaboration, netlist):
    """An inverter's input and output: what the output has may be given by nothing but the input."""
    inverter = next(
        cell for cell in range(netlist.cells) if netlist.cell_type(cell) == "INV" and _driven(netlist, cell)
    )
    output, taken = names_of(netlist, netlist.first_pin[inverter] + np.arange(2))
    pairs = [NetPair(output, taken), NetPair(output, taken, (Way.AND, Way.OR))]
    found = bridges_of(elaboration.sites, netlist, pairs)
    # The input's net dominates the output: that closes nothing.
    assert found.names == (f"{output}~{taken}[1]",)
    assert found.left_out == tuple(f"{output}~{taken}[{way}]" for way in (0, 2, 3))
    assert found.sites.table.size == elaboration.sites.size + 1
    assert found.sites.table[found.sites.first].name == found.names[0]


def _driven(netlist, cell):
    net = int(netlist.pins["net"][netlist.first_pin[cell] + 1])
    return net > 1


def test_weights_of_a_pair_are_shared_by_its_faults(elaboration, netlist):
    one, other, third = (pair.first for pair in drawn_pairs(netlist, 3, 5))
    pairs = [NetPair(one, other, weight=3.0), NetPair(one, third, (Way.FIRST,), 0.5)]
    found = bridges_of(elaboration.sites, netlist, pairs)
    weights = dict(zip(found.names, found.weights, strict=True))
    assert {name[-3:]: w for name, w in weights.items() if third not in name} == {"[0]": 1.5, "[1]": 1.5}
    assert [w for name, w in weights.items() if third in name] == [0.5]


def test_a_bridge_of_what_is_not_there_is_refused(elaboration, netlist):
    clock = names_of(netlist, np.flatnonzero(netlist.pins["consumer"] == NOWHERE)[:1])[0]
    one = drawn_pairs(netlist, 1, 5)[0].first
    for pair, why in (
        (NetPair(one, "u_dut.nothing/Y"), "expected a pin, as CELL/PIN"),
        (NetPair(one, f"{one}Y"), "expected a pin, as CELL/PIN"),
        (NetPair(one, one.replace("/", "[") + "]"), "expected a pin, as CELL/PIN"),
        (NetPair(one, clock), "found a clock"),
        (NetPair(one, one), "pins on one"),
    ):
        with pytest.raises(HarnessError, match=why):
            bridges_of(elaboration.sites, netlist, [pair])


def test_a_list_of_pairs_is_read_with_types_and_weights(tmp_path):
    file = tmp_path / "pairs.csv"
    # The last row has its names as lists of resil have them, which no spreadsheet takes for a formula.
    rows = "b[0],a[0],,2\nd[0],c[0],wired_or,\n'=f/Y,'-e/A,first,\n"
    file.write_text(f"# of the layout\nsecond,first,type,weight\n{rows}")
    assert read_pairs(file) == [
        NetPair("a[0]", "b[0]", (Way.FIRST, Way.SECOND), 2.0),
        NetPair("c[0]", "d[0]", (Way.OR,), 1.0),
        NetPair("-e/A", "=f/Y", (Way.FIRST,), 1.0),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("first\na\n", "head with first and second"),
        ("first,second\n", "at least one pair"),
        ("first,second\na[0],\n", "row 1: expected two nets"),
        ("first,second\na[0],a[0]\n", "row 1: expected two nets"),
        ("first,second,type\na[0],b[0],short\n", "row 1: type: expected one of"),
        ("first,second,weight\na[0],b[0],-1\n", "row 1: weight: expected a positive number"),
        ("first,second\na[0],b[0]\nb[0],a[0]\n", "row 2: .* is there twice"),
        (
            "first,second,weight\n" + "".join(f"a[0],b{i}[0],{i + 1}\n" for i in range(MOST_WEIGHTS + 1)),
            "round them",
        ),
    ],
)
def test_a_wrong_list_of_pairs_is_refused_with_its_row(tmp_path, text, why):
    file = tmp_path / "pairs.csv"
    file.write_text(text)
    with pytest.raises(HarnessError, match=why):
        read_pairs(file)
    with pytest.raises(HarnessError, match="expected a list of pairs"):
        read_pairs(tmp_path / "none.csv")
