# SPDX-License-Identifier: Apache-2.0
"""The engine on Yosys's own simulator, declared."""

from __future__ import annotations

from resil.rtl_harness.engine.whole_runs_declaration import WholeRunsEngine, declare_whole_runs


def _engine() -> WholeRunsEngine:
    from resil.rtl_harness.engine.cxxrtl.engine import CxxrtlEngine

    return CxxrtlEngine


DECLARATION = declare_whole_runs(
    "cxxrtl",
    "Judges the others without Verilator: the netlist of Yosys as C++ (CXXRTL), a process for each fault.",
    _engine,
)
