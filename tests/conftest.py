# SPDX-License-Identifier: Apache-2.0
"""Shared by all tests: one cache of compiled networks and simulators, kept between sessions."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

# Before numpy is imported: workers share the cores, and threads of OpenBLAS that wait for each other spin.
# What takes 0.7 ms alone took 20 ms so. `resil.cli` does the same for commands.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Workers, and the processes that tests start, import the same modules: they are compiled once, not in each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A machine with other work beside draws examples slowly, and takes long for one: that is no defect.
settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")

# Files that build simulators or have long tests, the longest first, then the rest: who has nothing left to do
# takes half of what another still has, so no worker is to be left alone with a long test in the end.
BUILDERS = (
    "tests/resil/test_end_to_end.py",
    "tests/rtl_harness/npu/blocks/test_blocks.py",
    "tests/rtl_harness/engine/fast/test_exits.py",
    "tests/rtl_harness/design/elaboration/test_odd_rtl.py",
    "tests/rtl_harness/npu/test_rtl_robustness.py",
    "tests/rtl_harness/npu/test_rtl_operations.py",
    "tests/rtl_harness/npu/test_wd_rtl.py",
    "tests/resil/work/test_memory_images.py",
    "tests/rtl_harness/",
    "benchmarks/faults_of_our_own/",
    "benchmarks/npu/mutation/",
    "tests/resil/farm/",
    "tests/resil/study/",
    "tests/resil/protection/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        return next((i for i, start in enumerate(BUILDERS) if item.nodeid.startswith(start)), len(BUILDERS))

    items.sort(key=place)


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: some tests mostly wait, for processes that they have started."""
    from resil.rtl_harness.host import usable_processors

    return usable_processors() + 1


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts its background jobs with interrupts ignored, and their children inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cache = getattr(config, "cache", None)
    if "RESIL_CACHE" not in os.environ and cache is not None:
        os.environ["RESIL_CACHE"] = str(cache.mkdir("resil"))


@pytest.fixture(scope="session")
def repository(request: pytest.FixtureRequest):
    """The root of the source tree."""
    return request.config.rootpath


@pytest.fixture(scope="module", autouse=True)
def _own_ledger(tmp_path_factory: pytest.TempPathFactory):
    """Keeps the ledger of confirmations of each file of tests apart, and out of the user's data folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RESIL_DATA", str(tmp_path_factory.mktemp("data")))
        yield
