# SPDX-License-Identifier: Apache-2.0
import pytest

from resil.stats.intervals import Interval
from resil.stats.metrics import fit_verdict, lfm, safety_metrics, spfm, spfm_verdict
from resil.stats.rates import StratumCounts, estimate_blocks
from testkit.errors import about

FIT = Interval(0.02, 0.01, 0.05, 0.95)


def test_spfm_is_the_hazardous_share_turned_round():
    assert spfm(FIT, 2.0).as_list() == pytest.approx([0.99, 0.975, 0.995])


def test_spfm_never_leaves_the_unit_interval():
    assert spfm(Interval(0.5, 0.2, 1.0 + 1e-12, 0.95), 1.0).lo == 0.0


@pytest.mark.parametrize("raw", [0.0, 0.01])
def test_spfm_needs_a_raw_rate(raw):
    with pytest.raises(ValueError, check=about("raw")):
        spfm(FIT, raw)


def test_lfm_joins_both_intervals_at_their_worst():
    latent = Interval(0.1, 0.05, 0.2, 0.95)
    found = lfm(latent, FIT, 1.0)
    assert found.estimate == pytest.approx(1 - 0.1 / 0.98)
    assert found.lo == pytest.approx(1 - 0.2 / 0.95)
    assert found.hi == pytest.approx(1 - 0.05 / 0.99)
    assert found.confidence == pytest.approx(0.90)
    with pytest.raises(ValueError, check=about("raw")):
        lfm(latent, FIT, 0.05)


def test_metrics_of_a_transient_campaign():
    counts = StratumCounts("mac", "ff", 1000, {"masked": 195, "hang": 5})
    total = estimate_blocks([counts], {"ff": 1e-4})[1]
    found = safety_metrics(total)
    assert found.spfm.estimate == pytest.approx(0.975)
    assert found.pmhf_share == total.fit
    assert found.lfm is None
    assert any("LFM is not applicable" in note for note in found.notes)


def test_without_raw_rate_there_is_no_spfm():
    total = estimate_blocks([StratumCounts("mac", "ff", 10, {"masked": 5})], {"ff": 0.0})[1]
    found = safety_metrics(total)
    assert found.spfm is None
    assert any("SPFM is not applicable" in note for note in found.notes)


@pytest.mark.parametrize(
    ("budget", "result", "said"),
    [
        (0.05, "met", "The upper 95 % limit of 0.05 FIT is within the budget of 0.05 FIT."),
        (0.0499, "inconclusive", "lies inside the 95 % interval of 0.01 to 0.05 FIT"),
        (0.01, "inconclusive", "more injections will narrow it"),
        (0.0099, "missed", "Even the lower 95 % limit of 0.01 FIT is above the budget of 0.0099 FIT."),
        (None, "none", "No budget was given"),
    ],
)
def test_verdicts_against_a_budget(budget, result, said):
    verdict = fit_verdict(FIT, budget)
    assert verdict.result == result
    assert said in verdict.reason


def test_verdicts_name_odd_confidences():
    assert "97.5 %" in fit_verdict(Interval(0.02, 0.01, 0.05, 0.975), 1.0).reason


def test_a_negative_budget_is_refused():
    with pytest.raises(ValueError, check=about("budget")):
        fit_verdict(FIT, -1.0)


@pytest.mark.parametrize(("target", "result"), [(0.97, "met"), (0.99, "inconclusive"), (0.9960, "missed")])
def test_verdicts_against_spfm(target, result):
    verdict = spfm_verdict(Interval(0.99, 0.975, 0.995, 0.95), target)
    assert verdict.result == result
    assert f"{target:.2%}" in verdict.reason
    with pytest.raises(ValueError, check=about("target")):
        spfm_verdict(Interval(0.99, 0.975, 0.995, 0.95), 99.0)


@pytest.mark.parametrize(("permanent", "faults"), [(False, "transient"), (True, "permanent")])
def test_the_pmhf_share_says_of_which_faults_alone_it_is(permanent, faults):
    """A safety verdict has another figure under this name, of all faults."""
    strata = [StratumCounts("mac", "ff", 100, {"masked": 90, "hang": 10})]
    _, total = estimate_blocks(strata, {"ff": 1e-4})
    assert any(f"residual {faults} faults alone" in note for note in safety_metrics(total, permanent).notes)
