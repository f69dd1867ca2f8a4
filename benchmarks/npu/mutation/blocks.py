# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the blocks on mutants: one build of `blocks.sv` has all of them."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from testkit.npu.blocks.simulator import SOURCES, build, run_on
from testkit.npu.mutation.schemata import mutated_sources
from testkit.npu.mutation.sites import Mutation

# Which benches hold the modules of a file
_BENCHES = (
    (r"ao/.*", ("bench_element", "bench_ao")),
    (r"cc/(cc_check|cc_sizes|cc_op|cc_pkg|cc_cmd_pkg)\.sv", ("bench_check",)),
    (r"cc/(cc_decode|cc_control|cc_regs|cc_copy|cc_status|cc_cmd_pkg)\.sv", ("bench_decode",)),
    (r"cc/(cc_apb|cc_pmu|cc_pkg)\.sv", ("bench_small", "bench_pmu")),
    (r"common/.*|dma/.*", ("bench_dma",)),
    (r"common/.*|wd/.*", ("bench_wd",)),
    (r"mac/.*", ("bench_mac", "bench_small")),
    (r"rtl/.*_pkg\.sv", ("bench_check", "bench_mac", "bench_dma", "bench_ao")),
    (r"sb/(sb_code_pkg|sb_encode|sb_decode)\.sv", ("bench_codes",)),
    (r"sb/.*", ("bench_small", "bench_mac", "bench_ao")),
    (r"cpm/.*", ("bench_small",)),
)
# Of a mutant: how many times as long as the original it may take, and what it may in any case
_SLOWER, _TIME_S = 10.0, 60.0


class BlockJudge:
    """The blocks of a design with mutants.

    Args:
        mutants: Numbered from 1; those of files that no bench has cannot be selected.
        macs: Size of the NPU.
    """

    def __init__(self, mutants: Sequence[Mutation], macs: int) -> None:
        here = {source.resolve() for source in SOURCES}
        self._mutants, self._macs = mutants, macs
        with tempfile.TemporaryDirectory(prefix="resil-mutants-") as folder:
            selected = [[m] if m.file.resolve() in here else [] for m in mutants]
            self._simulator = build(macs, sources=mutated_sources(SOURCES, "blocks", selected, Path(folder)))
        self._original: dict[str, float] = {}

    def benches(self, mutant: int) -> Iterator[str]:
        """Yield the benches that hold the mutant's module."""
        file = self._mutants[mutant - 1].file
        found = (
            bench
            for pattern, benches in _BENCHES
            if re.fullmatch(pattern, f"{file.parent.name}/{file.name}")
            for bench in benches
        )
        yield from dict.fromkeys(found)

    def judge(self, mutant: int) -> str:
        """Return the first test that fails, "" if none does.

        Raises:
            AssertionError: If one fails on the original design.
        """
        for bench in self.benches(mutant):
            if bench not in self._original:
                start = time.monotonic()
                failed = self._failed(bench, 0, 600.0)
                assert not failed, f"{bench}: {failed} fails on the original design"
                self._original[bench] = time.monotonic() - start
            failed = self._failed(bench, mutant, _TIME_S + _SLOWER * self._original[bench])
            if failed:
                return f"{bench}: {failed}"
        return ""

    def _failed(self, bench: str, mutant: int, time_s: float) -> str:
        with tempfile.TemporaryDirectory(prefix="resil-mutant-") as folder:
            try:
                outcomes = run_on(
                    self._simulator, bench, self._macs, Path(folder), arguments=[f"+mutant={mutant}"],
                    environment={"COCOTB_MAX_FAILURES": "1"}, timeout_s=time_s,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return "no end"
        return next((name for name, message in outcomes.items() if message), "")
