# SPDX-License-Identifier: Apache-2.0
"""A netlist with trees of clocks and resets: its registers are those without, and its buffers are sites."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from resil.prepare.netlist import NetlistSites
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.logic.open_pins import open_sites
from resil.rtl_harness.logic.sites import CLOCK, RESET, pin_sites, pulse_sites
from resil.rtl_harness.logic.structure import constant_pins
from resil.rtl_harness.logic.synthesis import logic_netlist
from testkit.clock_tree import TREE, with_trees
from testkit.closed_cores import core_target
from testkit.held import compared_holds, compared_opens
from testkit.pulses import compared_pulses
from testkit.random_core import RandomCore
from tests.rtl_harness.logic.test_netlist_target import FED_BACK, FED_BACK_LIB, TINY, TINY_LIB, tiny

PULSED = Path(__file__).with_name("pulsed.sv")
WORK = Workload("tiny", {}, OutputSpec("out", 0, (16,)), decide=exact)
# A buffer, and a flip-flop of the falling edge.
LIBRARY = f"""{TINY_LIB.rstrip()[:-1]}{FED_BACK_LIB}
  cell (BU) {{ area : 1; pin (I) {{ direction : input; }} pin (Z) {{ direction : output; function : "I"; }} }}
  cell (FN) {{ area : 5; ff (S, SN) {{ clocked_on : "CP'"; next_state : "D"; clear : "RN'"; }}
    pin (CP) {{ direction : input; }} pin (D) {{ direction : input; }} pin (RN) {{ direction : input; }}
    pin (Q) {{ direction : output; function : "S"; }} pin (QB) {{ direction : output; function : "SN"; }} }}
}}
"""


def written(text, *changes):
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


# Without the latch, which has no faults in the netlist in Verilog.
PLAIN = written(
    TINY,
    ("  XO x_o (.A(held), .B(count_o[1]), .Z(odd_o));\n", FED_BACK),
    ("  NI n_c (.I(clk_i), .Z(nclk));\n", ""),
    ("LA keep_l (.G(nclk),", "ODD keep_l (.CP(clk_i), .RN(rst_ni),"),
)
TREES = """
  wire tk, tn, tp, tg, gn, rb, rn, rp;
  BU t_root (.I(clk_i), .Z(tk));
  NI t_n (.I(tk), .Z(tn));
  NI t_p (.I(tn), .Z(tp));
  BU t_idle (.I(tp), .Z());
  GATE t_off (.CP(tn), .EN(count_o[0]), .TM(test_i));
  NI g_n (.I(gclk), .Z(gn));
  NI g_p (.I(gn), .Z(tg));
  BU r_root (.I(rst_ni), .Z(rb));
  NI r_n (.I(rb), .Z(rn));
  NI r_p (.I(rn), .Z(rp));
