# SPDX-License-Identifier: Apache-2.0
"""The reference engine, declared."""

from __future__ import annotations

from pathlib import Path

from resil.rtl_harness.engine.whole_runs_declaration import WholeRunsEngine, declare_whole_runs


def _engine() -> WholeRunsEngine:
    from resil.rtl_harness.engine.reference.testbench import reference_engine

    return reference_engine


def _check_waves(waves: Path) -> None:
    from resil.rtl_harness.engine.reference.build import check_waves

    check_waves(waves)


DECLARATION = declare_whole_runs(
    "cocotb",
    "The reference engine: cocotb on Verilator, every injection simulated to its end. Writes waveforms.",
    _engine,
    _check_waves,
    runs_tests=True,
)
