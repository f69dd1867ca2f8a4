# SPDX-License-Identifier: Apache-2.0
"""Why nothing can come of a fault in logic: by structure, and by one run, each only where it is so."""

from dataclasses import replace

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.engine.logic.library import How
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Fault, Seen, Untestable
from resil.rtl_harness.logic.bridges import NetPair, Way, bridges_of
from resil.rtl_harness.logic.expand import GIVES
from resil.rtl_harness.logic.netlist import TO_FLIP_FLOP
from resil.rtl_harness.logic.open_pins import OpenHolder, open_sites
from resil.rtl_harness.logic.sites import pin_sites
from resil.rtl_harness.logic.structure import constant_pins, leading_to
from resil.rtl_harness.logic.stuck_engine import BRIDGED_NETS, OPEN_INPUTS, StuckEngine
from resil.rtl_harness.logic.synthesis import logic_netlist

NETLIST = """
module bare (input clk_i, input rst_ni, input test_i, output [2:0] count_o, output spare_o, output done_o);
  wire n0, n1, n2, c2, zero, mixed, blocked, given, dead, deader, kept, s2;
  LO tie (.Z(zero));
  FF \\q_reg[0] (.CP(clk_i), .RN(rst_ni), .D(n0), .Q(count_o[0]));
  NI n_0 (.I(count_o[0]), .Z(n0));
  XO x_1 (.A(count_o[0]), .B(count_o[1]), .Z(n1));
  FF \\q_reg[1] (.CP(clk_i), .RN(rst_ni), .D(n1), .Q(count_o[1]));
  AN a_2 (.A(count_o[0]), .B(count_o[1]), .Z(c2));
  XO x_2 (.A(count_o[2]), .B(c2), .Z(s2));
  AN a_r (.A(s2), .B(rst_ni), .Z(n2));
  FF \\q_reg[2] (.CP(clk_i), .RN(1'b1), .D(n2), .Q(count_o[2]));
  AN a_d (.A(count_o[2]), .B(c2), .Z(mixed));
  OR o_t (.A(mixed), .B(given), .Z(kept));
  AN a_t (.A(test_i), .B(count_o[0]), .Z(given));
  AN a_z (.A(zero), .B(count_o[0]), .Z(blocked));
  OR o_z (.A(kept), .B(blocked), .Z(done_o));
  NI n_s (.I(count_o[1]), .Z(spare_o));
  NI n_d (.I(count_o[1]), .Z(dead));
  (* keep *) NI n_e (.I(dead), .Z(deader));
endmodule
"""
BENCH = """
module bare_bench (input clk_i, input rst_ni, output done_o);
  wire [2:0] count;
  wire done;
  bare u_dut (.clk_i, .rst_ni, .test_i(1'b0), .count_o(count), .spare_o(), .done_o(done));
  logic [7:0] out_q [8];
  logic end_q;
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) end_q <= 1'b0; else end_q <= end_q | done;
  always_ff @(posedge clk_i) out_q[count] <= {5'd0, count} ^ out_q[~count];
  assign done_o = end_q;
endmodule
"""
LIBRARY = """
library (bare) {
  cell (LO) { area : 1; pin (Z) { direction : output; function : "0"; } }
  cell (NI) { area : 1; pin (I) { direction : input; } pin (Z) { direction : output; function : "I'"; } }
  cell (AN) { area : 1; pin (A) { direction : input; } pin (B) { direction : input; }
    pin (Z) { direction : output; function : "A B"; } }
  cell (OR) { area : 1; pin (A) { direction : input; } pin (B) { direction : input; }
    pin (Z) { direction : output; function : "A+B"; } }
  cell (XO) { area : 1; pin (A) { direction : input; } pin (B) { direction : input; }
    pin (Z) { direction : output; function : "A^B"; } }
  cell (FF) { area : 5; ff (S, SN) { clocked_on : "CP"; next_state : "D"; clear : "RN'"; }
    pin (CP) { direction : input; } pin (D) { direction : input; } pin (RN) { direction : input; }
    pin (Q) { direction : output; function : "S"; } }
}
"""
TARGET = """
name = "bare"
top = "bare_bench"
dut = "u_dut"
sources = ["bare.v", "bench.sv"]
cells = "bare.lib"
clock = "clk_i"
reset = "rst_ni"
done = "done_o"
[blocks]
bare = "u_dut"
[memories.out]
path = "out_q"
word_bytes = 1
plusarg = "out"
"""
WORK = Workload("bare", {}, OutputSpec("out", 0, (8,)), decide=exact)


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    for name, text in (("bare.v", NETLIST), ("bench.sv", BENCH), ("bare.lib", LIBRARY), ("t.toml", TARGET)):
        (folder / name).write_text(text)
    target = load_target(folder / "t.toml")
    elaboration = with_hardware(target, elaborate(target))
    return target, elaboration, logic_netlist(target, elaboration)


