# SPDX-License-Identifier: Apache-2.0
"""What the shipped model foresees: of the RTL that it was learnt on, and of no other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from resil.campaign.fault_settings import FaultSettings
from resil.campaign.sampling_settings import SamplingSettings
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.faults import RunEnd
from resil.sensitivity.foreseen import foresee
from resil.sensitivity.guided_population import campaign_population
from resil.sensitivity.model import SHIPPED, load_model
from testkit.campaigns import campaign
from testkit.fake import fake_bench

GOLDENS = [GoldenRun(RunEnd(True, 1000, 0, b"", ""))]


def test_only_the_rtl_that_the_model_was_learnt_on_is_foreseen():
    name, known = next(iter(load_model(SHIPPED).accelerators.items()))
    asked = replace(campaign(), sampling=SamplingSettings("neyman"), faults=FaultSettings(("ff",), 5000, 0))
    bench = replace(fake_bench(asked), target_name=name, hashes={"rtl": known.rtl})
    population = campaign_population(asked, bench, GOLDENS)
    found = foresee(asked, bench, GOLDENS, population)
    assert found is not None
    assert found.rates.shape == (len(population.strata),)
    assert np.all((found.rates > 0) & (found.rates < 0.5))
    assert np.all(found.costs >= 1)
    edited = replace(bench, hashes={"rtl": "0" * 32})
    assert foresee(asked, edited, GOLDENS, population) is None
    assert foresee(asked, replace(bench, target_name="mine"), GOLDENS, population) is None
    plain = replace(asked, sampling=SamplingSettings("proportional"))
    assert foresee(plain, bench, GOLDENS, population) is None
