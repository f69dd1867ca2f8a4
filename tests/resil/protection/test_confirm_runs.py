# SPDX-License-Identifier: Apache-2.0
"""What the campaigns of a confirmation ask: how far injections go, and of how many inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from resil.campaign.campaign import load_campaign
from resil.campaign.data_set import DataSet
from resil.progress import Progress
from resil.protection import confirm_runs
from resil.protection.confirm_runs import Sizes, inject_stuck
from testkit.campaigns import TEXT, write_campaign

BITS = {("redundant", "ff"): 300, ("alerts", "ff"): 2, ("mac", "ff"): 1000}


class _AskedError(Exception):
    """Holds the campaign that was to be carried out."""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Gives the campaign of stuck bits that is asked for, of a design with copies and a watchdog."""

    def run(campaign, *_, **__):
        raise _AskedError(campaign)

    monkeypatch.setattr(confirm_runs, "run_campaign", run)
    built = SimpleNamespace(
        copies={"a"},
        timer="watchdog",
        block="redundant",
        alerts="alerts",
        watchdog=object(),
        bits=lambda kinds: BITS,
    )

    def of(inputs, everything=0, number=32):
        campaign = load_campaign(write_campaign(tmp_path, TEXT))
        campaign = replace(campaign, work=replace(campaign.network, inputs=inputs))
        with pytest.raises(_AskedError) as raised:
            inject_stuck(campaign, "net", tmp_path, built, Sizes(), number, everything, Progress())
        return raised.value.args[0]

    return of


@pytest.mark.parametrize(
    ("inputs", "one"),
    [
        (DataSet(None, 32, seed=5), DataSet(None, 1, seed=5)),
        (DataSet(None, 0, hardest=8), DataSet(None, 1)),
        ((4, 7, 9), (4,)),
    ],
)
def test_mechanisms_are_asked_about_with_one_input_and_up_to_their_alarm(asked, inputs, one):
    found = asked(inputs)
    assert found.network.inputs == one
    assert found.sampling.inputs is None
    assert found.execution.until == "detection"
    # 400 of the copies' 600 stuck bits, and all four of the alerts, each held at 0 and at 1.
    assert found.faults.injections == 404


def test_inputs_of_one_file_stay_as_they_are(asked):
    found = asked(Path("inputs.npy"), number=3)
    assert found.network.inputs == Path("inputs.npy")
    assert found.faults.injections == 400 + 12


def test_permanent_faults_are_asked_about_with_all_inputs_to_their_end(asked):
    found = asked(DataSet(None, 32), everything=2000)
    assert found.network.inputs == DataSet(None, 32)
    assert found.execution.until == "end"
    assert found.faults.injections == 400 + 128 + 2000