"""
CLOCKED = (
    (" GATE \\u_gate/cg (.CP(clk_i)", f"{TREES} GATE \\u_gate/cg (.CP(tk)"),
    # The falling edge of an inverted clock is the rising one of the clock.
    ("ODD \\q_reg[0]  (.CP(clk_i), .RN(rst_ni)", "FN \\q_reg[0]  (.CP(tn), .RN(rp)"),
    ("ODD \\q_reg[1]  (.CP(clk_i), .RN(rst_ni)", "ODD \\q_reg[1]  (.CP(tp), .RN(rb)"),
    ("ODD \\q_reg[2]  (.CP(gclk)", "ODD \\q_reg[2]  (.CP(tg)"),
    ("EN kept_reg (.CP(clk_i)", "EN kept_reg (.CP(tp)"),
    ("GATE often_cg (.CP(clk_i)", "GATE often_cg (.CP(tp)"),
)
TREE_CELLS = {f"u_dut.{name}" for name in ("t_root", "t_n", "t_p", "g_n", "g_p", "r_root", "r_n", "r_p")}


def made(folder, text):
    target = load_target(tiny(folder, text, LIBRARY))
    elaboration = with_hardware(target, elaborate(target))
    return target, elaboration, logic_netlist(target, elaboration)


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    return made(tmp_path_factory.mktemp("grown"), written(PLAIN, *CLOCKED))


def pins_of(netlist, sites):
    return {netlist.pin_name(int(pin)) for pin in sites.pins}


@pytest.mark.parametrize("sites_of", [pin_sites, pulse_sites, open_sites])
def test_registers_behind_a_tree_have_the_sites_that_they_have_without(grown, sites_of, tmp_path):
    """The fault: behind a buffer each flip-flop was of another clock, and had no sites, nor had its logic."""
    _, elaboration, netlist = grown
    _, bare_storage, bare = made(tmp_path, PLAIN)
    assert bare.left_out == {}
    assert set(netlist.left_out) == {"u_dut.t_idle"}
    found = pins_of(netlist, sites_of(elaboration.sites, netlist))
    own = {name for name in found if name.partition("/")[0] in TREE_CELLS}
    assert found - own == pins_of(bare, sites_of(bare_storage.sites, bare))
    of_clocks = {name for name in TREE_CELLS if not name.startswith("u_dut.r_")}
    wanted = {f"{cell}/Z" for cell in TREE_CELLS}
    if sites_of is pin_sites:
        wanted |= {f"{cell}/I" for cell in TREE_CELLS}
    elif sites_of is open_sites:
        # A reset's buffer is a cell like others; a clock that is not driven is no matter of cycles.
        wanted = {f"{cell}/I" for cell in TREE_CELLS - of_clocks}
    assert own == wanted


def test_buffers_of_trees_are_of_the_class_of_what_they_lead_to(grown):
    _, elaboration, netlist = grown
    sites = pin_sites(elaboration.sites, netlist)
    classes = {e.path: e.register_class for e in sites.table.elements[len(elaboration.sites.elements) :]}
    clocks = {name for name, own in classes.items() if own == CLOCK}
    resets = {name for name, own in classes.items() if own == RESET}
    assert resets == {name for name in TREE_CELLS if name.startswith("u_dut.r_")}
    assert clocks == TREE_CELLS - resets | {"u_dut.u_gate_cg", "u_dut.often_cg"}


def test_a_clock_is_no_constant(grown):
    """The fault: the net of a clock that always runs is 1, so its buffers seemed to be tied to that."""
    _, _, netlist = grown
    named = {netlist.pin_name(pin) for pin in constant_pins(netlist)}
    assert {name for name in named if name.partition("/")[0].startswith(("u_dut.t_", "u_dut.g_"))} == set()
    assert not any(name.endswith("/CP") for name in named)


@pytest.mark.parametrize("compared", [compared_holds, compared_opens])
def test_faults_of_each_pin_end_as_in_the_netlist_in_an_untouched_simulator(grown, compared, tmp_path):
    target, elaboration, _ = grown
    found = compared(target, WORK, elaboration, 10**6, 1, tmp_path)
    assert [found.pins[place] for place in found.different] == []
    if compared is compared_holds:
        ends = dict(zip(found.pins, found.found, strict=True))
        # Nothing counts without a clock, whichever way it stands still.
        assert {ends[f"u_dut.t_root/{pin}", value].outcome.value for pin in "IZ" for value in (0, 1)} == {
            "hang"
        }
        # Behind the gate there is but one bit of the count.
        third = {ends[f"u_dut.{cell}/{pin}", v] for cell in ("g_n", "g_p") for pin in "IZ" for v in (0, 1)}
        assert len({(own.outcome, own.end_cycle, own.output_hash) for own in third}) == 1
        assert {own.outcome.value for own in third} != {"masked"}


def test_a_pulse_at_a_buffer_strikes_what_lies_behind_it(grown, tmp_path):
    target, _, _ = grown
    found = compared_pulses(target, WORK, 600, 3, tmp_path, 1)
    assert found.different == []
    assert found.clocks > 40
    assert min(found.outcomes["masked"], found.outcomes["sdc_critical"]) > 50


# A register of the falling edge whose clock is gated, by what another one of that edge says; that one has a
# reset behind a buffer.
FALLING = """
  wire tk, tn, rf, half, low, gate_n, opens, s4;
  BU r_fall (.I(rst_ni), .Z(rf));
  BU t_root (.I(clk_i), .Z(tk));
  NI t_n (.I(tk), .Z(tn));
  ODD half_reg (.CP(tn), .RN(rf), .D(count_o[1]), .Q(half));
  XO x_g (.A(half), .B(count_o[0]), .Z(opens));
  GATE fall_cg (.CP(tn), .EN(opens), .TM(test_i), .Q(gate_n));
  ODD low_reg (.CP(gate_n), .RN(rst_ni), .D(n1), .Q(low));
  XO x_s4 (.A(low), .B(half), .Z(s4));
