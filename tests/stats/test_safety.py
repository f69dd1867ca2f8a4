# SPDX-License-Identifier: Apache-2.0
"""Rows of the safety verdict, against figures reckoned by hand, and in every state that only looks safe."""

import pytest

from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.intervals import Interval, clopper_pearson
from resil.stats.judgement import Kind, judged, not_assessed, whole
from resil.stats.safety import (
    coverage_row,
    dual_point,
    lfm_row,
    pmhf_row,
    rate_row,
    spfm_row,
)

SPFM = Kind("spfm_transient", "share", at_least=True, target=0.99)
LFM = Kind("lfm_permanent", "share", at_least=True, target=0.90)
PMHF = Kind("pmhf_share", "FIT", at_least=False, target=0.1)
COVERAGE = Kind("coverage of parity", "share", at_least=True, target=0.9)
HAZARDOUS = {"sdc_critical", "hang"}


def one(fit_raw=10.0, **counts):
    return Evidence((PooledGroup("mac", "ff", fit_raw, counts),))


def test_spfm_of_one_group_is_one_minus_a_proportion():
    row = spfm_row(SPFM, one(masked=995, sdc_critical=4, hang=1), HAZARDOUS)
    expected = clopper_pearson(5, 1000)
    assert row.value is not None
    assert row.value.as_list() == pytest.approx([0.995, 1 - expected.hi, 1 - expected.lo])
    assert row.limit == pytest.approx(1 - expected.hi)
    assert row.confidence == pytest.approx(0.975)
    assert row.state == "inconclusive"


def test_spfm_of_a_worked_example():
    """Annex C by hand: 6 + 4 FIT, of which 1 % and 0.5 % are residual: 1 - (0.06 + 0.02) / 10 = 99.2 %."""
    evidence = Evidence(
        (
            PooledGroup("mac", "ff", 6.0, {"masked": 99_000, "hang": 1_000}),
            PooledGroup("sb", "sram", 4.0, {"masked": 99_500, "sdc_critical": 500}),
        )
    )
    row = spfm_row(SPFM, evidence, HAZARDOUS)
    assert row.value is not None
    assert row.value.estimate == pytest.approx(0.992)
    assert row.state == "met"


def test_lfm_of_a_worked_example():
    """10 FIT, 1 % residual; mechanisms have 1 FIT, half of it unnoticed: 1 - 0.5 / (10 - 0.1) = 94.95 %."""
    everything = one(fit_raw=10.0, masked=98_900, sdc_critical=1_000, due=100)
    mechanisms = one(fit_raw=1.0, masked=50_000, due=50_000)
    row = lfm_row(LFM, everything, HAZARDOUS, mechanisms, {"due"})
    assert row.value is not None
    assert row.value.estimate == pytest.approx(1 - 0.5 / 9.9)
    assert row.value.lo < row.value.estimate < row.value.hi
    assert row.state == "met"


def test_lfm_has_nothing_left_where_all_may_be_hazardous():
    row = lfm_row(LFM, one(hang=3), HAZARDOUS, one(fit_raw=1.0, masked=3), set())
    assert row.state == "not assessed"


def test_mechanism_faults_without_an_effect_are_latent_not_safe():
    row = lfm_row(LFM, one(masked=10_000), HAZARDOUS, one(fit_raw=5.0, masked=5_000), {"due"})
    assert row.value is not None
    assert row.value.estimate == pytest.approx(0.5)
    assert row.state == "missed"


def test_the_dual_point_term_is_added_to_the_limit_that_is_judged():
    evidence = one(fit_raw=100.0, masked=99_990, hang=10)
    plain, with_term = pmhf_row(PMHF, evidence, HAZARDOUS), pmhf_row(PMHF, evidence, HAZARDOUS, 0.5)
    assert plain.state == "met"
    assert with_term.state == "inconclusive"
    assert with_term.limit == pytest.approx((plain.limit or 0.0) + 0.5)
    assert dual_point(2.0, 50.0, 10_000.0) == pytest.approx(0.5 * 2.0 * 50.0 * 1e4 * 1e-9)


