# SPDX-License-Identifier: Apache-2.0
"""Kills and damaged files at random; `benchmarks.engine.resume` does the same at length with a simulator."""

from __future__ import annotations

import random
import sys

from resil.cli import main
from testkit import fake
from testkit.campaigns import TEXT, write_campaign
from testkit.disturbed import DAMAGES, damage, disturbed
from testkit.stored_rows import rows


def test_whatever_is_killed_or_damaged_the_same_injections_come_back(tmp_path, monkeypatch):
    campaign = write_campaign(tmp_path, TEXT.replace("injections = 200", "injections = 500"))
    fake.install(monkeypatch)
    main(["run", str(campaign), "--out", str(tmp_path / "calm")])
    monkeypatch.setenv("FAKE_SECONDS", "0.004")
    command = [sys.executable, "-m", "testkit.fake", "run", str(campaign), "--out", str(tmp_path / "run")]
    found = disturbed(command, tmp_path / "run", 3, (1.0, 0.3), random.Random(1))
    assert found.kills == 3
    assert rows(tmp_path / "run").num_rows == 500
    assert rows(tmp_path / "run").equals(rows(tmp_path / "calm"))


def test_every_kind_of_damage_is_made_good(tmp_path, monkeypatch, capsys):
    campaign = write_campaign(tmp_path)
    fake.install(monkeypatch)
    monkeypatch.setattr("resil.folder.execute.PART_ROWS", 40)
    arguments = ["run", str(campaign), "--out", str(tmp_path / "run")]
    main(arguments)
    before, chance = rows(tmp_path / "run"), random.Random(4)
    for kind in DAMAGES:
        damage(tmp_path / "run" / "injections", chance, kind)
        main(arguments)
        assert rows(tmp_path / "run").equals(before)
    messages = capsys.readouterr().err
    for reason in ("cannot be read as Parquet", "repeats injections of part-"):
        assert reason in messages
