# SPDX-License-Identifier: Apache-2.0
"""What the shares of cluster sizes are worth to a verdict: its rows if all upsets had one size."""

from __future__ import annotations

import numpy as np
import pytest

from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.errors import CampaignError, ExitCode
from resil.faults.population import make_population
from resil.files import read_json
from resil.folder.finished import finished_run
from resil.protection.basis import basis_of_limits
from resil.protection.options import ProtectionError, load_options
from resil.rtl_harness.faults import Injection, Seen
from resil.trace.run import Run
from testkit.campaigns import TEXT
from testkit.errors import about
from testkit.fake import FakeEngine, fake_bench, install

SHARES = {1: 0.6, 2: 0.25, 3: 0.15}
SAFETY = '\n[safety]\nasil = "D"\nclaims = ["spfm_transient"]\nleft_out = "SRAM has ECC"\n'
ANY_SHARES = 'cluster_shares = "any"'
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
    assert Run(folder).drawn_sizes(rows).tolist() == drawn.tolist()
    assert Run(folder).drawn_sizes(rows[::7]).tolist() == drawn[::7].tolist()
    flipped = rows["bits"].to_numpy()
    assert (flipped <= drawn).all()
    assert (flipped == drawn).mean() > 0.8
    for size, share in SHARES.items():
        assert abs((drawn == size).mean() - share) < 5 * np.sqrt(share * (1 - share) / len(drawn))


def judged(tmp_path, monkeypatch, name, shares="", budget="", outcome=only_clusters_do_harm):
    """The summary and the exit code of a campaign with clusters."""
    install(monkeypatch)
    monkeypatch.setattr(FakeEngine, "outcome", outcome)
    file = tmp_path / f"{name}.toml"
    clusters = CLUSTERS.replace("\n[technology]", f"\n{shares}\n[technology]")
    file.write_text(TEXT[: TEXT.index("[budget]")].replace("[technology]", clusters) + budget + SAFETY)
    code = main(["run", str(file), "--out", str(tmp_path / name)])
    return read_json(tmp_path / name / "summary.json", ""), code


def test_any_shares_are_judged_at_their_worst(tmp_path, monkeypatch):
    """A budget between what the declared shares have and what clusters alone would have."""
    declared, _ = judged(tmp_path, monkeypatch, "declared")
    total = declared["verdict"]["corner_fit"][2]
    budget = f"[budget]\nfit = {1.2 * total}\nrationale = 'a test'\n"
    (of_declared, kept), (of_any, missed) = (
        judged(tmp_path, monkeypatch, name, shares, budget)
        for name, shares in (("kept", ""), ("any", ANY_SHARES))
    )
    assert (of_declared["verdict"]["result"], of_any["verdict"]["result"]) == ("met", "missed")
    assert (kept, missed) == (ExitCode.MISSED, ExitCode.MISSED)  # by the claim on SPFM, and by both
    verdict = of_any["verdict"]
    assert verdict["corner"].endswith("adjacent bits alone")
    assert verdict["corner_fit"][2] > 1.5 * of_declared["verdict"]["corner_fit"][2]
    assert verdict["fit"] == of_declared["verdict"]["fit"]
    rows = {row["name"]: row for row in of_any["safety"]["rows"]}
    assert rows["spfm_transient"]["corner"].endswith("adjacent bits alone")
    assert "whatever the shares" in str(of_any["assumptions"])
    assert 'cluster_shares = "any"' in (tmp_path / "any" / "campaign.toml").read_text()


def test_where_single_bits_do_harm_they_decide(tmp_path, monkeypatch):
    def harm(engine, fault):
        effect = Seen.MASKED if fault.bits > 1 else Seen.SDC_CRITICAL
        return Injection(fault, effect, 5100, 0, "00", None, None)

    found, _ = judged(tmp_path, monkeypatch, "any", ANY_SHARES, outcome=harm)
    assert found["verdict"]["corner"].endswith("upsets of one bit alone")


def test_a_set_is_chosen_for_the_worst_size(tmp_path, monkeypatch):
    """A budget that the declared shares keep without protection, and clusters alone do not."""
    folders = {}
    for name, shares in (("declared", ""), ("any", ANY_SHARES)):
        summary, _ = judged(tmp_path, monkeypatch, name, shares)
        folders[name] = summary["verdict"]["corner_fit"][2]
    assert folders["any"] > 1.5 * folders["declared"]
    budget = str(1.2 * folders["declared"])
    plans = {}
    for name in folders:
        wanted = ["protect", str(tmp_path / name), "--budget-fit", budget, "--waive", "spfm", "--quiet"]
        main([*wanted, "--granularity", "register"])
        plans[name] = read_json(tmp_path / name / "protection.json", "")
    assert plans["declared"]["result"] == "not_needed"
    assert plans["any"]["result"] == "optimal"
    (row,) = plans["any"]["networks"]
    assert row["corner"].endswith("adjacent bits alone")
    assert row["corner_fit_hi"] <= float(budget)


def test_limits_of_blocks_do_not_judge_any_shares(tmp_path, monkeypatch):
    """An estimate has nothing else; a run is judged by its injections, by blocks too."""
    judged(tmp_path, monkeypatch, "any", ANY_SHARES)
    with pytest.raises(ProtectionError, check=about("faults.cluster_shares")):
        basis_of_limits(finished_run(tmp_path / "any"), load_options())
    assert main(["protect", str(tmp_path / "any"), "--budget-fit", "1", "--waive", "spfm", "--quiet"]) != 2


def test_any_shares_need_sizes(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(TEXT.replace("[technology]", f"{ANY_SHARES}\n[technology]"))
    with pytest.raises(CampaignError, match=r"cluster_shares: expected two sizes"):
        load_campaign(file)


def test_counts_of_sizes_add_up_and_single_bits_have_none(finished, tmp_path, monkeypatch):
    _, _, summary = finished
    assert sum("alone" in own["title"] for own in summary["safety"]["sensitivity"]) == 3
    install(monkeypatch)
    plain = tmp_path / "plain.toml"
    plain.write_text(TEXT[: TEXT.index("[budget]")] + SAFETY)
    main(["run", str(plain), "--out", str(tmp_path / "plain")])
    other = read_json(tmp_path / "plain" / "summary.json", "")
    assert not any("alone" in own["title"] for own in other["safety"]["sensitivity"])
