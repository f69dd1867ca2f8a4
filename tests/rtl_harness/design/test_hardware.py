# SPDX-License-Identifier: Apache-2.0
"""What of the source code becomes hardware; and that what does not decides nothing in the simulation."""

from __future__ import annotations

import dataclasses
import json

import pytest

from resil.rtl_harness.design import hardware
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.sites import Absent, Hardware, SiteTable
from resil.rtl_harness.design.synthesis import BEFORE, gates_of_design
from resil.rtl_harness.design.target import Target, TargetAlarm, TargetMemory
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Outcome, Reported, Rise
from testkit.awkward import awkward_target, awkward_workload

DESIGN = """
module worker (
  input  logic       clk,
  input  logic       rst,
  input  logic [7:0] d,
  output logic [7:0] q
);
  // A constant, one that nothing sets before the clock, one that waits for a condition, one never written.
  logic [3:0] zero_q, one_q;
  logic [1:0] never_q;
  // Read by nothing that reaches an output: a counter, and what it feeds.
  logic [7:0] dead_q, deader_q;
  // Equal at all times; the last is told to stay.
  logic [7:0] first_q, second_q;
  (* keep *) logic [7:0] kept_q;
  // Bits 7:6 are never read, bits 1:0 are constant.
  logic [7:0] part_q;
  // Sign extension: the upper bits are one flip-flop.
  logic signed [7:0] wide_q;
  // Words of an array: 0 and 1 are read, 2 is not, 3 is never written.
  logic [7:0] words_q [4];
  // A latch of the source, none of a full case, and a loop variable.
  logic [3:0] real_l;
  logic [3:0] full_l;
  integer     k;

  always_ff @(posedge clk) begin
    if (rst) begin
      zero_q <= '0;
      dead_q <= '0;
      first_q <= '0;
      second_q <= '0;
      kept_q <= '0;
    end else begin
      zero_q <= zero_q & 4'h5;
      dead_q <= dead_q + d;
      first_q <= d;
      second_q <= d;
      kept_q <= d;
    end
    one_q <= 4'hf;
    never_q <= never_q;
    deader_q <= dead_q ^ d;
    part_q <= {d[7:2], 2'b01};
    wide_q <= 8'(signed'(d[3:0]));
    if (d[0]) words_q[0] <= d;
    if (d[1]) words_q[1] <= d;
    if (d[2]) words_q[2] <= d;
  end
  always_latch if (!clk) real_l = d[3:0];
  always @* begin
    (* full_case *)
    case (d[1:0])
      2'd0: full_l = d[7:4];
      2'd1: full_l = ~d[7:4];
      2'd2: full_l = 4'd3;
    endcase
    if (d[1:0] == 2'd3) full_l = 4'd9;
  end
  logic [7:0] reversed;
  always @* begin
    reversed = '0;
    if (d[3]) for (k = 0; k < 8; k = k + 1) reversed[k] = d[7-k];
  end
  assign q = {zero_q, one_q} ^ first_q ^ (second_q << 1) ^ kept_q ^ {2'b0, part_q[5:0]} ^ wide_q
           ^ words_q[0] ^ words_q[1] ^ {4'd0, real_l} ^ {full_l, 4'd0} ^ reversed;
endmodule
module top (input logic clk, input logic rst, output logic done, output logic [7:0] sum_o);
  logic [7:0] count_q, sum_q, q;
  logic [7:0] out_q [1];
  always_ff @(posedge clk) begin
    if (rst) count_q <= '0; else count_q <= count_q + 8'd1;
    sum_q <= rst ? '0 : {sum_q[6:0], sum_q[7]} ^ q;
    out_q[0] <= sum_q;
  end
  assign done = count_q == 8'd60;
  assign sum_o = sum_q;
  worker u_dut (.clk, .rst, .d(count_q ^ {count_q[3:0], 4'h9}), .q);
endmodule
"""
WORKLOAD = Workload("sum", {}, OutputSpec("out", 0, (1,), "uint8"))


