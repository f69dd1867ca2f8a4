# SPDX-License-Identifier: Apache-2.0
"""Random operations of every kind that the NPU accepts, small enough for the RTL's bench."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from resil.rtl_harness.npu.model.config import NpuConfig
from resil.rtl_harness.npu.model.conv_config import ConvConfig
from resil.rtl_harness.npu.model.program import Execute, lower
from resil.rtl_harness.npu.model.weight_order import weight_order
from testkit.npu.model_layout import (
    RAM_LIMIT,
    Arena,
    Draw,
    ElementKind,
    fitting_scale,
    random_elements,
    random_scale,
    random_scales,
)
from testkit.npu.model_support import CONSTANTS, TABLE_BYTES, Case, encode, padded

POOLS = ("max", "average", "reduce_sum")
ELEMENTWISE = ("mul", "add", "sub", "min", "max_of", "lrelu", "abs", "clz", "shr", "shl")
UNARY = ("lrelu", "abs", "clz")
NAMES = ("conv", "depthwise", *POOLS, *ELEMENTWISE)
FEATURES = ("tiles", "upscale", "table", "one_row")
# Of a run of all operations: seeds of each, and the operations that a feature is tried on, so often.
CASES = 8
FEATURE_CASES = 3
FEATURED = ("conv", "depthwise", "max", "average", "add", "mul")

WEIGHT_LIMIT = 10_000
DRAWS = 400


def random_case(name: str, npu: NpuConfig, rng: np.random.Generator, always: tuple[str, ...] = ()) -> Case:
    """A random operation.

    Args:
        name: One of `NAMES`.
        npu: The accelerator, which accepts it.
        rng: Source of all choices.
        always: Those of `FEATURES` that it must have, where the operation can have them.
    """
    draw = Draw(rng, always)
    build: Callable[[Draw, str, NpuConfig], Case] = elementwise if name in ELEMENTWISE else with_kernel
    for _ in range(DRAWS):
        case = build(draw, name, npu)
        if len(case.ram) > RAM_LIMIT:
            continue
        fitting = with_blocks(draw, case, npu)
        if fitting is not None and (finished := with_streams(draw, fitting, npu)) is not None:
            return finished
    raise AssertionError(f"no {name} for {npu.name} in {DRAWS} draws")


def folded(case: Case, rng: np.random.Generator) -> Case:
    """The case with strides that lay elements over each other, or send some out of the region.

    The OFM gets a region of its own, so that no input is written.
    """
    changes = {"OFM_REGION": 7}
    for tensor in ("IFM", "IFM2", "OFM"):
        for axis in "XYC":
            if f"{tensor}_STRIDE_{axis}" in case.registers and rng.random() < 0.5:
                folds = [0, 1, 2, 3, 5, 16, 24, -1, 0x20000000, 0x55555556, 0x80000000, 0x80000003]
                changes[f"{tensor}_STRIDE_{axis}"] = int(rng.choice(folds))
    return replace(case.with_registers(**changes), others={7: case.ram})


def with_kernel(draw: Draw, name: str, npu: NpuConfig) -> Case:
    """A convolution or a pool; buffers, blocks and streams come later."""
    reduces, weighted = name == "reduce_sum", name in ("conv", "depthwise")
    upscale = draw.pick([1, 2]) if not reduces and draw.feature("upscale") else 0
    taps, stride, dilation = (1, 1), (1, 1), (1, 1)
    if not reduces:
        taps = (
            (draw.number(1, 5), draw.number(1, 9))
            if draw.flag(0.8)
            else (draw.number(1, 12), draw.number(1, 3))
        )
        stride = (1, 1) if upscale else (draw.number(1, 3), draw.number(1, 3))
        dilation = (draw.number(1, 2), draw.number(1, 2)) if weighted else (1, 1)
    extents = [(t - 1) * d + 1 for t, d in zip(taps, dilation, strict=True)]
    pads = [draw.number(0, min(2, extents[i % 2] // 2)) if draw.flag() else 0 for i in range(4)]
    ofm = (draw.number(1, 7), draw.number(1, 7), 1 if reduces else draw.number(1, 40))
    if draw.feature("one_row"):
        taps, pads = (1, taps[1]), [0, pads[1], 0, pads[3]]
        extents, ofm = [1, extents[1]], (1, draw.number(1, 20), ofm[2])
    inputs = [(ofm[i] - 1) * stride[i] + extents[i] - pads[i] - pads[i + 2] for i in (0, 1)]
    stored = tuple(-(-max(n, 1) // 2) if upscale else max(n, 1) for n in inputs)
    depth = draw.number(1, 40) if name == "conv" or reduces else ofm[2]
    ifm = random_elements(draw, (1, 2, 4) if reduces else (1,) if weighted else (1, 1, 2))
    arena = Arena(draw)
    bits = 8 * ifm.size + (depth if reduces else taps[0] * taps[1] * (name == "average")).bit_length()
    registers = {
        **output_registers(draw, arena, ofm, None if weighted else bits),
        **arena.tensor("IFM", (*stored, depth), ifm),
        **dict(zip(("IFM_PAD_TOP", "IFM_PAD_LEFT", "IFM_PAD_BOTTOM", "IFM_PAD_RIGHT"), pads, strict=True)),
        "IFM_DEPTH_M1": depth - 1 if name == "conv" or reduces else draw.number(0, 999),
        "IFM_PRECISION": ifm.input_precision | draw.number(0, 3) << 8 | draw.number(0, 3) << 14,
        "IFM_ZERO_POINT": draw.number(-256, 255),
        "IFM_UPSCALE": upscale,
        "ACC_FORMAT": draw.number(0, 1) if reduces and ifm.size == 2 else 0,
        "KERNEL_HEIGHT_M1": extents[0] - 1,
        "KERNEL_WIDTH_M1": extents[1] - 1,
        "KERNEL_STRIDE": kernel_bits(stride, dilation) | draw.flag() << 2 | draw.flag() << 5,
    }
    kind = "POOL" if name in POOLS else name.upper()
    parameter = POOLS.index(name) if name in POOLS else 0
    return Case(registers, np.zeros(0, np.uint8), arena.fill(), kind=kind, parameter=parameter)


def kernel_bits(stride: tuple[int, int], dilation: tuple[int, int]) -> int:
    (sy, sx), (dy, dx) = stride, dilation
    bits = (sx - 1 & 1) | (sy - 1 & 1) << 1 | (dx - 1) << 3 | (dy - 1) << 4
    return bits | (sx - 1 >> 1) << 6 | (sy - 1 >> 1) << 9


def elementwise(draw: Draw, name: str, npu: NpuConfig) -> Case:
    """An elementwise operation; buffers and blocks come later."""
    ofm = (draw.number(1, 7), draw.number(1, 7), draw.number(1, 40))
    ifm = random_elements(draw, (1, 2, 4))
    arena = Arena(draw)
    operand = draw.number(0, 2)
    registers = {
        **output_registers(draw, arena, ofm, result_bits(name, ifm.size), ifm.size == 4),
        **arena.tensor("IFM", ofm, ifm),
        "IFM_PRECISION": ifm.input_precision | operand << 8,
        "IFM_ZERO_POINT": random_zero_point(draw),
        **operand_scales(draw, operand, ifm.size),
        "IFM_DEPTH_M1": draw.number(0, 999),
        "KERNEL_STRIDE": draw.number(0, 0xFFFF),
    }
    if name not in UNARY:
        registers |= second_operand(draw, arena, ofm, ifm)
    parameter = ELEMENTWISE.index(name)
    return Case(registers, np.zeros(0, np.uint8), arena.fill(), kind="ELEMENTWISE", parameter=parameter)


def result_bits(name: str, size: int) -> int:
    """How many bits the result of an operation has before it is scaled."""
    if name in ("add", "sub"):
        return 32 if size == 4 else 27
    return {"mul": 16 * size, "clz": 5, "shl": 31}.get(name, 8 * size)


def operand_scales(draw: Draw, operand: int, size: int) -> dict[str, int]:
    """Scales of the operands of an addition; most bring them to 27 bits."""
    if draw.flag(0.2):
        return {"OPA_SCALE": random_scale(draw), "OPB_SCALE": random_scale(draw) & 0xFFFFFFFF}
    if operand:
        shift = 12 if size == 1 else 17
        return {
            "OPA_SCALE": shift << 32 | draw.number(1 << 30, (1 << 31) - 1),
            "OPB_SCALE": draw.number(0, 99),
        }
    return {f"OP{x}_SCALE": draw.number(1, 1 << (27 - 8 * min(size, 2))) for x in "AB"}


def second_operand(draw: Draw, arena: Arena, ofm: tuple[int, int, int], first: ElementKind) -> dict[str, int]:
    kind = replace(first, signed=draw.flag(), bricks=draw.flag())
    broadcast = draw.number(0, 7) if draw.flag() else 0
    registers = {
        "IFM2_PRECISION": kind.input_precision | draw.number(0, 3) << 8,
        "IFM2_ZERO_POINT": random_zero_point(draw),
        "IFM2_BROADCAST": broadcast | draw.flag() << 6,
    }
    if draw.flag(0.2):
        small = draw.number(-40, 40)
        return {**registers, "IFM2_BROADCAST": 0x80 | registers["IFM2_BROADCAST"], "IFM2_SCALAR": small}
    height, width, depth = (1 if broadcast >> bit & 1 else n for bit, n in enumerate(ofm))
    return registers | arena.tensor("IFM2", (height, width, depth), kind)


def random_zero_point(draw: Draw) -> int:
    return draw.pick([-32768, 32767]) if draw.flag(0.1) else draw.number(-128, 127)


def output_registers(
    draw: Draw, arena: Arena, ofm: tuple[int, int, int], bits: int | None, wide: bool = False
) -> dict[str, int]:
    """Registers of the OFM, for results of so many bits before scaling; None: channels have scales."""
    kind = random_elements(draw, (1, 1, 2, 4))
    table, int8 = draw.feature("table"), draw.flag(0.2)
    if table:
        kind = replace(kind, size=draw.pick([1, 1, 2, 4]))
        int8 = int8 or kind.size == 4
    function = 16 + draw.number(0, {1: 7, 2: 0, 4: 1}[kind.size]) if table else 0
    bounds = [(-128, 127), (0, 255), (-5, 20), (20, -5), (-32768, 32767), (-32768, 32767)]
    full = [(-32768, 32767)] if kind.size > 1 else [(-32768, 32767), (-128, 127) if kind.signed else (0, 255)]
    low, high = draw.pick(bounds if draw.flag(0.2) else full)
    excess = (bits or 0) - 8 * kind.size
    global_scale = bits is not None and draw.flag(0.9 if excess > 0 else 0.6)
    fitting = fitting_scale(draw, excess, wide)
    return {
        **arena.tensor("OFM", ofm, kind),
        **{f"OFM_{d}_M1": n - 1 for d, n in zip(("HEIGHT", "WIDTH", "DEPTH"), ofm, strict=True)},
        "OFM_PRECISION": kind.output_precision | global_scale << 8 | draw.number(0, 2) << 14,
        "OFM_ZERO_POINT": random_zero_point(draw),
        "OFM_SCALE": fitting if draw.flag(0.8) else random_scale(draw),
        "ACTIVATION": function | (3 if int8 else 0) << 12,
        "ACTIVATION_MIN": low,
        "ACTIVATION_MAX": high,
    }


def with_blocks(draw: Draw, case: Case, npu: NpuConfig) -> Case | None:
    """The case with banks and a block that fits them; None if none was found."""
    registers = case.registers
    depth = registers["OFM_DEPTH_M1"] + 1
    end = npu.buffers_end(bool(registers["ACTIVATION"] & 16))
    for attempt in range(30):
        largest = 8 if attempt < 20 else 3
        start = npu.usable_banks - npu.accumulator_banks * draw.number(
            0, (npu.usable_banks - 4) // npu.accumulator_banks
        )
        if registers.get("ACC_FORMAT"):
            start = max(2, start - draw.number(0, npu.accumulator_banks - 1))
        ib_end = draw.number(2, end if case.kind == "ELEMENTWISE" else min(start, end))
        changes = {
            "OFM_BLK_HEIGHT_M1": draw.number(1, largest) - 1,
            "OFM_BLK_WIDTH_M1": draw.number(1, largest if registers["OFM_HEIGHT_M1"] else 3 * largest) - 1,
            "OFM_BLK_DEPTH_M1": (16 * draw.number(1, 3) if draw.flag() else draw.number(depth, depth + 9))
            - 1,
            "IFM_IB_END": ib_end,
            "AB_START": start,
            "IFM2_IB_START": draw.number(2, ib_end),
        }
        streams = {"WEIGHT_LENGTH": 16, "SCALE_LENGTH": 16} if case.kind in ("CONV", "DEPTHWISE") else {}
        fitting = case.with_registers(**changes, **streams)
        if lower(fitting.stream, npu).operations:
            return fitting
    return None


def with_streams(draw: Draw, case: Case, npu: NpuConfig) -> Case | None:
    """The case with weights, scales and tables in its constants; None if the weights are too many."""
    constants, changes = b"", {}
    (step,) = lower(case.stream, npu).operations
    assert isinstance(step.action, Execute)
    if isinstance(step.action.config, ConvConfig):
        wanted = weight_order(step.action.config, npu).count
        if wanted > WEIGHT_LIMIT:
            return None
        weights = padded(random_weights(draw.rng, wanted))
        depth = step.action.config.output.ofm.depth
        scales = random_scales(draw.rng, depth, draw.pick(["usual", "usual", "extreme", "bytes"]))
        if draw.flag(0.05):
            scales = scales[: draw.number(1, len(scales))]
        changes = {
            "WEIGHT_REGION": CONSTANTS, "WEIGHT_BASE": 0, "WEIGHT_LENGTH": len(weights),
            "SCALE_REGION": CONSTANTS, "SCALE_BASE": len(weights), "SCALE_LENGTH": len(scales),
        }  # fmt: skip
        constants = weights + padded(scales)
    tables_at = None
    if case.registers["ACTIVATION"] & 16:
        tables_at = len(constants)
        constants += draw.rng.integers(0, 256, TABLE_BYTES).astype(np.uint8).tobytes()
    image = np.frombuffer(constants or bytes(16), np.uint8).copy()
    return replace(
        case.with_registers(**changes), constants=image, tables_at=tables_at, tables_to=npu.table_base
    )


def random_weights(rng: np.random.Generator, wanted: int) -> bytes:
    """A weight stream: of small weights, of any, of any bytes, or one that ends early."""
    match rng.choice(["narrow", "wide", "wide", "bytes", "short"]):
        case "narrow":
            return encode(rng.integers(-12, 13, wanted))
        case "wide":
            return encode(rng.integers(-255, 256, wanted))
        case "bytes":
            return rng.integers(0, 256, 16 * (1 + wanted // 16), dtype=np.uint8).tobytes()
    whole = encode(rng.integers(-40, 41, wanted))
    return whole[: 16 * max(1, int(rng.integers(0, len(whole) // 16 + 1)))]
