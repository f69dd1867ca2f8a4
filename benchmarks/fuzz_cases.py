"""Sound command streams with their memory, from which the fuzzer's damaged ones are made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from networks import zoo
from networks.compile import CompiledNetwork, compile_network
from rtl_harness.npu.model.commands import OPERATIONS, Opcode, Register, Words, parse
from tests.rtl_harness.npu.model_support import Shape, command, conv_case, encode, scale_bytes, settings

CONSTANTS, RAM = 0, 1
MAX_FLASH, MAX_RAM = 24 * 1024, 12 * 1024
_STOP_MASK = 0x1234
# IFM_IB_END and AB_START that leave room for both kinds of buffers
_BUFFERS = {
    "ethos-u55-32": (8, 8),
    "ethos-u55-64": (8, 8),
    "ethos-u55-128": (14, 14),
    "ethos-u55-256": (18, 30),
}


@dataclass(frozen=True, eq=False)
class Case:
    """A command stream and the regions it works on.

    Attributes:
        name: For people.
        accelerator: The size it is for.
        commands: The stream, uint32, shape (words,).
        constants: Region 0, on the read-only port.
        ram: Region 1.
    """

    name: str
    accelerator: str
    commands: Words
    constants: bytes
    ram: bytes


def cases_of(accelerator: str, rng: np.random.Generator) -> Case:
    """Return one of Vela's streams in a third of the cases, else random operations."""
    if rng.random() < 0.33:
        cases = network_cases(accelerator)
        return cases[int(rng.integers(0, len(cases)))]
    while True:
        case = random_case(accelerator, rng)
        if len(case.constants) <= MAX_FLASH and len(case.ram) <= MAX_RAM:
            return case


@cache
def network_cases(accelerator: str) -> list[Case]:
    """Return the streams that Vela emits for the small networks of the zoo, and each operation alone."""
    rng = np.random.default_rng(0)
    cases: list[Case] = []
    for name in zoo.names():
        compiled = compile_network(zoo.load(name).path, accelerator)
        ram_bytes = compiled.region_sizes.get(RAM, 0)
        small = len(compiled.constants) <= MAX_FLASH and ram_bytes <= MAX_RAM
        if not small or set(compiled.region_sizes) - {CONSTANTS, RAM}:
            continue
        ram = rng.integers(0, 256, ram_bytes, dtype=np.uint8).tobytes()
        whole = Case(name, accelerator, compiled.commands, compiled.constants, ram)
        cases += [whole, *_single_operations(compiled, whole)]
    return cases


def random_case(accelerator: str, rng: np.random.Generator) -> Case:
    """Return one to three random operations, of all kinds, with a copy before them at times."""
    words: list[int] = []
    constants = ram = b""
    for number in range(int(rng.choice([1, 1, 1, 2, 3]))):
        registers, operation, some_constants, some_ram = _random_operation(accelerator, rng)
        for name in ("WEIGHT_BASE", "SCALE_BASE"):
            registers[name] += len(constants)
        for name in ("IFM_BASE0", "OFM_BASE0", "IFM2_BASE0"):
            if name in registers:
                registers[name] += len(ram)
        if number and rng.random() < 0.5:
            words += command("OP_KERNEL_WAIT")
        if rng.random() < 0.3:
            words += _copy(rng, len(constants), len(ram), len(some_constants), len(some_ram))
        words += settings(registers) + operation
        constants += some_constants
        ram += some_ram
    words += command("OP_STOP", _STOP_MASK)
    return Case("random", accelerator, np.array(words, np.uint32), constants, ram)


def _single_operations(compiled: CompiledNetwork, whole: Case) -> list[Case]:
    stream = compiled.commands
    cases: list[Case] = []
    kept: list[int] = []
    for found in parse(stream):
        if isinstance(found.target, Register):
            kept += stream[found.word : found.end].tolist()
        elif found.target in OPERATIONS:
            words = [*kept, *stream[found.word : found.end].tolist(), *command("OP_STOP", _STOP_MASK)]
            name = f"{whole.name} {Opcode(found.target).name.lower()}"
            cases.append(replace(whole, name=name, commands=np.array(words, np.uint32)))
    return cases if len(cases) > 1 else []


