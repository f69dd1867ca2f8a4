# SPDX-License-Identifier: Apache-2.0
import json
import random
import re
import resource
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resil.campaign.fault_settings import FaultSettings
from resil.campaign.sampling_settings import SamplingSettings
from resil.cli import main
from resil.errors import CampaignError
from resil.faults.content import Content
from resil.faults.population import make_population
from resil.faults.sampling import Sampling
from resil.rtl_harness.design.sites import SiteTable, StorageElement
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.faults import NEVER, RunEnd, Seen
from resil.sensitivity.guided_population import campaign_population, guided_population
from resil.stats.rates import OUTCOMES
from resil.trace.run import Run
from testkit import fake
from testkit.campaigns import TEXT, campaign, write_campaign
from testkit.errors import about
from testkit.forked import Forked, has_part_files

ADAPTIVE = TEXT.replace("injections = 200", "injections = 4000").replace("fit = 0.01", "fit = 0.0003")
ADAPTIVE += '[sampling]\nplan = "adaptive"\n'
PREDICTED = TEXT.replace("minimum_per_block = 10\n", "") + '[sampling]\nplan = "predicted"\n'
RATES = {"ff": 7e-5, "sram": 2e-5}


def results(folder):
    parts = [pq.read_table(path) for path in (folder / "injections").glob("part-*.parquet")]
    summary = json.loads((folder / "summary.json").read_text())
    del summary["provenance"], summary["campaign"]["seconds"], summary["campaign"]["workers"]
    rows = pa.concat_tables(parts).sort_by("injection")
    return rows.to_pylist(), summary, (folder / "blocks.csv").read_text()


def command(folder, name="run", *more):
    return ["run", str(write_campaign(folder, ADAPTIVE)), "--out", str(folder / name), *more]


def test_an_adaptive_run_stops_when_the_verdict_is_settled(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    assert main(command(tmp_path)) == 1
    err = capsys.readouterr().err
    assert "first batch done" in err
    assert re.search(r"FIT, .* to .*; budget 0.0003 FIT: missed", err)
    rows, summary, _ = results(tmp_path / "run")
    sampling = summary["sampling"]
    assert sampling["reason"] == "budget"
    assert sampling["pilot"] + sampling["looks"][-1]["injections"] == len(rows) < 4000
    assert summary["campaign"]["injections"] == sampling["looks"][-1]["injections"]
    assert summary["verdict"]["fit_lo"] == sampling["looks"][-1]["fit_lo"] > 0.0003
    assert summary["total"]["injections"] == sum(b["injections"] for b in summary["blocks"])
    assert any("stopped when the verdict was settled" in note for note in summary["notes"])
    assert any(note.startswith(f"{sampling['pilot']:,} injections of a pilot") for note in summary["notes"])
    assert "stopped when the verdict was settled" in (tmp_path / "run" / "report.html").read_text()
    assert {row["stratum"].split("/")[2] for row in rows} == {"unclassified"}
    assert {row["stratum"].split("/")[4] for row in rows} == {"0", "1"}
    for row in rows:
        assert (row["cycle"] >= 2000) == (row["stratum"].endswith("/1"))


def test_whatever_is_lost_the_same_set_comes_back(tmp_path, monkeypatch):
    fake.install(monkeypatch)
    monkeypatch.setattr("resil.folder.execute.PART_ROWS", 50)
    main(command(tmp_path, "whole", "--workers", "1"))
    main(command(tmp_path, "run", "--workers", "3"))
    lost = random.Random(5)
    for path in (tmp_path / "run" / "injections").glob("part-*"):
        if lost.random() < 0.6:
            path.unlink()
    main(command(tmp_path, "run"))
    assert results(tmp_path / "run") == results(tmp_path / "whole")


def test_a_killed_adaptive_run_is_resumed_to_the_same_result(tmp_path, monkeypatch):
    arguments = [sys.executable, "-m", "testkit.fake", *command(tmp_path)]
    for pause in (1.2, 2.0):
        more = [] if pause == 1.2 else ["--resume"]
        process = Forked([*arguments, *more], tmp_path / "said", {"FAKE_SECONDS": "0.005"})
        assert has_part_files(tmp_path / "run", process), process.said()
        time.sleep(pause / 4)
        process.kill()
        process.wait(60)
    fake.install(monkeypatch)
    assert main(command(tmp_path)) == 2
    assert main(command(tmp_path, "run", "--resume")) == main(command(tmp_path, "whole")) == 1
    assert results(tmp_path / "run") == results(tmp_path / "whole")


def test_an_enlarged_campaign_repeats_nothing(tmp_path, monkeypatch):
    fake.install(monkeypatch)
    text = ADAPTIVE.replace("fit = 0.0003", "fit = 0.000000001").replace(
        'plan = "adaptive"', 'plan = "adaptive"\nmargin = 0.2\nuntil_decided = false'
    )
    file = write_campaign(tmp_path, text.replace("4000", "1000"))
    main(["run", str(file), "--out", str(tmp_path / "run")])
    before = {row["injection"]: row for row in results(tmp_path / "run")[0]}
    file = write_campaign(tmp_path, text)
    main(["run", str(file), "--out", str(tmp_path / "run")])
    after = {row["injection"]: row for row in results(tmp_path / "run")[0]}
    assert before.items() <= after.items()
    assert results(tmp_path / "run")[1]["sampling"]["reason"] == "margin"


@pytest.mark.parametrize("plan", ["uniform", "stratified", "predicted"])
def test_other_plans_make_what_was_asked_for(plan, tmp_path, monkeypatch):
    fake.install(monkeypatch)
    text = PREDICTED.replace('"predicted"', f'"{plan}"').replace('["ff"]', '["ff", "sram"]')
    main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / "run")])
    rows, summary, _ = results(tmp_path / "run")
    assert len(rows) == summary["total"]["injections"] == 200
    assert summary["sampling"]["plan"] == plan
    raw = summary["total"]["fit_raw"]
    assert raw == pytest.approx(sum(b["fit_raw"] or 0.0 for b in summary["blocks"]))
    assert sum(s["fit_raw"] for s in summary["strata"]) == pytest.approx(raw)


