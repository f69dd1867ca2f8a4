"""Which fault has which number: by the seed alone, and never twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.campaign import FaultSettings
from resil.errors import CampaignError
from resil.parts import SCHEMA
from resil.population import make_population
from resil.sampling import Sampling
from rtl_harness.engines.base import GoldenRun
from rtl_harness.faults import RunEnd
from tests.resil.campaigns import campaign
from tests.resil.fake import SITES


def population_of(kinds=("ff",), cycles=(1000, 1007), seed=7, sites=SITES):
    goldens = [GoldenRun(RunEnd(True, end, 0, False, False, b"", ""), (end // 3, end - 2)) for end in cycles]
    settings = FaultSettings(kinds, 1, 0)
    return make_population(replace(campaign(), faults=settings, seed=seed), sites, goldens)


def plan_of(injections=300, minimum=5, kinds=("ff",), cycles=(1000, 1007), seed=7):
    wanted = replace(campaign(), faults=FaultSettings(kinds, injections, minimum), seed=seed)
    return Sampling(wanted, population_of(kinds, cycles, seed), {"ff": 1e-4, "sram": 2e-5}).wanted


def faults(plan):
    rows = zip(plan.injection, plan.site, plan.cycle, plan.input, strict=True)
    return {int(number): tuple(map(int, fault)) for number, *fault in rows}


def test_the_plan_has_the_number_asked_for_and_the_minimum_everywhere():
    plan = plan_of(kinds=("ff", "sram"))
    assert plan.size == 300
    assert [s.population.name for s in plan.strata] == [
        "(no block)/ff",
        "cc/ff",
        "mac/ff",
        "sb/ff",
        "sb/sram",
    ]
    assert np.bincount(plan.stratum).min() >= 5


def test_a_fault_lies_in_its_stratum_and_in_its_inference():
    plan = plan_of(kinds=("ff", "sram"), injections=2000)
    assert set(plan.input) == {0, 1}
    for site, cycle, position, owner in zip(plan.site, plan.cycle, plan.input, plan.stratum, strict=True):
        element = SITES[int(site)].element
        stratum = plan.strata[owner]
        assert (element.block or "(no block)", element.kind) == (stratum.block, stratum.kind)
        assert 0 <= cycle < (1000, 1007)[position]


def test_no_fault_and_no_number_comes_twice():
    plan = plan_of(injections=3000, minimum=100)
    assert len(set(faults(plan))) == 3000
    assert len(set(faults(plan).values())) == 3000
    assert np.all(np.diff(plan.injection) > 0)


def test_a_stratum_can_be_drawn_to_its_end():
    plan = plan_of(injections=(64 + 3 + 4 + 1) * 2, cycles=(2,))
    assert len(set(faults(plan).values())) == plan.size
    assert set(plan.site) == {s for s in range(SITES.size) if SITES[s].element.kind == "ff"}


@settings(max_examples=30)
@given(small=st.integers(20, 400), more=st.integers(0, 400))
def test_a_larger_campaign_contains_the_smaller_one(small, more):
    inner, outer = faults(plan_of(small, 3)), faults(plan_of(small + more, 3))
    assert inner.items() <= outer.items()


def test_another_seed_is_another_campaign():
    assert faults(plan_of(seed=7)) != faults(plan_of(seed=8))


def test_what_is_missing_is_what_is_not_done():
    plan = plan_of()
    assert np.array_equal(plan.missing(SCHEMA.empty_table()), np.arange(plan.size))
    done = rows(plan, [3, 5, 290])
    assert set(plan.missing(done)) == set(range(plan.size)) - {3, 5, 290}
    assert plan.chosen(done).num_rows == 3
    assert plan_of(injections=10, minimum=0).chosen(done).num_rows < 3


def test_a_row_with_another_fault_than_the_plans_is_found():
    plan = plan_of()
    good = rows(plan, [3, 5])
    population = population_of()
    assert population.check(good) is None
    bad = good.set_column(good.column_names.index("cycle"), "cycle", [[0, 1]])
    assert "has cycle" in population.check(bad)
    assert "has site" in population.check(good.set_column(2, "site", [[0, 999999]]))


def rows(plan, indices):
    """Stored rows of the plan as far as a plan looks at them."""
    empty = dict.fromkeys(SCHEMA.names)
    return SCHEMA.empty_table().from_pylist(
        [
            empty
            | {"injection": int(plan.injection[i]), "site": int(plan.site[i]), "cycle": int(plan.cycle[i])}
            for i in indices
        ],
        schema=SCHEMA,
    )


def test_too_few_injections_for_the_minimum():
    with pytest.raises(CampaignError, match=r"\[faults\] injections: a minimum of 60 in each of 4 strata"):
        plan_of(injections=100, minimum=60)


def test_more_injections_than_faults():
    with pytest.raises(CampaignError, match=r"\[faults\] injections: .*give fewer"):
        plan_of(injections=1000, cycles=(2,))


def test_no_storage_of_the_kind():
    from rtl_harness.sites import SiteTable

    only_ff = SiteTable.of([e for e in SITES.elements if e.kind == "ff"])
    with pytest.raises(CampaignError, match="has no storage of the kinds sram"):
        population_of(("sram",), sites=only_ff)
