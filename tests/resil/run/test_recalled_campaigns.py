# SPDX-License-Identifier: Apache-2.0
"""Campaigns that take kept outcomes, on a bench without a simulator: what they say, what may fail."""

from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import replace

import pyarrow.compute as pc
import pytest

import resil.folder.outcomes
import resil.folder.parts
import resil.run.campaign
from resil.cli import main
from resil.folder.audits import RECALLED, Audits
from resil.folder.parts import read_part, write_part
from testkit.campaigns import TEXT, write_campaign
from testkit.fake import FakeEngine, fake_bench
from testkit.stored_rows import rows

RECALL = TEXT.replace("[technology]", "[execution]\nrecall = true\n[technology]")


class WholeRuns(FakeEngine):
    """As an engine that simulates every fault to its end: it audits nothing."""

    @property
    def audits(self):
        return {}

    def audit_kept(self, injections, workers=1):
        pass


@pytest.fixture
def engines(monkeypatch):
    """The engines that campaigns have made, in order; nothing but them answers."""
    made = []

    def bench(campaign, progress=None, *, simulates=False):
        found = fake_bench(campaign)

        def engine(position):
            made.append(WholeRuns(position))
            return made[-1]

        return replace(found, engine=engine)

    monkeypatch.setattr(resil.run.campaign, "prepare", bench)
    return made


@pytest.fixture
def run(engines, stores, tmp_path):
    """Carries out a campaign in a folder of this name; returns the folder."""

    def carry_out(name, text=RECALL, code=(0, 1, 3), *, resume=False):
        engines.clear()
        out = tmp_path / name
        more = ["--resume"] if resume else []
        assert main(["run", str(write_campaign(tmp_path, text)), "--out", str(out), "--quiet", *more]) in code
        return out

    return carry_out


def interrupted(*_):
    raise KeyboardInterrupt


def answered(engines):
    return sum(len(engine.answered) for engine in engines)


def recalled(folder):
    return json.loads((folder / "provenance.json").read_text())["recalled"]


def altered(stores, column="end_cycle"):
    """Make every kept outcome wrong, with right digests."""
    for file in stores.glob("*/*.parquet"):
        table = read_part(file, file.parent.name)
        place = table.column_names.index(column)
        write_part(file, table.set_column(place, column, pc.add(table[column], 1)), file.parent.name)


def test_what_was_simulated_before_is_served_and_said(run, engines):
    first = run("first")
    assert (answered(engines), recalled(first)) == (200, 0)
    assert "earlier campaigns" not in (first / "report.html").read_text()
    again = run("again")
    assert (answered(engines), recalled(again)) == (0, 200)
    assert rows(again) == rows(first)
    notes = json.loads((again / "summary.json").read_text())["notes"]
    assert any(note.startswith("The outcomes of 200 injections were taken from earlier") for note in notes)
    assert "The outcomes of 200 injections" in (again / "report.html").read_text()


def test_a_plan_that_goes_by_results_comes_to_the_same(run, engines):
    neyman = RECALL.replace("[technology]", '[sampling]\nplan = "neyman"\n[technology]')
    fresh = run("fresh", neyman.replace("recall = true", ""))
    run("first")
    taken = run("taken", neyman)
    assert recalled(taken) > 0
    assert answered(engines) + recalled(taken) >= 200
    assert rows(taken) == rows(fresh)


def test_another_seed_draws_other_faults(run):
    run("first")
    assert recalled(run("second", RECALL.replace("seed = 7", "seed = 8"))) < 10


def test_without_the_key_nothing_is_served_or_kept(run, engines, stores):
    run("first", TEXT)
    assert not stores.exists()
    run("second")
    run("third", TEXT)
    assert answered(engines) == 200


def test_a_wrong_outcome_is_found_by_an_engine_that_audits_nothing(run, stores, capsys):
    run("first")
    altered(stores)
    second = run("second", code=(4,))
    said = capsys.readouterr().err
    assert "simulated again it is" in said
    assert "resil replay" in said
    assert json.loads((second / "provenance.json").read_text())["failed"]
    assert not stores.exists()
    assert recalled(run("third")) == 0


def test_what_was_taken_is_tried_also_if_the_run_was_killed_before(run, stores, monkeypatch):
    run("first")
    altered(stores)
    with monkeypatch.context() as patch:
        patch.setattr(Audits, "try_kept", interrupted)
        run("second", code=(130,))
    run("second", resume=True, code=(4,))
    assert not stores.exists()


def test_what_was_tried_of_it_is_said(run):
    run("first")
    audit = json.loads((run("again") / "provenance.json").read_text())["audit"]
    assert audit["kinds"] == {RECALLED: {"answers": 200, "tried": 40}}


def test_an_engine_that_audits_what_is_kept_does_so_alone(run, monkeypatch):
    run("first")
    monkeypatch.setattr(WholeRuns, "audit_kept", FakeEngine.audit_kept)
    audit = json.loads((run("again") / "provenance.json").read_text())["audit"]
    assert audit["kinds"] == {}


def test_that_nothing_can_be_kept_loses_no_campaign(run, engines, stores, monkeypatch):
    write = resil.folder.parts.pq.write_table

    def full(table, where, **options):
        if stores in where.parents:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(table, where, **options)

    with monkeypatch.context() as patch:
        patch.setattr(resil.folder.parts.pq, "write_table", full)
        run("first")
    shutil.rmtree(stores)
    stores.write_text("no folder")
    run("second")
    run("third")
    assert answered(engines) == 200


def test_stores_that_vanish_meanwhile_are_missed_by_nobody(run, stores, monkeypatch):
    run("first")
    folder = next(stores.iterdir())
    (stores / "lost").symlink_to(stores / "nowhere")
    (folder / "lost.parquet").symlink_to(folder / "nowhere")
    assert recalled(run("second")) < 200
    assert recalled(run("third")) == 200


def test_two_writers_keep_each_fault_once_or_alike(run, stores, engines):
    run("first")
    for file in list(stores.glob("*/*.parquet")):
        write_part(file.with_name("other.parquet"), read_part(file, file.parent.name), file.parent.name)
    assert recalled(run("again")) == 200
    for file in stores.glob("*/other.parquet"):
        table = read_part(file, file.parent.name)
        place = table.column_names.index("status")
        write_part(file, table.set_column(place, "status", pc.add(table["status"], 1)), file.parent.name)
    run("third")
    assert answered(engines) == 200


def test_merged_runs_say_what_was_taken(run, tmp_path):
    run("first")
    out = tmp_path / "merged"
    assert main(["merge", str(out), str(run("one")), str(run("two")), "--quiet"]) in (0, 3)
    assert recalled(out) == 400


def test_a_resumed_run_counts_what_it_took(run, engines):
    run("small", RECALL.replace("injections = 200", "injections = 120"))
    run("large", RECALL.replace("injections = 200", "injections = 120"))
    large = run("large")
    assert (recalled(large), answered(engines)) == (120, 80)