def test_the_predicted_plan_stops_at_a_margin_and_repeats_itself(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    text = PREDICTED.replace("injections = 200", "injections = 20000") + "margin = 0.1\n"
    file = write_campaign(tmp_path, text)
    main(["run", str(file), "--out", str(tmp_path / "run")])
    assert re.search(r"first batch done[^\n]*\n(.*\n)*.*FIT, .* to ", capsys.readouterr().err)
    rows, summary, _ = results(tmp_path / "run")
    sampling = summary["sampling"]
    assert (sampling["reason"], sampling["margin"], sampling["until_decided"]) == ("margin", 0.1, False)
    assert sampling["looks"][-1]["injections"] == len(rows) < 20000
    assert summary["total"]["fit_hi"] - summary["total"]["fit_lo"] <= 0.2 * summary["total"]["fit"]
    assert any("predicted and stopped when the total was known" in note for note in summary["notes"])
    next((tmp_path / "run" / "injections").glob("part-*")).unlink()
    main(["run", str(file), "--out", str(tmp_path / "run"), "--resume"])
    assert results(tmp_path / "run") == (rows, summary, (tmp_path / "run" / "blocks.csv").read_text())


def test_the_neyman_plan_stops_at_a_margin_and_is_even_within_each_kind_of_storage(tmp_path, monkeypatch):
    fake.install(monkeypatch)
    text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("injections = 200", "injections = 50000")
    file = write_campaign(tmp_path, text + '[sampling]\nplan = "neyman"\nmargin = 0.1\n')
    main(["run", str(file), "--out", str(tmp_path / "run")])
    rows, summary, _ = results(tmp_path / "run")
    sampling, total = summary["sampling"], summary["total"]
    assert (sampling["reason"], sampling["margin"], sampling["until_decided"]) == ("margin", 0.1, False)
    assert total["fit_hi"] - total["fit_lo"] <= 0.2 * total["fit"]
    assert 0 < sampling["pilot"] == len(rows) - sampling["looks"][-1]["injections"] < len(rows) < 50000
    run = Run(tmp_path / "run")
    counted = run.counted()
    assert len(counted) == summary["total"]["injections"]
    assert counted["outcome"].value_counts().to_dict() == {
        outcome: n for outcome in OUTCOMES if (n := summary["total"][outcome])
    }
    assert run.registers()["injections"].sum() == len(counted)
    first = run.injections().groupby("stratum")["injection"].min()
    assert (counted.groupby("stratum")["injection"].min() > first).all()
    assert run.confidence == sampling["looks"][-1]["confidence"] > 0.95


def run_after_another(tmp_path, first):
    """A run to a margin of 10 %, in the folder of another of the same faults."""
    text = TEXT.replace('["ff"]', '["ff", "sram"]')
    main(["run", str(write_campaign(tmp_path, first(text))), "--out", str(tmp_path / "run")])
    more = text.replace("injections = 200", "injections = 50000")
    file = write_campaign(tmp_path, more + '[sampling]\nplan = "neyman"\nmargin = 0.1\n')
    assert main(["run", str(file), "--out", str(tmp_path / "run")]) == 0
    return Run(tmp_path / "run"), file


def evenly(text):
    few = "injections = 200\nminimum_per_block = 10"
    return text.replace(few, "injections = 3800\nminimum_in = { mac = 2000 }")


def test_injections_that_an_earlier_plan_needed_do_not_count(tmp_path, monkeypatch):
    fake.install(monkeypatch)
    run, file = run_after_another(tmp_path, evenly)
    assert len(run.injections()) > run.summary.sampling.pilot + run.summary.total.injections
    main(["run", str(file), "--out", str(tmp_path / "alone")])
    alone = Run(tmp_path / "alone")
    pd.testing.assert_frame_equal(run.counted(), alone.counted())
    pd.testing.assert_frame_equal(run.registers(), alone.registers())
    places = run.summary.sampling.pilots
    assert sum(own.injections for own in places) == run.summary.sampling.pilot
    every = alone.injections().groupby(["block", "kind"])["injection"]
    for own in places:
        numbers = every.get_group((own.block, own.kind)).sort_values()
        assert not set(numbers[: own.injections]) & set(run.counted()["injection"])


def test_predicted_risks_divide_all_faults(tmp_path):
    wanted = campaign(PREDICTED)
    bench = fake.fake_bench(wanted)
    goldens = [bench.engine(i).golden() for i in range(2)]
    population = guided_population(wanted, bench, goldens)
    ends = [golden.end.end_cycle for golden in goldens]
    sites = sum(e.bits for e in bench.sites.elements if e.kind in wanted.faults.kinds)
    assert sum(s.population.size for s in population.strata) == sites * sum(ends)
    assert len({s.label for s in population.strata}) == len(population.strata) == len(population.risks)
    assert all(0.0 < risk < 1.0 for risk in population.risks)
    struck = np.concatenate([s.draw(1, (1.0,), np.arange(200))[0] for s in population.strata])
    assert set(struck.tolist()) >= {site for site in range(sites) if site < 67}


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ("injections = 200\nminimum_per_block = 10", "faults.minimum_per_block"),
        ("injections = 200\nclusters = { 1 = 0.5, 2 = 0.5 }", "faults.clusters"),
        ("injections = 50", "faults.injections"),
    ],
)
def test_what_predictions_cannot_choose_is_refused(lines, field):
    text = PREDICTED.replace("injections = 200", lines)
    with pytest.raises(CampaignError, check=about(field)):
        campaign(text)


