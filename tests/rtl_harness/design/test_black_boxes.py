# SPDX-License-Identifier: Apache-2.0
"""Macros by the description of their ports do what models by hand do, and arrays count as the target says."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import product

import pytest

from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.black_boxes import BlackBox, MemoryPort, black_box_models
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.snapshot import frozen
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.redundancy.build import build_protection
from resil.rtl_harness.redundancy.groups import ProtectionGroup
from resil.rtl_harness.redundancy.netlist import Mechanism
from testkit.macros import by_hand, macros_file, macros_work
from testkit.recorded import compiled_testbench, run_testbench


def elaborated(target):
    return with_hardware(target, elaborate(target))


def answers(engine, target, elaboration, faults):
    with engine(target, macros_work(), elaboration) as own:
        return own.golden(), {
            i.fault: (i.seen, i.end_cycle, i.status, i.output_hash) for i in own.run(faults)
        }


def named_sites(elaboration):
    """Return each site by a name that both designs have."""
    named = {"resil_words": "cells", "resil_read0_1": "Q"}
    sites = elaboration.sites
    return {re.sub(r"resil_\w+", lambda m: named[m[0]], sites[site].name): site for site in range(sites.size)}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("macros")
    one, other = load_target(macros_file(folder / "ports")), by_hand(folder / "hand")
    # By hand, whatever is small counts as flip-flops.
    other = replace(other, storage={"sram": ("u_dut.u_a", "u_dut.u_b")}, macros=("u_dut.u_a.Q",))
    return (one, elaborated(one)), (other, elaborated(other))


@pytest.fixture(scope="module")
def right(both):
    (target, elaboration), _ = both
    return answers(VerilatorEngine, target, elaboration, [])[0]


def test_its_storage_is_that_of_models_by_hand(both):
    (_, one), (_, other) = both
    assert named_sites(one).keys() == named_sites(other).keys()
    kinds = [
        {(e.path.rpartition(".")[0], e.kind, e.bits) for e in own.sites.elements} for own in (one, other)
    ]
    assert kinds[0] == kinds[1]
    assert ("u_dut.u_a", "sram", 512) in kinds[0]
    assert ("u_dut.u_a", "macro", 32) in kinds[0]
    assert one.unmapped == other.unmapped == ()


@pytest.mark.parametrize("engine", [VerilatorEngine, CocotbEngine])
def test_upsets_end_as_in_models_by_hand(both, engine):
    (target, elaboration), (hand, its) = both
    names, others = named_sites(elaboration), named_sites(its)
    rng = random.Random(20261128)
    count = 1500 if engine is VerilatorEngine else 60
    chosen = sorted({(rng.choice([*names]), rng.randrange(100)) for _ in range(count)})
    found, mine = answers(engine, target, elaboration, [Fault(names[n], c) for n, c in chosen])
    golden, judged = answers(VerilatorEngine, hand, its, [Fault(others[n], c) for n, c in chosen])
    assert found.end.output == golden.end.output
    assert len(set(golden.end.output[i : i + 2] for i in range(0, 32, 2))) > 6
    different = [(n, c) for n, c in chosen if mine[Fault(names[n], c)] != judged[Fault(others[n], c)]]
    assert different == []
    assert len({seen for seen, *_ in judged.values()}) >= 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('write = "!WEN"', 'write = "WEN"'),
        ('mask = "!BWN"', 'mask = "BWN"'),
        ('enable = "WE"\n', 'enable = "!WE"\n'),
        ("words = 8\nwidth = 16\nlatency = 0", "words = 8\nwidth = 16\nlatency = 1"),
        ('data_in = "D"\ndata_out = "Q"', 'data_in = "D"\ndata_out = "Q"\nwhile_writing = "new"'),
        ('OUT = "REF"', 'OUT = "!REF"'),
    ],
)
def test_a_wrong_description_is_another_design(right, old, new, tmp_path):
    """What is compared above depends on each line."""
    file = macros_file(tmp_path, old, new)
    target = load_target(file)
    golden, _ = answers(VerilatorEngine, target, elaborated(target), [])
    assert golden.end.output != right.end.output


PORT = MemoryPort("CLK", "A", "EN", "WE", "M", "D", "Q")
REFERENCE = """
module reference (input CLK, input [3:0] A, input EN, input WE, input [1:0] M, input [7:0] D, output [7:0] Q,
  input [3:0] RA, output [7:0] RQ);
  parameter int Latency = 1, Mode = 0, Words = 11;
  reg [7:0] store [0:15], first, second, other;
  reg [7:0] next;
  integer i;
  initial for (i = 0; i < 16; i++) store[i] = 0;
  initial begin first = 0; second = 0; other = 0; end
  always @(posedge CLK) begin
    next = A < Words ? store[A] : 8'd0;
    second <= first;
    if (EN && (!WE || Mode == 1)) first <= next;
    if (EN && WE && Mode == 2) first <= {M[1] ? D[7:4] : next[7:4], M[0] ? D[3:0] : next[3:0]};
    other <= RA < Words ? store[RA] : 8'd0;
    if (EN && WE && A < Words) store[A] <= {M[1] ? D[7:4] : next[7:4], M[0] ? D[3:0] : next[3:0]};
  end
  wire [7:0] now = A < Words ? store[A] : 8'd0;
  wire [7:0] rnow = RA < Words ? store[RA] : 8'd0;
  reg [7:0] other2;
  always @(posedge CLK) other2 <= other;
  assign Q = Latency == 0 ? now : Latency == 1 ? first : second;
  assign RQ = Latency == 0 ? rnow : Latency == 1 ? other : other2;
