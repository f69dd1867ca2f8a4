# SPDX-License-Identifier: Apache-2.0
"""Whether operations start: the model against the rules of section 4, for registers around what is legal."""

from __future__ import annotations

import numpy as np
import pytest

from resil.rtl_harness.npu.model.commands import Opcode
from resil.rtl_harness.npu.model.config import CONFIGS, NpuConfig
from resil.rtl_harness.npu.model.program import StreamEnd, lower
from resil.rtl_harness.npu.model.status import Status
from testkit.npu.model_cases import NAMES, random_case
from testkit.npu.model_support import Case
from tests.rtl_harness.npu.literal_checks import LiteralChecks

READ_ONLY = frozenset({6})
# Where limits meet.
SIZES = (
    "OFM_BLK_HEIGHT_M1",
    "OFM_BLK_WIDTH_M1",
    "OFM_BLK_DEPTH_M1",
    "IFM_IB_END",
    "AB_START",
    "IFM2_IB_START",
)
EDGES = (0, 1, 2, 3, 4, 7, 8, 15, 16, 22, 23, 24, 46, 47, 48, 63, 64, 127, 128, 255, 256, 65535)
WORDS = (0, 1, 8, 15, 16, 17, 1 << 31, (1 << 32) - 1)
WIDE = ("WEIGHT_BASE", "WEIGHT_LENGTH", "SCALE_BASE", "SCALE_LENGTH", "OFM_SCALE")


def accepted(case: Case, npu: NpuConfig) -> bool:
    program = lower(case.stream, npu, READ_ONLY)
    end = program.steps[-1].action
    assert isinstance(end, StreamEnd)
    assert end.status in (Status.CMD_END, Status.CMD_ERROR)
    assert len(program.operations) == (end.status == Status.CMD_END)
    return end.status == Status.CMD_END


def expected(case: Case, npu: NpuConfig) -> bool:
    kind = int(Opcode[case.kind])
    return LiteralChecks(npu.name, kind, case.parameter, case.registers, READ_ONLY).accepts()


def changed(case: Case, rng: np.random.Generator) -> Case:
    """A register or two have another value: near the old one, at an edge, a bit away, or any."""
    names = [name for name in case.registers if not name.startswith(("IFM_BASE", "OFM_BASE", "IFM2_BASE"))]
    names += [
        "ACC_FORMAT",
        "IFM2_REGION",
        "IFM2_BROADCAST",
        "IFM2_PRECISION",
        "IFM_UPSCALE",
        "IFM2_IB_START",
        *SIZES * 3,
    ]
    for _ in range(rng.integers(1, 3)):
        name = str(rng.choice(names))
        old = case.registers.get(name, 0)
        match rng.choice(["near", "edge", "bit", "any"]):
            case "near":
                new = old + int(rng.integers(-2, 3))
            case "edge":
                new = int(rng.choice(WORDS if name in WIDE else EDGES))
            case "bit":
                new = old ^ 1 << int(rng.integers(16))
            case _:
                new = int(rng.integers(1 << 16))
        case = case.with_registers(**{name: new & (0xFFFFFFFF if name in WIDE else 0xFFFF)})
    return case


@pytest.mark.parametrize("accelerator", CONFIGS)
@pytest.mark.parametrize("name", NAMES)
def test_registers_around_what_is_legal(name: str, accelerator: str):
    npu = CONFIGS[accelerator]
    seen = set()
    for seed in range(3):
        rng = np.random.default_rng([seed, npu.macs, NAMES.index(name)])
        case = random_case(name, npu, rng)
        assert accepted(case, npu)
        assert expected(case, npu)
        for _ in range(60):
            other = changed(case, rng)
            agreed = expected(other, npu)
            assert accepted(other, npu) == agreed, {
                k: v for k, v in other.registers.items() if v != case.registers.get(k)
            }
            seen.add(agreed)
    assert seen == {True, False}
