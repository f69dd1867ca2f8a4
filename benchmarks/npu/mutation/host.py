# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of what the host finds at the NPU on mutants."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.workload import Workload
from testkit.npu import rtl_support

_TESTS = Path(__file__).parents[3] / "tests/rtl_harness/npu/test_rtl_host.py"


class HostJudge:
    """`test_rtl_host.py` on a design with mutants.

    Args:
        target: From `schemata.mutated_target`; its sources are not needed any more afterwards.
    """

    def __init__(self, target: Target) -> None:
        self._runner = _MutantRunner(target, {})
        failed = self.judge(0)
        assert not failed, f"{failed} fails on the original design"

    def judge(self, mutant: int) -> str:
        """Return the first test that fails, "" if none does."""
        self._runner.mutant = mutant
        outcomes = _Outcomes()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
            patch.setattr(rtl_support, "runner", lambda *_: self._runner)
            pytest.main(
                ["-q", "-x", "-n", "0", "--noconftest", "-p", "no:cacheprovider", str(_TESTS)], [outcomes]
            )
        assert outcomes.ran, "no test ran"
        return outcomes.failed


class _MutantRunner(Runner):
    mutant = 0

    @contextmanager
    def loaded(self, workload: Workload) -> Iterator[Sequence[str]]:
        with super().loaded(workload) as plusargs:
            yield [*plusargs, f"mutant={self.mutant}"]


class _Outcomes:
    def __init__(self) -> None:
        self.ran, self.failed = 0, ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ran += report.when == "call"
        if report.failed and not self.failed:
            self.failed = f"host: {report.nodeid.rpartition('::')[2]}"