def test_a_row_of_another_draw_is_set_aside(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    main(command(tmp_path))
    part = next((tmp_path / "run" / "injections").glob("part-*"))
    wanted = campaign(ADAPTIVE)
    bench = fake.fake_bench(wanted)
    population = make_population(wanted, bench.sites, [bench.engine(i).golden() for i in range(2)])
    rows = pq.read_table(part)
    assert population.check(rows) is None
    shifted = rows.set_column(0, "injection", pa.array(rows["injection"].to_numpy() + len(population.strata)))
    assert "and the plan says" in population.check(shifted)


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ('plan = "random"', "sampling.plan"),
        ('plan = "uniform"\nmargin = 0.1', "sampling.margin"),
        ('plan = "adaptive"\nmargin = 1.5', "sampling.margin"),
        ('plan = "adaptive"\nuntil_decided = 1', "sampling.until_decided"),
        ('plan = "adaptive"\nmargins = 0.1', "sampling.margins"),
    ],
)
def test_wrong_settings(lines, field):
    with pytest.raises(CampaignError, check=about(field)):
        campaign(TEXT + "[sampling]\n" + lines)


def huge():
    """10^12 fault sites in registers and memories, an inference of a million cycles in 60 operations."""
    classes = ("data", "control", "configuration", "address", "buffer")
    registers = [
        StorageElement(f"u.r{i % 20}[{i}]", "ff", 1000, 1, f"b{i % 7}", register_class=classes[i % 5])
        for i in range(200)
    ]
    memories = [
        StorageElement(f"u.m[{i}]", "sram", 1000, 1_250_000, f"b{i % 7}", register_class="memory")
        for i in range(800)
    ]
    ends = tuple(range(16_000, 960_001, 16_000))
    goldens = [GoldenRun(RunEnd(True, 1_000_000, 0, b"", ""), ends) for _ in range(2)]
    return SiteTable.of([*registers, *memories]), goldens


