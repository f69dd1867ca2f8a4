# SPDX-License-Identifier: Apache-2.0
"""The small awkward design, what it runs, its storage, and its netlist."""

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.logic.synthesis import logic_netlist
from testkit.awkward import awkward_target, awkward_workload


@pytest.fixture(scope="session")
def target():
    return awkward_target()


@pytest.fixture(scope="session")
def workload():
    return awkward_workload()


@pytest.fixture(scope="session")
def elaboration(target):
    return with_hardware(target, elaborate(target))


@pytest.fixture(scope="session")
def netlist(target, elaboration):
    return logic_netlist(target, elaboration)
