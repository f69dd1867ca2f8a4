# SPDX-License-Identifier: Apache-2.0
"""The memories of a closed bench: what of the target they are, what fills them, what is watched of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.sites import StorageElement
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.rtl_harness.engine.workload import Workload, memory_words, words_plusargs
from resil.rtl_harness.errors import HarnessError


def watched_memories(target: Target, workload: Workload) -> dict[str, TargetMemory]:
    """Return the memories that outputs lie in, or that are part of the state compared, by name."""
    held = {output.memory for output in workload.outputs}
    return {name: m for name, m in target.memories.items() if m.observed or name in held}


def write_images(target: Target, workload: Workload, elaboration: Elaboration, folder: Path) -> list[str]:
    """Write a `$readmemh` file for every memory of the target; return the plusargs for them.

    Every word that a memory has is written; what the workload does not give is zero.
    """
    arguments = []
    for name, memory in target.memories.items():
        size = _bytes(target, workload, elaboration, name)
        image = workload.images.get(name, b"").ljust(size, b"\0")
        path = folder / f"{name}.hex"
        path.write_text(readmemh_text(image, memory.word_bytes), encoding="ascii")
        arguments.append(f"+{memory.plusarg}={path}")
    return [*arguments, *(f"+{argument}" for argument in words_plusargs(target, workload))]


def readmemh_text(image: bytes, word_bytes: int) -> str:
    """Return `image` as `$readmemh` reads it; byte 0 of a word is the least significant.

    >>> readmemh_text(bytes([1, 2, 3]), 2)
    '0201\\n0003\\n'
    """
    if not image:
        return ""
    padded = image.ljust(-(-len(image) // word_bytes) * word_bytes, b"\0")
    words = np.frombuffer(padded, np.uint8).reshape(-1, word_bytes)
    return words[:, ::-1].tobytes().hex("\n", word_bytes) + "\n"


def memory_element(target: Target, elaboration: Elaboration, name: str) -> StorageElement:
    """Return the storage element of one of the target's memories.

    Raises:
        HarnessError: If the RTL has no such array, or its words have another size.
    """
    memory = target.memories[name]
    where = f"target {target.name}: memories.{name}"
    elements = (*elaboration.bench_elements, *elaboration.sites.elements)
    found = next((e for e in elements if e.path == memory.path and e.kind == "sram"), None)
    if found is None:
        raise HarnessError(
            f"{where}.path: expected an unpacked array elaborated as one memory, but {memory.path} is none; "
            "name the array that holds the words",
            f"memories.{name}.path",
        )
    if found.width != 8 * memory.word_bytes:
        raise HarnessError(
            f"{where}.word_bytes: {memory.path} has words of {found.width} bits, the target file says "
            f"{memory.word_bytes} bytes; correct it",
            f"memories.{name}.word_bytes",
        )
    return found


def check_workload(target: Target, workload: Workload, elaboration: Elaboration) -> None:
    """Raise HarnessError unless the workload fits the target and its elaboration."""
    parameters = {**target.parameters, **workload.parameters}
    if dict(elaboration.parameters) != parameters:
        raise HarnessError(
            f"workload {workload.name} needs the parameters {parameters}, the elaboration was made with "
            f"{dict(elaboration.parameters)}; call elaborate(target, workload.parameters)",
            "parameters",
        )
    if workload.driven is not None:
        return
    extents = [(f"the image of memory {name!r}", name, len(image)) for name, image in workload.images.items()]
    extents += [("what it says of the words", name, 0) for name in workload.words]
    extents += [("the output tensor", o.memory, o.offset + o.size) for o in workload.outputs]
    for what, name, end in extents:
        if name not in target.memories:
            known = ", ".join(target.memories)
            raise HarnessError(
                f"workload {workload.name}: memory {name!r} is none of the target's: {known}",
                f"memories.{name}",
            )
        size = _bytes(target, workload, elaboration, name)
        if end > size:
            raise HarnessError(
                f"workload {workload.name}: {what} ends at byte {end}, but {target.memories[name].path} has "
                f"{size}; enlarge it by the parameters of the top",
                f"memories.{name}.size",
            )


def _bytes(target: Target, workload: Workload, elaboration: Elaboration, name: str) -> int:
    built = memory_element(target, elaboration, name).depth
    return memory_words(target, workload, name, built) * target.memories[name].word_bytes
