"""Mutants of the RTL: what is changed, and that all of them fit into one design."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from pyslang.syntax import SyntaxTree

from benchmarks.npu.mutation.__main__ import draw
from benchmarks.npu.mutation.equivalence import DIFFERS, EQUAL, equivalence, instances
from benchmarks.npu.mutation.schemata import mutated_target, mutated_text, one_mutant
from benchmarks.npu.mutation.sites import mutations
from rtl_harness.target import load_target

MODULE = """module counter #(
  parameter int unsigned Width = 4
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic up_i,
  output logic [Width-1:0] count_o
);
  localparam logic [3:0] Step = 4'd1 + 4'd2;
  logic [Width-1:0] count_q;
  assign count_o = up_i && !count_q[0] ? count_q + 4'd3 : '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else if (up_i) count_q <= count_q + Width'(Step);
  end
endmodule
"""
TARGET = load_target("ethos-u55-32")
FILES = [file for file in TARGET.sources if file.parent.name != "bench"]


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    file = tmp_path / "counter.sv"
    file.write_text(MODULE)
    return file


def test_what_is_evaluated_at_run_time_is_mutated(counter: Path):
    found = [(m.line, m.kind, MODULE[m.start : m.end], m.text) for m in mutations(counter)]
    choice = "up_i && !count_q[0] ? count_q + 4'd3 : '0"
    assert found == [
        (11, "choice", choice, "'0"),
        (11, "choice", choice, "count_q + 4'd3"),
        (11, "operator", "up_i && !count_q[0]", "(up_i) || (!count_q[0])"),
        (11, "operator", "!count_q[0]", "count_q[0]"),
        (11, "operator", "count_q + 4'd3", "(count_q) - (4'd3)"),
        (11, "constant", "4'd3", "4'd2"),
        (11, "constant", "4'd3", "4'd4"),
        (11, "constant", "'0", "'1"),
        (13, "reset", "'0", "'1"),
        (14, "condition", "up_i", "1'b0"),
        (14, "condition", "up_i", "1'b1"),
        (14, "operator", "count_q + Width'(Step)", "(count_q) - (Width'(Step))"),
    ]


def test_mutants_lie_inside_one_another(counter: Path):
    found = mutations(counter)
    inner, outer = (next(m for m in found if m.text == text) for text in ("4'd2", "(count_q) - (4'd3)"))
    text = mutated_text(MODULE, [(1, outer), (2, inner)])
    expected = "(mutation_pkg::active == 16'd1 ? ((count_q) - (4'd3)) : (count_q + (mutation_pkg::active == "
    assert expected + "16'd2 ? (4'd2) : (4'd3)))) : '0;" in text
    assert mutated_text(MODULE, []) == MODULE
    assert one_mutant(inner) == MODULE.replace("4'd3", "(4'd2)")


def test_all_mutants_of_the_npu_fit_into_one_design(tmp_path: Path):
    everything = [mutation for file in FILES for mutation in mutations(file)]
    target = mutated_target(TARGET, [[mutation] for mutation in everything], tmp_path)
    assert len(everything) > 3000
    assert sum(file.read_text().count("mutation_pkg::active ==") for file in target.sources) == len(
        everything
    )
    for file in target.sources:
        assert not SyntaxTree.fromFile(str(file)).diagnostics, file.name


def test_each_block_has_its_share_of_mutants(counter: Path):
    drawn = draw(FILES, 300, random.Random(1))
    assert drawn == draw(FILES, 300, random.Random(1))
    assert {"cc", "dma", "wd", "mac", "ao", "sb", "cpm"} <= {m.file.parent.name for m in drawn}
    assert 300 <= len(drawn) <= 400
    with pytest.raises(ValueError, match="counter"):
        mutated_target(TARGET, [mutations(counter)], counter.parent)


def test_a_proof_tells_equal_from_different():
    fifo = next(file for file in FILES if file.name == "fifo.sv")
    assert len(instances(tuple(FILES), 32)["fifo"]) > 1
    mutant = next(m for m in mutations(fifo) if m.kind == "operator")
    original = fifo.read_text()[mutant.start : mutant.end]
    assert equivalence(mutant, FILES, 32) == DIFFERS
    assert equivalence(replace(mutant, text=f"!(!({original}))"), FILES, 32) == EQUAL
