# SPDX-License-Identifier: Apache-2.0
"""What passing on hold-out networks says of the next one, and which networks are one."""

from __future__ import annotations

import numpy as np
import pytest

from resil.protection.likeness import SHOWN, distance, network_population, profile_of
from resil.protection.texts import confirmation_text
from resil.record.campaign_facts import RecordedOperation
from resil.record.protection_state import ProtectionState, confirmation_line
from resil.stats.input_spread import fewest_inputs
from tests.resil.protection.plans import confirmation, plan_of


def operation(kind, shape, cycles):
    work = {"kind": kind, "shape": shape}
    return RecordedOperation(index=0, name="o", kind="conv", cycles=cycles, vela_cycles=None, work=work)


LENET = [operation("conv", (24, 24, 6), 600), operation("pool", (12, 12, 6), 100)]
DENSE = [operation("dense", (1, 1, 64), 500), operation("dense", (1, 1, 10), 100)]


def population(hold_out, chose=(), passed=None, confidence=0.95):
    profiles = {name: profile_of(operations) for name, operations in hold_out.items()}
    chosen = {name: profile_of(operations) for name, operations in dict(chose).items()}
    return network_population(profiles, chosen, list(hold_out) if passed is None else passed, confidence)


@pytest.mark.parametrize(("networks", "least"), [(1, 0.05), (2, 0.2236), (10, 0.7411), (59, 0.9505)])
def test_what_passing_on_all_of_them_says(networks, least):
    own = {f"n{i}": [operation("conv", (2**i % 97 + 1, i + 1, i + 1), 100)] for i in range(networks)}
    found = network_population({name: {(name, 0, 0): 1.0} for name in own}, {}, list(own), 0.95)
    assert (found.networks, found.passed, found.needed) == (networks, networks, 59)
    assert found.share_lo == pytest.approx(least, abs=5e-5)
    assert found.share_lo == pytest.approx(0.05 ** (1 / networks))


def test_the_number_of_networks_that_show_a_share():
    assert [fewest_inputs(SHOWN, c) for c in (0.9, 0.95, 0.99)] == [45, 59, 90]
    assert 0.05 ** (1 / 58) < 0.95 <= 0.05 ** (1 / 59)


def test_the_limit_covers_the_share_of_networks_that_pass():
    """Of a thousand draws of networks, a true share is above its limit as often as is said."""
    rng = np.random.default_rng(1)
    for share, networks in ((0.95, 20), (0.7, 8), (0.5, 3)):
        missed = 0
        for _ in range(1000):
            names = [f"n{i}" for i in range(networks)]
            passed = [name for name in names if rng.random() < share]
            profiles = {name: {(name, 0, 0): 1.0} for name in names}
            missed += network_population(profiles, {}, passed, 0.95).share_lo > share
        assert missed / 1000 <= 0.05 + 3 * (0.05 * 0.95 / 1000) ** 0.5


def test_networks_that_run_the_same_are_one():
    """The fault: one architecture under three trainings counted as three networks."""
    slower = [own.changed(cycles=own.cycles * 3) for own in LENET]
    almost = [LENET[0].changed(cycles=640), LENET[1]]
    found = population({"a": LENET, "b": slower, "c": almost, "d": DENSE})
    assert (found.networks, found.passed) == (2, 2)
    assert {(own.network, own.other) for own in found.alike} == {("a", "b"), ("a", "c"), ("b", "c")}
    assert found.share_lo == pytest.approx(0.05**0.5)
    # Of those that are joined all have to pass.
    found = population({"a": LENET, "b": slower, "d": DENSE}, passed=["a", "d"])
    assert (found.networks, found.passed) == (2, 1)


def test_one_that_runs_what_chose_is_said():
    found = population({"a": LENET, "d": DENSE}, {"own": LENET})
    assert found.networks == 2
    assert [(own.network, own.other, own.chose) for own in found.alike] == [("a", "own", True)]
    said = confirmation_text(confirmation(plan_of(), population=found))
    assert "a runs almost what own runs, which chose (0.0% of the cycles go elsewhere)" in said
    line = confirmation_line(ProtectionState(plan_of(), None, confirmation(plan_of(), population=found)))
    assert (
        "were at least 22.4 % pass (2 of 2 did; 95 % confidence); 59 that all pass would show 95 %." in line
    )


def test_what_is_not_known_is_told_apart_by_content_alone():
    plain = RecordedOperation(index=0, name="o", kind="", cycles=10, vela_cycles=None, work=None)
    found = population({"a": [plain], "b": []})
    assert (found.networks, found.alike, found.unknown) == (2, (), ("a", "b"))
    assert distance(profile_of([plain]), profile_of(LENET)) is None
    assert "set apart by content alone, not by operations: a, b" in confirmation_text(
        confirmation(plan_of(), population=found)
    )


def test_zoo_networks_are_apart_by_what_they_run():
    convolutions = [operation("conv", (8, 8, 16), 300), operation("conv", (4, 4, 16), 200)]
    # By kinds alone a perceptron of convolutions with one pixel and these would be one.
    assert distance(profile_of(convolutions), profile_of(DENSE)) == 1.0
    assert 0.0 < distance(profile_of(LENET), profile_of([*LENET, *DENSE])) < 1.0
