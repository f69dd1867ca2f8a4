# SPDX-License-Identifier: Apache-2.0
"""Classes of faults and storage in use: every state that looks safe and is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resil.campaign.safety import SafetyMechanism, SafetySettings
from resil.results.fault_classes import in_use_row, unguarded_blocks, weakly_covered
from resil.results.grounds import Grounds
from resil.results.named_run import NamedRun
from resil.results.safety_rows import safety_verdict
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.judgement import Kind

FF = PooledGroup(
    "mac", "ff", 1.0, {"masked": 8_760, "latent": 900, "sdc_critical": 300, "due:sdc_critical:parity": 40}
)
SRAM = PooledGroup("sb", "sram", 9.0, {"masked": 500, "latent": 9_500})
HAZARDOUS = frozenset({"sdc_critical"})
SPFM = Kind("spfm_in_use", "share", True, 0.99)
STUCK = PooledGroup("mac", "ff", 1.0, {"masked": 900, "sdc_critical": 100})


def verdict(groups=(FF, SRAM), mechanisms=(), permanent="no stuck-at campaign", asil="D"):
    evidence = Evidence(groups)
    settings = SafetySettings(("spfm_transient",), asil, 0.99, 0.9, mechanisms=mechanisms)
    found = safety_verdict(Grounds(settings, HAZARDOUS, evidence, evidence, "tests", "", permanent, {}))
    return {row.name: row for row in found.rows}


def test_idle_memory_does_not_lift_spfm_over_storage_in_use():
    """Nine tenths of the raw rate are idle SRAM: the same flip-flops meet 99 % with it and miss without."""
    rows = verdict()
    assert rows["spfm_transient"].state == "met"
    assert rows["spfm_in_use"].state != "met"
    assert rows["spfm_in_use"].value < rows["spfm_transient"].value
    twice = verdict((FF, replace(SRAM, fit_raw=18.0, counts={"masked": 250, "latent": 9_750})))
    assert twice["spfm_transient"].value > rows["spfm_transient"].value
    assert twice["spfm_in_use"].value == pytest.approx(rows["spfm_in_use"].value, abs=6e-3)
    assert "85.5 % of the raw rate is memory" in rows["spfm_in_use"].reason


def test_latent_state_of_flip_flops_is_in_use():
    alone = Evidence((FF,))
    assert in_use_row(SPFM, alone, HAZARDOUS).value.estimate == pytest.approx(1.0 - 300 / 10_000, abs=1e-6)


def test_memory_that_counts_as_hazardous_is_never_called_idle():
    """Latent state counted as hazardous: then it must not be left out of the denominator and of the harm."""
    row = in_use_row(SPFM, Evidence((FF, SRAM)), HAZARDOUS | {"latent"})
    assert row.value.estimate < 0.2


def test_nothing_in_use_is_not_assessed_rather_than_perfect():
    idle = Evidence((PooledGroup("sb", "sram", 1.0, {"latent": 1_000}),))
    for evidence in (idle, Evidence(()), Evidence((replace(SRAM, fit_raw=0.0),))):
        assert in_use_row(SPFM, evidence, HAZARDOUS).state == "not assessed"


def test_faults_are_single_point_where_no_mechanism_stands_and_residual_where_one_does():
    raw = 0.03
    rows = verdict()
    assert rows["single_point_transient"].value == pytest.approx(raw)
    assert rows["residual_transient"].value == 0.0
    guarded = verdict(mechanisms=(SafetyMechanism("parity", blocks=("mac",)),))
    assert guarded["single_point_transient"].value == 0.0
    assert guarded["residual_transient"].value == pytest.approx(raw)
    other = verdict(mechanisms=(SafetyMechanism("parity", blocks=("sb",)),))
    assert other["single_point_transient"].value == pytest.approx(raw)
    for found in (rows, guarded):
        whole = sum(found[f"{name}_transient"].value for name in ("single_point", "residual", "safe"))
        assert whole + found["due_rate"].value == pytest.approx(10.0)


def test_permanent_faults_have_latent_ones_only_in_mechanisms():
    evidence = Evidence((STUCK, PooledGroup("ecc", "ff", 0.5, {"masked": 480, "due:masked:parity": 20})))
    own = evidence.where(lambda group: group.block == "ecc")
    guards = (SafetyMechanism("parity", blocks=("mac",), storage=("u.ecc",)),)
    rows = verdict(mechanisms=guards, permanent=NamedRun(evidence, own, "stuck bits"))
    assert rows["residual_permanent"].value == pytest.approx(0.1)
    assert rows["latent_permanent"].value == pytest.approx(0.48)
    assert rows["safe_permanent"].value == pytest.approx(0.9)
    unnamed = verdict(
        mechanisms=(SafetyMechanism("parity"),), permanent=NamedRun(evidence, None, "stuck bits")
    )
    assert unnamed["latent_permanent"].state == unnamed["safe_permanent"].state == "not assessed"
    assert unnamed["safe_permanent"].value is None
    unknown = verdict()
    assert all(unknown[f"{name}_permanent"].value is None for name in ("single_point", "residual", "safe"))


COVERED = PooledGroup("mac", "ff", 1.0, {"masked": 9_000, "due:sdc_critical:parity": 1_000})
STUCK_COVERED = PooledGroup("mac", "ff", 1.0, {"masked": 100, "due:sdc_critical:parity": 900})


def test_dedicated_measures_are_asked_for_where_no_mechanism_stands():
    row = verdict()["dedicated_measures"]
    assert row.state == "inconclusive"
    assert "No mechanism stands: mac, sb" in row.reason
    assert "ASIL D" in row.reason
    assert verdict(asil="B")["dedicated_measures"].state == "not assessed"
    assert verdict(asil=None)["dedicated_measures"].state == "not assessed"


@pytest.mark.parametrize(
    ("transient", "permanent", "state"),
    [
        (COVERED, NamedRun(Evidence((STUCK_COVERED,)), None, "stuck bits"), "met"),
        (COVERED, "no stuck-at campaign", "inconclusive"),
        (FF, NamedRun(Evidence((STUCK_COVERED,)), None, "stuck bits"), "inconclusive"),
        (COVERED, NamedRun(Evidence((STUCK,)), None, "stuck bits"), "inconclusive"),
        (
            COVERED,
            NamedRun(Evidence((replace(STUCK_COVERED, block=""),)), None, "stuck bits"),
            "inconclusive",
        ),
    ],
)
def test_a_mechanism_in_name_alone_answers_no_question_of_measures(transient, permanent, state):
    """An error flag over all blocks with hardly any coverage left no single-point fault."""
    guards = (SafetyMechanism("parity", blocks=("mac",)),)
    assert verdict((transient,), guards, permanent)["dedicated_measures"].state == state


def test_coverage_that_nothing_shows_is_weak():
    guards = (SafetyMechanism("parity"),)
    quiet, ended = {"masked": 1_000}, {"masked": 900, "due": 100}
    for counts in (quiet, ended):
        evidence = Evidence((PooledGroup("mac", "ff", 1.0, counts),))
        assert weakly_covered(evidence, {"sdc_critical", "due"}, guards) == {"mac"}
    assert unguarded_blocks(
        Evidence((PooledGroup("", "ff", 1.0, quiet),)), (SafetyMechanism("p", blocks=("mac",)),)
    ) == {"several blocks"}


def test_none_of_the_classes_can_be_claimed_into_a_verdict():
    rows = verdict((COVERED,), (SafetyMechanism("parity"),))
    for name, row in rows.items():
        if name.startswith(("single_point", "residual", "safe", "latent_permanent")):
            assert row.state == "not assessed"


def test_storage_whose_permanent_faults_were_never_injected_answers_no_question_of_measures():
    guards = (SafetyMechanism("parity", blocks=("mac",)),)
    partly = NamedRun(Evidence((STUCK_COVERED,)), None, "stuck bits", not_injected="1,024 SRAM bits")
    row = verdict((COVERED,), guards, partly)["dedicated_measures"]
    assert (row.state, row.value) == ("not assessed", None)
    assert "permanent faults of 1,024 SRAM bits were not injected" in row.reason