@pytest.fixture(scope="module")
def engine(bare):
    target, elaboration, netlist = bare
    with StuckEngine(target, WORK, elaboration, netlist, pin_sites(elaboration.sites, netlist)) as made:
        yield made


def faults_of(engine):
    return [
        Fault(site, 0, held=v)
        for site in range(engine._sites.first, engine._sites.table.size)
        for v in (0, 1)
    ]


@pytest.fixture(scope="module")
def found(bare, engine):
    _, _, netlist = bare
    return {
        (netlist.pin_name(engine._sites.pin(own.fault.site)).removeprefix("u_dut."), own.fault.held): own
        for own in engine.run(faults_of(engine))
    }


def why(found, pin):
    return tuple(found[pin, value].untestable for value in (0, 1))


def test_what_the_design_ties_is_constant_whatever_runs(found):
    assert why(found, "q_reg_2_/RN") == (None, Untestable.CONSTANT)
    for pin in ("tie/Z", "a_z/A", "a_z/Z", "o_z/B"):
        assert why(found, pin) == (Untestable.CONSTANT, None), pin


@pytest.mark.parametrize("which", ["bare", "awkward"])
def test_constants_are_those_of_all_gates_whatever_is_stored_and_given(which, bare, netlist):
    design = bare[2] if which == "bare" else netlist
    found, nets = constant_pins(design), design.pins["net"].tolist()
    assert len(found) >= 3
    rng = np.random.default_rng(7)
    for _ in range(20):
        value = rng.integers(0, 2, design.gates.nets).tolist()
        value[:2] = [0, 1]
        for operation, a, b, s, y in design.gates.gates.tolist():
            if operation != READ:
                value[y] = GIVES[operation](value[a], value[b], value[s])
        assert {pin: value[nets[pin]] for pin in found} == found


def test_what_a_flip_flop_is_tied_to_is_no_operand_of_the_gate_of_the_same_number(netlist):
    taken = (netlist.pins["consumer"] == TO_FLIP_FLOP) & (netlist.pins["output"] == 0)
    tied = dict.fromkeys(np.flatnonzero(taken).tolist(), 0)
    assert constant_pins(replace(netlist, tied=np.array([*tied.items()], np.int32))) == tied


def test_what_the_bench_ties_and_a_reset_that_rests_are_unexcited_by_this_run_alone(found):
    """The faults: along the gates both are constants, and in silicon neither is."""
    assert why(found, "a_t/A") == (Untestable.UNEXCITED, None)
    assert why(found, "a_r/B") == (None, Untestable.UNEXCITED)


def test_what_the_bench_leaves_open_is_no_end_of_the_design(found):
    """The fault: nothing in this bench takes the output, and another one may."""
    for pin in ("n_s/I", "n_s/Z"):
        assert why(found, pin) == (None, None), pin
        assert {found[pin, value].seen for value in (0, 1)} == {Seen.MASKED}


def test_what_leads_nowhere_has_no_path_whether_it_is_excited_or_not(found):
    for pin in ("n_d/I", "n_d/Z", "n_e/I"):
        assert why(found, pin) == (Untestable.NO_PATH, Untestable.NO_PATH), pin
    assert why(found, "n_e/Z") == (Untestable.UNCONNECTED, Untestable.UNCONNECTED)


def test_a_blocked_input_that_is_excited_is_no_untestable_one(found):
    """The fault: what stands for it, the output that is always 0, is unexcited."""
    assert found["a_z/B", 0].seen is Seen.MASKED
    assert why(found, "a_z/B") == (None, None)
    assert why(found, "a_t/B") == (None, None)
    assert why(found, "a_t/Z") == (Untestable.UNEXCITED, None)


def test_what_is_excited_and_seen_has_no_reason(found):
    assert all(own.seen is Seen.MASKED for own in found.values() if own.untestable)
    assert why(found, "x_1/A") == why(found, "q_reg_0_/Q") == (None, None)
    assert {own.seen for own in found.values()} > {Seen.MASKED}


def test_a_fault_by_itself_has_the_reason_that_it_has_among_others(engine, found):
    for own in found.values():
        assert engine.replay(own.fault).untestable is own.untestable


