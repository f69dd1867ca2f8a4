# SPDX-License-Identifier: Apache-2.0
"""Mutants of the RTL: what is changed, and that all of them fit into one design."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from pyslang.syntax import SyntaxTree

from benchmarks.npu.mutation.__main__ import score
from benchmarks.npu.mutation.blocks import BlockJudge
from benchmarks.npu.mutation.draw import draw
from benchmarks.npu.mutation.equivalence import DIFFERS, EQUAL, equivalence, instances
from benchmarks.npu.mutation.reviewed import Review, read_reviews, review_of
from benchmarks.npu.mutation.store import OUTCOMES, Result, Store
from resil.rtl_harness.design.target import load_target
from testkit.npu.mutation.schemata import mutated_target, mutated_text, one_mutant
from testkit.npu.mutation.sites import Mutation, mutations

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
    everything = [mutation for file in FILES for mutation in mutations(file, FILES)]
    target = mutated_target(TARGET, [[mutation] for mutation in everything], tmp_path)
    assert len(everything) > 3000
    assert sum(file.read_text().count("mutation_pkg::active ==") for file in target.sources) == len(
        everything
    )
    for file in target.sources:
        assert not SyntaxTree.fromFile(str(file)).diagnostics, file.name


def test_each_block_has_its_share_of_mutants(counter: Path):
    drawn = draw(FILES, 300, 1)
    assert drawn == draw(FILES, 300, 1)
    assert {"cc", "dma", "wd", "mac", "ao", "sb", "cpm"} <= {m.file.parent.name for m in drawn}
    assert 300 <= len(drawn) <= 400
    with pytest.raises(ValueError, match="counter"):
        mutated_target(TARGET, [mutations(counter)], counter.parent)


def test_an_edit_changes_the_draw_where_it_is_alone(counter: Path):
    edited = counter.parent / "edited" / counter.name
    edited.parent.mkdir()
    edited.write_text(MODULE.replace("4'd3 :", "4'd5 :").replace("module", "\n\nmodule"))
    before, after = draw([counter], 0, 3), draw([edited], 0, 3)
    assert len(before) == len(after) == 12

    def others(drawn: list[Mutation]) -> list[tuple[str, str]]:
        return [(m.context, m.change) for m in drawn if "count_o" not in m.context]

    assert others(after) == others(before)
    assert after != before


def test_a_proof_tells_equal_from_different():
    fifo = next(file for file in FILES if file.name == "fifo.sv")
    assert len(instances(tuple(FILES), 32)["fifo"]) > 1
    mutant = next(m for m in mutations(fifo) if m.kind == "operator")
    original = fifo.read_text()[mutant.start : mutant.end]
    assert equivalence(mutant, FILES, 32) == DIFFERS
    assert equivalence(replace(mutant, text=f"!(!({original}))"), FILES, 32) == EQUAL


def result(outcome: str) -> Result:
    return Result("wd", "counter.sv", 11, "constant", "count_q + 4'd3", "4'd3 -> 4'd2", outcome, "", "")


def test_the_score_counts_what_is_neither_proven_nor_harmless():
    results = [result(outcome) for outcome in OUTCOMES for _ in range(2 if outcome == "killed" else 1)]
    assert score(results) == 2 / 5


def test_verdicts_are_kept_for_the_same_rtl(counter: Path, tmp_path: Path):
    first, second = mutations(counter)[:2]
    file = tmp_path / "verdicts"
    Store(file, [counter], [1]).put(first, result("killed"))
    store = Store(file, [counter], [1])
    assert store.get(first) == result("killed")
    assert store.get(second) is None
    assert Store(file, [counter], [2]).get(first) is None
    counter.write_text(MODULE.replace("4'd3", "4'd4"))
    assert Store(file, [counter], [1]).get(first) is None


def test_a_review_is_of_a_line_and_a_change(counter: Path):
    review = Review(
        re.compile("counter.sv"), re.compile("if .* <= '0;"), re.compile(".*"), "written before it is read"
    )
    found = [m for m in mutations(counter) if review_of(m, [review])]
    assert [(m.line, m.kind) for m in found] == [(13, "reset")]
    assert review_of(found[0], [review]) == review.reason
    other = replace(review, change=re.compile("4'd3 -> .*"))
    assert not any(review_of(m, [other]) for m in mutations(counter))


def test_every_review_is_of_a_mutant_that_there_is():
    everything = [mutation for file in FILES for mutation in mutations(file, FILES)]
    for review in read_reviews():
        assert any(review.takes(mutation) for mutation in everything), review


@pytest.mark.slow
def test_the_block_tests_judge_mutants():
    reset = [m for file in FILES if file.name == "cpm.sv" for m in mutations(file) if m.kind == "reset"]
    top = [m for file in FILES if file.name == "npu.sv" for m in mutations(file)]
    unary = next(
        m for file in FILES if file.name == "wd_control.sv" for m in mutations(file)
        if m.context.startswith(".long_index_i") and m.text.startswith("(uncompressed) ||")
    )  # fmt: skip
    judge = BlockJudge([reset[0], top[0], unary], 32)
    assert judge.judge(1).startswith("bench_small: ")
    assert list(judge.benches(2)) == []
    assert judge.judge(3).startswith("bench_wd: ")


def test_what_gives_constants_of_other_files_their_values_is_no_mutant(tmp_path: Path):
    package, user = tmp_path / "code_pkg.sv", tmp_path / "user.sv"
    package.write_text(
        "package code_pkg;\n  function automatic int bits(int code);\n    return code + 7;\n  endfunction\n"
        "endpackage\n"
    )
    user.write_text("module user;\n  localparam int W = code_pkg::bits(2);\nendmodule\n")
    assert mutations(package)
    assert mutations(package, [package, user]) == []
