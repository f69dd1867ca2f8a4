# SPDX-License-Identifier: Apache-2.0
"""cocotb test of cc_check: sound operations with registers changed here and there, against the model."""

from __future__ import annotations

import random
import re
from itertools import product
from typing import Any

import cocotb
import numpy as np

from resil.rtl_harness.npu.model.commands import OPERATIONS, Opcode, Register, parse
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.program import StreamEnd, lower
from resil.rtl_harness.npu.model.status import Status
from testkit.npu.blocks.block import (
    ACC_BANKS,
    BANKS,
    MACS,
    USABLE,
    Block,
    Values,
    pack,
)
from testkit.npu.blocks.structs import structs
from testkit.npu.fuzz.cases import random_case

NPU = f"ethos-u55-{MACS}"
PAYLOAD = 0x4000
STRAY = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, 126, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF]
# Registers that no operation reads
UNUSED = {"PARALLEL_MODE", "BLOCKDEP"}
# Values at both sides of the limits of section 4
LIMITS = {
    **dict.fromkeys(("IFM_PAD_TOP", "IFM_PAD_LEFT", "IFM_PAD_RIGHT", "IFM_PAD_BOTTOM"), (127, 128)),
    **dict.fromkeys(("KERNEL_WIDTH_M1", "KERNEL_HEIGHT_M1"), (0, 7, 8, 125, 126, 127, 128)),
    **dict.fromkeys(("OFM_BLK_WIDTH_M1", "OFM_BLK_HEIGHT_M1"), (0, 62, 63, 64)),
    **dict.fromkeys(("IFM_REGION", "OFM_REGION", "IFM2_REGION", "WEIGHT_REGION", "SCALE_REGION"), (7, 8, 15)),
    "OFM_BLK_DEPTH_M1": (7, 8, 14, 15, 16, 31, 111, 126, 127, 128, 143),
    "OFM_DEPTH_M1": (0, 6, 7, 8, 15, 16, 31, 126, 127, 128),
    "IFM_IB_END": (0, 1, 2, 3, 4, USABLE - 2, USABLE - 1, USABLE, USABLE + 1, BANKS, BANKS + 1),
    "IFM2_IB_START": (0, 1, 2, 3, 4, 6, 8),
    "AB_START": tuple(range(USABLE - 12, USABLE + 2)),
    "IFM_UPSCALE": (0, 1, 2, 3),
    "ACC_FORMAT": (0, 1),
    "ACTIVATION": (0, 3, 16, 17, 18, 23, 24, 0x3000, 0x3010, 0x3017, 0x1000, 0x2000, 0x3012),
    "IFM_PRECISION": (0, 1, 4, 5, 8, 9, 12, 0x40, 0x80, 0x100, 0x200, 0x300, 2, 0x8000, 0xC000, 0x2000),
    "OFM_PRECISION": (0, 1, 2, 4, 6, 0x40, 0x80, 0x100, 0x4000, 0x8000, 0xC000),
    "IFM2_PRECISION": (0, 1, 4, 5, 8, 9, 12, 0x40, 0x80, 0x100),
    "KERNEL_STRIDE": (0, 1, 2, 3, 4, 8, 0x10, 0x20, 0x40, 0x41, 0x42, 0x80, 0x200, 0x202, 0x243),
}  # fmt: skip
# Registers that decide what fits the buffers, or how many taps there are, and how far they go
FITTING = {
    "IFM_IB_END": BANKS + 2, "AB_START": USABLE + 2, "IFM2_IB_START": BANKS + 2, "OFM_BLK_WIDTH_M1": 64,
    "OFM_BLK_HEIGHT_M1": 64, "OFM_BLK_DEPTH_M1": 128, "IFM_DEPTH_M1": 80, "KERNEL_WIDTH_M1": 20,
    "KERNEL_HEIGHT_M1": 20,
}  # fmt: skip
SHAPES = {
    "IFM_UPSCALE": (1, 2), "KERNEL_STRIDE": (2, 4, 8, 0x10, 0x20, 0x30), "IFM2_BROADCAST": (1, 2, 4, 3, 6),
    "OFM_BLK_WIDTH_M1": (3, 4), "OFM_BLK_HEIGHT_M1": (3, 4), "KERNEL_HEIGHT_M1": (4, 8),
    "OFM_DEPTH_M1": (60, 100),
}  # fmt: skip
Set = dict[Register, tuple[int, int]]