def _copy(rng: np.random.Generator, source: int, target: int, most: int, room: int) -> list[int]:
    length = 16 * int(rng.integers(0, min(most, room, 512) // 16 + 1))
    registers = {
        "DMA0_SRC_REGION": CONSTANTS, "DMA0_SRC": source, "DMA0_DST_REGION": RAM,
        "DMA0_DST": -(-target // 16) * 16, "DMA0_LEN": max(0, length - 16),
    }  # fmt: skip
    return [
        *command("OP_KERNEL_WAIT"),
        *settings(registers),
        *command("OP_DMA_START"),
        *command("OP_DMA_WAIT"),
    ]


def _random_operation(
    accelerator: str, rng: np.random.Generator
) -> tuple[dict[str, int], list[int], bytes, bytes]:
    kind = str(rng.choice(["OP_CONV", "OP_DEPTHWISE", "OP_POOL", "OP_ELEMENTWISE"], p=[0.4, 0.2, 0.2, 0.2]))
    one_to_one = kind == "OP_ELEMENTWISE"
    depth = int(rng.integers(1, 33))
    shape = Shape(
        ofm=(int(rng.integers(1, 7)), int(rng.integers(1, 7)), depth),
        ifm_depth=int(rng.integers(1, 33)) if kind == "OP_CONV" else depth,
        taps=(1, 1) if one_to_one else (int(rng.integers(1, 5)), int(rng.integers(1, 5))),
        stride=(1, 1) if one_to_one else (int(rng.integers(1, 4)), int(rng.integers(1, 4))),
        pads=(0, 0, 0, 0),
        block=(int(rng.integers(1, 5)), int(rng.integers(1, 5)), 16 * int(rng.integers(1, 3))),
        part_kernel=bool(rng.integers(0, 2)),
        ifm_bricks=bool(rng.integers(0, 2)),
        ofm_bricks=bool(rng.integers(0, 2)),
        ifm_zero_point=int(rng.integers(-128, 128)),
        ofm_zero_point=int(rng.integers(-128, 128)),
    )
    if kind in ("OP_CONV", "OP_DEPTHWISE"):
        shape.weight_bytes = encode(rng.integers(-60, 61, _weights(shape, kind)))
        shape.scales = scale_bytes(
            rng.integers(-5000, 5000, depth),
            rng.integers(1 << 28, 1 << 31, depth),
            rng.integers(34, 42, depth),
        )
    else:
        shape.weight_bytes, shape.scales = bytes(16), bytes(10)
    case = conv_case(shape, rng)
    registers = dict(case.registers)
    registers["IFM_IB_END"], registers["AB_START"] = _BUFFERS[accelerator]
    parameter = 0
    ram = case.ram.tobytes()
    if kind == "OP_POOL":
        parameter = int(rng.integers(0, 2))
    if kind == "OP_ELEMENTWISE":
        parameter = int(rng.choice([0, 1, 2, 3, 4, 6]))
        registers |= _second_operand(registers, rng)
        registers |= {"OFM_SCALE": 1 << 30, "OPA_SCALE": 1 << 15, "OPB_SCALE": 1 << 15}
    return registers, command(kind, parameter), case.constants.tobytes(), ram + bytes(-len(ram) % 16)


def _second_operand(registers: dict[str, int], rng: np.random.Generator) -> dict[str, int]:
    same = {name.replace("IFM_", "IFM2_", 1): value for name, value in registers.items() if name in _OPERAND}
    scalar = int(rng.integers(0, 2)) << 7
    return {
        **same, "IFM2_BROADCAST": scalar, "IFM2_SCALAR": int(rng.integers(0, 1 << 16)),
        "IFM2_IB_START": 2 + (registers["IFM_IB_END"] - 2) // 4 * 2,
    }  # fmt: skip


_OPERAND = frozenset(
    f"IFM_{name}"
    for name in (
        *("PRECISION", "ZERO_POINT", "WIDTH0_M1", "HEIGHT0_M1", "HEIGHT1_M1", "REGION"),
        *("BASE0", "STRIDE_X", "STRIDE_Y", "STRIDE_C"),
    )
)


def _weights(shape: Shape, kind: str) -> int:
    """Return at least as many weights as the stream of a convolution has."""
    taps = -(-shape.taps[0] * shape.taps[1] // 4) * 4
    outputs = -(-shape.ofm[2] // 16) * 16
    return taps * outputs * (-(-shape.ifm_depth // 32) * 32 if kind == "OP_CONV" else 1)
