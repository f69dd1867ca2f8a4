# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from benchmarks.statistics.coverage_plans import Tally, exact, measure, real
from benchmarks.statistics.exhaustive import OPERATION, OUTCOMES, REGIONS, load
from resil.stats.plans import SamplingPlan

POPULATION = load()


def test_every_fault_of_several_blocks_is_known():
    assert [region.block for region in POPULATION] == list(REGIONS)
    assert len(POPULATION) >= 3
    assert OPERATION == 3
    assert sum(region.outcomes.size for region in POPULATION) >= 200_000
    for region in POPULATION:
        assert region.outcomes.shape[0] == sum(region.bits)
        assert region.outcomes.max() < len(OUTCOMES)


@pytest.mark.parametrize("size", [20, 50, 100, 300, 1000])
@pytest.mark.parametrize("region", POPULATION, ids=list(REGIONS))
def test_exact_coverage_of_every_outcome_of_a_region(region, size):
    counts = np.bincount(region.outcomes.ravel(), minlength=len(OUTCOMES))
    for events in counts.tolist():
        assert exact(events, region.outcomes.size, size)["ours"][0] >= 0.95 - 1e-9


def test_the_normal_interval_fails_where_outcomes_are_rare():
    dma = POPULATION[list(REGIONS).index("dma")]
    rare = int((dma.outcomes == OUTCOMES.index("sdc_critical")).sum())
    found = exact(rare, dma.outcomes.size, 100)
    assert found["normal"][0] < 0.03
    assert found["ours"][0] > 0.95


@pytest.mark.parametrize(("kind", "size"), [("uniform", 50), ("stratified", 300), ("adaptive", 1000)])
def test_plans_cover_all_outcomes_and_blocks_of_the_npu(kind, size):
    runs = 15 if kind == "adaptive" else 30
    result = measure(real(POPULATION), SamplingPlan(kind, size), runs)
    tallies: list[Tally] = [*result.outcomes.values(), *result.blocks.values()]
    assert np.mean([tally.coverage for tally in tallies]) >= 0.94
    assert min(tally.coverage for tally in tallies) >= 0.8
    if kind == "stratified":
        assert result.methods["ours"].width < 0.6 * result.methods["every stratum"].width
