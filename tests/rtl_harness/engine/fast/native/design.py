# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from resil.rtl_harness.design.target import Target, TargetAlarm, TargetMemory

HERE = Path(__file__).parent
ELEMENTS = {
    "count_q": (16, 1),
    "half_q": (1, 1),
    "parity_q": (1, 1),
    "run_q": (1, 1),
    "in_q": (64, 64),
    "out_q": (32, 64),
    **{
        f"{instance}.{name}": shape
        for instance, width in (("u_low", 8), ("u_high", 16))
        for name, shape in {
            "first_q": (width, 1),
            "twin_q": (width, 1),
            "unread_q": (width, 1),
            "zero_q": (width, 1),
            "packed_q": (3 * width, 1),
            "pair_q": (75, 1),
            "gen_lane[0].lane_q": (width, 1),
            "gen_lane[1].lane_q": (width, 1),
            **{f"grid_q[{row}][{column}]": (width, 1) for row in (0, 1) for column in (1, 2, 3)},
        }.items()
    },
}


def closed_target(**changes):
    fields = dict(
        name="closed",
        top="closed",
        sources=(HERE / "closed.sv",),
        clock="clk_i",
        reset="rst_ni",
        dut="u_low",
        done="done_o",
        alarms={"error": TargetAlarm("error_o")},
        status="status_o",
        operation="operations_o",
        blocks={"low": ("u_low",), "high": ("u_high",)},
        memories={
            "input": TargetMemory("in_q", 8, "input", observed=False),
            "output": TargetMemory("out_q", 4, "output"),
        },
    )
    return Target(**{**fields, **changes})
