# SPDX-License-Identifier: Apache-2.0
"""The plain engine, declared."""

from __future__ import annotations

from resil.rtl_harness.engine.whole_runs_declaration import WholeRunsEngine, declare_whole_runs


def _engine() -> WholeRunsEngine:
    from resil.rtl_harness.engine.plain.engine import PlainEngine

    return PlainEngine


DECLARATION = declare_whole_runs(
    "plain",
    "Judges the others: a plain Verilator build and a copy of the process for each fault, nothing else.",
    _engine,
)