def test_the_simulator_skips_what_has_a_reason_and_all_gates_say_so(engine, found):
    simulator, holder = engine.simulator
    # A reset that is tied is simulated: of one that never acts in the run it is not known that it never does.
    tied = found["q_reg_2_/RN", 1].fault
    some = [own.fault for own in found.values() if own.untestable and own.fault != tied]
    pins = [holder.along_gates(engine._sites.pin(own.site), own.held) for own in some]
    assert {end.how for end in simulator.run(pins, 100)} == {How.SAME, How.UNEXCITED}
    golden = engine.golden().end
    for end in simulator.judge(pins, 100):
        assert (end.how, end.end_cycle, end.output) == (How.DONE, golden.end_cycle, golden.output)
        assert not end.differs


def test_something_that_came_of_what_cannot_be_tested_voids_the_run(engine, found):
    own = next(own for own in found.values() if own.untestable)
    with pytest.raises(AuditError, match="cannot be tested"):
        engine._explained(replace(own, seen=Seen.HANG), own.fault)


def test_reasons_of_open_inputs_and_of_bridges(bare):
    target, elaboration, netlist = bare
    sites = open_sites(elaboration.sites, netlist)
    with StuckEngine(
        target, WORK, elaboration, netlist, sites, holder=OpenHolder, names=OPEN_INPUTS
    ) as opened:
        found = {
            (netlist.pin_name(sites.pin(own.fault.site)).removeprefix("u_dut."), own.fault.held): own
            for own in opened.run(faults_of(opened))
        }
    assert why(found, "a_z/A") == (Untestable.CONSTANT, None)
    assert why(found, "a_t/A") == (Untestable.UNEXCITED, None)
    assert why(found, "x_1/A") == (None, None)
    pairs = [
        NetPair("u_dut.a_t/Z", "u_dut.a_z/Z", (Way.AND, Way.OR)),
        NetPair("u_dut.a_t/Z", "u_dut.n_0/Z", (Way.AND, Way.OR)),
    ]
    bridges = bridges_of(elaboration.sites, netlist, pairs)
    with StuckEngine(
        target, WORK, elaboration, netlist, bridges.sites, holder=bridges.holder, names=BRIDGED_NETS
    ) as bridged:
        first = bridges.sites.first
        faults = [Fault(first + number, 0, held=0) for number in range(len(bridges.faults))]
        reasons = {bridges.names[own.fault.site - first]: own.untestable for own in bridged.run(faults)}
    # Both nets are 0 all the time: by this run, as one of them is given by the bench.
    assert [reasons[name] for name in bridges.names[:2]] == [Untestable.UNEXCITED] * 2
    assert [reasons[name] for name in bridges.names[2:]] == [None, None]


def test_a_run_of_the_awkward_design_reaches_what_leads_to_something(target, workload, elaboration, netlist):
    """Forwards along the gates, as nothing in the engine goes."""
    sites = pin_sites(elaboration.sites, netlist)
    with StuckEngine(target, workload, elaboration, netlist, sites) as own:
        simulator, _ = own.simulator
        nowhere = [
            pin
            for pin in np.flatnonzero(netlist.pins["output"] == 1).tolist()
            if not simulator.reaches()[netlist.pins["net"][pin]]
        ]
        assert nowhere
        for pin in nowhere:
            (found,) = own.run([Fault(sites.first + pin, 0, held=0)])
            assert found.untestable in (Untestable.NO_PATH, Untestable.UNCONNECTED)
            assert not _forwards(netlist, int(netlist.pins["net"][pin])) & _seen(netlist, simulator.counted)


def _forwards(netlist, net):
    found = {net}
    while True:
        more = {y for _, a, b, s, y in netlist.gates.gates.tolist() if found & {a, b, s} - {0, 1}}
        more |= {q for q, d, load, *_ in netlist.gates.flip_flops.tolist() if found & {d, load}}
        if more <= found:
            return found
        found |= more


def _seen(netlist, counted):
    gates = netlist.gates
    rows = zip(gates.flip_flops.tolist(), counted.tolist(), strict=True)
    stored = {net for (_, d, load, *_), is_counted in rows if is_counted for net in (d, load)}
    written = {net for _, *words in gates.writes for nets in words for net in nets}
    alarms = {net for nets in gates.alarms for net in nets}
    return (
        stored | written | alarms | {*gates.ports.tolist(), *gates.operation, *netlist.exits.tolist()}
    ) - {0, 1}


def test_what_is_written_to_a_memory_leads_to_what_is_read_of_it(netlist):
    gates = netlist.gates
    memory, _, data = gates.reads[0]
    written = [net for own, *words in gates.writes if own == memory for nets in words for net in nets]
    assert len(set(written) - {0, 1}) > 8
    assert leading_to(netlist, data[:1])[written].all()