endmodule
"""


def test_latency_masks_and_what_is_read_while_writing_are_as_described(tmp_path):
    cases = [*product((0, 1, 2), ("keep", "old", "new"))]
    texts, lines = [], []
    for number, (latency, mode) in enumerate(cases):
        box = BlackBox(
            words=11,
            width=8,
            mask_bits=4,
            latency=latency,
            ports=(replace(PORT, while_writing=mode), MemoryPort("CLK", "RA", data_out="RQ")),
        )
        texts.append(black_box_models({f"M{number}": box}).read_text())
        pins = ".CLK(c), .A(a), .EN(e), .WE(w), .M(m), .D(d), .RA(r)"
        mode_number = ("keep", "old", "new").index(mode)
        lines.append(f"""
  wire [7:0] q{number}, p{number}, s{number}, t{number};
  M{number} u{number} ({pins}, .Q(q{number}), .RQ(s{number}));
  reference #({latency}, {mode_number}) v{number} ({pins}, .Q(p{number}), .RQ(t{number}));
  always @(negedge c) if (q{number} !== p{number} || s{number} !== t{number})
    $display("different {number}");""")
    (tmp_path / "tb.sv").write_text(
        "`timescale 1ns / 1ps\n"
        + "\n".join(texts)
        + REFERENCE
        + "module tb; logic c = 0, e = 0, w = 0; logic [3:0] a = 0, r = 0;"
        + "logic [1:0] m = 0; logic [7:0] d = 0;"
        + "".join(lines)
        + """
  initial begin
    repeat (4000) begin
      #5 c = 0;
      #1 {e, w, a, r, m, d} = 20'($urandom());
      #5 c = 1;
    end
    $display("end");
    $finish;
  end