def target_of(folder, text=DESIGN):
    source = folder / "design.sv"
    source.write_text(text)
    return Target(
        "small", "top", (source,), "clk", "rst", "u_dut", "done", {"worker": ("u_dut",)},
        {"out": TargetMemory("out_q", 1, "out")}, reset_active_low=False, status="sum_o",
    )  # fmt: skip


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    return target_of(tmp_path_factory.mktemp("rtl"))


@pytest.fixture(scope="module")
def elaboration(target):
    return with_hardware(target, elaborate(target))


def fates(elaboration, below="u_dut."):
    """What became of each bit of each element of the design, least significant first."""
    sites = elaboration.sites
    return {
        element.path.removeprefix(below): [
            Hardware.KEPT if (found := sites.hardware(site)) is None else found.hardware
            for site in range(first, first + element.bits)
        ]
        for element, first in zip(sites.elements, sites.offsets, strict=False)
    }


def test_each_bit_is_told_what_becomes_of_it(elaboration):
    kept, constant, unused = Hardware.KEPT, Hardware.CONSTANT, Hardware.UNUSED
    duplicate, latch = Hardware.DUPLICATE, Hardware.LATCH
    assert fates(elaboration) == {
        "zero_q": [constant] * 4,
        "one_q": [constant] * 4,
        "never_q": [unused] * 2,
        "dead_q": [unused] * 8,
        "deader_q": [unused] * 8,
        "first_q": [kept] * 8,
        "second_q": [duplicate] * 8,
        "kept_q": [kept] * 8,
        "part_q": [constant] * 2 + [kept] * 4 + [unused] * 2,
        # The upper half repeats the sign, and bits 3 and 2 are those of part_q.
        "wide_q": [kept] * 2 + [duplicate] * 6,
        "words_q[0]": [kept] * 8,
        "words_q[1]": [kept] * 8,
        "words_q[2]": [unused] * 8,
        "words_q[3]": [unused] * 8,
        "real_l": [kept] * 4,
        "k": [latch] * 32,
    }


def test_registers_whose_names_look_like_numbers_are_followed(tmp_path, elaboration):
    """Yosys marks texts of 0, 1, x and z alone, as they could be taken for values."""
    numbers = {"dead_q": "x1", "kept_q": "z", "zero_q": "x0z1", "real_l": "xz"}
    text = DESIGN
    for name, number in numbers.items():
        text = text.replace(name, number)
    target = target_of(tmp_path, text)
    found = with_hardware(target, elaborate(target))
    assert fates(found) == {numbers.get(path, path): what for path, what in fates(elaboration).items()}
    assert not any("cannot be found again" in remark for remark in found.warnings)


def test_what_is_said_of_it(elaboration):
    said = " | ".join(elaboration.warnings)
    assert "32 bits of the source code are no hardware and have no fault rate, latches that synthesis" in said
    assert "(full case, loop variable): u_dut.k (32)" in said
    assert (
        "equal to others, whose flip-flop serves for both: u_dut.second_q (8), u_dut.wide_q (6); copies"
        in said
    )


def test_pieces_leave_out_what_is_no_hardware(elaboration):
    sites = elaboration.sites
    listed = [s for i in range(len(sites.elements)) for f, n, _ in sites.pieces(i) for s in range(f, f + n)]
    assert listed == [site for site in range(sites.size) if sites.hardware(site) is None]
    assert len(listed) == sum(sites.present(i) for i in range(len(sites.elements))) == 42


def test_area_is_measured_of_the_same_flip_flops(target, elaboration, tmp_path):
    area_per_block(target, elaboration)
    after = (gates_of_design(target, elaboration) / "after.json").read_text()
    cells = json.loads(after)["modules"]
    found = sum("_D" in cell["type"] for module in cells.values() for cell in module["cells"].values())
    assert found == sum(elaboration.sites.present(i) for i in range(len(elaboration.sites.elements)))


