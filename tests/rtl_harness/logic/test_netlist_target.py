# SPDX-License-Identifier: Apache-2.0
"""A post-synthesis netlist as a target: its own cells are the sites, and it does what the RTL does."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from resil.rtl_harness.design.drivers import require_single_drivers
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.netlist_text import registers_of
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.logic.library import PinKind
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.logic.collapse import collapsed_pins
from resil.rtl_harness.logic.held_pins import PinHolder
from resil.rtl_harness.logic.pulse_engine import PulseEngine
from resil.rtl_harness.logic.sites import CLOCK, pin_sites, pulse_sites
from resil.rtl_harness.logic.stuck_engine import StuckEngine
from resil.rtl_harness.logic.synthesis import logic_netlist
from testkit.held import compared_holds, compared_opens
from testkit.netlists import synthesised
from tests.rtl_harness.redundancy.stepping import stepper, stepper_netlist, stepper_work


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "scan"])
def design(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("netlist")
    target = stepper_netlist(folder, scan=request.param)
    elaboration = with_hardware(target, elaborate(target))
    return (
        target,
        elaboration,
        logic_netlist(target, elaboration),
        (folder / "netlist.v").read_text(),
        request.param,
    )


def test_cells_and_pins_are_those_of_the_netlist(design):
    _, elaboration, netlist, text, scan = design
    instances = dict(re.findall(r"^  ([A-Z][A-Z0-9]+) \\?(\S+)\s+\($", text, re.M)[::-1])
    written = re.findall(r"^  ([A-Z][A-Z0-9]+) \\?(\S+)\s+\($", text, re.M)
    plain = {f"u_dut.{re.sub(r'[^A-Za-z0-9_]', '_', name)}": kind for kind, name in written}
    assert {name: netlist.cell_type(cell) for cell, name in enumerate(netlist.names)} == plain
    assert instances
    storing = [name for name, kind in plain.items() if "DFF" in kind]
    assert {element.path.rpartition(".")[0] for element in elaboration.sites.elements} == set(storing)
    assert elaboration.sites.absent == ()
    kinds = {"SDFFR", "SDFFS"} if scan else {"DFFR", "DFFS"}
    assert set(netlist.flip_flop_types) == kinds
    some = next(cell for cell, name in enumerate(netlist.names) if name == storing[0])
    own = {netlist.pin_names[pin["name"]] for pin in netlist.pins if pin["cell"] == some}
    assert own == {"C", "D", "Q", "R" if plain[storing[0]].endswith("R") else "S"} | (
        {"SE", "SI"} if scan else set()
    )


def test_the_same_upsets_end_as_in_the_rtl(design, tmp_path):
    target, elaboration, netlist, _, _ = design
    rtl = stepper(tmp_path)
    source = with_hardware(rtl, elaborate(rtl))
    registers = registers_of(netlist.names)
    first = {e.path: o for o, e in zip(source.sites.offsets, source.sites.elements, strict=False)}
    own = {
        e.path.rpartition(".")[0]: o
        for o, e in zip(elaboration.sites.offsets, elaboration.sites.elements, strict=False)
    }
    pairs = {}
    for register, name in registers.items():
        path, _, bit = register.partition("[")
        pairs[first[path] + int(bit.rstrip("]") or 0)] = own[name]
    assert len(pairs) == elaboration.sites.size == source.sites.size
    rng = random.Random(20261126)
    with (
        VerilatorEngine(rtl, stepper_work(), source) as before,
        VerilatorEngine(target, stepper_work(), elaboration) as after,
    ):
        cycles = before.golden().cycles
        assert cycles == after.golden().cycles
        every = [(site, cycle) for site in pairs for cycle in range(cycles)]
        chosen = rng.sample(every, 1000)
        judged = {i.fault: i for i in before.run([Fault(site, cycle) for site, cycle in chosen])}
        found = {i.fault: i for i in after.run([Fault(pairs[site], cycle) for site, cycle in chosen])}

    def answer(own):
        return own.seen, own.end_cycle, own.status, own.output_hash, own.detected, own.corrected

    different = [
        (site, cycle)
        for site, cycle in chosen
        if answer(judged[Fault(site, cycle)]) != answer(found[Fault(pairs[site], cycle)])
    ]
    assert different == []
    assert len({own.seen for own in judged.values()}) >= 3


def test_pulses_and_held_pins_strike_its_cells(design):
    target, elaboration, netlist, _, scan = design
    pins, pulses = pin_sites(elaboration.sites, netlist), pulse_sites(elaboration.sites, netlist)
    with StuckEngine(target, stepper_work(), elaboration, netlist, pins) as engine:
        every = [Fault(site, 0, held=1) for site in range(pins.first, pins.table.size)]
        found = {own.fault.site: own for own in engine.run(every)}
        assert engine.audited > 5
    if scan:
        enables = [site for site in found if netlist.pin_names[netlist.pins["name"][pins.pin(site)]] == "SE"]
        assert len(enables) == elaboration.sites.size
        # A flip-flop that shifts takes its neighbour: hardly any does no harm.
        assert sum(found[site].seen is not Seen.MASKED for site in enables) > 0.8 * len(enables)
    with PulseEngine(target, stepper_work(), elaboration, netlist, pulses, sweep=False) as engine:
        chosen = [Fault(site, 20) for site in range(pulses.first, pulses.table.size, 5)]
        assert len(list(engine.run(chosen))) == len(chosen)


TINY = """
module tiny (input clk_i, input rst_ni, input test_i, output [3:0] count_o, output done_o, output odd_o);
  wire gclk, n0, n1, n2, n3, c1, c2, held, nclk;
  wire [3:0] inverted;
  GATE \\u_gate/cg (.CP(clk_i), .EN(n2), .TM(test_i), .Q(gclk));
  ODD \\q_reg[0]  (.CP(clk_i), .RN(rst_ni), .D(inverted[0]), .QB(inverted[0]));
  NI n_0 (.I(inverted[0]), .Z(count_o[0]));
  XO x_1 (.A(count_o[0]), .B(count_o[1]), .Z(n1));
  ODD \\q_reg[1]  (.CP(clk_i), .RN(rst_ni), .D(n1), .Q(count_o[1]));
  AN a_2 (.A(count_o[0]), .B(count_o[1]), .Z(n2));
  XO x_2 (.A(count_o[2]), .B(1'b1), .Z(n3));
  ODD \\q_reg[2]  (.CP(gclk), .RN(rst_ni), .D(n3), .Q(count_o[2]));
  NI n_c (.I(clk_i), .Z(nclk));
  LA keep_l (.G(nclk), .D(count_o[0]), .Q(held));
  AN a_3 (.A(count_o[2]), .B(n2), .Z(c1));
  XO x_3 (.A(count_o[3]), .B(c1), .Z(c2));
  ODD \\q_reg[3]  (.CP(clk_i), .RN(rst_ni), .D(c2), .Q(count_o[3]));
  AN a_d (.A(count_o[3]), .B(c1), .Z(done_o));
  XO x_o (.A(held), .B(count_o[1]), .Z(odd_o));
endmodule
"""
TINY_BENCH = """
module tiny_bench (input clk_i, input rst_ni, output done_o);
  wire [3:0] count;
  wire odd;
  tiny u_dut (.clk_i, .rst_ni, .test_i(1'b0), .count_o(count), .done_o, .odd_o(odd));
  logic [7:0] out_q [16];
  always_ff @(posedge clk_i) out_q[count] <= {3'd0, odd, count} ^ out_q[~count];
endmodule
"""
TINY_LIB = """
library (tiny) {
  cell (NI) { area : 1; pin (I) { direction : input; } pin (Z) { direction : output; function : "I'"; } }
  cell (AN) { area : 1; pin (A) { direction : input; } pin (B) { direction : input; }
    pin (Z) { direction : output; function : "A B"; } }
  cell (XO) { area : 1; pin (A) { direction : input; } pin (B) { direction : input; }
    pin (Z) { direction : output; function : "A^B"; } }
  cell (ODD) { area : 5; ff (S, SN) { clocked_on : "CP"; next_state : "D"; clear : "RN'"; }
    pin (CP) { direction : input; } pin (D) { direction : input; } pin (RN) { direction : input; }
    pin (Q) { direction : output; function : "S"; } pin (QB) { direction : output; function : "SN"; } }
  cell (LA) { area : 3; latch (S, SN) { enable : "G"; data_in : "D"; }
    pin (G) { direction : input; } pin (D) { direction : input; }
    pin (Q) { direction : output; function : "S"; } }
  cell (GATE) { area : 3; clock_gating_integrated_cell : "latch_posedge_precontrol";
    pin (CP) { direction : input; clock_gate_clock_pin : true; }
    pin (EN) { direction : input; clock_gate_enable_pin : true; }
    pin (TM) { direction : input; clock_gate_test_pin : true; }
    pin (Q) { direction : output; clock_gate_out_pin : true; } }
  cell (ODD_SR) { area : 5; ff (S, SN) { clocked_on : "CP"; next_state : "D"; clear : "RN'"; preset : "SN'"; }
    pin (CP) { direction : input; } pin (D) { direction : input; } pin (RN) { direction : input; }
    pin (Q) { direction : output; function : "S"; } }
  cell (TRI) { area : 1; pin (I) { direction : input; } pin (EN) { direction : input; }
    pin (Z) { direction : output; function : "I"; three_state : "EN'"; } }
  cell (TWO) { area : 9; ff (S, SN) { clocked_on : "CP"; next_state : "D"; clear : "RN'"; }
    ff (T, TN) { clocked_on : "CP"; next_state : "E"; clear : "RN'"; }
    pin (CP) { direction : input; } pin (D) { direction : input; } pin (E) { direction : input; }
    pin (RN) { direction : input; } pin (Q) { direction : output; function : "S"; }
    pin (R) { direction : output; function : "T"; } }
  cell (BANK) { area : 9; ff_bank (S, SN, 2) { clocked_on : "CP"; next_state : "D"; clear : "RN'"; }
    pin (CP) { direction : input; } pin (RN) { direction : input; }
    bundle (D) { members(D0, D1); direction : input; pin (D0) {} pin (D1) {} }
    bundle (Q) { members(Q0, Q1); direction : output; function : "S"; pin (Q0) {} pin (Q1) {} } }
  cell (UNSAID) { area : 2; pin (A) { direction : input; } pin (B) { direction : input; }
    pin (Z) { direction : output; } }
}
"""
TINY_TARGET = """
name = "tiny"
top = "tiny_bench"
dut = "u_dut"
sources = ["tiny.v", "bench.sv"]
cells = "tiny.lib"
clock = "clk_i"
reset = "rst_ni"
done = "done_o"
[blocks]
tiny = "u_dut"
[memories.out]
path = "out_q"
word_bytes = 1
plusarg = "out"
"""


XO_1 = "XO x_1 (.A(count_o[0]), .B(count_o[1]), .Z(n1));"
XO_O = "XO x_o (.A(held), .B(count_o[1]), .Z(odd_o));"
N_0 = "NI n_0 (.I(inverted[0]), .Z(count_o[0]));"
assert all(TINY.count(line) == 1 for line in (XO_1, XO_O, N_0))


def tiny(folder, netlist=TINY, library=TINY_LIB):
    for name, text in (
        ("tiny.v", netlist),
        ("bench.sv", TINY_BENCH),
        ("tiny.lib", library),
        ("t.toml", TINY_TARGET),
    ):
        (folder / name).write_text(text)
    return folder / "t.toml"


def test_gates_of_clocks_inverted_outputs_and_latches_are_what_their_models_do(tmp_path):
    target = load_target(tiny(tmp_path))
    elaboration = with_hardware(target, elaborate(target))
    netlist = logic_netlist(target, elaboration)
    sites = pin_sites(elaboration.sites, netlist)
    work = Workload("tiny", {}, OutputSpec("out", 0, (16,)), decide=exact)
    # The engine compares the netlist with the models that run, cycle by cycle, and all gates with itself.
    with StuckEngine(target, work, elaboration, netlist, sites) as engine:
        found = {
            (netlist.pin_name(sites.pin(own.fault.site)), own.fault.held): own
            for own in engine.run(
                [Fault(s, 0, held=v) for s in range(sites.first, sites.table.size) for v in (0, 1)]
            )
        }
        end = engine.golden().end.end_cycle
    # The third bit of the count goes on in steps of the gated clock.
    assert end > 8
    assert found["u_dut.u_gate_cg/TM", 0].seen is Seen.MASKED
    assert found["u_dut.u_gate_cg/TM", 1].output_hash == found["u_dut.u_gate_cg/EN", 1].output_hash
    assert found["u_dut.u_gate_cg/TM", 1].seen is not Seen.MASKED
    assert found["u_dut.q_reg_0_/QB", 0].seen is not Seen.MASKED
    # A latch has no site.
    assert not any("keep_l" in pin for pin, _ in found)
    classes = {e.path: e.register_class for e in sites.table.elements[len(elaboration.sites.elements) :]}
    assert classes["u_dut.u_gate_cg"] == CLOCK


# A flip-flop both of whose outputs are used, two that keep what they hold while they are not enabled, and a
# clock gate that is open most of the time.
FED_BACK = """
  wire both, both_n, kept, kept_n, often, gclk2, slow, never;
  ODD both_reg (.CP(clk_i), .RN(rst_ni), .D(n1), .Q(both), .QB(both_n));
  EN kept_reg (.CP(clk_i), .RN(rst_ni), .DE(count_o[1]), .D(both_n), .Q(kept), .QB(kept_n));
  EN_ONE one_reg (.CP(clk_i), .RN(rst_ni), .DE(count_o[2]), .D(kept_n), .QB(never));
  NI n_often (.I(n2), .Z(often));
  GATE often_cg (.CP(clk_i), .EN(often), .TM(test_i), .Q(gclk2));
  ODD slow_reg (.CP(gclk2), .RN(rst_ni), .D(kept), .Q(slow));
  wire s1, s2, s3;
  XO x_s1 (.A(both), .B(slow), .Z(s1));
  XO x_s2 (.A(kept), .B(never), .Z(s2));
  XO x_s3 (.A(s1), .B(s2), .Z(s3));
  XO x_o (.A(held), .B(s3), .Z(odd_o));
"""
FED_BACK_LIB = """
  cell (EN) { area : 6; ff (S, SN) { clocked_on : "CP"; next_state : "(DE D) + (DE' S)"; clear : "RN'"; }
    pin (CP) { direction : input; } pin (D) { direction : input; } pin (DE) { direction : input; }
    pin (RN) { direction : input; }
    pin (Q) { direction : output; function : "S"; } pin (QB) { direction : output; function : "SN"; } }
  cell (EN_ONE) { area : 6;
    ff (S, SN) { clocked_on : "CP"; next_state : "(DE D) + (DE' SN')"; clear : "RN'"; }
    pin (CP) { direction : input; } pin (D) { direction : input; } pin (DE) { direction : input; }
    pin (RN) { direction : input; } pin (QB) { direction : output; function : "S'"; } }
"""


@pytest.fixture(scope="module")
def fed_back(tmp_path_factory):
    # A latch has no faults: the netlist in Verilog leaves it out.
    text = TINY
    for old, new in (
        ("  XO x_o (.A(held), .B(count_o[1]), .Z(odd_o));\n", FED_BACK),
        ("  NI n_c (.I(clk_i), .Z(nclk));\n", ""),
        ("LA keep_l (.G(nclk),", "ODD keep_l (.CP(clk_i), .RN(rst_ni),"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    library = TINY_LIB.rstrip()[:-1] + FED_BACK_LIB + "}\n"
    target = load_target(tiny(tmp_path_factory.mktemp("fed_back"), text, library))
    return target, with_hardware(target, elaborate(target))


@pytest.mark.parametrize("compared", [compared_holds, compared_opens])
def test_faults_of_each_pin_end_as_in_the_netlist_in_an_untouched_simulator(fed_back, compared, tmp_path):
    target, elaboration = fed_back
    work = Workload("tiny", {}, OutputSpec("out", 0, (16,)), decide=exact)
    found = compared(target, work, elaboration, 10**6, 1, tmp_path)
    assert [found.pins[place] for place in found.different] == []
    names = {pin.partition("/")[0] for pin, _ in found.pins}
    assert {"u_dut.both_reg", "u_dut.kept_reg", "u_dut.one_reg", "u_dut.slow_reg"} <= names


def test_each_output_of_a_flip_flop_and_of_a_clock_gate_is_held_by_itself(fed_back):
    target, elaboration = fed_back
    netlist = logic_netlist(target, elaboration)
    holder = PinHolder(netlist, np.zeros(len(netlist.gates.flip_flops), np.uint8))
    row = {netlist.pin_name(pin): pin for pin in range(len(netlist.pins))}
    assert {name for name in row if name.startswith("u_dut.kept_reg/")} == {
        f"u_dut.kept_reg/{pin}" for pin in ("CP", "D", "DE", "RN", "Q", "QB")
    }
    stored = netlist.gates.flip_flops[:, 0].tolist()
    for pin in ("u_dut.both_reg/Q", "u_dut.both_reg/QB", "u_dut.kept_reg/Q"):
        assert [own.kind for own in holder.along_gates(row[pin], 1)] == [PinKind.NET]
        assert holder.along_gates(row[pin], 1)[0].at not in stored
    classes = collapsed_pins(netlist).representative
    gate = [holder.held(row[f"u_dut.often_cg/{pin}"], value) for pin in ("Q", "CP") for value in (0, 1)]
    assert len(set(gate)) == 1
    assert gate[0] != holder.held(row["u_dut.often_cg/EN"], 1)
    output, enable = row["u_dut.often_cg/Q"], row["u_dut.often_cg/EN"]
    assert classes[2 * output] == classes[2 * output + 1] != classes[2 * enable + 1]


def test_an_output_that_is_a_function_of_what_is_stored_and_of_a_pin_is_refused(tmp_path):
    """With one name in the group, none is that of the inverse."""
    function = (
        'pin (Q) { direction : output; function : "S"; } pin (QB) { direction : output; function : "SN"; }'
    )
    gated = 'pin (TM) { direction : input; } pin (Q) { direction : output; function : "S TM"; }'
    assert TINY_LIB.count(function) == 1
    inverse = """ pin (QB) { direction : output; function : "S'"; }"""
    library = TINY_LIB.replace(function, gated + inverse).replace("ff (S, SN)", "ff (S)", 1)
    target = load_target(tiny(tmp_path, library=library))
    with pytest.raises(UnsupportedError, match="neither what it stores nor its inverse"):
        logic_netlist(target, with_hardware(target, elaborate(target)))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "NI n_0 (.I(inverted[0]), .Z(count_o[0]));",
            "ODD_SR n_0 (.D(inverted[0]), .Q(count_o[0]));",
            "both set and reset",
        ),
        ("NI n_0", "NQ n_0", "unknown module 'NQ'"),
        (N_0, "TRI n_0 (.I(count_o[1]), .EN(n2), .Z(count_o[0]));", r"cell TRI .*can be switched off, Z"),
        (N_0, "TWO n_0 (.D(n1), .E(n2), .Q(count_o[0]));", "cell TWO .*several flip-flops or latches"),
        (N_0, "BANK n_0 (.D0(n1), .D1(n2), .Q0(count_o[0]));", "cell BANK .*several flip-flops or latches"),
        (N_0, "UNSAID n_0 (.A(n1), .B(n2), .Z(count_o[0]));", "cell UNSAID .*no function of Z"),
    ],
)
def test_a_cell_of_which_it_is_not_known_what_it_does_is_named(old, new, why, tmp_path):
    assert TINY.count(old) == 1
    with pytest.raises(HarnessError, match=why):
        elaborate(load_target(tiny(tmp_path, TINY.replace(old, new))))


def test_a_library_that_is_none_of_the_netlist_is_refused(tmp_path):
    library = 'library (x) { cell (Q1) { area : 1; pin (Z) { direction : output; function : "1"; } } }'
    with pytest.raises(HarnessError, match="none that names a cell"):
        load_target(tiny(tmp_path, library=library))
    file = tiny(tmp_path)
    file.write_text(file.read_text().replace('"tiny.lib"', '"other.lib"'))
    with pytest.raises(HarnessError, match=r"cells: no file matches 'other.lib'"):
        load_target(file)


def test_models_of_the_user_go_before_ours_and_equal_registers_stay_apart(tmp_path):
    """Two flip-flops that always hold the same: as RTL they would be one."""
    twice = TINY.replace(
        "  NI n_0", "  ODD \\twin_reg[0]  (.CP(clk_i), .RN(rst_ni), .D(inverted[0]), .Q());\n  NI n_0"
    )
    model = """
    module ODD (input CP, RN, D, output Q, QB);
      reg mine;
      always @(posedge CP or negedge RN) if (!RN) mine <= 1'b0; else mine <= D;
      assign Q = mine;
      assign QB = ~mine;
    endmodule
    """
    target = load_target(tiny(tmp_path, twice + model))
    assert "module ODD" not in target.sources[-1].read_text()
    elaboration = with_hardware(target, elaborate(target))
    assert elaboration.sites.absent == ()
    netlist = logic_netlist(target, elaboration)
    stored = {f"u_dut.q_reg_{i}_" for i in range(4)} | {"u_dut.twin_reg_0_"}
    assert {e.path for e in elaboration.sites.elements if e.path.endswith(".mine")} == {
        f"{s}.mine" for s in stored
    }
    # What the library says of the cell is not what is simulated: it has no sites in logic.
    assert "ODD" not in {netlist.cell_type(cell) for cell in range(len(netlist.names))}
    work = Workload("tiny", {}, OutputSpec("out", 0, (16,)), decide=exact)
    with StuckEngine(target, work, elaboration, netlist, pin_sites(elaboration.sites, netlist)) as engine:
        first = engine._sites.first
        assert len(list(engine.run([Fault(first, 0, held=0)]))) == 1


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        # As vendors' models have it, and as the model that is made would have it: the library says neither.
        (XO_1, "XO x_1 (n1, count_o[0], count_o[1]);", r"tiny\.v:8: .* of x_1, a cell XO"),
        (XO_1, "XO x_1(\n    count_o[0], count_o[1], n1);", r"tiny\.v:8: .* of x_1, a cell XO"),
        (N_0, "NI \\n[0] (count_o[0], inverted[0]);", r"tiny\.v:7: .* of n\[0\], a cell NI"),
        (N_0, "/* two\n lines */ NI n_0 (, inverted[0]);", r"tiny\.v:8: .* of n_0, a cell NI"),
        (N_0, "NI n_9 (.I(n1)), n_0 (count_o[0], inverted[0]);", r"tiny\.v:7: .* of n_0, a cell NI"),
    ],
)
def test_pins_of_a_cell_that_the_library_alone_describes_have_names(old, new, where, tmp_path):
    with pytest.raises(HarnessError, match=where):
        load_target(tiny(tmp_path, TINY.replace(old, new)))
    # In a comment it is no connection, and pins that are not connected need no names.
    said = new.replace("/*", "").replace("*/", "")
    load_target(tiny(tmp_path, TINY.replace(old, f"{old} /* {said} */ NI n_8 (); NI n_7 (.I(n1));")))


def test_pins_of_a_cell_with_a_model_of_its_own_may_go_by_order(tmp_path):
    model = "module XO (output Z, input A, B); assign Z = A ^ B; endmodule\n"
    given = TINY.replace(XO_1, "XO x_1 (n1, count_o[0], count_o[1]);")
    elaboration = elaborate(load_target(tiny(tmp_path, given + model)))
    assert elaboration.sites.size == elaborate(load_target(tiny(tmp_path))).sites.size


TRI_MODEL = "module TRI (input I, EN, output Z); assign Z = EN ? I : 1'bz; endmodule\n"


@pytest.mark.parametrize(
    ("more", "net", "drivers"),
    [
        ("NI i_1 (.I(n2), .Z(n1));", "u_dut.n1", "u_dut.i_1/Z and u_dut.x_1/Z"),
        ("assign count_o[1] = n2;", "u_dut.count_o[1]", "u_dut.q_reg_1_/Q and logic without a name"),
        ("NI i_1 (.I(n2), .Z(rst_ni));", "u_dut.rst_ni", "the input u_dut.rst_ni and u_dut.i_1/Z"),
        (
            "TRI t_1 (.I(n1), .EN(n2), .Z(bus)); TRI t_2 (.I(n2), .EN(nclk), .Z(bus)); wire bus;",
            "u_dut.bus",
            "u_dut.t_1/Z and u_dut.t_2/Z",
        ),
    ],
)
def test_nets_with_several_drivers_are_refused_with_two_of_them(more, net, drivers, tmp_path):
    netlist = TINY.replace("  XO x_o", f"  {more}\n  XO x_o") + TRI_MODEL
    target = load_target(tiny(tmp_path, netlist))
    elaboration = elaborate(target)
    for refused in (require_single_drivers, logic_netlist):
        with pytest.raises(HarnessError) as caught:
            refused(target, elaboration)
        assert f"found {drivers} at {net};" in str(caught.value)
        assert caught.value.field == net


def test_of_rtl_and_of_a_sound_netlist_no_net_is_refused(tmp_path):
    target = load_target(tiny(tmp_path))
    require_single_drivers(target, elaborate(target))
    rtl = stepper(tmp_path)
    require_single_drivers(rtl, elaborate(rtl))


def test_logic_goes_on_around_models_of_the_user(tmp_path):
    """A cell that the library leaves open, one that it describes otherwise, and a register with an enable."""
    netlist = TINY.replace(XO_1, XO_1.replace("XO", "UNSAID")).replace(XO_O, XO_O.replace("XO", "AN"))
    netlist = netlist.replace("ODD \\q_reg[1]", "WAITS \\q_reg[1]").replace(
        ".D(n1), .Q", ".D(n1), .E(n9), .Q"
    )
    netlist = netlist.replace("  XO x_2", "  XO x_9 (.A(n1), .B(count_o[1]), .Z(n9));\n  XO x_2")
    netlist = netlist.replace("wire gclk", "wire n9, gclk")
    models = """
    module UNSAID (input A, B, output Z); assign Z = A ^ B; endmodule
    module AN (input A, B, output Z); assign Z = A && B; endmodule
    module WAITS (input CP, RN, D, E, output Q);
      reg mine;
      always @(posedge CP or negedge RN) if (!RN) mine <= 1'b0; else if (E) mine <= D;
      assign Q = mine;
    endmodule
    """
    library = TINY_LIB.replace('function : "A B"', 'function : "A+B"')
    target = load_target(tiny(tmp_path, netlist + models, library))
    elaboration = with_hardware(target, elaborate(target))
    found = logic_netlist(target, elaboration)
    assert {found.cell_type(cell) for cell in range(len(found.names))} == {"GATE", "NI", "ODD", "XO"}
    assert {name.partition(", a ")[2] for name in found.left_out} >= {"$_XOR_", "$_AND_", "$_MUX_"}
    sites = pin_sites(elaboration.sites, found)
    work = Workload("tiny", {}, OutputSpec("out", 0, (16,)), decide=exact)
    with StuckEngine(target, work, elaboration, found, sites) as engine:
        every = [Fault(site, 0, held=1) for site in range(sites.first, sites.table.size)]
        assert len(list(engine.run(every))) == len(every) > 20


def test_a_netlist_with_hierarchy_keeps_the_names_of_its_instances(repository, tmp_path):
    rtl = repository / "examples" / "awkward" / "rtl"
    netlist, _ = synthesised([rtl / "awkward_pkg.sv", rtl / "control.sv"], "control", tmp_path)
    assert re.search(r"DFFR \\state_q_reg\[\d\] ", netlist.read_text())
