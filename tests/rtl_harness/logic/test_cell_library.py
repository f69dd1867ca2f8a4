# SPDX-License-Identifier: Apache-2.0
"""A library of Verilog models: what is derived does what the models do, and a netlist is as with Liberty."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from resil.rtl_harness.design.cell_library import VerilogCells, derived_library
from resil.rtl_harness.design.cell_models import GATING, model_text
from resil.rtl_harness.design.cells import cells_of
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.logic.sites import pin_sites
from resil.rtl_harness.logic.stuck_engine import StuckEngine
from resil.rtl_harness.logic.synthesis import logic_netlist
from testkit.cell_bench import cell_bench
from testkit.recorded import compiled_testbench, run_testbench
from tests.rtl_harness.redundancy.stepping import stepper_netlist, stepper_work

MODELS = Path(__file__).with_name("cell_models.v")
TABLE = (
    *("INV", "BUF", "NAND2", "NOR2", "AND2", "OR2", "XOR2", "XNOR2", "NAND3", "NOR3", "AOI21", "OAI21"),
    *("MUX2", "LATCH", "SDFFR", "SDFFS"),
)
TABLES = (
    *(
        "FROM_TABLE",
        "WITH_TABLE_BELOW",
        "TABLE_MUX",
        "TABLE_DFFR",
        "TABLE_DFFS",
        "TABLE_FALLS",
        "TABLE_LATCH",
    ),
    "TABLE_GATE",
)
# Of these what is stored next depends on what is; Verilator takes some of their tables otherwise than Icarus.
COUNTING = {
    "TABLE_TOGGLE": 'next_state : "((!E & !R & IQ) | (E & !R & !IQ))"',
    "TABLE_ENABLED": 'next_state : "((!E & IQ) | (D & E))"',
    "NEVER_RESET": 'next_state : "!IQ"',
}
MORE = ("FALLS", "SYNC", "HALF", "FULL", "GATED", "PLAIN_GATE", "LOW_LATCH", "ENABLED_LATCH", "TIEHI", "FILL")
UNCLEAR = {
    "TABLE_SET_AND_RESET": "is loaded into at no clock",
    "BOTH_EDGES": r"cell_models\.v:\d+: an instance of u_both_edges .*: it takes something at edges of",
    "GAP": r"cell_models\.v:\d+: an instance of u_gap .*: its output is undefined after d became 0 with c=1",
    "STILL": r"an instance of u_still .*: its output is undefined after each edge of d",
    "BY_MACRO": "an instance of u_mux .*: it is written by a macro",
    "PULLED": r"cell_models\.v:\d+: tri1 n: a net that keeps or pulls",
    "DRIVES_INPUT": "its input A is driven by the model, too",
    "JOINS_INPUTS": "its input [AB] is driven by the model, too",
    "TIES_INPUT": "its input A is driven by the model, too",
    "DRIVEN_TWICE": "n has several drivers",
    "SET_AND_RESET": r"cell_models\.v:\d+: multiple asynchronous loads",
    "LOADED": "a flip-flop that V is loaded into at no clock",
    "TWO": "several flip-flops or latches in one cell",
    "VOTED": "several flip-flops or latches in one cell",
    "TWO_CLOCKS": r"the clock of a flip-flop is \(C \| K\), more than one pin",
    "KEEPER": "a loop of gates, which may store something",
    "OFF": "an output that can be switched off",
    "OPEN": "a pin or net that nothing drives",
    "WIDE": "A is not of one bit",
    "SIZED": r"a module with parameters \(Init\)",
    "PAD": "P is neither input nor output",
    "POWER": "no module that is read",
}
STEPS = 4000


def given(*files: Path, **defines: str) -> VerilogCells:
    return VerilogCells(files or (MODELS,), (), defines)


def derived(*names: str):
    text = derived_library(given(), names).read_text()
    return cells_of(text)


def simulated(folder: Path, texts: dict[str, str], cells, steps: int = STEPS * 10) -> set[str]:
    """Return the cells of which a simulator finds a difference between a model and the given text."""
    folder.mkdir(parents=True, exist_ok=True)
    ours = "\n".join(text.replace(f"module {name}(", f"module ours_{name}(") for name, text in texts.items())
    models = re.sub(r"// Not understood\..*", "", MODELS.read_text(), flags=re.S)
    (folder / "models.v").write_text(models)
    (folder / "tb.sv").write_text(ours + "\n" + cell_bench({n: f"ours_{n}" for n in texts}, cells, steps))
    program = compiled_testbench([folder / "models.v", folder / "tb.sv"], "tb")
    lines = run_testbench(program, folder / "run").splitlines()
    *wrong, count = [line for line in lines if "$finish" not in line]
    assert count == f"different {len(wrong)}"
    return {line.partition(".")[0] for line in wrong}


def test_what_is_derived_does_what_the_models_do_in_an_untouched_simulator(tmp_path):
    cells = derived(*TABLE, *MORE, *TABLES)
    assert set(cells) == {*TABLE, *MORE, *TABLES}
    texts = {name: model_text(cell) for name, cell in cells.items()}
    assert simulated(tmp_path / "sound", texts, cells) == set()
    # The comparison sees a wrong one of each kind.
    wrong = dict(texts)
    for name, old, new in (
        ("AOI21", "(A & B)", "(A | B)"),
        ("SDFFR", "(SE & SI)", "(SE & D)"),
        ("FALLS", "1'b1", "1'b0"),
        ("LOW_LATCH", "if (~(GN))", "if (GN)"),
        ("GATED", "| TE", "& TE"),
        ("TABLE_DFFS", "IQ <= 1'b0", "IQ <= 1'b1"),
        ("TABLE_FALLS", "negedge CN", "posedge CN"),
        ("TABLE_LATCH", "(R | G)", "(G)"),
    ):
        assert old in texts[name], texts[name]
        wrong[name] = texts[name].replace(old, new)
    seen = simulated(tmp_path / "wrong", wrong, cells)
    assert seen == {name for name, text in texts.items() if text != wrong[name]}


def test_functions_are_as_a_library_has_them():
    cells = derived(*TABLE, *MORE)
    assert cells["SDFFR"].inputs == ("C", "D", "R", "SE", "SI")
    assert cells["GATED"].gating == GATING[1]
    assert cells["GATED"].clock_gate_pins == ("EN", "CK", "GCK")
    assert cells["GATED"].test_pins == ("TE",)
    assert cells["PLAIN_GATE"].gating == GATING[0]
    assert cells["LOW_LATCH"].latch is not None
    assert cells["FULL"].flip_flop is None
    assert cells["SYNC"].flip_flop.preset is None
    for name, said in COUNTING.items():
        assert said in derived_library(given(), [name]).read_text()
    assert {cell.area for cell in cells.values()} == {0.0}


def test_what_verilator_does_not_take_is_as_the_same_without():
    """Delays and strengths of tables, and an input that a model drives with what it is, play no part."""
    names = {"DELAYED_MUX": "TABLE_MUX", "DELAYED_FALLS": "TABLE_FALLS", "DRIVES_BACK": "AND2"}
    text = derived_library(given(NOT_FOR_VERILATOR="1"), [*names, *names.values()]).read_text()
    cells = cells_of(text)
    for name, plain in names.items():
        assert replace(cells[name], name=plain) == cells[plain]


def test_what_is_not_understood_is_named_once_each_with_the_reason():
    with pytest.raises(HarnessError) as caught:
        derived_library(given(), [*UNCLEAR, "INV", "SDFFR"])
    text = str(caught.value)
    lines = re.findall(r"^  (\w+): (.*)$", text, re.M)
    assert [name for name, _ in lines] == sorted(UNCLEAR)
    assert f"found {len(UNCLEAR)} that are not understood" in text
    for name, why in lines:
        assert re.search(UNCLEAR[name], why), (name, why)
    # With its macro it is read.
    text = derived_library(given(POWERED="1"), ["POWER"]).read_text()
    assert 'function : "A"' in text


def netlist(folder: Path, cells: str):
    folder.mkdir()
    target = stepper_netlist(folder, scan=True)
    file = folder / "netlist.toml"
    file.write_text(file.read_text().replace('"cells.lib"', cells))
    target = load_target(file)
    elaboration = with_hardware(target, elaborate(target))
    return target, elaboration, logic_netlist(target, elaboration)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    return netlist(folder / "liberty", '"cells.lib"'), netlist(folder / "verilog", f'"{MODELS}"')


def test_a_netlist_has_the_sites_that_it_has_with_the_liberty_file(both):
    (_, one, before), (_, other, after) = both
    assert other.sites == one.sites
    assert set(after.names) == set(before.names)
    types = [{n: own.cell_type(c) for c, n in enumerate(own.names)} for own in (before, after)]
    assert types[0] == types[1]
    pins = [{own.pin_name(pin) for pin in range(len(own.pins))} for own in (before, after)]
    assert pins[0] == pins[1]
    assert len(pins[0]) > 500


@pytest.mark.parametrize("engine", [VerilatorEngine, CocotbEngine])
def test_upsets_end_as_with_the_liberty_file(both, engine):
    (target, elaboration, _), (other, its, _) = both
    rng = random.Random(20261128)
    with VerilatorEngine(target, stepper_work(), elaboration) as before:
        cycles = before.golden().cycles
        count = 1000 if engine is VerilatorEngine else 60
        chosen = [Fault(rng.randrange(its.sites.size), rng.randrange(cycles)) for _ in range(count)]
        chosen = list(dict.fromkeys(chosen))
        judged = {i.fault: i for i in before.run(chosen)}
    with engine(other, stepper_work(), its) as after:
        assert after.golden().cycles == cycles
        found = {i.fault: i for i in after.run(chosen)}

    def answer(own):
        return own.seen, own.end_cycle, own.status, own.output_hash

    assert [fault for fault in chosen if answer(judged[fault]) != answer(found[fault])] == []
    assert len({own.seen for own in judged.values()}) >= 3


def test_held_pins_end_as_with_the_liberty_file(both):
    results = []
    for target, elaboration, own in both:
        sites = pin_sites(elaboration.sites, own)
        with StuckEngine(target, stepper_work(), elaboration, own, sites) as engine:
            every = [Fault(s, 0, held=v) for s in range(sites.first, sites.table.size) for v in (0, 1)]
            found = [(own.pin_name(sites.pin(i.fault.site)), i) for i in engine.run(every)]
            results.append({(n, i.fault.held): (i.seen, i.end_cycle, i.output_hash) for n, i in found})
            assert engine.audited > 5
    assert results[0] == results[1]
    assert len({seen for seen, _, _ in results[0].values()}) >= 3
    assert sum(seen is not Seen.MASKED for seen, _, _ in results[0].values()) > 100


def test_a_wrong_model_gives_another_netlist(both, tmp_path):
    """What is compared above depends on what the models say."""
    text = MODELS.read_text()
    old = "nand (Y, A, B);"
    assert text.count(old) == 1
    (tmp_path / "wrong.v").write_text(text.replace(old, "nor (Y, A, B);"))
    target, elaboration, _ = both[1]
    folder = tmp_path / "netlist"
    other, its, _ = netlist(folder, f'"{tmp_path / "wrong.v"}"')
    with (
        VerilatorEngine(target, stepper_work(), elaboration) as one,
        VerilatorEngine(other, stepper_work(), its) as two,
    ):
        assert one.golden().end.output_hash != two.golden().end.output_hash


@pytest.mark.parametrize(
    ("cells", "more", "why"),
    [
        (f'["{MODELS}", "cells.lib"]', "", "found 2 files, 1 of them Verilog"),
        (f'"{MODELS}"', f'"{MODELS}", ', "is among the sources too; leave it out there"),
        ('"empty.v"', "", "none that names a cell"),
        ('"some.v"', "", "INV: "),
        ('"wrong.v"', "", "wrong.v:2: expected ';'"),
        ('"bench.sv"', "", "is among the sources too"),
        ('"one.v"', "", "every cell that the sources name is a module among them"),
    ],
)
def test_files_that_are_no_library_are_refused(cells, more, why, tmp_path):
    stepper_netlist(tmp_path)
    (tmp_path / "empty.v").write_text("module none (); endmodule\n")
    (tmp_path / "some.v").write_text("module INV (output Y, input A); assign Y = missing(A); endmodule\n")
    (tmp_path / "wrong.v").write_text("module INV (output Y, input A);\n  assign Y = A\nendmodule\n")
    (tmp_path / "one.v").write_text("module stepper (input clk_i); endmodule\n")
    file = tmp_path / "netlist.toml"
    text = file.read_text().replace('"cells.lib"', cells).replace("sources = [", f"sources = [{more}")
    file.write_text(text)
    with pytest.raises(HarnessError, match=re.escape(why)):
        load_target(file)


def test_a_cell_that_the_models_lack_is_missing(tmp_path):
    stepper_netlist(tmp_path)
    text = re.sub(r"module XOR2.*?endmodule\n", "", MODELS.read_text(), flags=re.S)
    text = re.sub(r"module NAND2.*?endmodule\n", "", text, flags=re.S)
    text = re.sub(r"module AND2.*?endmodule\n", "", text, flags=re.S)
    text = re.sub(r"module HALF.*?endmodule\n", "", text, flags=re.S)
    (tmp_path / "some.v").write_text(text)
    file = tmp_path / "netlist.toml"
    file.write_text(file.read_text().replace('"cells.lib"', '"some.v"'))
    with pytest.raises(HarnessError, match="unknown module 'XOR2'") as caught:
        elaborate(load_target(file))
    # Each that is missing is named once.
    said = re.findall(r"netlist\.v:\d+: unknown module '(\w+)'( \(and \d+ places more\))?", str(caught.value))
    assert len({name for name, _ in said}) == len(said) >= 2
    assert any(more for _, more in said)


def test_names_of_pins_and_long_functions(tmp_path):
    deep = "\n".join(f"  assign n[{i + 1}] = n[{i}] ? n[{i}] ^ A : ~n[{i}] ^ B;" for i in range(40))
    (tmp_path / "odd.v").write_text(
        "module TAKES_IQ (output IQN, input C, IQ); reg q; always @(posedge C) q <= IQ; assign IQN = q;"
        " endmodule\n"
        f"module DEEP (output Y, input A, B);\n  wire [40:0] n;\n  assign n[0] = A;\n{deep}\n"
        "  assign Y = n[40];\nendmodule\n"
        "module \\E$1 (output Y, input A); assign Y = A; endmodule\n"
        "module ESC (output Y, input \\a.b ); assign Y = \\a.b ; endmodule\n"
    )
    cell = cells_of(derived_library(given(tmp_path / "odd.v"), ["TAKES_IQ"]).read_text())["TAKES_IQ"]
    assert cell.flip_flop.state not in {"IQ", "IQN"}
    assert "assign IQN" in model_text(cell)
    with pytest.raises(HarnessError) as caught:
        derived_library(given(tmp_path / "odd.v"), ["DEEP", "ESC"])
    assert "DEEP: a function that is too long" in str(caught.value)
    assert "ESC: the name of 'a.b' is not of letters" in str(caught.value)