def test_coverage_is_of_what_would_do_harm():
    """An alarm that rings at 900 harmless faults covers nothing more: 45 of 50 harmful ones."""
    names = {"masked": 50, "due:masked": 900, "due:sdc_critical": 45, "sdc_critical": 5}
    row = coverage_row(COVERAGE, one(**names), {"due:sdc_critical"}, {"sdc_critical"})
    assert row.value is not None
    expected = clopper_pearson(45, 50)
    assert row.value.as_list() == pytest.approx(expected.as_list())
    assert row.state == "inconclusive"


@pytest.mark.parametrize(
    "row",
    [
        spfm_row(SPFM, Evidence((PooledGroup("mac", "ff", 10.0),)), HAZARDOUS),
        spfm_row(SPFM, Evidence(()), HAZARDOUS),
        spfm_row(SPFM, one(fit_raw=0.0, masked=1000), HAZARDOUS),
        pmhf_row(PMHF, one(fit_raw=0.0, masked=1000), HAZARDOUS),
        pmhf_row(PMHF, Evidence(()), HAZARDOUS),
        rate_row(PMHF, Evidence((PooledGroup("mac", "ff", 1.0),)), {"due"}),
        coverage_row(COVERAGE, one(masked=1000), {"due:hang"}, {"hang"}),
        coverage_row(COVERAGE, Evidence(()), {"due:hang"}, {"hang"}),
        lfm_row(LFM, one(masked=1000), HAZARDOUS, Evidence(()), {"due"}),
        judged(Kind("spfm_transient", "share", at_least=True, target=None), Interval(1.0, 1.0, 1.0, 0.95)),
    ],
)
def test_what_nothing_speaks_for_is_not_assessed(row):
    assert row.state == "not assessed"
    assert row.reason


def test_a_group_without_injections_may_be_all_bad():
    both = Evidence((PooledGroup("mac", "ff", 1.0, {"masked": 10_000}), PooledGroup("wd", "ff", 1.0)))
    row = spfm_row(SPFM, both, HAZARDOUS)
    assert row.limit is not None
    assert row.limit < 0.51
    assert row.state == "inconclusive"


def test_the_whole_is_as_good_as_its_worst_claim():
    met = spfm_row(SPFM, one(masked=10_000), HAZARDOUS)
    missed = pmhf_row(PMHF, one(masked=10, hang=10), HAZARDOUS)
    open_ = coverage_row(COVERAGE, one(**{"due:hang": 9, "hang": 1}), {"due:hang"}, {"hang"})
    unknown = not_assessed(LFM, "nothing was injected")
    rows = [met, missed, open_, unknown]
    assert whole(rows, [met.name]).state == "met"
    assert whole(rows, [met.name, open_.name]).state == "inconclusive"
    assert whole(rows, [met.name, open_.name, unknown.name]).state == "not assessed"
    assert whole(rows, [r.name for r in rows]).state == "missed"
    told = whole(rows, [r.name for r in rows]).reason
    assert "1 of 4 claimed rows are met" in told
    assert "missed: pmhf_share" in told


def test_no_claim_and_an_absent_row_are_never_met():
    met = spfm_row(SPFM, one(masked=10_000), HAZARDOUS)
    assert whole([met], []).state == "not assessed"
    assert whole([met], [met.name, "lfm_permanent"]).state == "not assessed"


def test_the_confidence_of_the_whole():
    """All met is wrong at most as often as one limit; all limits hold at once by Bonferroni."""
    rows = [spfm_row(SPFM, one(masked=10_000), HAZARDOUS), pmhf_row(PMHF, one(masked=10_000), HAZARDOUS)]
    found = whole(rows, [row.name for row in rows])
    assert found.confidence == pytest.approx(0.975)
    assert found.joint == pytest.approx(0.95)
