# SPDX-License-Identifier: Apache-2.0
"""A run without a fault that is none: what is said of it depends on what runs."""

from types import SimpleNamespace

import pytest

from resil.bench.bench import NetworkFacts, OperationFacts
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Reported, Rise, RunEnd
from resil.run.campaign import golden_runs


def said_of(operations, *alarms):
    network = NetworkFacts("replayed", "c.toml", "", operations, 0, None, "strobes")
    bench = SimpleNamespace(network=network, inputs=(0,), target_name="smooth", expected=())
    run = GoldenRun(RunEnd(True, 205, 0, b"", "", alarms))
    with pytest.raises(HarnessError) as raised:
        golden_runs(bench, [SimpleNamespace(golden=lambda: run)])
    return raised.value


def test_an_alarm_in_a_recording_is_named_with_its_cycle():
    """The fault: whoever replayed a recording was asked to choose another network."""
    mended, busy = Rise("mended", Reported.CORRECTED, 2), Rise("busy", Reported.DETECTED, 1004)
    said = said_of((), mended, busy)
    assert "found busy up from cycle 1,004 on; if it is active low" in str(said)
    assert "remove it from [alarms]" in str(said)
    assert "network" not in str(said)
    assert said.field == "alarms.busy"


def test_an_alarm_in_a_network_that_the_target_cannot_run():
    said = said_of((OperationFacts(0, "conv", "CONV_2D", None),), Rise("error", Reported.DETECTED, 4))
    assert "alarm error from cycle 4 on; choose a network that the target can run" in str(said)
