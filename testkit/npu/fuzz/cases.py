# SPDX-License-Identifier: Apache-2.0
"""Sound command streams with their memory, from which the fuzzer's damaged ones are made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from resil.networks import zoo
from resil.networks.compile import CompiledNetwork, compile_network
from resil.rtl_harness.npu.model.commands import OPERATIONS, Opcode, Register, Words, parse
from testkit.npu.fuzz.operations import CONSTANTS, RAM, Builder, add_copy, add_operation
from testkit.npu.model_support import command

MAX_FLASH, MAX_RAM = 24 * 1024, 12 * 1024
_STOP_MASK = 0x1234


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
    """Return one to three random operations, with copies between them at times."""
    builder = Builder(accelerator, constants=rng.integers(0, 256, 64, dtype=np.uint8).tobytes())
    for number in range(int(rng.choice([1, 1, 1, 2, 3]))):
        if number and rng.random() < 0.5:
            builder.words += command("OP_KERNEL_WAIT")
        if rng.random() < 0.2:
            add_copy(builder, rng)
        add_operation(builder, rng)
    builder.words += command("OP_STOP", _STOP_MASK)
    return Case("random", accelerator, np.array(builder.words, np.uint32), builder.constants, builder.ram)


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