def register_word(settings: Set) -> int:
    """The RTL's registers after these SET commands."""
    values: Values = {"ifm": {"base": [0] * 4}, "ifm2": {"base": [0] * 4}, "ofm": {"base": [0] * 4}}
    flat = {field.name for field in structs()["cmd_regs_t"].fields}
    nested = {field.name for field in structs()["fmap_regs_t"].fields}
    for register, (parameter, payload) in settings.items():
        name = register.name.lower()
        value = payload if register & PAYLOAD else parameter
        fmap, _, rest = name.partition("_")
        if name in flat:
            values[name] = value
        elif fmap in values and rest.startswith("base"):
            values[fmap]["base"][int(rest[4:])] = value
        elif fmap in values and rest in nested:
            values[fmap][rest] = value
        if name in ("ofm_scale", "opa_scale"):
            values[name.replace("scale", "shift")] = parameter
    return pack("cmd_regs_t", values)


def operations(rng: np.random.Generator) -> list[tuple[Set, Opcode, int]]:
    """The operations of a sound stream, with the registers that each sees."""
    found = []
    settings: Set = {}
    for command in parse(random_case(NPU, rng).commands):
        if isinstance(command.target, Register):
            settings[command.target] = (command.parameter, command.payload)
        elif command.target in OPERATIONS:
            found.append((dict(settings), command.target, command.parameter))
    return found


def change(settings: Set, rng: random.Random) -> Set:
    """Give one or two registers values at the limits of some rule, or beyond."""
    changed = dict(settings)
    candidates = [
        r for r in Register if r.name not in UNUSED and not r.name.startswith(("DMA0", "WEIGHT1", "SCALE1"))
    ]
    if rng.random() < 0.5:
        name = rng.choice(list(LIMITS))
        changed[Register[name]] = (rng.choice(LIMITS[name]), 0)
        if "_PAD_" in name or rng.random() < 0.1:
            changed[Register.OFM_WIDTH_M1] = changed[Register.OFM_HEIGHT_M1] = (400, 0)
    for _ in range(rng.choice([0, 0, 1, 2]) if changed != settings else 1):
        register = rng.choice(candidates)
        parameter, payload = changed.get(register, (0, 0))
        if register & PAYLOAD:
            payload = rng.choice([payload ^ 1 << rng.randrange(32), payload + 16, 0, rng.getrandbits(32)])
            changed[register] = (parameter, payload & 0xFFFFFFFF)
        else:
            near = [parameter + d for d in (-17, -16, -2, -1, 1, 2, 4, 16)]
            flipped = parameter ^ 1 << rng.randrange(16)
            changed[register] = (rng.choice([*near, flipped, flipped, rng.choice(STRAY)]) & 0xFFFF, 0)
    return changed


def model_refuses(settings: Set, kind: Opcode, parameter: int, read_only: frozenset[int]) -> str:
    """Why the model refuses the operation, or nothing."""
    words: list[int] = []
    for register, (value, payload) in settings.items():
        words += [int(register) | value << 16, *([payload] if register & PAYLOAD else [])]
    words += [int(kind) | parameter << 16, int(Opcode.STOP)]
    end = lower(np.array(words, np.uint32), npu_config(NPU), read_only).steps[-1].action
    assert isinstance(end, StreamEnd)
    return end.reason if end.status == Status.CMD_ERROR else ""


def borders(settings: Set, kind: Opcode, parameter: int, rng: random.Random) -> list[Set]:
    """The operation in another shape, with a register at both sides of where it becomes right or wrong."""
    shaped = dict(settings)
    for name in rng.sample(list(SHAPES), rng.choice([0, 1, 2])):
        shaped[Register[name]] = (rng.choice(SHAPES[name]), 0)
    name = rng.choice(list(FITTING))
    if rng.random() < 0.4:  # few channels out of many pixels: the IFM is what must fit
        name = "IFM_IB_END"
        roomy = {
            "OFM_DEPTH_M1": 3, "OFM_BLK_DEPTH_M1": 3, "KERNEL_STRIDE": 0, "IFM_UPSCALE": rng.randrange(3),
            "OFM_BLK_WIDTH_M1": rng.randint(7, 15), "OFM_BLK_HEIGHT_M1": rng.randint(7, 15),
            "AB_START": USABLE - max(8, 2 * ACC_BANKS),
        }  # fmt: skip
        shaped |= {Register[register]: (value, 0) for register, value in roomy.items()}
    tried = [{**shaped, Register[name]: (value, 0)} for value in range(FITTING[name])]
    refused = [bool(model_refuses(case, kind, parameter, frozenset())) for case in tried]
    places = [i for i in range(1, len(tried)) if refused[i - 1] != refused[i]]
    return [tried[place - side] for place in places[-2:] for side in (0, 1)]


