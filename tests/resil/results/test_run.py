# SPDX-License-Identifier: Apache-2.0
"""`Run`: what a finished run is for Python."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import resil
from resil.cli import main
from resil.errors import StoreError
from resil.reports import ReportError
from resil.rtl_harness.faults import Fault, Injection, Seen
from resil.stats.intervals import clopper_pearson
from testkit import fake
from testkit.campaigns import TEXT, write_campaign

OUTCOME = fake.FakeEngine.outcome
PLAIN = TEXT.replace("minimum_per_block = 10\n", "")
OUTCOMES = ["masked", "latent", "sdc_tolerable", "sdc_critical", "due", "hang"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("injections = 200", "injections = 600")
        resil.run_campaign(resil.load_campaign(str(write_campaign(folder, text))), str(folder / "run"))
    return resil.Run(folder / "run")


def test_the_public_names_come_when_they_are_asked_for():
    code = "import resil, sys; a = set(sys.modules); resil.Run, resil.load_campaign, resil.run_campaign; "
    code += "print('pyarrow' in a, sorted(dir(resil)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False ['Run', '__version__', 'load_campaign', 'run_campaign']"
    with pytest.raises(AttributeError, match="no attribute 'runs'"):
        _ = resil.runs


def test_each_injection_has_the_register_that_it_hit(run):
    frame = run.injections()
    assert len(frame) == 600
    assert frame["injection"].is_monotonic_increasing
    for row in frame.itertuples():
        site = fake.SITES[row.site]
        assert (row.register, row.register_class) == (site.element.path, site.element.register_class)
        assert row.name == site.name
        assert row.block == (site.element.block or "(no block)")


def test_registers_add_up_and_are_ranked(run):
    frame = run.registers()
    assert frame["bits"].sum() == fake.SITES.size
    assert frame["injections"].sum() == 600
    assert (frame[OUTCOMES].sum(axis=1) == frame["injections"]).all()
    assert frame["fit_raw"].sum() == pytest.approx(run.summary.total.fit_raw)
    rates = frame["fit"].dropna().to_numpy()
    assert (np.diff(rates) <= 0).all()
    for row in frame.itertuples():
        interval = clopper_pearson(row.hazardous, row.injections)
        assert row.fit_lo == pytest.approx(row.fit_raw * interval.lo)
        assert row.fit_hi == pytest.approx(row.fit_raw * interval.hi)
        assert row.hazardous == row.sdc_critical + row.hang
    for row in run.summary.blocks:
        own = frame[frame["block"] == row.name]
        assert own["injections"].sum() == row.injections
        assert own["hazardous"].sum() == row.sdc_critical + row.hang
        assert own["fit_raw"].sum() == pytest.approx(row.fit_raw or 0.0)


def test_alarms_beyond_the_fault_tolerant_time_are_no_detections_in_frames_either(
    tmp_path, monkeypatch, capsys
):
    fake.install(monkeypatch)
    text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("injections = 200", "injections = 600")
    text += '[safety]\nspfm = 0.5\nclaims = ["spfm_transient"]\nftti_cycles = 60\n'
    main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / "run")])
    run = resil.Run(tmp_path / "run")
    frame = run.injections()
    late = (frame["alarm_cycle"] >= 0) & (frame["outcome"] != "due")
    assert late.any()
    assert (frame.loc[late, "outcome"] == frame.loc[late, "seen"]).all()
    counts = frame["outcome"].value_counts()
    registers = run.registers()
    for outcome in OUTCOMES:
        assert counts.get(outcome, 0) == registers[outcome].sum() == run.summary.total.counts[outcome]


def test_classes_are_counted_from_even_injections(run):
    found, registers = run.classes(), run.registers()
    own = registers.groupby("register_class")
    assert found["register_class"].tolist() == sorted(own.groups)
    for row in found.itertuples():
        members = own.get_group(row.register_class)
        assert (row.bits, row.injections) == (members["bits"].sum(), members["injections"].sum())
        assert 0.0 <= row.avf_lo <= row.avf <= row.avf_hi <= 1.0
        shown = ["sdc_tolerable", "sdc_critical", "due", "hang"]
        rates = members.groupby(["block", "kind"])[["bits", "injections", *shown]].sum()
        seen = rates[shown].sum(axis=1) / rates["injections"]
        assert row.avf == pytest.approx((seen * rates["bits"]).sum() / rates["bits"].sum())


def test_a_register_without_injections_is_not_known(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    text = TEXT.replace("injections = 200\nminimum_per_block = 10", "injections = 5")
    main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / "run")])
    frame = resil.Run(tmp_path / "run").registers()
    assert frame["bits"].sum() == 72
    none = frame[frame["injections"] == 0]
    assert none["fit"].isna().all()
    assert len(none)
    assert (none["fit_lo"] == 0).all()
    assert (none["fit_hi"] == none["fit_raw"]).all()


def test_blocks_are_those_of_the_summary(run):
    frame = run.blocks()
    assert list(frame["block"]) == [*(row.name for row in run.summary.blocks), "total"]
    assert list(frame["fit"])[-1] == run.summary.total.fit
    assert repr(run).endswith(f"600 injections, verdict {run.summary.verdict.result})")


def test_a_broken_folder_is_refused(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run")])
    next((tmp_path / "run" / "injections").glob("*.parquet")).unlink()
    with pytest.raises(StoreError, match="resume"):
        resil.Run(tmp_path / "run")
    with pytest.raises(StoreError):
        resil.Run(tmp_path)


PLANS = {
    "proportional": TEXT,
    "uniform": PLAIN + '[sampling]\nplan = "uniform"\n',
    "stratified": TEXT + '[sampling]\nplan = "stratified"\n',
    "neyman": TEXT + '[sampling]\nplan = "neyman"\nmargin = 0.1\n',
    "adaptive": TEXT + '[sampling]\nplan = "adaptive"\nmargin = 0.1\n',
    "predicted": PLAIN + '[sampling]\nplan = "predicted"\n',
    "predicted to a margin": PLAIN + '[sampling]\nplan = "predicted"\nmargin = 0.1\n',
    "like these": TEXT.replace("[0, 3]", "[0, 3, 5, 8]")
    + '[sampling]\nplan = "stratified"\ninputs = "like these"\n',
    "guided, like these": PLAIN + '[sampling]\nplan = "predicted"\ninputs = "like these"\n',
    "clusters": TEXT.replace("[technology]", "clusters = {1 = 0.6, 2 = 0.4}\n[technology]"),
    "detection is hazardous": TEXT.replace("[budget]", '[budget]\nhazardous = ["due", "hang"]')
    + '[sampling]\nplan = "adaptive"\n',
}


@pytest.fixture(scope="module", params=PLANS)
def planned(request, tmp_path_factory):
    """A run of each plan, flip-flops and memories, some of which get more injections than their share."""
    folder = tmp_path_factory.mktemp("planned")
    text = PLANS[request.param].replace('["ff"]', '["ff", "sram"]')
    number = "4000" if "margin" in text else "1500"
    text = text.replace("injections = 200", f"injections = {number}").replace("block = 10", "block = 150")
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        # Failures of one block only, so that one mean over all rows is far from the truth.
        patch.setattr(fake.FakeEngine, "outcome", lambda engine, fault: biased(engine, fault, OUTCOME))
        resil.run_campaign(resil.load_campaign(str(write_campaign(folder, text))), str(folder / "run"))
    return resil.Run(folder / "run")


def biased(engine, fault, outcome):
    """The memory never fails, and flip-flops do so more often in the second operation."""
    if fake.SITES[fault.site].element.kind == "sram":
        return Injection(fault, Seen.MASKED, fake.CYCLES, 0, "")
    found = outcome(engine, fault)
    return found if fault.cycle < 2000 or fault.site % 3 else replace(found, seen=Seen.SDC_CRITICAL)


def rows_of(frame, keys):
    found = frame.set_index(keys)[["fit", "fit_lo", "fit_hi"]].astype(float)
    return found[~found.index.duplicated()].sort_index()


def test_weights_of_hazardous_injections_sum_up_to_the_total(planned):
    rows, total = planned.injections(), planned.summary.plain()["total"]
    hazardous = rows["outcome"].isin(planned.summary.plain()["campaign"]["hazardous"])
    assert (rows["weight"] * hazardous).sum() == pytest.approx(total["fit"], rel=1e-9)
    assert rows["weight"].sum() == pytest.approx(total["fit_raw"], rel=1e-9)
    assert (rows["weight"] > 0).sum() == total["injections"] == len(planned.counted())
    if planned.summary.plain()["sampling"]["plan"] in ("stratified", "adaptive"):
        assert hazardous.mean() * total["fit_raw"] > 1.15 * total["fit"]


def test_fit_is_that_of_the_summary_where_it_has_one(planned):
    summary = planned.summary.plain()
    figures = ["fit", "fit_lo", "fit_hi"]
    found = planned.fit()[figures].iloc[0].tolist()
    assert found == pytest.approx([summary["total"][key] for key in figures], rel=1e-9)
    for by, wanted in (("block", summary["blocks"]), ("kind", summary["storage"])):
        expected = pd.DataFrame(wanted).rename(columns={"block": by} if by == "kind" else {})
        expected = expected[expected["fit"].notna()]
        pd.testing.assert_frame_equal(rows_of(planned.fit(by=[by]), by), rows_of(expected, by), rtol=1e-9)
    if summary["classes"]:
        key = "register_class"
        classes, found = (rows_of(f, key) for f in (pd.DataFrame(summary["classes"]), planned.fit(by=[key])))
        # The intervals of register classes in a summary are for the inputs that were run.
        same = ["fit"] if summary["sampling"]["inputs"] == "like these" else figures
        pd.testing.assert_frame_equal(found[same], classes[same], rtol=1e-9)
    limits = pd.DataFrame(summary["limits"])
    limits[figures] = limits["fit"].tolist()
    found = planned.fit(by=["block", "kind"])
    pd.testing.assert_frame_equal(
        rows_of(found, ["block", "kind"]), rows_of(limits, ["block", "kind"]), rtol=1e-9
    )


def test_parts_of_parts_add_up(planned):
    fine, coarse = planned.fit(by=["operation", "block"]), planned.fit(by=["block"]).set_index("block")
    assert list(fine.columns) == ["operation", "block", "injections", "events", "fit", "fit_lo", "fit_hi"]
    assert (fine["fit"].diff().dropna() <= 0).all()
    assert ((fine["fit_lo"] <= fine["fit"]) & (fine["fit"] <= fine["fit_hi"])).all()
    assert (fine["fit_hi"] > 0).all()
    for block, own in fine.groupby("block"):
        assert own["fit"].sum() == pytest.approx(coarse.loc[block, "fit"], rel=1e-9)
        assert own["injections"].sum() == coarse.loc[block, "injections"]
    by_outcome = planned.fit(by=["outcome"], outcomes=OUTCOMES)
    assert by_outcome["fit"].sum() == pytest.approx(planned.summary.plain()["total"]["fit_raw"], rel=1e-9)
    assert (by_outcome["events"] == by_outcome["injections"]).all()
    assert planned.fit(by=["input"])["fit"].sum() == pytest.approx(planned.summary.plain()["total"]["fit"])


def test_storage_that_nothing_hit_is_there_with_a_limit(planned):
    found = planned.fit(by=["name"])
    assert len(found) == fake.SITES.size
    assert found["injections"].sum() == planned.summary.plain()["total"]["injections"]
    assert (found["fit_hi"] > 0).all()


def test_intervals_of_fit_hold_the_truth(planned):
    """Of each bit of a register in each operation: the part of all its moments that fail, times its rate."""
    summary = planned.summary.plain()
    limits = {(own["block"], own["kind"]): own["fit_raw"] / own["bits"] for own in summary["limits"]}
    engines = [fake.FakeEngine(place) for place in range(len(summary["campaign"]["inputs"]))]
    hazardous = summary["campaign"]["hazardous"]
    found = planned.fit(by=["register", "operation"]).set_index(["register", "operation"])
    held = []
    for element in {fake.SITES[n].element for n in range(fake.SITES.size)}:
        if element.kind == "sram":
            continue
        rate = limits[element.block or "(no block)", element.kind] * element.bits
        first = next(n for n in range(fake.SITES.size) if fake.SITES[n].element == element)
        for operation, cycles in enumerate((range(0, 2000, 40), range(2000, 5000, 40))):
            if (element.path, operation) not in found.index:
                continue
            faults = [Fault(first + n % element.bits, cycle) for n, cycle in enumerate(cycles)]
            ends = [biased(engine, fault, OUTCOME) for fault in faults for engine in engines]
            truth = np.mean([end.outcome.value in hazardous for end in ends]) * rate * len(cycles) / 125
            own = found.loc[(element.path, operation)]
            held += [own["fit_lo"] * 0.8 <= truth, truth <= own["fit_hi"] * 1.2]
    assert np.mean(held) >= 0.9


def test_what_is_no_column_or_outcome_is_refused(run):
    with pytest.raises(ValueError, match=r"by: expected columns .* found blok"):
        run.fit(by=["blok"])
    with pytest.raises(ValueError, match=r"outcomes: expected .* found sdc"):
        run.fit(outcomes=["sdc"])


def test_a_plan_that_favours_some_faults_says_nothing_of_registers(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    text = TEXT + '[sampling]\nplan = "stratified"\n'
    main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / "run")])
    found = resil.Run(tmp_path / "run")
    assert len(found.injections()) == 200
    for ask in (found.registers, found.classes):
        with pytest.raises(StoreError, match='found plan = "stratified"'):
            ask()


PAGE = Path(resil.__file__).parents[1] / "docs" / "how-to" / "notebook.md"


def documented(frame):
    """Columns and types that the page of notebooks lists for a frame."""
    section = re.split(rf"\n`run\.{frame}\(", PAGE.read_text(), maxsplit=1)[1]
    table = section.split("|---|", 1)[1].split("\n\n", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", table, re.MULTILINE))


@pytest.mark.parametrize("name", ["registers", "classes", "fit"])
def test_frames_have_the_columns_and_types_that_are_documented(run, name):
    frame = run.fit(by=["block"]) if name == "fit" else getattr(run, name)()
    known = documented(name)
    assert {column: str(kind) for column, kind in frame.dtypes.items()} == known


def test_injections_have_the_columns_that_are_documented(run):
    frame = run.injections()
    assert (
        documented("injections").items() <= {name: str(kind) for name, kind in frame.dtypes.items()}.items()
    )


def test_a_notebook_is_shown_the_verdict_with_its_population(run):
    text = run._repr_html_()
    assert run.summary.verdict.population in text
    assert f"{run.summary.total.fit_hi:.3g}" in text
    for block in run.summary.blocks:
        assert f">{block.name}</td>" in text.replace("&#34;", '"')
    root = ElementTree.fromstring(text)
    assert root.tag == "div"


def test_pictures_show_every_block_and_the_registers_that_lead(run):
    import matplotlib

    matplotlib.use("Agg")
    axes = run.plot.blocks()
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert {name.split(":")[0] for name in names} == {"total", *(own.name for own in run.summary.blocks)}
    axes = run.plot.registers(5)
    assert [label.get_text() for label in axes.get_yticklabels()][::-1] == list(
        run.registers()["register"][:5]
    )
    hazardous = sum(own.fit or 0.0 for own in run.detail.registers)
    shown = run.plot.timeline().get_images()[0].get_array()
    assert float(np.nansum(shown.filled(0.0))) == pytest.approx(hazardous)
    with pytest.raises(StoreError) as caught:
        run.plot.front()
    assert caught.value.field == "protection.json"


def test_pictures_without_matplotlib_say_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ReportError) as caught:
        run.plot.blocks()
    assert caught.value.field == "matplotlib"