def test_the_bench_decides_nothing(tmp_path, elaboration):
    """A bench that ties inputs would let more vanish, or less; the design is taken by itself."""
    target = target_of(tmp_path, DESIGN.replace("count_q ^ {count_q[3:0], 4'h9}", "8'h09"))
    assert fates(with_hardware(target, elaborate(target))) == fates(elaboration)


def site_of(elaboration, path, bit=0):
    paths = [element.path for element in elaboration.sites.elements]
    return elaboration.sites.offsets[paths.index(f"u_dut.{path}")] + bit


def test_a_flip_in_what_is_no_hardware_is_masked(target, elaboration):
    sites = elaboration.sites
    with VerilatorEngine(target, WORKLOAD, elaboration) as engine:
        cycles = range(2, engine.golden().end.end_cycle - 2, 17)
        faults = [
            Fault(site, cycle)
            for run in sites.absent
            if run.hardware is Hardware.UNUSED
            for site in range(run.first, run.end)
            for cycle in cycles
        ]
        assert len(faults) > 100
        assert {injection.outcome for injection in engine.run(faults)} == {Outcome.MASKED}


def test_a_flip_of_a_flip_flop_flips_all_that_it_stands_for(target, elaboration):
    """Both engines flip the copies too: alone either half of the pair would be seen otherwise."""
    alone = dataclasses.replace(elaboration, sites=SiteTable(elaboration.sites.elements))
    first, wide = site_of(elaboration, "first_q", 3), site_of(elaboration, "part_q", 3)
    assert elaboration.sites.flipped(first) == [first, site_of(elaboration, "second_q", 3)]
    copies = [site_of(elaboration, "wide_q", bit) for bit in range(3, 8)]
    assert elaboration.sites.flipped(wide) == [wide, *copies]
    faults = [Fault(site, cycle) for site in (first, wide) for cycle in (5, 20, 41)]
    with VerilatorEngine(target, WORKLOAD, elaboration) as engine:
        found = {injection.fault: injection for injection in engine.run(faults)}
    with VerilatorEngine(target, WORKLOAD, alone) as engine:
        other = {injection.fault: injection for injection in engine.run(faults)}
    assert any(found[fault].output_hash != other[fault].output_hash for fault in faults)
    with CocotbEngine(target, WORKLOAD, elaboration) as engine:
        assert {injection.fault: injection for injection in engine.run(faults)} == found