@cocotb.test()
async def every_rule_from_both_sides(dut: Any) -> None:
    block, rng, numbers = Block(dut, "check"), random.Random(1), np.random.default_rng(1)
    await block.reset()
    seen = {"refused": 0, "accepted": 0, "address": 0}
    reasons: set[str] = set()
    while seen["refused"] + seen["accepted"] < 4000:
        settings, kind, parameter = rng.choice(operations(numbers) or operations(numbers))
        for _ in range(25):
            case = change(settings, rng)
            case_parameter = parameter if rng.random() < 0.95 else rng.randrange(16)
            if kind in (Opcode.CONV, Opcode.DEPTHWISE):
                case_parameter = 0
            await _compare(block, rng, case, kind, case_parameter, seen, reasons)
        for _ in range(3):
            for case in borders(settings, kind, parameter, rng):
                await _compare(block, rng, case, kind, parameter, seen, reasons)
    assert min(seen.values()) > 100, seen
    assert len(reasons) > 40, f"{len(reasons)} different reasons: {sorted(reasons)}"


async def _compare(
    block: Block, rng: random.Random, settings: Set, kind: Opcode, parameter: int, seen: dict[str, int],
    reasons: set[str],
) -> None:  # fmt: skip
    ports = [int(rng.random() < 0.05) for _ in range(8)]
    checked = int(rng.random() < 0.8)
    sizes = [rng.choice([1 << 16, 1 << 30, 0, rng.randrange(1 << 14)]) for _ in range(8)]
    regions = [
        pack("region_t", {"port": p, "checked": checked, "size": s})
        for p, s in zip(ports, sizes, strict=True)
    ]
    block.configure("regions", sum(word << structs()["region_t"].width * i for i, word in enumerate(regions)))
    block.configure("regs", register_word(settings))
    await block.cycle(start=1, code=int(kind), param=parameter)
    for _ in range(10):
        out = await block.cycle(code=int(kind), param=parameter)
        if out["done"]:
            break
    assert out["done"]
    reason = model_refuses(settings, kind, parameter, frozenset(i for i, p in enumerate(ports) if p))
    shown = {register.name: hex(p << 32 | v) if v else hex(p) for register, (p, v) in settings.items()}
    assert bool(out["cmd_error"]) == bool(reason), (
        f"{kind.name} {parameter}: the RTL {'refuses' if out['cmd_error'] else 'accepts'}, "
        f"the model says {reason or 'it is right'}: ports {ports} {shown}"
    )
    seen["refused" if reason else "accepted"] += 1
    reasons.add(re.sub(r"0x[0-9a-f]+|\d+", "#", reason))
    if reason:
        return
    leaves = short = False
    if kind in (Opcode.CONV, Opcode.DEPTHWISE):
        for stream in ("WEIGHT", "SCALE"):
            base, length = (settings.get(Register[f"{stream}_{n}"], (0, 0))[1] for n in ("BASE", "LENGTH"))
            leaves |= (
                bool(checked) and base + length > sizes[settings.get(Register[f"{stream}_REGION"], (0, 0))[0]]
            )
        depth = settings.get(Register.OFM_DEPTH_M1, (0, 0))[0] + 1
        short = 10 * depth > settings.get(Register.SCALE_LENGTH, (0, 0))[1]
    assert out["address_error"] == leaves
    assert out["scale_error"] == short
    seen["address"] += leaves


@cocotb.test()
async def second_operands_from_both_sides(dut: Any) -> None:
    """Where the second operand's piece just fits, for each way to broadcast it, and where it does not."""
    block, rng, numbers = Block(dut, "check"), random.Random(2), np.random.default_rng(2)
    await block.reset()
    seen = {"refused": 0, "accepted": 0, "address": 0}
    end = USABLE - 2
    for width, height, broadcast in product((8, 1, 40), (8, 40, 1), range(8)):
        if max(width, height) == 40 and min(width, height) != 1:
            continue
        settings, kind, parameter = binary_operation(numbers)
        shape = {
            "OFM_BLK_WIDTH_M1": width - 1, "OFM_BLK_HEIGHT_M1": height - 1, "OFM_BLK_DEPTH_M1": 31,
            "OFM_DEPTH_M1": 30, "IFM2_BROADCAST": broadcast, "IFM_IB_END": end, "IFM_PRECISION": 0,
            "IFM2_PRECISION": 0, "ACTIVATION": 0, "OFM_PRECISION": 0,
        }  # fmt: skip
        for start in range(2, end + 1):
            case = settings | {Register[name]: (value, 0) for name, value in shape.items()}
            case[Register.IFM2_IB_START] = (start, 0)
            await _compare(block, rng, case, kind, parameter, seen, set())
    assert min(seen["refused"], seen["accepted"]) > 100, seen


def binary_operation(rng: np.random.Generator) -> tuple[Set, Opcode, int]:
    """A sound element-wise operation of two maps."""
    while True:
        for settings, kind, parameter in operations(rng):
            if kind == Opcode.ELEMENTWISE and parameter in range(5):
                return settings, kind, parameter
