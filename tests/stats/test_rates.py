# SPDX-License-Identifier: Apache-2.0

from dataclasses import replace

import pytest

from resil.stats.intervals import clopper_pearson
from resil.stats.rates import (
    NOT_MASKED,
    OUTCOMES,
    VISIBLE,
    StratumCounts,
    block_average,
    estimate_blocks,
    fit,
    outcome_probability,
    raw_fit,
)
from resil.stats.weighted import weighted_sum
from testkit.errors import about

RATES = {"ff": 7.2e-5, "sram": 2e-5}
MAC = StratumCounts(
    "mac",
    "ff",
    1000,
    {"masked": 150, "latent": 10, "sdc_tolerable": 30, "sdc_critical": 6, "due": 3, "hang": 1},
)
CC = StratumCounts("cc", "ff", 500, {"masked": 60})


def test_one_stratum_gives_exact_intervals():
    (mac,), total = estimate_blocks([MAC], RATES)
    for outcome in OUTCOMES:
        expected = clopper_pearson(MAC.counts[outcome], 200)
        assert mac.rates[outcome].as_list() == pytest.approx(expected.as_list())
    assert mac.avf.as_list() == pytest.approx(clopper_pearson(40, 200).as_list())
    assert mac.fit_raw == pytest.approx(0.072)
    assert mac.fit.as_list() == pytest.approx(clopper_pearson(7, 200).scaled(0.072).as_list())
    assert total.fit == mac.fit


def test_the_total_is_weighted_by_raw_rate():
    (mac, cc), total = estimate_blocks([MAC, CC], RATES)
    assert total.counts["masked"] == 210
    expected = weighted_sum([7, 0], [200, 60], [0.072, 0.036])
    assert total.fit.as_list() == pytest.approx(expected.as_list())
    assert total.fit.estimate == pytest.approx(mac.fit.estimate + cc.fit.estimate)
    assert total.fit.hi < mac.fit.hi + cc.fit.hi
    assert cc.fit.lo == cc.fit.estimate == 0 < cc.fit.hi


def test_rates_of_a_block_weigh_every_bit_the_same():
    ram = StratumCounts("sb", "sram", 9000, {"masked": 90, "sdc_critical": 10})
    regs = StratumCounts("sb", "ff", 1000, {"masked": 100})
    (block,), _ = estimate_blocks([ram, regs], RATES)
    assert block.avf.estimate == pytest.approx(0.09)
    assert block.bits == {"ff": 1000, "sram": 9000}
    assert block.fit.estimate == pytest.approx(9000 * 2e-5 * 0.1)


def test_strata_that_share_bits_over_inputs_are_not_counted_twice():
    halves = [StratumCounts("mac", "ff", 1000, {"masked": 50, "hang": h}, share=0.5) for h in (0, 50)]
    (block,), total = estimate_blocks(halves, RATES)
    assert block.bits == {"ff": 1000}
    assert raw_fit(halves, RATES) == total.fit_raw == pytest.approx(0.072)
    assert block.fit.estimate == pytest.approx(0.072 * 0.25)


def test_a_block_never_injected_may_be_all_bad():
    blind = StratumCounts("dma", "ff", 400)
    (_, dma), total = estimate_blocks([MAC, blind], RATES)
    assert dma.rates["hang"].as_list() == [0.5, 0.0, 1.0]
    assert dma.fit.hi == pytest.approx(400 * 7.2e-5)
    assert total.fit.hi == pytest.approx(estimate_blocks([MAC], RATES)[1].fit.hi + dma.fit.hi)


def test_a_block_without_bits_has_no_fit():
    _, total = estimate_blocks([StratumCounts("glue", "ff", 0)], RATES)
    assert total.fit.as_list() == [0.0, 0.0, 0.0]


def test_latent_state_is_beside_the_avf_not_in_it():
    only_latent = StratumCounts("sb", "ff", 100, {"masked": 20, "latent": 80})
    (block,), _ = estimate_blocks([only_latent], RATES)
    assert block.avf.as_list() == clopper_pearson(0, 100).as_list()
    assert block.rates["latent"].as_list() == pytest.approx(clopper_pearson(80, 100).as_list())
    assert set(VISIBLE) | {"masked", "latent"} == set(OUTCOMES)