def test_a_stuck_flip_flop_holds_all_that_it_stands_for(target, elaboration):
    """On both engines, with and without early stops; one bit of the pair alone would be seen otherwise."""
    sites = elaboration.sites
    alone = dataclasses.replace(elaboration, sites=SiteTable(sites.elements))
    pairs = [site for site in range(sites.size) if len(sites.flipped(site)) > 1]
    assert {len(sites.flipped(site)) for site in pairs} == {2, 6}
    faults = [Fault(site, 0, held=value) for site in pairs for value in (0, 1)]
    with VerilatorEngine(target, WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as engine:
        found = {injection.fault: injection for injection in engine.run(faults)}
    with VerilatorEngine(target, WORKLOAD, elaboration, audit=EVERYTHING) as engine:
        assert {injection.fault: injection for injection in engine.run(faults)} == found
        assert engine.audited == engine.early_stops
        assert engine.replay(faults[0]) == found[faults[0]]
    with VerilatorEngine(target, WORKLOAD, alone) as engine:
        other = {injection.fault: injection for injection in engine.run(faults)}
    assert sum(found[fault].output_hash != other[fault].output_hash for fault in faults) > 5
    with CocotbEngine(target, WORKLOAD, elaboration) as engine:
        assert {injection.fault: injection for injection in engine.run(faults)} == found
        assert engine.replay(faults[0]) == found[faults[0]]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda e: Absent(site_of(e, "first_q", 2), 1, Hardware.UNUSED), "read by nothing that matters"),
        (lambda e: Absent(site_of(e, "words_q[1]"), 8, Hardware.UNUSED), "read by nothing that matters"),
        (lambda e: Absent(site_of(e, "words_q[0]"), 8, Hardware.CONSTANT, value=1), "constant"),
    ],
)
def test_a_live_flip_flop_that_is_dropped_is_found_out(wrong, says, target, elaboration):
    run = wrong(elaboration)
    path = elaboration.sites[run.first].element.path
    table = SiteTable.of(elaboration.sites.elements, [*elaboration.sites.absent, run])
    broken = dataclasses.replace(elaboration, sites=table)
    with VerilatorEngine(target, WORKLOAD, broken) as engine, pytest.raises(HarnessError) as caught:
        engine.golden()
    assert path in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        # Each begins as it is said to be, so that the first cycle is no witness.
        (
            lambda e: Absent(site_of(e, "first_q", 2), 1, Hardware.CONSTANT, value=0),
            "u_dut.first_q[2] for constant, 0, but in the simulation it has another value after cycle ",
        ),
        (
            lambda e: Absent(site_of(e, "first_q", 2), 1, Hardware.CONSTANT),
            "u_dut.first_q[2] for constant, 0, but",
        ),
        (
            lambda e: Absent(
                site_of(e, "words_q[0]"), 8, Hardware.DUPLICATE, same_as=site_of(e, "words_q[1]")
            ),
            "u_dut.words_q[0][0] for equal to u_dut.words_q[1][0], but",
        ),
        # A bit that lies elsewhere in its byte than the one that it is said to repeat, in either direction.
        (
            lambda e: Absent(
                site_of(e, "words_q[0]", 3), 1, Hardware.DUPLICATE, same_as=site_of(e, "first_q", 6)
            ),
            "u_dut.words_q[0][3] for equal to u_dut.first_q[6], but",
        ),
        (
            lambda e: Absent(
                site_of(e, "words_q[0]", 6), 1, Hardware.DUPLICATE, same_as=site_of(e, "first_q", 3)
            ),
            "u_dut.words_q[0][6] for equal to u_dut.first_q[3], but",
        ),
    ],
)
def test_a_claim_that_holds_only_at_first_is_found_out(wrong, says, target, elaboration):
    run = wrong(elaboration)
    table = SiteTable.of(elaboration.sites.elements, [*elaboration.sites.absent, run])
    broken = dataclasses.replace(elaboration, sites=table)
    with VerilatorEngine(target, WORKLOAD, broken) as engine, pytest.raises(HarnessError) as caught:
        engine.golden()
    assert says in str(caught.value)
    assert caught.value.field == table[run.first].name


def test_a_claim_that_a_single_cycle_refutes_is_found_out_whichever_it_is(tmp_path):
    """After edge N bit N alone of a register is set, and the run goes on to its end."""
    text = DESIGN.replace("  integer     k;", "  integer     k;\n  logic [63:0] walk_q;")
    text = text.replace("    one_q <= 4'hf;", "    one_q <= 4'hf;\n    walk_q <= rst ? 64'd1 : walk_q << 1;")
    text = text.replace("assign q = ", "assign q = {8{^(walk_q & {8{d}})}} ^ ")
    target = target_of(tmp_path, text)
    elaboration = with_hardware(target, elaborate(target))
    with VerilatorEngine(target, WORKLOAD, elaboration) as engine:
        end = engine.golden().end.end_cycle
    assert 40 < end < 63
    for edge in (*range(1, 63, 7), *range(end - 2, end + 2)):
        run = Absent(site_of(elaboration, "walk_q", edge), 1, Hardware.CONSTANT, value=0)
        table = SiteTable.of(elaboration.sites.elements, [*elaboration.sites.absent, run])
        broken = dataclasses.replace(elaboration, sites=table)
        with VerilatorEngine(target, WORKLOAD, broken) as engine:
            if edge <= end:
                with pytest.raises(HarnessError, match=rf"walk_q\[{edge}\] for constant.*cycle {edge - 1};"):
                    engine.golden()
            else:
                engine.golden()


