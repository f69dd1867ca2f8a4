# SPDX-License-Identifier: Apache-2.0
"""`resil run --dry-run`: says what would run, leaves nothing behind, refuses what the run would refuse."""

from __future__ import annotations

import json
import time
from datetime import datetime

import pytest

from resil.cli import main
from resil.progress import Progress
from resil.run.campaign import run_campaign
from resil.run.dry_run import RunPlan, plan_text
from testkit import fake
from testkit.campaigns import TEXT, campaign, write_campaign


@pytest.fixture
def dry(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)

    def run(text=TEXT, *options, out="run", code=0):
        campaign = str(write_campaign(tmp_path, text))
        assert main(["run", campaign, "--out", str(tmp_path / out), "--dry-run", "--json", *options]) == code
        printed = capsys.readouterr()
        return json.loads(printed.out) if code == 0 else printed.err

    return run


def text(plan):
    """What a person is shown of it."""
    return plan_text(RunPlan.model_validate_json(json.dumps(plan)))


def test_it_says_what_would_run_and_does_nothing(dry, tmp_path, monkeypatch):
    monkeypatch.setattr("testkit.fake.FakeEngine.golden", None)
    plan = dry()
    assert plan["sites"] == {"cc": 3, "mac": 64, "sb": 4, "(no block)": 1}
    assert (plan["injections"], plan["done"], plan["plan"]) == (200, 0, "proportional")
    assert (plan["cycles"], plan["faults"], plan["inputs"]) == (4000, 72 * 4000 * 2, [0, 3])
    assert plan["seconds"] is None
    assert "no finished run on this target" in plan["basis"]
    assert not (tmp_path / "run").exists()


def test_it_says_what_is_claimed_and_whether_the_permanent_campaign_can_be_used(dry, tmp_path, capsys):
    safety = '[safety]\nspfm = 0.5\nclaims = ["spfm_permanent"]\npermanent = "stuck"\n'
    plan = dry(TEXT + safety)
    assert plan["claims"] == ["spfm_permanent"]
    assert "[safety] permanent cannot be used" in plan["permanent"]
    assert "warning: [safety] permanent cannot be used" in text(plan)
    assert "safety claims: spfm_permanent" in text(plan)
    main(["run", str(write_campaign(tmp_path, TEXT.replace("[faults]", '[faults]\nmodel = "stuck_at"'))),
          "--out", str(tmp_path / "stuck")])  # fmt: skip
    capsys.readouterr()
    assert dry(TEXT + safety)["permanent"] is None


def test_it_says_what_a_hang_is(dry):
    assert "time-out: of the inference 2 times the run without a fault\n" in text(dry())
    plan = dry(TEXT.replace("[budget]", '[execution]\ntimeout = "operation"\ntimeout_factor = 3\n[budget]'))
    assert (plan["timeout"], plan["timeout_factor"]) == ("operation", 3.0)
    told = (
        "time-out: of the inference 3 times the run without a fault, of each operation 3 times the longest\n"
    )
    assert told in text(plan)


def test_storage_that_is_no_hardware_is_not_counted(dry, monkeypatch):
    monkeypatch.setattr(fake.SITES.__class__, "present", lambda sites, index: int(index == 0) * 5)
    plan = dry()
    assert plan["sites"] == {"(no block)": 5}
    assert plan["faults"] == 5 * 4000 * 2


def test_faults_from_reset_on_are_counted_without_cycles(dry):
    text = TEXT.replace('kinds = ["ff"]', 'kinds = ["ff"]\nmodel = "stuck_at"')
    assert dry(text)["faults"] == 72 * 2 * 2


def test_time_is_scaled_from_a_finished_run(dry, tmp_path, monkeypatch, capsys):
    main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "before"), "--workers", "2"])
    capsys.readouterr()
    seconds = json.loads((tmp_path / "before" / "summary.json").read_text())["campaign"]["seconds"]
    text = TEXT.replace("injections = 200", "injections = 2000").replace("seed = 7", "seed = 8")
    plan = dry(text, "--workers", "4")
    assert plan["seconds"] == pytest.approx(seconds * 5, abs=0.06)
    assert plan["basis"].startswith("scaled by injections, workers and cycles from before: 200 in ")


def test_what_is_there_is_not_run_again(dry, tmp_path, capsys):
    main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run")])
    capsys.readouterr()
    text = TEXT.replace("injections = 200", "injections = 300")
    assert dry(text, "--resume")["done"] == 200
    assert "another campaign" in dry(TEXT.replace("seed = 7", "seed = 8"), code=2)


def test_a_person_reads_it(dry, tmp_path, capsys):
    assert main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run"), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "injections: 200, plan proportional, out of 576,000 faults" in out
    assert "time: not known (no finished run" in out


def test_time_of_injecting_is_apart_from_that_of_building(dry, tmp_path, monkeypatch, capsys):
    """The fault: "10:20:25 to 10:20:40 (1 min 22 s of injecting)"; dry runs foretold builds again."""
    inject, progress = fake.FakeEngine.run, Progress()

    def prepare(campaign, progress, simulates=False):
        time.sleep(2.0)
        return fake.fake_bench(campaign)

    def run(self, faults, workers=1):
        with progress.building("gates"):
            time.sleep(2.0)
        yield from inject(self, faults, workers)

    monkeypatch.setattr("resil.run.campaign.prepare", prepare)
    monkeypatch.setattr(fake.FakeEngine, "run", run)
    run_campaign(campaign(), tmp_path / "before", progress=progress)
    provenance = json.loads((tmp_path / "before" / "provenance.json").read_text())
    started, finished = (datetime.fromisoformat(provenance[key]) for key in ("started", "finished"))
    span = (finished - started).total_seconds()
    assert span >= 5.0
    assert provenance["seconds"] <= span - 5.0
    plan = dry(TEXT.replace("seed = 7", "seed = 8"))
    assert plan["seconds"] <= span - 5.0
    assert "what has to be built comes on top" in plan["basis"]
