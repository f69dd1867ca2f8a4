# SPDX-License-Identifier: Apache-2.0
"""Latent faults by pairs: what the answer of `resil mechanisms` does to the row `lfm_permanent`."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from resil.campaign.safety import SafetyMechanism, SafetySettings
from resil.errors import StoreError
from resil.record.mechanism_faults import MechanismFaults
from resil.results.named_run import NamedRun
from resil.results.pair_evidence import latent_pins
from resil.rtl_harness.design.sites import StorageElement
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.judgement import Kind
from resil.stats.safety import LatentPins, lfm_row
from testkit.errors import about
from tests.resil.results.test_logic_rows import grounds, rows

KIND = Kind("lfm_permanent", "share", True, 0.9)
STUCK = Evidence((PooledGroup("mac", "ff", 10.0, {"masked": 900, "sdc_critical": 100}),))
PARITY = Evidence((PooledGroup("mac", "ff", 1.0, {"masked": 40, "due::error": 60}),))
NONE = Evidence(())

HASHES = {"rtl": "r", "netlist": "n", "network": "w"}
PINS = {"coverage": [None, 0.0, 1.0], "hazardous": [0.1, 0.0, 0.2]}


def document(**changes):
    def row(name, faults, counts):
        simulated = sum(counts.values())
        return {"name": name, "cells": 9, "faults": faults, "simulated": simulated, "counts": counts, **PINS}

    latent = {"kind": "all", "quiet": 40, "explored": 38, "latent": 12, "safe": 20, "pairs": 400}
    latent |= {
        "held": 200,
        "hazardous_held": 9,
        "hazardous_upsets": 3,
        "pulses": 0,
        "hazardous_pulses": 0,
        "share": [0.03, 0.01, 0.05],
    }
    whole = row("all", 600, {"quiet": 40, "false_alarm": 60})
    found = {
        "schema": MechanismFaults.SCHEMA,
        "campaign": "c",
        "target": "t",
        "input": "0",
        "hashes": HASHES,
        "seed": 1,
        "hazardous_outcomes": ["sdc_critical", "hang"],
        "detection_cycles": None,
        "confidence": 0.95,
        "declared": [],
        "whole": whole,
        "blocks": [],
        "mechanisms": [whole],
        "latent": [latent],
        "latent_share": [0.5, 0.2, 0.7],
        "escaped": [],
        "examples": [],
        "notes": [],
        "made": "now",
    }
    return {**found, **changes}


def written(folder, **changes):
    text = json.dumps(document(**changes))
    (folder / MechanismFaults.FILE).write_text(MechanismFaults.read(text).text())
    return folder


CAMPAIGN = SimpleNamespace(hazardous=("hang", "sdc_critical"), safety=None)


def test_all_that_is_not_shown_to_be_safe_counts_as_latent(tmp_path):
    found = latent_pins(CAMPAIGN, written(tmp_path), {"rtl": "r", "network": "w", "other": "x"}, (), "n", 0.5)
    # 20 of 40 quiet ones are safe; two were not followed at all. 600 faults are 300 pins.
    assert found == LatentPins(150.0, 20, 100, complete=False)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"hashes": {**HASHES, "rtl": "q"}}, "another rtl"),
        ({"hashes": {**HASHES, "netlist": "q"}}, "another netlist"),
        ({"hashes": {**HASHES, "network": "q"}}, "another network"),
        ({"hashes": {"network": "w"}}, "another digests"),
        ({"hazardous_outcomes": ["hang"]}, "hazardous outcomes"),
        ({"detection_cycles": 9}, "fault-tolerant time"),
    ],
)
def test_an_answer_about_something_else_is_refused(changes, why, tmp_path):
    folder = written(tmp_path, **changes)
    with pytest.raises(StoreError, match=why, check=about("mechanism_faults")):
        latent_pins(CAMPAIGN, folder, {"rtl": "r", "network": "w"}, (), "n", 0.5)


ELEMENTS = (
    StorageElement("u.mac.mem_q", "sram", 17, 64, "mac"),
    StorageElement("u.mac.sum_q", "ff", 8, 1, "mac"),
    StorageElement("u.top.mem_q", "sram", 17, 64, ""),
)
GUARDS = {"alarm": "error", "blocks": ["mac"], "storage": ["u.check"], "memories": ["u.mac.mem_q"]}


def guarding(*mechanisms):
    settings = SafetySettings((), mechanisms=mechanisms)
    return SimpleNamespace(hazardous=("hang", "sdc_critical"), safety=settings)


def test_an_answer_holds_for_the_mechanisms_that_name_the_same_storage_and_blocks(tmp_path):
    own = SafetyMechanism("error", 0.9, ("mac",), ("u.check",))
    folder = written(tmp_path, declared=[GUARDS])
    # A mechanism without storage of its own has no gates that could be held.
    for campaign in (guarding(own), guarding(SafetyMechanism("other", 0.5, ("mac",)), own)):
        assert latent_pins(campaign, folder, {}, ELEMENTS, "n", 0.5).latent == 20
    both = SafetyMechanism("error", None, ("top", "mac", "mac"), ("u.check", "u.also"))
    twice = {**GUARDS, "blocks": ["mac", "top"], "storage": ["u.also", "u.check"]}
    assert latent_pins(guarding(both), written(tmp_path, declared=[twice]), {}, ELEMENTS, "n", 0.5)


@pytest.mark.parametrize(
    ("mechanisms", "elements", "why"),
    [
        ((), ELEMENTS, 'this campaign, nothing in its place, found "error" that guards mac'),
        ((SafetyMechanism("error", None, ("mac",)),), ELEMENTS, "nothing in its place, found"),
        (
            (SafetyMechanism("error", None, (), ("u.check",)),),
            ELEMENTS,
            r'"error" that guards all blocks \(memories u.mac.mem_q, u.top.mem_q\) with storage u.check',
        ),
        ((SafetyMechanism("other", None, ("mac",), ("u.check",)),), ELEMENTS, '"other" .*, found "error"'),
        (
            (SafetyMechanism("error", None, ("mac",), ("u.also",)),),
            ELEMENTS,
            "storage u.also, found .*u.check",
        ),
        ((SafetyMechanism("error", None, ("mac",), ("u.check",)),), ELEMENTS[1:], "guards mac with storage"),
        (
            (
                SafetyMechanism("error", None, ("mac",), ("u.check",)),
                SafetyMechanism("more", None, (), ("u.more",)),
            ),
            ELEMENTS,
            '"more" .*, found nothing in its place; run resil mechanisms on this campaign',
        ),
    ],
)
def test_an_answer_about_other_mechanisms_is_refused(mechanisms, elements, why, tmp_path):
    """The fault: it was taken, and gates of a mechanism that it does not know were in no row at all."""
    folder = written(tmp_path, declared=[GUARDS])
    with pytest.raises(StoreError, match=why, check=about("mechanism_faults")):
        latent_pins(guarding(*mechanisms), folder, {}, elements, "n", 0.5)


def test_a_folder_without_an_answer_is_refused(tmp_path):
    with pytest.raises(StoreError, match="expected what resil mechanisms writes"):
        latent_pins(CAMPAIGN, tmp_path, {}, (), "n", 0.5)


def test_the_row_takes_gates_by_pairs_and_storage_as_before():
    bare = lfm_row(KIND, STUCK, {"sdc_critical"}, PARITY, {"due::error"})
    none = lfm_row(KIND, STUCK, {"sdc_critical"}, PARITY, {"due::error"}, LatentPins(2.0, 0, 10**7))
    assert bare.value is not None
    assert none.value is not None
    assert none.value.estimate == pytest.approx(bare.value.estimate)
    # A third of the error for each part in place of a half.
    exact = lfm_row(KIND, STUCK, {"sdc_critical"}, PARITY, {"due::error"}, LatentPins(2.0, 0, 9, True))
    third = [own.at(1.0 - 0.05 * 2.0 / 3.0) for own in (STUCK, PARITY)]
    wider = lfm_row(KIND, third[0], {"sdc_critical"}, third[1], {"due::error"})
    assert exact.value is not None
    assert wider.value is not None
    assert none.value.lo < exact.value.lo == pytest.approx(wider.value.lo)
    some = lfm_row(KIND, STUCK, {"sdc_critical"}, PARITY, {"due::error"}, LatentPins(2.0, 50, 100))
    assert some.value is not None
    # 0.4 FIT of storage and 1 FIT of gates are latent, of 10 less 1.
    assert some.value.estimate == pytest.approx(1.0 - 1.4 / 9.0)
    alone = lfm_row(KIND, STUCK, {"sdc_critical"}, NONE, {"due::error"}, LatentPins(2.0, 50, 100))
    assert alone.value is not None
    assert alone.value.estimate == pytest.approx(1.0 - 1.0 / 9.0)
    assert some.value.lo < some.value.estimate < some.value.hi


def test_of_all_faults_that_there_are_the_rate_is_exact_and_grows_with_rates():
    whole = LatentPins(2.0, 50, 100, complete=True)
    assert (whole.rate(0.95).lo, whole.rate(0.95).hi) == (1.0, 1.0)
    assert LatentPins(2.0, 50, 100).rate(0.95).lo < 1.0 < LatentPins(2.0, 50, 100).rate(0.95).hi
    run = NamedRun(STUCK, None, "stuck", pins=whole)
    assert run.varied({"logic": 3.0}).pins == LatentPins(6.0, 50, 100, complete=True)
    assert NamedRun(STUCK, PARITY, "stuck").joined(run).pins == whole


def test_the_verdict_says_what_was_simulated():
    stuck = NamedRun(STUCK, PARITY, "stuck", pins=LatentPins(0.5, 20, 100))
    row = rows(grounds("", stuck))["lfm_permanent"]
    assert row.value is not None
    assert "Of 100 drawn faults in gates of mechanisms (0.5 FIT) 20 count as latent" in row.reason
    before = rows(grounds("", NamedRun(STUCK, PARITY, "stuck")))["lfm_permanent"]
    assert "count as latent" not in before.reason
    # Without storage of mechanisms gates alone speak for the row.
    alone = rows(grounds("", NamedRun(STUCK, None, "stuck", pins=LatentPins(0.5, 20, 100))))["lfm_permanent"]
    assert alone.value is not None
    assert alone.value > row.value
