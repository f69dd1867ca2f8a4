# SPDX-License-Identifier: Apache-2.0
"""What the shares of cluster sizes are worth to a verdict: its rows if all upsets had one size."""

from __future__ import annotations

import numpy as np
import pytest

from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.faults.population import make_population
from resil.files import read_json
from resil.rtl_harness.faults import Injection, Seen
from resil.trace.run import Run
from testkit.campaigns import TEXT
from testkit.fake import FakeEngine, fake_bench, install

SHARES = {1: 0.6, 2: 0.25, 3: 0.15}
SAFETY = '\n[safety]\nasil = "D"\nclaims = ["spfm_transient"]\nleft_out = "SRAM has ECC"\n'
CLUSTERS = "clusters = {1 = 0.6, 2 = 0.25, 3 = 0.15}\n[technology]"


def only_clusters_do_harm(engine, fault):
    effect = Seen.SDC_CRITICAL if fault.bits > 1 else Seen.MASKED
    return Injection(fault, effect, 5100, 0, "00", None, None)


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A run in which upsets of several bits do harm and no others, and its summary."""
    install(monkeypatch)
    monkeypatch.setattr(FakeEngine, "outcome", only_clusters_do_harm)
    file = tmp_path / "small.toml"
    file.write_text(TEXT[: TEXT.index("[budget]")].replace("[technology]", CLUSTERS) + SAFETY)
    main(["run", str(file), "--out", str(tmp_path / "run")])
    return file, tmp_path / "run", read_json(tmp_path / "run" / "summary.json", "")


def variation(summary, words):
    rows = [own["rows"] for own in summary["safety"]["sensitivity"] if words in own["title"]]
    assert len(rows) == 1
    return {row["name"]: row for row in rows[0]}


def test_rows_are_judged_as_if_all_upsets_had_one_size(finished):
    _, _, summary = finished
    alone = [variation(summary, words)["spfm_transient"] for words in ("one bit", "2 adjacent", "3 adjacent")]
    assert alone[0]["value"] == 1.0
    # Not all: at the end of a word a cluster is cut to one bit.
    assert alone[1]["value"] < 0.2
    assert alone[2]["value"] < 0.2
    whole = next(row for row in summary["safety"]["rows"] if row["name"] == "spfm_transient")
    assert alone[2]["value"] < whole["value"] < alone[0]["value"]
    assert "spfm_permanent" not in variation(summary, "one bit")


def test_sizes_are_those_that_were_drawn_and_words_cut_them_off(finished):
    file, folder, _ = finished
    campaign = load_campaign(file)
    bench = fake_bench(campaign)
    population = make_population(campaign, bench.sites, [bench.engine(0).golden()])
    rows = Run(folder).injections()
    drawn = population.cluster_sizes(rows["injection"].to_numpy())
    flipped = rows["bits"].to_numpy()
    assert (flipped <= drawn).all()
    assert (flipped == drawn).mean() > 0.8
    for size, share in SHARES.items():
        assert abs((drawn == size).mean() - share) < 5 * np.sqrt(share * (1 - share) / len(drawn))


def test_counts_of_sizes_add_up_and_single_bits_have_none(finished, tmp_path, monkeypatch):
    _, _, summary = finished
    assert sum("alone" in own["title"] for own in summary["safety"]["sensitivity"]) == 3
    install(monkeypatch)
    plain = tmp_path / "plain.toml"
    plain.write_text(TEXT[: TEXT.index("[budget]")] + SAFETY)
    main(["run", str(plain), "--out", str(tmp_path / "plain")])
    other = read_json(tmp_path / "plain" / "summary.json", "")
    assert not any("alone" in own["title"] for own in other["safety"]["sensitivity"])