def test_a_register_that_only_the_simulator_starts_with_a_value_is_refused(tmp_path):
    """Synthesis knows no initial values: what is only ever set is constant to it, but not simulated."""
    text = DESIGN.replace("never_q <= never_q;", "if (d == 8'h77) never_q <= 2'b11;").replace(
        "assign q =", "assign q = {8{never_q[0]}} ^"
    )
    target = target_of(tmp_path, text)
    elaboration = with_hardware(target, elaborate(target))
    assert fates(elaboration)["never_q"] == [Hardware.CONSTANT] * 2
    with (
        VerilatorEngine(target, WORKLOAD, elaboration) as engine,
        pytest.raises(HarnessError, match=r"u_dut\.never_q\[0\] for constant.*give the register a reset"),
    ):
        engine.golden()


def test_an_alarm_that_is_up_before_the_first_edge_has_risen_only_if_it_stays(tmp_path):
    """The fault: it rose in cycle -1 where other values were tried, and the end was another one.

    Bits that are constant were refused then, though they decide nothing.
    """
    text = DESIGN.replace("output logic done,", "output logic done, early_o, brief_o,").replace(
        "assign done =",
        "assign early_o = count_q < 8'd3;\n  assign brief_o = count_q == 8'd0;\n  assign done =",
    )
    alarms = {name: TargetAlarm(f"{name}_o") for name in ("early", "brief")}
    target = dataclasses.replace(target_of(tmp_path, text), alarms=alarms)
    elaboration = with_hardware(target, elaborate(target))
    assert Hardware.CONSTANT in fates(elaboration)["zero_q"]
    ends = []
    for kind in (PlainEngine, VerilatorEngine):
        with kind(target, WORKLOAD, elaboration) as engine:
            ends.append(engine.golden().end)
    assert ends[0].alarms == ends[1].alarms == (Rise("early", Reported.DETECTED, 0),)


def test_sweeps_and_single_runs_agree_where_copies_are_flipped(repository):
    """The awkward example has a twin and unread, stuck storage; sweeps follow differences along its gates."""
    target = awkward_target()
    elaboration = with_hardware(target, elaborate(target))
    workload = awkward_workload()
    sites = elaboration.sites
    pairs = [site for site in range(sites.size) if len(sites.flipped(site)) > 1]
    assert pairs
    faults = [Fault(site, cycle) for site in pairs for cycle in (30, 150, 288)]
    with VerilatorEngine(target, workload, elaboration, sweep=True) as engine:
        found = {injection.fault: injection for injection in engine.run(faults)}
        assert not engine.notes
    with VerilatorEngine(target, workload, elaboration, sweep=False) as engine:
        assert {injection.fault: injection for injection in engine.run(faults)} == found
    assert len({injection.outcome for injection in found.values()}) > 1


def test_names_that_cannot_be_followed_count_as_hardware(target, monkeypatch, tmp_path):
    """A flip-flop of the gates without a name may be any that seems to be unused: then none is dropped."""
    plain = elaborate(target)
    real = hardware._names

    def nameless(file):
        found = real(file)
        if file.name != BEFORE:
            found.wires["u_dut.first_q"] = found.wires["u_dut.second_q"] = [None] * 8
        return found

    monkeypatch.setenv("RESIL_CACHE", str(tmp_path))
    monkeypatch.setattr(hardware, "_names", nameless)
    found = with_hardware(target, plain)
    assert Hardware.UNUSED not in {run.hardware for run in found.sites.absent}
    assert any("cannot be followed" in remark for remark in found.warnings)