def test_no_strata_are_no_rate_of_zero():
    with pytest.raises(ValueError, check=about("strata")):
        fit([], RATES)
    with pytest.raises(ValueError, check=about("strata")):
        estimate_blocks([], RATES)


def test_hazardous_is_what_the_campaign_says():
    assert fit([MAC], RATES, ["hang"]).estimate == pytest.approx(0.072 / 200)
    wider = estimate_blocks([MAC], RATES, hazardous=["sdc_critical", "hang", "due"])[1]
    assert wider.fit.estimate == pytest.approx(0.072 * 10 / 200)


def test_one_sided_limits():
    assert outcome_probability([MAC], ["hang"], 0.95, "upper").lo == 0
    assert fit([MAC], RATES, ["hang"], 0.975, "upper").hi == pytest.approx(fit([MAC], RATES, ["hang"]).hi)


@pytest.mark.parametrize(
    "wrong",
    [{"counts": {"crash": 1}}, {"counts": {"hang": -1}}, {"bits": -1}, {"share": 1.5}],
)
def test_impossible_counts_are_refused(wrong):
    with pytest.raises(ValueError, match=r"outcomes are|counts >= 0"):
        StratumCounts(**{"block": "mac", "kind": "ff", "bits": 5, **wrong})


def test_no_stratum_is_refused():
    with pytest.raises(ValueError, check=about("strata")):
        estimate_blocks([], RATES)


def test_an_average_by_area_weighs_blocks_by_it():
    strata = [
        StratumCounts("mac", "ff", 10, {"masked": 30, "hang": 10}, share=0.5),
        StratumCounts("mac", "ff", 10, {"masked": 20, "hang": 20}, share=0.5),
        StratumCounts("wd", "ff", 1000, {"masked": 40}),
    ]
    by_area = block_average(strata, {"mac": 3.0, "wd": 1.0, "cpm": 9.0})
    assert by_area.estimate == pytest.approx(0.75 * 0.375)
    by_bits = block_average(strata, {"mac": 10.0, "wd": 1000.0})
    assert by_bits.as_list() == pytest.approx(outcome_probability(strata, NOT_MASKED).as_list())
    with pytest.raises(ValueError, check=about("weight")):
        block_average(strata, {"cpm": 1.0})


def test_the_total_of_a_uniform_sample_has_one_stratum():
    blocks = [StratumCounts("mac", "ff", 300, {"hang": 3, "masked": 5}), StratumCounts("wd", "ff", 100)]
    whole = [StratumCounts("", "ff", 400, {"hang": 3, "masked": 5})]
    found, total = estimate_blocks(blocks, {"ff": 0.01}, whole=whole)
    assert total.fit.as_list() == pytest.approx(clopper_pearson(3, 8).scaled(4.0).as_list())
    assert found[1].fit.hi == pytest.approx(1.0)


def listed(members, **counts):
    return StratumCounts("mac", "ff", 100, counts, members=members)


def test_where_every_fault_was_injected_the_rates_are_known():
    """An enumeration has no error of a sample; one fault short of it is a sample, of another stratum too."""
    whole, short = listed(72, sdc_critical=70, masked=2), listed(73, sdc_critical=70, masked=2)
    found = outcome_probability([whole], ["sdc_critical"])
    assert found.lo == found.estimate == found.hi == 70 / 72
    assert outcome_probability([short], ["sdc_critical"]) == clopper_pearson(70, 72)
    assert fit([whole], {"ff": 1.0}).width == 0.0
    both = fit([whole, replace(short, block="wd")], {"ff": 1.0})
    assert both.lo == pytest.approx(100 * (70 / 72 + clopper_pearson(70, 72).lo))
    _, total = estimate_blocks([whole], {"ff": 1.0})
    assert total.avf.width == total.fit.width == 0.0


def test_more_injections_than_faults_are_refused():
    with pytest.raises(ValueError, check=about("sizes.trials")):
        outcome_probability([listed(71, sdc_critical=70, masked=2)], ["masked"])
