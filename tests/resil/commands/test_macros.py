# SPDX-License-Identifier: Apache-2.0
"""Flip-flops inside SRAM macros, from a run to its reports and to the choice of protection."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from resil.cli import main
from resil.record.summary import Summary
from resil.rtl_harness.design.sites import SiteTable, StorageElement
from testkit import fake
from testkit.campaigns import TEXT, write_campaign

LATCH = StorageElement("u_npu.u_sb.data_q", "macro", 64, block="sb", register_class="macro")


@pytest.fixture
def finished(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    monkeypatch.setattr(fake, "SITES", SiteTable.of([*fake.SITES.elements, LATCH]))
    text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("fit = 0.01", "fit = 0.0005")
    main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / "run")])
    capsys.readouterr()
    return tmp_path / "run"


def test_they_are_injected_and_counted_apart(finished):
    document = json.loads((finished / "summary.json").read_text())
    summary = Summary.read(json.dumps(document))
    assert document["campaign"]["kinds"] == ["ff", "macro", "sram"]
    assert {row.kind: row.bits for row in summary.storage} == {"ff": 72, "macro": 64, "sram": 1024}
    assert all(row.injections >= 10 for row in summary.storage)
    assert sum(row.fit or 0.0 for row in summary.storage) == pytest.approx(summary.total.fit)
    sb = next(block for block in summary.blocks if block.name == "sb")
    assert (sb.ff_bits, sb.macro_bits, sb.sram_bits) == (4, 64, 1024)
    assert "72 flip-flops, 64 flip-flops in SRAM macros and 1,024 SRAM bits" in summary.verdict.scope
    rows = [
        row for part in (finished / "injections").glob("*.parquet") for row in pq.read_table(part).to_pylist()
    ]
    assert {row["path"] for row in rows if row["kind"] == "macro"} == {LATCH.path}


def test_the_raw_rate_is_that_of_other_flip_flops(finished):
    document = json.loads((finished / "summary.json").read_text())
    rates = {row["kind"]: row["fit_raw"] / row["bits"] for row in document["storage"]}
    assert rates["macro"] == pytest.approx(rates["ff"])
    assert "taken to upset like others" in " ".join(a["text"] for a in document["assumptions"])


def test_a_plan_says_what_is_offered_for_them(finished, capsys):
    main(["protect", str(finished)])
    capsys.readouterr()
    plan = json.loads((finished / "protection.json").read_text())
    assert any("64 flip-flops lie inside SRAM macros" in text for text in plan["assumptions"])


def test_the_resolved_campaign_asks_for_the_same(finished, tmp_path, capsys):
    again = ["run", str(finished / "campaign.toml"), "--out", str(finished), "--resume"]
    main(again)
    capsys.readouterr()
    assert json.loads((finished / "summary.json").read_text())["campaign"]["kinds"] == ["ff", "macro", "sram"]