endmodule
"""
    )
    program = compiled_testbench([tmp_path / "tb.sv"], "tb")
    said = [line for line in run_testbench(program, tmp_path / "run").splitlines() if "$finish" not in line]
    assert said == ["end"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("words = 16\n", "", "RAM16X32: words: expected at least 1"),
        ("width = 16\n", "", "RF8X16: width: expected at least 1"),
        ('write = "!WEN"\n', 'write = "!WEN"\nstrobe = "X"\n', "strobe: unknown key"),
        ('write = "!WEN"\n', "", r"ports\[0\]\.write: a port that reads and writes needs it"),
        ('clock = "CLK"\n', "", r"ports\[0\]\.clock: this key is mandatory"),
        ('clock = "CLK"\n', 'clock = "!CLK"\n', r"ports\[0\]\.CLK: only enable, write and mask"),
        ('data_in = "D"\n\n', "\n", r"ports\[0\]\.data_out: expected data_out, data_in or both"),
        ('address = "RA"\n', 'address = "WA"\n', "WA: a port for two things"),
        (
            'plusarg = "code"\ninputs',
            "mask_bits = 7\ninputs",
            "mask_bits: expected a divisor of the width 32",
        ),
        ("latency = 0", "latency = -1", "latency: expected 0 or more"),
        ('"4\'h3"', '"4"', "outputs.VERSION: expected a constant"),
        ('OUT = "REF"', 'OUT = "REV"', "add REV to inputs"),
        ("EMA = 3", "EMA = 0", "inputs.EMA: expected at least 1 bit"),
        ("EMA = 3", 'EMA = "3"', "expected a number of bits"),
        ("latency = 0", "latency = 0\narea_ge = -2", "expected an area of at least 0"),
        ("[black_boxes.PLL]", "[black_boxes.core]", "expected a module that no source defines"),
    ],
)
def test_a_description_that_makes_no_module_is_refused(old, new, why, tmp_path):
    with pytest.raises(HarnessError, match=why):
        load_target(macros_file(tmp_path, old, new))


def test_ports_that_are_missing_are_named_with_their_place(tmp_path):
    with pytest.raises(HarnessError, match=r"(?s)core\.sv:20:.*EMA"):
        elaborate(load_target(macros_file(tmp_path / "a", "inputs = { EMA = 3 }\n", "")))
    file = macros_file(tmp_path / "b")
    core = tmp_path / "b" / "core.sv"
    core.write_text(core.read_text().replace(".WE(count_q[0]), ", ""))
    with pytest.raises(HarnessError, match=r"core\.sv:\d+: expected a net at each input of u_dut\.u_b.* WE;"):
        frozen(load_target(file))
    # One that does nothing may be open.
    core.write_text((tmp_path / "a" / "core.sv").read_text().replace(", .EMA(3'd2)", ""))
    frozen(load_target(file))
    more = '[black_boxes.NONE]\noutputs = { A = "1\'b0" }\n'
    with pytest.raises(HarnessError, match=r"black_boxes\.NONE: expected a module that the design has"):
        frozen(load_target(macros_file(tmp_path / "c", more=more)))


def test_areas_are_as_stated_and_else_said_not_to_be_known(tmp_path):
    target = load_target(macros_file(tmp_path))
    report = area_per_block(target, elaborated(target))
    said = " ".join(report.notes)
    assert "not assessed: areas of macros of which none is stated (area_ge): PLL (u_dut.u_pll)" in said
    assert "area is that of their bits, as none is stated (area_ge): RAM16X32 (u_dut.u_a)" in said
    boxes = dict(target.black_boxes)
    boxes["PLL"] = replace(boxes["PLL"], area_ge=5000.0)
    boxes["RAM16X32"] = replace(boxes["RAM16X32"], area_ge=900.0, area_um2=1.0)
    other = replace(target, black_boxes=boxes)
    stated = area_per_block(other, elaborated(other))
    assert stated.blocks["core"].logic == pytest.approx(report.blocks["core"].logic + 5000.0)
    assert stated.blocks["ram"].sram == pytest.approx(900.0)
    assert stated.blocks["ram"].logic == report.blocks["ram"].logic
    assert "RAM16X32 900 GE (u_dut.u_a)" in " ".join(stated.notes)
    assert "not assessed" not in " ".join(stated.notes)


def test_protection_is_not_built_around_what_is_not_there(tmp_path):
    target = load_target(macros_file(tmp_path))
    with pytest.raises(HarnessError, match="give models of them among the sources"):
        build_protection(target, elaborated(target), [], tmp_path / "out")


def test_arrays_count_as_the_target_says_and_their_upsets_end_alike(both):
    _, (hand, as_sram) = both
    flip_flops = replace(hand, storage={"sram": ("u_dut.u_a",), "ff": ("u_dut.u_b",)})
    as_ff = elaborated(flip_flops)
    kinds = {e.path.partition("[")[0]: e.kind for e in as_ff.sites.elements}
    assert kinds["u_dut.u_b.cells"] == "ff"
    assert kinds["u_dut.u_a.cells"] == "sram"
    names, others = named_sites(as_sram), named_sites(as_ff)
    assert names.keys() == others.keys()
    words = [name for name in names if "u_b.cells" in name]
    assert len(words) == 128
    rng = random.Random(7)
    chosen = sorted({(rng.choice(words), rng.randrange(100)) for _ in range(800)})
    _, mine = answers(VerilatorEngine, hand, as_sram, [Fault(names[n], c) for n, c in chosen])
    _, judged = answers(VerilatorEngine, flip_flops, as_ff, [Fault(others[n], c) for n, c in chosen])
    assert [(n, c) for n, c in chosen if mine[Fault(names[n], c)] != judged[Fault(others[n], c)]] == []
    assert len({seen for seen, *_ in mine.values()}) >= 3
    few = chosen[::20]
    _, again = answers(CocotbEngine, flip_flops, as_ff, [Fault(others[n], c) for n, c in few])
    assert all(again[Fault(others[n], c)] == mine[Fault(names[n], c)] for n, c in few)
    area = [area_per_block(hand, own).total for own in (as_sram, as_ff)]
    assert area[1].sram < area[0].sram
    assert area[1].logic > area[0].logic + 128 * 5


def test_patterns_that_name_no_array_or_two_kinds_are_refused(both, tmp_path):
    _, (hand, _) = both
    with pytest.raises(HarnessError, match=r"u_dut\.u_a\.cells, which a workload fills \(memories\.code\)"):
        elaborate(replace(hand, storage={"ff": ("u_dut.u_a",)}))
    with pytest.raises(HarnessError, match=r"storage\.sram: expected a pattern of arrays.*'u_dut\.sum_q'"):
        elaborate(replace(hand, storage={"sram": ("u_dut.sum_q",)}))
    with pytest.raises(HarnessError, match=r"u_dut\.u_a\.cells is named as several kinds"):
        elaborate(replace(hand, storage={"sram": ("u_dut.u_a",), "ff": ("u_dut.*.cells",)}))
    for more, why in (
        ('[storage]\nrom = ["u_dut.u_a"]\n', r"storage\.rom: unknown key"),
        ('[storage]\nff = ["u_dut.u_a"]\nsram = ["u_dut.u_a"]\n', "'u_dut.u_a' is there twice"),
    ):
        with pytest.raises(HarnessError, match=why):
            load_target(macros_file(tmp_path / why[:9].strip("'\\"), more=more))


def test_a_memory_behind_a_code_is_sram_and_listed(both):
    (target, _), _ = both
    coded = elaborate(replace(target, storage={"sram_ecc": ("u_dut.u_a",)}))
    assert coded.coded == ("u_dut.u_a.resil_words",)
    assert {e.kind for e in coded.sites.elements if "words" in e.path} == {"sram"}
    left_out = elaborate(
        replace(target, storage={"sram_ecc": ("u_dut.u_a",)}, exclude=("u_dut.u_a.resil_words",))
    )
    assert left_out.coded == ()
    assert left_out.excluded == 512


def test_what_arrays_count_as_stays_in_a_built_design(tmp_path):
    by_hand(tmp_path / "hand")
    models, file = tmp_path / "hand" / "models.sv", tmp_path / "hand" / "target.toml"
    models.write_text("\n".join(line for line in models.read_text().splitlines() if "initial" not in line))
    text = re.sub(r"\[memories\.code\].*?\n\n", "", file.read_text(), flags=re.S)
    file.write_text(f'{text}\n[storage]\nsram_ecc = ["u_dut.u_a"]\nsram = ["u_dut.u_b"]\n')
    target = load_target(file)
    elaboration = elaborated(target)
    group = ProtectionGroup("u_dut.sum_q", Mechanism.PARITY)
    build_protection(target, elaboration, [group], tmp_path / "out")
    built = load_target(tmp_path / "out" / "target.toml")
    assert built.storage == target.storage
    found = elaborate(built)
    assert found.coded == elaboration.coded == ("u_dut.u_a.cells",)
    assert {e.path for e in found.sites.elements if e.kind == "sram"} == {
        "u_dut.u_a.cells",
        "u_dut.u_b.cells",
    }