def play(sampling):
    """Answers everything that a plan wants: hazardous with a probability that depends on the stratum."""
    made = 0
    while (plan := sampling.wanted) is not None:
        bad = (plan.site * 2_654_435_761 + plan.cycle * 40_503) % 1000 < 3 + 40 * (plan.stratum % 3)
        outcomes = np.where(bad, OUTCOMES.index("sdc_critical"), OUTCOMES.index("masked")).astype(np.int8)
        made += plan.size
        nothing, ends = np.full(plan.size, ""), np.full(plan.size, 1_000_000)
        one = np.full(plan.size, -1, np.int8)
        told = nothing, np.full(plan.size, NEVER), nothing, one
        sampling.record(Content(plan.injection, outcomes, outcomes, *told, plan.cycle, ends, plan.input))
    return made


@pytest.mark.parametrize("plan", ["proportional", "uniform", "neyman", "stratified", "adaptive", "predicted"])
def test_a_population_of_10_to_the_18_costs_little(plan):
    sites, goldens = huge()
    assert sites.size > 10**12
    margin = 0.02 if plan in ("adaptive", "neyman") else None
    settings = SamplingSettings(plan, margin, until_decided=False)
    wanted = replace(campaign(), faults=FaultSettings(("ff", "sram"), 100_000, 0), sampling=settings)
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = time.process_time()
    bench = replace(fake.fake_bench(campaign()), sites=sites)
    population = campaign_population(wanted, bench, goldens)
    sampling = Sampling(wanted, population, RATES)
    made = play(sampling)
    sample = sampling.sample
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert time.process_time() - began < 10
    assert (after.ru_maxrss - before.ru_maxrss) * 1024 < 2**30
    assert sum(s.population.size for s in population.strata) > 10**18
    assert made == sample.injections + sample.pilot <= 100_000
    assert sample.looks[-1].total.estimate > 0


def test_inputs_that_differ_widen_the_intervals_for_inputs_like_these(tmp_path, monkeypatch):
    text = TEXT.replace("inputs = [0, 3]", "inputs = [0, 1, 2, 3, 4]").replace("200", "1000")

    def biased(engine, fault):
        found = plain(engine, fault)
        bad = engine.position == 3 and fault.cycle % 2
        return replace(found, seen=Seen.SDC_CRITICAL, detected=None) if bad else found

    fake.install(monkeypatch)
    plain = fake.FakeEngine.outcome
    monkeypatch.setattr(fake.FakeEngine, "outcome", biased)
    found = {}
    for inputs in ("these", "like these"):
        file = write_campaign(tmp_path, f'{text}[sampling]\ninputs = "{inputs}"\n')
        main(["run", str(file), "--out", str(tmp_path / "run")])
        found[inputs] = results(tmp_path / "run")[1]
    these, like = found["these"], found["like these"]
    assert these["total"]["fit"] == pytest.approx(like["total"]["fit"])
    assert like["total"]["fit_lo"] < these["total"]["fit_lo"]
    assert like["total"]["fit_hi"] > 1.5 * these["total"]["fit_hi"]
    assert like["sampling"]["over_inputs"]["design_effect"] > 5
    assert like["sampling"]["over_inputs"]["fit_hi"] == like["total"]["fit_hi"]
    assert these["sampling"]["over_inputs"] == like["sampling"]["over_inputs"]
    for one, other in zip(these["blocks"], like["blocks"], strict=True):
        if one["fit_hi"] is None:
            assert other["fit_hi"] is None
            continue
        assert other["fit_lo"] <= one["fit_lo"] + 1e-15
        assert other["fit_hi"] >= one["fit_hi"] - 1e-15
        assert other["avf_hi"] >= one["avf_hi"] - 1e-12
    assert any("Intervals are for inputs like the 5" in note for note in like["notes"])


def test_blocks_may_have_minima_of_their_own():
    """Others share what is left, in proportion."""
    asked = campaign(TEXT.replace("minimum_per_block = 10", "minimum_in = { b = 150 }"))
    sites = SiteTable(
        [StorageElement(f"{name}.q", "ff", bits, 1, name) for name, bits in (("a", 900), ("b", 100))]
    )
    ends = [GoldenRun(RunEnd(True, 100, 0, b"", ""), ()) for _ in asked.network.inputs]
    population = make_population(asked, sites, ends)
    plan = Sampling(asked, population, RATES).wanted
    names = [population.strata[i].block for i in plan.stratum]
    assert {name: names.count(name) for name in names} == {"a": 50, "b": 150}
    wrong = replace(asked, faults=replace(asked.faults, minimum_in={"c": 1}))
    with pytest.raises(CampaignError, check=about("faults.minimum_in")):
        Sampling(wrong, population, RATES)