"""
HALVES = (
    # A gate of the rising edge takes what the falling one has given.
    ("GATE often_cg (.CP(clk_i), .EN(often)", "GATE often_cg (.CP(clk_i), .EN(half)"),
    ("ODD slow_reg (.CP(gclk2), .RN(rst_ni), .D(kept)", "ODD slow_reg (.CP(gclk2), .RN(rst_ni), .D(n1)"),
    (" GATE \\u_gate/cg (.CP(clk_i)", f"{FALLING} GATE \\u_gate/cg (.CP(tk)"),
    ("XO x_s2 (.A(kept), .B(never)", "XO x_s2 (.A(s4), .B(never)"),
    ("ODD \\q_reg[3]  (.CP(clk_i)", "ODD \\q_reg[3]  (.CP(tk)"),
)


def test_a_gate_of_the_falling_edge_takes_its_enable_before_that(tmp_path):
    """Its registers have no sites, and it is said; gate and buffers have, and hold them too.

    The fault: while a reset acted, such a register had in half of the cycle what it would take without it.
    """
    target, elaboration, netlist = made(tmp_path, written(PLAIN, *HALVES))
    names = {"u_dut.t_root", "u_dut.t_n", "u_dut.fall_cg", "u_dut.r_fall"}
    assert names - {"u_dut.r_fall"} <= {netlist.names[cell] for cell in netlist.clock_cells[:, 0].tolist()}
    assert {"u_dut.half_reg", "u_dut.low_reg"} <= set(netlist.left_out)
    assert not names & set(netlist.left_out)
    for place, compared in enumerate((compared_holds, compared_pulses)):
        (tmp_path / str(place)).mkdir()
        if compared is compared_holds:
            held = compared_holds(target, WORK, elaboration, 10**6, 1, tmp_path / str(place), _of(names))
            assert [held.pins[at] for at in held.different] == []
            assert len(held.found) == 2 * (2 + 2 + 4 + 2)
        else:
            assert compared_pulses(target, WORK, 400, 3, tmp_path / str(place), 1).different == []


def _of(names):
    def chosen(netlist):
        cells = [netlist.number[name] for name in names]
        return np.flatnonzero(np.isin(netlist.pins["cell"], cells))

    return chosen


def test_a_buffer_that_gives_more_than_a_clock_has_no_sites_and_it_is_said(tmp_path):
    """What is behind it has: it takes the clock of the design all the same."""
    text = written(
        TINY,
        (" GATE", "  wire tk;\n  BU t_root (.I(clk_i), .Z(tk));\n  GATE"),
        ("NI n_c (.I(clk_i)", "NI n_c (.I(tk)"),
        ("ODD \\q_reg[3]  (.CP(clk_i)", "ODD \\q_reg[3]  (.CP(tk)"),
    )
    _, elaboration, netlist = made(tmp_path, text)
    _, _, bare = made(tmp_path, TINY)
    assert set(netlist.left_out) == {*bare.left_out, "u_dut.t_root"}
    sites = pin_sites(elaboration.sites, netlist)
    assert "u_dut.q_reg_3_/D" in pins_of(netlist, sites)
    (remark,) = NetlistSites(netlist, sites, "").remarks
    assert remark.startswith(f"{len(netlist.left_out)} cells")
    assert "u_dut.t_root" in remark


# A buffer of a clock that is divided and gated, and one that gives a clock and its inverse.
OTHERS = """
  wire dk, dg, dq, dn, bk, bn, b0, b1;
  GATE d_cg (.CP(count_o[0]), .EN(count_o[1]), .TM(test_i), .Q(dk));
  BU t_div (.I(dk), .Z(dg));
  ODD div_reg (.CP(dg), .RN(rst_ni), .D(dn), .Q(dq));
  NI d_n (.I(dq), .Z(dn));
  BB t_both (.I(clk_i), .Z(bk), .ZN(bn));
  ODD b0_reg (.CP(bk), .RN(rst_ni), .D(n1), .Q(b0));
  FN b1_reg (.CP(bn), .RN(rst_ni), .D(n2), .Q(b1));
