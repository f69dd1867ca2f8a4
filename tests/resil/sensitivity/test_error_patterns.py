# SPDX-License-Identifier: Apache-2.0
"""Patterns of corrupted tensors: all of the faults are accounted for, and the rest refused."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter

import pytest

import resil
import resil.run.campaign
from resil.cli import main
from resil.errors import ResilError, StoreError
from resil.record.errors import ReportError
from resil.record.fields import json_schema
from resil.record.patterns import ErrorPatterns
from resil.rtl_harness.faults import Corruption, Seen
from resil.sensitivity.error_patterns import error_patterns, extent_of
from resil.work.patterns import Pattern
from testkit import fake
from testkit.campaigns import TEXT, write_campaign

BIT = Pattern(0, (4, 4, 8), 1, 1, (2, 2, 0, 0, 5, 5), ((0, 0, 0, 64, 64, 0),), 0)
MAP = Pattern(1, (1, 1, 10), 1, 10, (0, 0, 0, 0, 0, 9), ((0, 0, 0, 3, -7, 0), (0, 0, 9, 9, 120, 1)), 2)
NONE = Pattern(0, (4, 4, 8), 1, 0, (0,) * 6, (), 3)


def corrupted(fault, seen):
    """Which pattern a fault of the fake leaves: none in one of four, whatever it does."""
    if seen is Seen.SDC_CRITICAL:
        return MAP
    if seen is Seen.SDC_TOLERABLE and fault.site % 4:
        return BIT
    return NONE if seen is Seen.LATENT and fault.site % 3 == 0 else None


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("patterns")
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        plain, prepare = fake.FakeEngine.outcome, resil.run.campaign.prepare

        def outcome(engine, fault):
            injection = plain(engine, fault)
            kept = corrupted(fault, injection.seen)
            if kept is None:
                return injection
            text = kept.as_text().encode()
            return dataclasses.replace(
                injection, corruption=Corruption(1, "sram", tuple(range(len(text))), text, len(text))
            )

        def describe(_position, corruption):
            return corruption.xors.decode()

        patch.setattr(fake.FakeEngine, "outcome", outcome)
        patch.setattr(
            resil.run.campaign,
            "prepare",
            lambda *a, **k: dataclasses.replace(prepare(*a, **k), describe=describe),
        )
        text = TEXT.replace("injections = 200", "injections = 800")
        resil.run_campaign(resil.load_campaign(str(write_campaign(folder, text))), folder / "run")
    return folder / "run"


def test_every_fault_is_accounted_for(run):
    found, rows = error_patterns(run), resil.Run(run).counted()
    assert found.injections == len(rows)
    assert found.fit_raw == pytest.approx(rows["weight"].sum())
    counts = Counter(rows["outcome"])
    assert {one.outcome: one.injections for one in found.outcomes} == counts
    own = {one.outcome: one for one in found.outcomes}
    assert own["sdc_critical"].described == own["sdc_critical"].injections
    assert 0 < own["sdc_tolerable"].described < own["sdc_tolerable"].injections
    assert own["latent"].described == own["masked"].described == own["hang"].described == 0
    fit = resil.Run(run).fit(outcomes=["sdc_critical"])["fit"][0]
    assert sum(one.fit for one in found.patterns if one.outcome == "sdc_critical") == pytest.approx(fit)


def test_a_pattern_is_that_of_the_part_files(run):
    found, rows = error_patterns(run), resil.Run(run).counted().set_index("injection")
    for one in found.patterns:
        row = rows.loc[one.injection]
        assert one.pattern == row["corruption"]
        assert (one.block, one.register_class, one.input) == (
            row["block"],
            row["register_class"],
            row["input"],
        )
        expected = ("fc", "map", 10, 120) if one.outcome == "sdc_critical" else ("conv", "bit", 1, 64)
        assert (one.operation, one.extent, one.elements, one.largest_change) == expected


def test_groups_say_how_few_are_single_bits(run):
    found = error_patterns(run)
    for group in found.groups:
        own = [
            one
            for one in found.patterns
            if (one.operation_kind, one.block, one.kind, one.register_class)
            == (group.operation_kind, group.block, group.kind, group.register_class)
        ]
        whole = sum(one.fit for one in own)
        assert (group.patterns, group.fit) == (len(own), pytest.approx(whole))
        assert group.bit == pytest.approx(sum(one.fit for one in own if one.extent == "bit") / whole)
        critical = sum(one.fit for one in own if one.outcome == "sdc_critical") / whole
        assert group.critical.estimate == pytest.approx(critical)
        assert group.critical.lo <= critical <= group.critical.hi


def test_patterns_of_some_inputs_alone(run):
    parts = [error_patterns(run, [label]) for label in (0, 3)]
    assert sum(one.injections for one in parts) == error_patterns(run).injections
    assert {one.input for one in parts[1].patterns} == {3}
    with pytest.raises(ResilError, match="expected some of 0, 3, found 7"):
        error_patterns(run, [0, 7])


def test_those_listed_stand_for_all(run):
    whole, some = error_patterns(run), error_patterns(run, limit=10)
    assert (len(some.patterns), some.left_out) == (10, len(whole.patterns) - 10)
    assert sum(one.fit for one in some.patterns) == pytest.approx(sum(one.fit for one in whole.patterns))
    assert some.groups == whole.groups


def test_the_command_writes_what_it_says(run, tmp_path, capsys):
    file = tmp_path / "learnt.json"
    assert main(["patterns", str(run), "--input", "3", "-o", str(file)]) == 0
    said = capsys.readouterr().out
    text = file.read_text()
    assert ErrorPatterns.read(text).text() == text
    assert json_schema(ErrorPatterns)["required"] == list(json.loads(text))
    assert f"{ErrorPatterns.read(text).injections:,} injections" in said
    assert "sdc_critical" in said
    assert not (run / ErrorPatterns.FILE).exists()
    assert main(["patterns", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["injections"] == error_patterns(run).injections
    assert (run / ErrorPatterns.FILE).exists()


def test_a_file_that_does_not_add_up_is_refused(run):
    plain = error_patterns(run).plain()
    for field, change in (
        ("patterns", lambda own: own[1:]),
        ("groups", lambda own: own[1:]),
        ("outcomes", lambda own: own[1:]),
        ("injections", lambda own: own + 1),
    ):
        with pytest.raises(ReportError, match=r"patterns\.json"):
            ErrorPatterns.read(json.dumps(plain | {field: change(plain[field])}))


def test_runs_without_patterns_are_refused(tmp_path, monkeypatch):
    fake.install(monkeypatch)
    campaign = resil.load_campaign(str(write_campaign(tmp_path, TEXT)))
    resil.run_campaign(campaign, tmp_path / "none")
    with pytest.raises(ResilError, match="found none among 200 injections"):
        error_patterns(tmp_path / "none")
    stuck = TEXT.replace("[faults]", '[faults]\nmodel = "stuck_at"')
    campaign = resil.load_campaign(str(write_campaign(tmp_path, stuck)))
    resil.run_campaign(campaign, tmp_path / "stuck")
    with pytest.raises(StoreError, match="expected a run with upsets"):
        error_patterns(tmp_path / "stuck")


@pytest.mark.parametrize(
    ("box", "count", "flips", "extent"),
    [
        ((1, 1, 2, 2, 3, 3), 1, 4, "bit"),
        ((1, 1, 2, 2, 3, 3), 1, 5, "element"),
        ((0, 3, 0, 3, 3, 3), 7, 1, "channel"),
        ((1, 1, 2, 2, 0, 7), 3, 1, "position"),
        ((0, 1, 0, 1, 0, 1), 2, 1, "region"),
        ((0, 3, 0, 3, 0, 7), 122, 1, "map"),
        ((0, 3, 0, 3, 0, 7), 121, 1, "region"),
    ],
)
def test_extents(box, count, flips, extent):
    assert extent_of(Pattern(0, (4, 4, 8), 1, count, box, ((0, 0, 0, flips, 1, 0),), 0)) == extent
