# SPDX-License-Identifier: Apache-2.0
"""Memories behind a code that is not in the RTL: what it is credited with, and that the verdict says so."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from resil.cli import main
from resil.errors import StoreError
from resil.prepare.coded import CORRECTS, DETECTS, CodedEngine, Credit, coded_text, credit
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.faults import Fault, Outcome, Reported, Seen
from resil.sensitivity.observations import read_run
from testkit.macros import macros_campaign, macros_file, macros_work

CODED = '\n[storage]\nsram_ecc = ["u_dut.u_a"]\n'
WORDS = "u_dut.u_a.resil_words"
CLUSTERS = "clusters = { 1 = 0.5, 2 = 0.3, 3 = 0.2 }"


@pytest.fixture(scope="module")
def coded(tmp_path_factory):
    target = load_target(macros_file(tmp_path_factory.mktemp("coded"), more=CODED))
    return target, elaborate(target)


def first_of(elaboration, path):
    sites = elaboration.sites
    return next(o for o, e in zip(sites.offsets, sites.elements, strict=False) if e.path == path)


def test_credit_is_by_the_bits_of_each_word(coded):
    _, elaboration = coded
    first, other = first_of(elaboration, WORDS), first_of(elaboration, "u_dut.u_b.resil_words")
    found = [credit(Fault(first + 3, 5, bits=bits), elaboration) for bits in (1, 2, 3, 4)]
    assert found == [Credit.CORRECTED, Credit.DETECTED, Credit.NOTHING, Credit.NOTHING]
    # Other storage has none, nor have stuck bits, nor the register of what the macro has read.
    assert credit(Fault(other, 5), elaboration) is Credit.NOTHING
    assert credit(Fault(first, 0, held=1), elaboration) is Credit.NOTHING
    assert credit(Fault(first_of(elaboration, "u_dut.u_a.resil_read0_1"), 5), elaboration) is Credit.NOTHING
    assert credit(Fault(first_of(elaboration, "u_dut.sum_q"), 5, bits=2), elaboration) is Credit.NOTHING


def test_credit_of_neighbours_by_a_placement(coded):
    """Bits of several words are corrected each; one beside the memory takes the credit away."""
    _, elaboration = coded
    first, outside = first_of(elaboration, WORDS), first_of(elaboration, "u_dut.sum_q")
    neighbours = {
        first: (first + 32, first + 64),
        first + 1: (first + 33, first + 34),
        first + 2: (first + 34, outside),
        first + 3: (first + 4, first + 5),
    }
    placed = replace(elaboration, sites=replace(elaboration.sites, neighbours=neighbours))
    found = [credit(Fault(first + i, 5, bits=3), placed) for i in range(4)]
    assert found == [Credit.CORRECTED, Credit.DETECTED, Credit.NOTHING, Credit.NOTHING]


def test_answers_are_those_of_the_design_but_for_what_is_credited(coded):
    target, elaboration = coded
    sites = elaboration.sites
    faults = [
        Fault(site, cycle, bits=bits)
        for site in range(0, sites.size, 7)
        for cycle in (3, 40)
        for bits in (1, 2, 3)
        if sites.room(site) >= bits
    ]
    with VerilatorEngine(target, macros_work(), elaboration) as engine:
        bare = {i.fault: i for i in engine.run(faults)}
        golden = engine.golden().end
    for until in (False, True):
        with CodedEngine(
            VerilatorEngine(target, macros_work(), elaboration), elaboration, until_detection=until
        ) as engine:
            engine.expect(len(faults))
            found = {i.fault: i for i in engine.run(faults)}
            again = [engine.replay(fault) for fault in faults[::40]]
        assert found.keys() == bare.keys()
        credits = Counter()
        for fault, own in found.items():
            kind = credit(fault, elaboration)
            credits[kind] += 1
            if kind is Credit.NOTHING:
                assert own == bare[fault]
            elif kind is Credit.CORRECTED:
                assert (own.seen, own.reported, own.outcome) == (
                    Seen.MASKED,
                    Reported.CORRECTED,
                    Outcome.MASKED,
                )
                assert own.corrected.alarm == CORRECTS
                assert (own.output_hash, own.end_cycle) == (golden.output_hash, golden.end_cycle)
            else:
                assert own.outcome is Outcome.DUE
                assert own.detected.alarm == DETECTS
                assert own.seen is (Seen.DUE if until else bare[fault].seen)
        assert min(credits[kind] for kind in Credit) > 50
        assert all(own == found[own.fault] for own in again)
    # Without the code many of them do harm, those of three bits with it, too.
    harm = {
        kind: {own.seen for fault, own in bare.items() if credit(fault, elaboration) is kind}
        for kind in Credit
    }
    assert all(Seen.SDC_CRITICAL in own for own in harm.values())


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    found = {}
    for name, more in (("bare", ""), ("coded", CODED)):
        folder = tmp_path_factory.mktemp(name)
        file = macros_campaign(folder, 600, CLUSTERS, more)
        assert main(["run", str(file), "--out", str(folder / "run"), "--quiet"]) == 0
        found[name] = folder / "run"
    return found


def test_a_campaign_names_the_code_in_its_verdict_and_its_assumptions(runs):
    bare, coded = (json.loads((runs[name] / "summary.json").read_text()) for name in ("bare", "coded"))
    for own, there in ((bare, False), (coded, True)):
        topics = {a["topic"]: a["text"] for a in own["assumptions"]}
        assert ("codes of memories" in topics) is there
        assert (
            "it is assumed, not shown, that a code guards u_dut.u_a.resil_words" in str(own["verdict"])
        ) is there
        assert "what lies in PLL is not assessed" in str(own["verdict"])
        assert "macro PLL (u_dut.u_pll)" in topics["scope"]
        assert "areas of macros of which none is stated (area_ge): PLL" in " ".join(own["notes"])
    text = next(a["text"] for a in coded["assumptions"] if a["topic"] == "codes of memories")
    assert "16 words of 32 bits" in text
    assert "three bits or more" in text
    # The same faults strike, at the same raw rate.
    assert coded["total"]["fit_raw"] == bare["total"]["fit_raw"]
    assert coded["total"]["fit"] < bare["total"]["fit"]


def test_rows_differ_where_the_code_is_credited_alone(runs):
    bare, coded = (
        {row["injection"]: row for row in pq.read_table(runs[name] / "injections").to_pylist()}
        for name in ("bare", "coded")
    )
    assert bare.keys() == coded.keys()
    changed = Counter()
    for number, row in coded.items():
        before = bare[number]
        assert all(row[key] == before[key] for key in ("site", "path", "cycle", "bits"))
        guarded = row["path"] == WORDS and row["bits"] < 3
        if not guarded:
            assert (row["outcome"], row["output_hash"]) == (before["outcome"], before["output_hash"])
        else:
            assert row["outcome"] == {1: "masked", 2: "due"}[row["bits"]]
            changed[row["bits"], before["outcome"] != row["outcome"]] += 1
    assert min(changed[1, True], changed[2, True]) > 20


def test_outcomes_without_the_code_are_not_taken_for_those_with_it(runs, tmp_path):
    """The campaigns are not the same, though all files but one line are."""
    said = [json.loads((folder / "provenance.json").read_text()) for folder in runs.values()]
    assert said[0] != said[1]
    identities = [json.dumps(own.get("identity", own), sort_keys=True) for own in said]
    assert identities[0] != identities[1]
    file = macros_campaign(tmp_path, 600, CLUSTERS, CODED)
    assert main(["run", str(file), "--out", str(runs["bare"]), "--resume", "--quiet"]) != 0


def test_no_model_is_learnt_from_what_a_code_is_credited_with(runs):
    with pytest.raises(StoreError, match=r"assumes a code around memories \(sram_ecc\)"):
        read_run(runs["coded"])
    with pytest.raises(StoreError, match="network with operations"):
        read_run(runs["bare"])


def test_an_audit_agrees_and_permanent_faults_get_no_credit(runs, tmp_path):
    assert main(["audit", str(runs["coded"]), "-n", "60", "--quiet"]) == 0
    both = []
    for name, more in (("bare", ""), ("coded", CODED)):
        folder = tmp_path / name
        folder.mkdir()
        file = macros_campaign(folder, 150, 'model = "stuck_at"', more)
        text = file.read_text().replace('kinds = ["ff", "macro", "sram"]', 'kinds = ["sram"]')
        file.write_text(text)
        assert main(["run", str(file), "--out", str(folder / "run"), "--quiet"]) == 0
        rows = pq.read_table(folder / "run" / "injections").to_pylist()
        both.append(sorted((row["injection"], row["outcome"], row["output_hash"]) for row in rows))
    assert both[0] == both[1]


def test_what_is_left_out_stands_in_the_verdict(tmp_path):
    file = macros_campaign(tmp_path, 100)
    target = tmp_path / "target.toml"
    target.write_text('exclude = ["u_dut.u_b"]\n' + target.read_text())
    assert main(["run", str(file), "--out", str(tmp_path / "run"), "--quiet"]) == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert "128 bits that the target file excludes are not assessed" in str(summary["verdict"])
    scope = next(a["text"] for a in summary["assumptions"] if a["topic"] == "scope")
    assert "128 bits that the target file excludes (u_dut.u_b) have no faults" in scope
    assert (
        "128 bits that the target file excludes are not assessed"
        in (tmp_path / "run" / "report.html").read_text()
    )


def test_a_design_without_a_code_says_nothing(coded):
    target, elaboration = coded
    assert coded_text(replace(elaboration, coded=())) == ""
    assert elaborate(replace(target, storage={})).coded == ()
