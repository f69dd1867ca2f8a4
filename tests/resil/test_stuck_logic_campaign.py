# SPDX-License-Identifier: Apache-2.0
"""Campaigns of permanent faults in logic, from file to verdict, alone and beside stuck bits of storage."""

from __future__ import annotations

import csv
import json
import re

import pytest

import resil
from resil.bench.site_list import SiteNames
from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.errors import ResilError
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.rtl_harness.logic.stuck_engine import StuckEngine
from resil.stats.permanent import load_permanent
from testkit.awkward_campaigns import BUDGET, awkward_campaign, run

HELD = 'kinds = {kinds}\nmodel = "stuck_at"\ninjections = {injections}\nminimum_per_block = 30'


def folder_of(tmp_path_factory, kinds, injections):
    faults = HELD.format(kinds=json.dumps(kinds), injections=injections)
    return awkward_campaign(tmp_path_factory.mktemp("stuck") / "awkward", faults, BUDGET)


def read(path):
    return json.loads(path.read_text())


def outcomes(rows):
    return {(row.site, row.fault, row.input): row.outcome for row in rows.itertuples()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = folder_of(tmp_path_factory, ["logic"], 600)
    assert run(made) in (0, 1, 3)
    return made


def test_a_run_says_that_it_is_about_permanent_faults_of_logic(folder):
    summary = read(folder / "out" / "summary.json")
    assert summary["campaign"]["fault_model"] == "stuck_at"
    assert summary["verdict"]["scope"].startswith("permanent faults alone; pins of cells only")
    scope = next(own["text"] for own in summary["assumptions"] if own["topic"] == "scope")
    assert "pins of cells of the design under test. Every fault is one bit or pin held" in scope
    assert "permanent faults of clock and reset trees" in scope
    assert "permanent faults of logic" not in scope
    assert any("Every fault in logic is a pin of a cell held" in note for note in summary["notes"])
    pins = summary["total"]["logic_bits"]
    assert pins == sum(row["logic_bits"] for row in summary["blocks"]) > 5000
    rate = load_permanent("finfet-16nm").fit_per_bit("logic")
    assert summary["total"]["fit_raw"] == pytest.approx(pins * rate)
    (entry,) = (own for own in summary["technology"]["entries"] if own["quantity"] == "pin")
    assert entry["low"] < entry["value"] < entry["high"]
    assert "IEC TR 62380" in entry["source"]


def test_rows_name_cells_and_values(folder):
    from resil import Run

    rows = Run(folder / "out").injections()
    assert set(rows.kind) == {"logic"}
    assert set(rows.fault) == {"stuck_at_0", "stuck_at_1"}
    assert set(rows.outcome) >= {"masked", "hang"}
    assert (rows.cycle == 0).all()


def test_answers_were_audited_by_evaluating_all_gates(folder):
    audits = read(folder / "out" / "provenance.json")["audit"]["kinds"]
    held = [own for way, own in audits.items() if way.startswith("held pin, ")]
    assert sum(own["answers"] for own in held) == 600
    assert sum(own["tried"] for own in held) >= 20
    assert all(own["tried"] for own in held)


def test_the_same_faults_come_again_one_by_one(folder, capsys):
    for number in ("3", "8"):
        assert main(["replay", str(folder / "out"), number, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["equal"]


def test_a_check_compares_with_an_evaluation_of_all_gates(folder, capsys):
    assert main(["check", str(folder / "campaign.toml")]) == 0
    assert "equal on verilator and runs to the end" in capsys.readouterr().out


def test_a_fault_list_of_a_run_is_read_again_with_the_same_results(folder, tmp_path):
    assert main(["report", str(folder / "out"), "--fault-list", str(tmp_path / "list.csv")]) == 0
    campaign, again = str(folder / "campaign.toml"), tmp_path / "again"
    asked = ["--faults", str(tmp_path / "list.csv"), "--out", str(again), "--quiet"]
    assert main(["run", campaign, *asked]) in (0, 1, 3)
    columns = ("site", "type", "input", "status")
    listed, injected = (
        [*csv.DictReader(file.read_text().splitlines())]
        for file in (tmp_path / "list.csv", again / "faults.csv")
    )
    first, second = ([tuple(row[name] for name in columns) for row in own] for own in (listed, injected))
    assert first == second
    assert {status for *_, status in first} >= {
        *("safe", "latent", "detected", "observed", "functionally_untestable")
    }
    # With the reason why nothing can come of a fault, which is what the statuses of both are made of.
    untestable = [(own, new) for own, new in zip(listed, injected, strict=True) if new["reason"]]
    assert all(own["reason"] == new["reason"] for own, new in untestable)
    assert {own["hazardous"] for own, _ in untestable} == {"no"}
    assert {own["status"] for own in listed if own["reason"] == "unexcited"} == {"functionally_untestable"}
    assert len([s for *_, s in first if "untestable" in s]) == len(untestable)
    (said,) = (own for own in read(again / "listed.json")["remarks"] if "functionally" in own)
    assert said.startswith(f"Of 600 faults, {len([s for *_, s in first if s == 'functionally_untestable'])} ")
    assert len(first) == 600
    # Pins have the names of the library, in lists as in rows.
    rows = resil.Run(folder / "out").injections()
    assert set(rows.name) == {site for site, *_ in first}
    assert (rows.name == rows.register + "/" + rows.pin).all()
    assert {"A", "Y", "Q"} <= set(rows.pin)


def test_pins_that_nothing_observed_depends_on_are_structurally_untestable(folder, tmp_path):
    register = "u_dut.u_lanes.g_lane[0].lane_q[31]"
    pins = [f"{register}/{pin},SA{value}\n" for pin in "DQ" for value in (0, 1)]
    (tmp_path / "list.csv").write_text("site,type\n" + "".join(pins))
    asked = ["--faults", str(tmp_path / "list.csv"), "--out", str(tmp_path / "out"), "--quiet"]
    assert main(["run", str(folder / "campaign.toml"), *asked]) == 0
    with (tmp_path / "out" / "faults.csv").open() as file:
        rows = [(row["status"], row["reason"], row["outcome"]) for row in csv.DictReader(file)]
    assert rows == [("untestable", "no_path", "masked")] * 4


def test_names_of_sites_are_found_again(folder):
    sites = prepare(load_campaign(folder / "campaign.toml"), Progress()).sites
    names = SiteNames(sites)
    for site in range(0, sites.size, 97):
        assert names.site(sites[site].name) == site
    # Flip-flops have the names of bits.
    own = next(sites[site] for site in range(sites.size - 1, 0, -1) if sites[site].name.endswith("/Y"))
    for wrong in (f"{own.element.path}[0]", f"{own.element.path}/NONE", own.element.path):
        with pytest.raises(ResilError, match=re.escape(f"; {own.element.path} has {own.element.path}/")):
            names.site(wrong)


def test_workers_and_an_interruption_change_nothing(folder, tmp_path_factory):
    other = folder_of(tmp_path_factory, ["logic"], 300)
    assert run(other, "--workers", "2") in (0, 1, 3)
    text = (other / "campaign.toml").read_text()
    (other / "campaign.toml").write_text(text.replace("injections = 300", "injections = 600"))
    assert run(other, "--resume") in (0, 1, 3)
    assert read(other / "out" / "summary.json")["total"] == read(folder / "out" / "summary.json")["total"]


def test_runs_that_end_at_detection_say_the_same_until_there(folder, tmp_path_factory):
    from resil import Run

    ended = folder_of(tmp_path_factory, ["logic"], 600)
    text = (ended / "campaign.toml").read_text()
    (ended / "campaign.toml").write_text(text.replace("[execution]", '[execution]\nuntil = "detection"'))
    assert run(ended) in (0, 1, 3)
    whole, until = (Run(own / "out").injections() for own in (folder, ended))
    reported = until.reported == "detected"
    assert reported.sum() >= 8
    assert outcomes(until[~reported]).items() <= outcomes(whole).items()
    times = {(row.site, row.fault, row.input): (row.alarm, row.alarm_cycle) for row in whole.itertuples()}
    for row in until[reported].itertuples():
        assert times[row.site, row.fault, row.input] == (row.alarm, row.alarm_cycle)


def test_a_wrong_answer_voids_the_run(tmp_path_factory, monkeypatch, capsys):
    """A simulator that takes hangs for masked."""
    made = folder_of(tmp_path_factory, ["logic"], 300)
    right = StuckEngine._ends

    def wrong(self, simulator, faults, reached=None):
        found = right(self, simulator, faults, reached)
        same = next(end for end in found if end.how.name == "UNEXCITED")
        return [same if end.how.name in ("LIMIT", "LOOP") else end for end in found]

    monkeypatch.setattr(StuckEngine, "_ends", wrong)
    assert run(made) == 4
    assert "of all gates gives" in capsys.readouterr().err
    assert not (made / "out" / "summary.json").exists()


def test_storage_beside_logic_is_one_campaign(tmp_path_factory):
    from resil import Run

    made = folder_of(tmp_path_factory, ["ff", "sram", "logic"], 500)
    assert run(made) in (0, 1, 3)
    summary = read(made / "out" / "summary.json")
    kinds = {row["kind"] for row in summary["strata"]}
    assert kinds == {"ff", "sram", "logic"}
    rates, total = load_permanent("finfet-16nm"), summary["total"]
    raw = sum(total[f"{kind}_bits"] * rates.fit_per_bit(kind) for kind in kinds)
    assert total["fit_raw"] == pytest.approx(raw)
    assert any("a little is counted twice" in note for note in summary["notes"])
    # What is said of storage is what a campaign of all of it alone says: two values on two inputs.
    every = 4 * (total["ff_bits"] + total["sram_bits"])
    alone = folder_of(tmp_path_factory, ["ff", "sram"], every)
    assert run(alone) in (0, 1, 3)
    judged = outcomes(Run(alone / "out").injections())
    stored = Run(made / "out").injections().query("kind != 'logic'")
    assert outcomes(stored).items() <= judged.items()
    assert len(stored) >= 60


def test_all_faults_are_a_census_and_more_than_all_are_refused(folder, tmp_path_factory, capsys):
    from resil import Run

    # Two values on two inputs.
    every = 4 * read(folder / "out" / "summary.json")["total"]["logic_bits"]
    made = folder_of(tmp_path_factory, ["logic"], every + 1)
    assert run(made) == 2
    assert f"{every}" in capsys.readouterr().err
    text = (made / "campaign.toml").read_text()
    (made / "campaign.toml").write_text(text.replace(str(every + 1), str(every)))
    assert run(made) in (0, 1, 3)
    whole = outcomes(Run(made / "out").injections())
    assert len(whole) == every
    assert outcomes(Run(folder / "out").injections()).items() <= whole.items()
