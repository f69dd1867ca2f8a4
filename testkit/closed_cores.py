# SPDX-License-Identifier: Apache-2.0
"""Small designs of tests that read a memory, compute, write another one, and say that they are done."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from resil.rtl_harness.design.target import Target, TargetAlarm, TargetMemory


def core_target(
    source: Path, name: str = "", *, alarm: bool = True, parameters: Mapping[str, int] | None = None
) -> Target:
    """Return the target of a design whose top is called as its file.

    Args:
        source: The file.
        name: Of the target; that of the top by default.
        alarm: Whether it has an output `error_o`.
        parameters: Of the top.
    """
    return Target(
        name=name or source.stem,
        top=source.stem,
        sources=(source,),
        clock="clk_i",
        reset="rst_ni",
        dut="u_core",
        done="done_o",
        blocks={"core": ("u_core",)},
        memories={
            "input": TargetMemory("in_q", 1, "input", observed=False),
            "output": TargetMemory("out_q", 1, "output"),
        },
        alarms={"error": TargetAlarm("error_o")} if alarm else {},
        parameters=dict(parameters or {}),
    )
