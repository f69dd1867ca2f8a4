# SPDX-License-Identifier: Apache-2.0
"""What a report shows below blocks is what the stored injections say, counted another way."""

from __future__ import annotations

import numpy as np
import pytest

import resil
from resil.results.detail import detail_of
from testkit import fake
from testkit.campaigns import TEXT, write_campaign

OUTCOMES = ["masked", "latent", "sdc_tolerable", "sdc_critical", "due", "hang"]
PLANS = {"proportional": "", "adaptive": '[sampling]\nplan = "adaptive"\n'}


@pytest.fixture(scope="module", params=PLANS)
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("injections = 200", "injections = 600")
        if PLANS[request.param]:
            text = text.replace("minimum_per_block = 10\n", "") + "\n" + PLANS[request.param]
        resil.run_campaign(resil.load_campaign(str(write_campaign(folder, text))), str(folder / "run"))
    return resil.Run(folder / "run")


@pytest.fixture(scope="module")
def detail(run):
    found = detail_of(run.path, run.summary)
    assert found is not None
    return found


def test_registers_are_counted_as_the_rows_of_the_run_are(run, detail):
    rows = run.counted()
    counts = rows.groupby(["block", "register", "outcome"]).size().to_dict()
    assert sum(row.injections for row in detail.registers) == len(rows)
    for row in detail.registers:
        for outcome in OUTCOMES:
            assert getattr(row, outcome) == counts.get((row.block, row.path, outcome), 0)
    assert sum(row.bits for row in detail.registers) == fake.SITES.size
    assert sum(row.fit_raw for row in detail.registers) == pytest.approx(run.summary.total.fit_raw)


def test_registers_have_the_limits_of_the_run(run, detail):
    if detail.even:
        known = run.registers().set_index(["block", "register"])
    else:
        known = run.fit(by=["block", "register"]).set_index(["block", "register"])
    for row in detail.registers:
        own = known.loc[(row.block, row.path)]
        assert row.fit_lo == pytest.approx(min(own["fit_lo"], row.fit_raw))
        assert row.fit_hi == pytest.approx(min(own["fit_hi"], row.fit_raw))
        if row.fit is None:
            assert not row.injections
        else:
            assert row.fit == pytest.approx(min(own["fit"], row.fit_raw))
    fits = [-1.0 if row.fit is None else row.fit for row in detail.registers]
    assert fits == sorted(fits, reverse=True)


def test_shrunk_estimates_lie_between_the_register_and_the_others(detail):
    for row in detail.registers:
        assert 0.0 < row.fit_shrunk < row.fit_raw
    whole = sum(row.fit_shrunk for row in detail.registers)
    assert whole == pytest.approx(sum(row.fit or 0.0 for row in detail.registers), rel=0.5)


def test_times_and_the_mix_hold_every_injection_once(run, detail):
    rows = run.counted()
    time = detail.timeline
    assert sum(time.injections) == len(rows) == sum(sum(row.injections) for row in detail.mix)
    hazardous = rows["outcome"].isin(run.summary.campaign.hazardous)
    assert sum(time.hazardous) == hazardous.sum()
    of_cell = {}
    for row in rows.itertuples():
        key = (row.block, row.register, row.cycle * time.bins // time.cycles)
        of_cell[key] = of_cell.get(key, 0) + 1
    found = {
        (detail.registers[at].block, detail.registers[at].path, when): n
        for at, when, n in zip(time.row, time.time, time.injections, strict=True)
    }
    assert found == of_cell
    assert sum(sum(row.outcomes) for row in detail.mix) == pytest.approx(rows["weight"].sum(), rel=1e-3)


def test_fit_of_times_adds_up_to_that_of_the_run(run, detail):
    time = detail.timeline
    each = [row.fit_raw / row.injections if row.injections else 0.0 for row in detail.registers]
    rates = time.fit or [k * each[row] for row, k in zip(time.row, time.hazardous, strict=True)]
    known = sum(row.fit or 0.0 for row in detail.registers) if detail.even else run.summary.total.fit
    assert sum(rates) == pytest.approx(known, rel=0.02)


def test_operations_and_classes_have_the_intervals_of_the_run(run, detail):
    for by, shares in (("operation", detail.operations), ("register_class", detail.classes)):
        known = run.fit(by=[by])
        assert sorted(own.fit.hi for own in shares) == pytest.approx(sorted(known["fit_hi"]))
        assert sum(own.injections for own in shares) == len(run.counted())


def test_memories_are_counted_by_address(run, detail):
    rows = run.counted()
    assert detail.memories
    for memory in detail.memories:
        register = detail.registers[memory.row]
        own = rows[(rows["register"] == register.path) & (rows["block"] == register.block)]
        assert sum(memory.injections) == len(own)
        bins = np.bincount(own["word"] * memory.bins // memory.words, minlength=memory.bins)
        found = np.zeros(memory.bins, dtype=int)
        np.add.at(found, list(memory.address), list(memory.injections))
        assert found.tolist() == bins.tolist()


def test_an_estimate_has_no_detail(run, tmp_path):
    assert detail_of(tmp_path, run.summary) is None
