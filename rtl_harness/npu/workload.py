# SPDX-License-Identifier: Apache-2.0
"""Memory images that make the NPU's bench run one inference.

The bench has a flash behind the NPU's read-only port, an SRAM behind its read/write port, and a boot ROM
whose entries a sequencer writes to the NPU's registers. The register map is in README.md, section 1.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.networks.compile import CompiledNetwork, TensorSlot
from resil.networks.ends import each_shape
from resil.rtl_harness.engine.workload import Decision, OutputSpec, Workload, top1
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.tail import NpuTail

FLASH_BASE = 0x1000_0000
SRAM_BASE = 0x2000_0000
WORD_BYTES = 8
ALIGNMENT = 64
BOOT_END, BOOT_PAUSE, BOOT_RESET = 0xFFFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFD
RESET_CYCLES = 4
SMALLEST_WORDS = {"flash": 4096, "sram": 1024}
BUILT_WORDS = {"flash": 65536, "sram": 65536, "boot": 64}
"""Words that the bench has unless parameters say otherwise."""
# A boot list that needs more gets at least so many times as many.
BOOT_STEP = 16
SIZE_PARAMETERS = {"flash": "FlashWords", "sram": "SramWords", "boot": "BootWords"}

Array = npt.NDArray[np.generic]
Tensors = Array | Sequence[Array]
"""The tensor of a network with one input, or one for each input."""

CONSTANTS, ARENA, FAST_ARENA = 0, 1, 2
READ_WRITE_PORT, READ_ONLY_PORT = 0, 1

CMD, QBASE, QCONFIG, QSIZE, REGIONCFG, BASEP, RSIZE = 0x008, 0x010, 0x01C, 0x020, 0x03C, 0x080, 0x100
START, CLEAR_IRQ = 1, 2
BETWEEN = ("rewrite", "reset")


@dataclass(frozen=True)
class MemoryLayout:
    """Where things lie in the bench's memories, in bytes from the start of each.

    Attributes:
        commands: Offset of the command stream in the flash.
        flash_bytes: Bytes of the flash in use.
        regions: Offset of each region in its memory: region 0 in the flash, the others in the SRAM.
        sizes: Bytes of each region.
        sram_bytes: Bytes of the SRAM in use.
    """

    commands: int
    flash_bytes: int
    regions: dict[int, int]
    sizes: dict[int, int]
    sram_bytes: int

    def slot_offset(self, slot: TensorSlot) -> int:
        """Return the byte offset of a tensor in the SRAM."""
        return self.regions[slot.region] + slot.offset


def layout(compiled: CompiledNetwork) -> MemoryLayout:
    """Place constants and commands in the flash, the arenas one after the other in the SRAM.

    Raises:
        HarnessError: If the network uses a region that the bench has no memory for, or its inputs and outputs
            are not in the SRAM.
    """
    unknown = sorted(set(compiled.region_sizes) - {CONSTANTS, ARENA, FAST_ARENA})
    if unknown:
        raise HarnessError(
            f"{compiled.name}: the bench has memory for regions 0 to 2, the network uses {unknown} too",
            "regions",
        )
    commands = _aligned(len(compiled.constants))
    regions, sizes, top = {CONSTANTS: 0}, {CONSTANTS: len(compiled.constants)}, 0
    for region in (ARENA, FAST_ARENA):
        size = compiled.region_sizes.get(region, 0)
        if size > 0:
            regions[region], sizes[region] = top, size
            top = _aligned(top + size)
    placed = MemoryLayout(commands, commands + compiled.commands.nbytes, regions, sizes, top)
    for what, slots in (("input", compiled.inputs), ("output", compiled.outputs)):
        for slot in slots:
            _check_slot(compiled, what, slot, placed)
    return placed


def npu_workload(
    compiled: CompiledNetwork,
    tensors: Tensors,
    name: str = "",
    decide: Decision = top1,
    decided: int = 0,
    again: str = "",
    kept: Sequence[Array] = (),
) -> Workload:
    """Return the images and parameters for inferences of `compiled` on the NPU's bench.

    Memory sizes are rounded up to powers of two, and given to the bench when the simulation starts: networks
    share one build of it, but for those that are larger than it.

    Args:
        compiled: The network.
        tensors: What the NPU is given, each of its input's shape with or without a batch axis of one.
        name: For people; the network's name if empty.
        decide: Reads the decision from the output tensor.
        decided: Number of that output.
        again: "" for one inference. Else the host makes a second one of the same input: it clears the
            interrupt ("rewrite") or resets the NPU ("reset"), writes the input and all registers again, and
            starts the NPU. No functional model finishes such runs.
        kept: Tensors that the host keeps for later in the SRAM, behind all that the NPU has a region for.
            They are the last of the workload's outputs.

    Raises:
        HarnessError: If the input has not the network's shape and type, or the bench cannot hold the network.
    """
    placed = layout(compiled)
    flash = compiled.constants.ljust(placed.commands, b"\0") + compiled.commands.astype("<u4").tobytes()
    sram = bytearray(placed.sram_bytes)
    for slot, tensor in zip(compiled.inputs, one_each(compiled, tensors), strict=True):
        start = placed.slot_offset(slot)
        sram[start : start + slot.size] = _input_bytes(compiled.name, slot, tensor)
    kept_specs = []
    for tensor in kept:
        kept_specs.append(
            OutputSpec("sram", len(sram), tuple(tensor.shape), tensor.dtype.name, written=False)
        )
        sram += np.ascontiguousarray(tensor).tobytes()
        sram += bytes(_aligned(len(sram)) - len(sram))
    boot = boot_image(compiled, placed, again, bytes(sram))
    used = {"flash": _words(flash, SMALLEST_WORDS["flash"]), "sram": _words(sram, SMALLEST_WORDS["sram"])}
    built = used | {"boot": _boot_words(boot)}
    outputs = [
        OutputSpec("sram", placed.slot_offset(slot), tuple(slot.shape), slot.dtype)
        for slot in compiled.outputs
    ]
    return Workload(
        name=name or compiled.name,
        images={"flash": flash, "sram": bytes(sram), "boot": boot},
        output=outputs.pop(decided),
        others=(*outputs, *kept_specs),
        parameters={
            SIZE_PARAMETERS[name]: words for name, words in built.items() if words > BUILT_WORDS[name]
        }
        | ({"Inferences": 2} if again else {}),
        words=used,
        operations=tuple(operation.name for operation in compiled.operations),
        inferences=2 if again else 1,
        tail=None if again else NpuTail(compiled, placed.regions, placed.sizes),
        decide=decide,
    )


def boot_image(compiled: CompiledNetwork, placed: MemoryLayout, again: str = "", sram: bytes = b"") -> bytes:
    """Return the register writes that start the network, as the boot sequencer reads them.

    With `again`, as of `npu_workload`, they start it a second time on the inputs in `sram`.
    """
    ports = sum(READ_ONLY_PORT << i if i == CONSTANTS else READ_WRITE_PORT << i for i in range(8))
    writes = [
        (QBASE, FLASH_BASE + placed.commands),
        (QSIZE, compiled.commands.nbytes),
        (QCONFIG, READ_ONLY_PORT),
        (REGIONCFG, ports),
    ]
    for region, offset in placed.regions.items():
        base = FLASH_BASE if region == CONSTANTS else SRAM_BASE
        writes += [(BASEP + 8 * region, base + offset), (RSIZE + 4 * region, placed.sizes[region])]
    writes.append((CMD, START))
    if again:
        reset = [*[(BOOT_RESET, 1)] * RESET_CYCLES, (BOOT_RESET, 0)]
        between = [(CMD, CLEAR_IRQ)] if again == "rewrite" else reset
        writes += [(BOOT_PAUSE, 0), *between, *_host_writes(compiled, placed, sram), *writes]
    writes.append((BOOT_END, 0))
    return b"".join(struct.pack("<II", data, address) for address, data in writes)


def _host_writes(compiled: CompiledNetwork, placed: MemoryLayout, sram: bytes) -> list[tuple[int, int]]:
    """Return the writes of the inputs into the SRAM, by words; what follows one up to a word is its own."""
    writes = []
    for slot in compiled.inputs:
        start = placed.slot_offset(slot)
        if start % 4:
            raise HarnessError(
                f"{compiled.name}: input {slot.name} begins at byte {start} of the SRAM, a host that writes "
                "words cannot write it again; run one inference",
                f"inputs.{slot.name}.address",
            )
        tensor = sram[start : start + slot.size].ljust(-(-slot.size // 4) * 4, b"\0")
        writes += [
            (SRAM_BASE + start + 4 * i, word) for i, (word,) in enumerate(struct.iter_unpack("<I", tensor))
        ]
    return writes


def one_each(compiled: CompiledNetwork, tensors: Tensors) -> tuple[Array, ...]:
    """Return a tensor for each input of the NPU.

    Raises:
        HarnessError: There are not so many.
    """
    given = (tensors,) if isinstance(tensors, np.ndarray) else tuple(tensors)
    if len(given) != len(compiled.inputs):
        names = ", ".join(slot.name for slot in compiled.inputs)
        raise HarnessError(
            f"{compiled.name}: expected tensors for {len(compiled.inputs)} inputs ({names}), "
            f"found {len(given)}",
            "inputs",
        )
    return given


def _check_slot(compiled: CompiledNetwork, what: str, slot: TensorSlot, placed: MemoryLayout) -> None:
    if slot.region not in placed.regions or slot.region == CONSTANTS:
        raise HarnessError(
            f"{compiled.name}: the {what} {slot.name} lies in region {slot.region}, not in the SRAM",
            f"{what}s.{slot.name}.region",
        )
    if slot.offset + slot.size > placed.sizes[slot.region]:
        raise HarnessError(
            f"{compiled.name}: the {what} {slot.name} reaches beyond region {slot.region}",
            f"{what}s.{slot.name}.size",
        )


def _input_bytes(network: str, slot: TensorSlot, tensor: Array) -> bytes:
    shape = tuple(slot.shape)
    if tensor.dtype != np.dtype(slot.dtype) or tensor.shape not in (shape, each_shape(shape)):
        raise HarnessError(
            f"{network}: expected an input {slot.name} of type {slot.dtype} and shape {shape}, "
            f"found {tensor.dtype} {tensor.shape}",
            f"inputs.{slot.name}",
        )
    return np.ascontiguousarray(tensor).tobytes()


def _words(image: bytes | bytearray, least: int) -> int:
    words = -(-len(image) // WORD_BYTES)
    return max(least, 1 << (words - 1).bit_length() if words else 0)


def _boot_words(image: bytes) -> int:
    built = BUILT_WORDS["boot"]
    words = _words(image, built)
    return words if words <= built else max(words, BOOT_STEP * built)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
