# SPDX-License-Identifier: Apache-2.0
"""Where every fault was injected, intervals are of an enumeration; where anything is drawn, of a sample."""

from __future__ import annotations

import json

import numpy as np
import pytest

from resil.cli import main
from resil.sensitivity.guided_population import campaign_population
from testkit import fake
from testkit.campaigns import TEXT, campaign, write_campaign

# 72 flip-flop bits, each held at 0 and at 1, for two inputs.
STUCK = TEXT.replace('kinds = ["ff"]', 'kinds = ["ff"]\nmodel = "stuck_at"')
ALL = 72 * 2 * 2


def summary(tmp_path, monkeypatch, text):
    fake.install(monkeypatch)
    out = tmp_path / "run"
    assert main(["run", str(write_campaign(tmp_path, text)), "--out", str(out), "--quiet"]) in (0, 1, 3)
    return json.loads((out / "summary.json").read_text())


@pytest.mark.parametrize("plan", ["proportional", "uniform"])
def test_all_stuck_bits_have_known_rates(tmp_path, monkeypatch, capsys, plan):
    text = STUCK.replace("= 200", f"= {ALL}") + f'[sampling]\nplan = "{plan}"\n'
    found = summary(tmp_path, monkeypatch, text.replace("minimum_per_block = 10\n", ""))
    rows = [found["total"], *(block for block in found["blocks"] if block["injections"])]
    assert found["total"]["injections"] == ALL
    assert [(row["avf_lo"], row["fit_lo"]) for row in rows] == [(row["avf"], row["fit"]) for row in rows]
    assert [(row["avf_hi"], row["fit_hi"]) for row in rows] == [(row["avf"], row["fit"]) for row in rows]
    assert 0.0 < found["total"]["fit"] < found["total"]["fit_raw"]
    assert "every fault of it was injected" in capsys.readouterr().out


def test_one_fault_short_is_a_sample(tmp_path, monkeypatch, capsys):
    text = STUCK.replace("= 200", f"= {ALL - 1}").replace("minimum_per_block = 10\n", "")
    total = summary(tmp_path, monkeypatch, text)["total"]
    assert total["fit_lo"] < total["fit"] < total["fit_hi"]
    assert "every fault of it was injected" not in capsys.readouterr().out


@pytest.mark.parametrize(("clusters", "listed"), [("", True), ("clusters = { 1 = 0.5, 2 = 0.5 }\n", False)])
def test_drawn_sizes_of_clusters_are_a_sample_though_every_place_was_hit(clusters, listed):
    """A place is hit once, by a cluster of a size that chance gave: another seed gives other outcomes."""
    asked = campaign(TEXT.replace("[technology]", f"{clusters}[technology]"))
    bench = fake.fake_bench(asked)
    goldens = [bench.engine(place).golden() for place in range(2)]
    strata = campaign_population(asked, bench, goldens).for_statistics({"ff": 1.0})
    assert strata.listed is listed
    assert np.isfinite(strata.members(np.arange(len(strata)), len(strata))).all() == listed