"""
BOTH = """
  cell (BB) { area : 2; pin (I) { direction : input; }
    pin (Z) { direction : output; function : "I"; } pin (ZN) { direction : output; function : "I'"; } }
}
"""


def test_buffers_that_cannot_be_struck_are_named_and_followed(tmp_path):
    text = written(PLAIN, (" GATE \\u_gate", f"{OTHERS} GATE \\u_gate"))
    target = load_target(tiny(tmp_path, text, f"{LIBRARY.rstrip()[:-1]}{BOTH}"))
    elaboration = with_hardware(target, elaborate(target))
    netlist = logic_netlist(target, elaboration)
    assert {"u_dut.t_div", "u_dut.div_reg", "u_dut.t_both"} <= set(netlist.left_out)
    assert {"u_dut.b0_reg/D", "u_dut.b1_reg/D"} <= pins_of(netlist, pin_sites(elaboration.sites, netlist))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            (("ODD \\q_reg[2]  (.CP(tg)", "FN \\q_reg[2]  (.CP(tg)"),),
            "the falling edge of the clock that u_dut.u_gate_cg gates is taken",
        ),
        (
            (("ODD \\q_reg[2]  (.CP(tg)", "ODD \\q_reg[2]  (.CP(gn)"),),
            "the falling edge of the clock that u_dut.u_gate_cg gates is taken",
        ),
        (
            (("XO x_s2 (.A(kept)", "XO x_s2 (.A(gn)"),),
            "the clock that u_dut.u_gate_cg gates is used as data",
        ),
    ],
)
def test_what_gates_cannot_say_of_a_gated_clock_is_refused(changes, why, tmp_path):
    text = written(written(PLAIN, *CLOCKED), *changes)
    with pytest.raises(UnsupportedError, match=why):
        made(tmp_path, text)


@pytest.mark.parametrize("seed", [2, 213, 0])
def test_faults_of_random_trees_are_as_in_their_netlists(seed, tmp_path):
    """With gates behind them, one with flip-flops of the falling edge, one (0) with a memory."""
    source = tmp_path / f"random_{seed}.sv"
    source.write_text(RandomCore(source.stem, seed).text)
    target = core_target(source if seed else PULSED)
    elaboration = with_hardware(target, elaborate(target))
    data = {} if seed else {"input": bytes(37 * i % 251 for i in range(16))}
    work = Workload("random", data, OutputSpec("output", 0, (16,)), decide=exact)

    def of(netlist):
        own = [i for i, name in enumerate(netlist.names) if f".{TREE}" in name]
        assert not set(netlist.left_out) & {netlist.names[i] for i in own}
        assert seed or netlist.gates.writes
        return np.flatnonzero(np.isin(netlist.pins["cell"], own))

    for name in ("held", "pulses"):
        (tmp_path / name).mkdir()
    held = compared_holds(target, work, elaboration, 150, seed, tmp_path / "held", of, with_trees(seed))
    assert [held.pins[place] for place in held.different] == []
    assert len({own.outcome for own in held.found}) >= 2
    pulses = compared_pulses(target, work, 320, seed, tmp_path / "pulses", 1, made=with_trees(seed))
    assert pulses.different == []
    assert pulses.clocks > 20
