# SPDX-License-Identifier: Apache-2.0
"""Which fault has which number: by the seed alone, and never twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.campaign.fault_settings import FaultSettings
from resil.campaign.sampling_settings import SamplingSettings
from resil.errors import CampaignError
from resil.faults import plan as planning
from resil.faults.plan import FAULT_NAMES
from resil.faults.population import make_population
from resil.faults.sampling import Sampling
from resil.folder.parts import SCHEMA
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.faults import Fault, RunEnd
from testkit.campaigns import campaign
from testkit.errors import about
from testkit.fake import SITES


def population_of(kinds=("ff",), cycles=(1000, 1007), seed=7, sites=SITES, clusters=(1.0,)):
    goldens = [GoldenRun(RunEnd(True, end, 0, b"", ""), (end // 3, end - 2)) for end in cycles]
    settings = FaultSettings(kinds, 1, 0, clusters)
    return make_population(replace(campaign(), faults=settings, seed=seed), sites, goldens)


def plan_of(injections=300, minimum=5, kinds=("ff",), cycles=(1000, 1007), seed=7, clusters=(1.0,)):
    wanted = replace(campaign(), faults=FaultSettings(kinds, injections, minimum), seed=seed)
    population = population_of(kinds, cycles, seed, clusters=clusters)
    return Sampling(wanted, population, {"ff": 1e-4, "sram": 2e-5}).wanted


def faults(plan):
    rows = zip(plan.injection, plan.site, plan.cycle, plan.input, plan.bits, strict=True)
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


def test_clusters_have_their_shares_and_stay_in_their_words():
    plan = plan_of(injections=20000, kinds=("ff", "sram"), clusters=(0.5, 0.2, 0.3))
    room = np.array([SITES.room(int(site)) for site in plan.site])
    assert np.all(plan.bits <= room)
    wide = plan.bits[room >= 3]
    for size, share in ((1, 0.5), (2, 0.2), (3, 0.3)):
        assert abs(np.mean(wide == size) - share) < 4 * (share * (1 - share) / len(wide)) ** 0.5
    assert set(plan.bits[room == 1]) == {1}
    assert abs(np.mean(plan.bits[room == 2] == 2) - 0.5) < 0.1


def test_clusters_leave_site_and_cycle_of_every_injection_as_they_are():
    lone, clusters = plan_of(), plan_of(clusters=(0.5, 0.5))
    assert np.array_equal(lone.site, clusters.site)
    assert np.array_equal(lone.cycle, clusters.cycle)
    assert set(lone.bits) == {1}
    larger = faults(plan_of(injections=500, clusters=(0.5, 0.5)))
    assert faults(clusters).items() <= larger.items()


def test_batches_are_parts_of_the_whole():
    population = population_of(clusters=(0.4, 0.6))
    whole = faults(population.faults([0] * 4, [9, 50, 30, 5]))
    first = faults(population.faults([0] * 4, [3, 7, 30, 0]))
    rest = faults(population.faults([3, 7, 30, 0], [6, 43, 0, 5]))
    assert first | rest == whole
    assert len(first) + len(rest) == len(whole)


def test_another_seed_is_another_campaign():
    assert faults(plan_of(seed=7)) != faults(plan_of(seed=8))


def test_what_is_missing_is_what_is_not_done():
    plan = plan_of()
    assert np.array_equal(plan.missing(np.zeros(0, np.int64)), np.arange(plan.size))
    assert set(plan.missing(plan.injection[[3, 5, 290]])) == set(range(plan.size)) - {3, 5, 290}
    assert np.array_equal(plan.missing(np.array([10**12])), np.arange(plan.size))


def test_a_row_with_another_fault_than_the_plans_is_found():
    plan = plan_of()
    good = rows(plan, [3, 5])
    population = population_of()
    assert population.check(good) is None
    bad = good.set_column(good.column_names.index("cycle"), "cycle", [[0, 1]])
    assert "has cycle" in population.check(bad)
    assert "has site" in population.check(good.set_column(2, "site", [[0, 999999]]))
    bits = good.column_names.index("bits")
    assert "has bits" in population.check(good.set_column(bits, "bits", [[1, 2]]))
    fault = good.column_names.index("fault")
    stuck = good.set_column(fault, "fault", [["upset", "stuck_at_0"]])
    assert "has fault stuck_at_0, and the plan says upset" in population.check(stuck)


def rows(plan, indices):
    """Stored rows of the plan as far as a plan looks at them."""
    empty = dict.fromkeys(SCHEMA.names)
    return SCHEMA.empty_table().from_pylist(
        [
            empty
            | {name: int(getattr(plan, name)[i]) for name in ("injection", "site", "cycle", "bits")}
            | {"fault": FAULT_NAMES[plan.held[i] + 1]}
            for i in indices
        ],
        schema=SCHEMA,
    )


@pytest.mark.parametrize("plan_name", ["proportional", "uniform"])
def test_stuck_bits_are_every_site_at_both_values_for_every_input(plan_name):
    faults = FaultSettings(("ff", "sram"), 1, 0, model="stuck_at")
    goldens = [GoldenRun(RunEnd(True, end, 0, b"", ""), (end // 3,)) for end in (1000, 1007)]
    wanted = replace(campaign(), faults=faults, sampling=SamplingSettings(plan_name))
    population = make_population(wanted, SITES, goldens)
    assert [s.exposure for s in population.strata] == [1.0] * 5
    assert [s.operation for s in population.strata] == [None] * 5
    whole = population.faults([0] * 5, [s.population.size for s in population.strata])
    found = {(whole.fault(row), int(whole.input[row])) for row in range(whole.size)}
    assert whole.size == len(found) == 4 * SITES.size
    assert found == {
        (Fault(site, 0, 1, held), place) for site in range(SITES.size) for held in (0, 1) for place in (0, 1)
    }
    raw = population.for_statistics({"ff": 1.0, "sram": 1.0}).weights
    assert raw.sum() == pytest.approx(SITES.size)


def test_too_few_injections_for_the_minimum():
    with pytest.raises(CampaignError, check=about("faults.injections")):
        plan_of(injections=100, minimum=60)


def test_more_injections_than_faults():
    with pytest.raises(CampaignError, check=about("faults.injections")):
        plan_of(injections=1000, cycles=(2,))


def test_no_storage_of_the_kind():
    from resil.rtl_harness.design.sites import SiteTable

    only_ff = SiteTable.of([e for e in SITES.elements if e.kind == "ff"])
    with pytest.raises(CampaignError, check=about("faults.kinds")):
        population_of(("sram",), sites=only_ff)


def test_stored_rows_are_checked_by_drawing_them_alone(monkeypatch):
    """A part holds one input's injections, whose draws lie far apart: with all between them, checking the
    parts of many inputs took longer than their injections."""
    plan = plan_of(2000, kinds=("ff", "sram"), clusters=(0.6, 0.4))
    population = population_of(("ff", "sram"), clusters=(0.6, 0.4))
    counted = []
    plain = planning.drawn
    monkeypatch.setattr(planning, "drawn", lambda *args: counted.append(len(args[3])) or plain(*args))
    for position in range(2):
        own = np.flatnonzero(plan.input == position)[::7]
        numbers = plan.injection[own]
        rows = pa.table(
            {
                "injection": numbers,
                "site": plan.site[own],
                "cycle": plan.cycle[own],
                "bits": plan.bits[own],
                "fault": plan.names(own),
            }
        )
        counted.clear()
        assert population.check(rows) is None
        assert sum(counted) == len(own)
        again = population.of_numbers(numbers)
        assert faults(again) == {number: faults(plan)[number] for number in numbers.tolist()}
