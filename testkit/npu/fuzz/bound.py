# SPDX-License-Identifier: Apache-2.0
"""How long a command stream may take at most.

At every cycle at least one thing is going on that the stream asked for, so that the sum of them all bounds
the time, however little of it overlaps:

- a read burst of b beats keeps the memory for at most its latency and b beat intervals, a write for its
  latency;
- a pixel of an IFM piece has ceil(bytes / 16) segments at most, each of up to two bursts and five beats;
- the weight stream is read and decoded once for each block row and column of the OFM, a bit a cycle at the
  slowest; a weight vector is applied to one micro-block a cycle, and takes 16 cycles to put together;
- an output element takes up to four cycles, and its bytes are written in rows of at most 16 bytes, each of
  up to three beats;
- every step of the sequencer (a piece of an IFM, a block) has a fixed cost.

A bus that stalls at random makes each handshake, on the average, 1 / (1 - p) times as long; twice that is
allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from resil.rtl_harness.npu.model.commands import (
    CommandError,
    Opcode,
    Register,
    Registers,
    Words,
    parse,
)
from testkit.npu.fuzz.damage import BusFaults

READ_LATENCY, WRITE_LATENCY, BEAT_INTERVAL = 64, 32, 8
STEP = 300
BOOT = 2_000


def burst_cycles(beats: int) -> int:
    """Cycles of `beats` beats that are read one after the other in short bursts."""
    return beats * BEAT_INTERVAL + (beats // 4 + 2) * READ_LATENCY


@dataclass(frozen=True)
class Operation:
    """An operation of the stream, as far as its time goes.

    Attributes:
        word: Index of its command.
        kind: What it is.
        registers: As its command finds them.
    """

    word: int
    kind: Opcode
    registers: dict[str, int]


def operations(words: Words) -> Iterator[Operation]:
    """Yield the operations and copies of a stream up to where it is no longer one."""
    registers = Registers()
    try:
        for found in parse(words):
            target = found.target
            if isinstance(target, Register):
                registers.write(target, found.parameter, found.payload)
            elif target == Opcode.STOP:
                return
            elif target in _TIMES:
                yield Operation(found.word, target, {r.name: registers[r] for r in Register})
    except CommandError:
        return


def stream_cycles(words: Words, read: int, sizes: dict[int, int], faults: tuple[BusFaults, ...]) -> int:
    """Return the bound for the stream's first `read` words.

    Args:
        words: The stream.
        read: Words that the NPU took, as QREAD tells.
        sizes: Bytes of each region: a copy or a weight stream is never longer than the region it comes from.
        faults: Of the buses.
    """
    total = BOOT + 8 * read + burst_cycles(len(words) // 2 + 8)
    for operation in operations(words):
        if operation.word < read:
            total += STEP + _TIMES[operation.kind](operation.registers, sizes)
    return int(total * _slowdown(faults))


def _slowdown(faults: tuple[BusFaults, ...]) -> float:
    worst = max((p for port in faults for p in port.stalls), default=0)
    return 2 * 64 / (64 - worst) if worst else 1.0


def _copy(r: dict[str, int], sizes: dict[int, int]) -> int:
    beats = min(r["DMA0_LEN"], sizes.get(r["DMA0_SRC_REGION"] & 7, 0)) // 8
    return burst_cycles(beats) + beats * WRITE_LATENCY


def _elementwise(r: dict[str, int], sizes: dict[int, int]) -> int:
    return 2 * _pieces(r, subkernels=1, element_bytes=4) + _outputs(r)


def _pool(r: dict[str, int], sizes: dict[int, int]) -> int:
    return _pieces(r, _subkernels(r), element_bytes=4) + _mac(r) + _outputs(r)


def _convolution(r: dict[str, int], sizes: dict[int, int]) -> int:
    length = min(r["WEIGHT_LENGTH"], sizes.get(r["WEIGHT_REGION"] & 7, 0))
    restarts = _count(r, "HEIGHT") * _count(r, "WIDTH")
    weights = restarts * (burst_cycles(length // 8 + 16) + 8 * length)
    return weights + _pieces(r, _subkernels(r), element_bytes=1) + _mac(r) + _outputs(r)


_TIMES = {
    Opcode.DMA_START: _copy,
    Opcode.ELEMENTWISE: _elementwise,
    Opcode.POOL: _pool,
    Opcode.CONV: _convolution,
    Opcode.DEPTHWISE: _convolution,
}


def _count(r: dict[str, int], axis: str) -> int:
    return -(-(r[f"OFM_{axis}_M1"] + 1) // (r[f"OFM_BLK_{axis}_M1"] % 128 + 1))


def _blocks(r: dict[str, int]) -> int:
    return _count(r, "HEIGHT") * _count(r, "WIDTH") * _count(r, "DEPTH")


def _block_size(r: dict[str, int], axis: str) -> int:
    return min(r[f"OFM_BLK_{axis}_M1"] % 128, r[f"OFM_{axis}_M1"]) + 1


def _subkernels(r: dict[str, int]) -> int:
    fewest_taps = 2  # along one axis: 4x4 with dilation 2
    return (r["KERNEL_HEIGHT_M1"] % 128 // fewest_taps + 1) * (r["KERNEL_WIDTH_M1"] % 128 // fewest_taps + 1)


def _pieces(r: dict[str, int], subkernels: int, element_bytes: int) -> int:
    """IFM fetch: all pieces of all blocks, with strides of 3 and 8x8 subkernels, in chunks of 8 channels."""
    height, width = (3 * _block_size(r, axis) + 8 for axis in ("HEIGHT", "WIDTH"))
    chunks = r["IFM_DEPTH_M1"] // 8 + 1
    segments = 8 * element_bytes
    a_pixel = 1 + segments * (2 * READ_LATENCY + 5 * BEAT_INTERVAL)
    return _blocks(r) * subkernels * chunks * (STEP + height * width * a_pixel)


def _mac(r: dict[str, int]) -> int:
    """Vectors of all blocks: 64 taps by 4 by the micro-blocks in depth, each for all pixels of the block."""
    pixels = _block_size(r, "HEIGHT") * _block_size(r, "WIDTH")
    vectors = 64 * 4 * (r["OFM_BLK_DEPTH_M1"] % 128 // 4 + 1)
    return _blocks(r) * _subkernels(r) * (r["IFM_DEPTH_M1"] // 8 + 1) * vectors * (pixels + 16)


def _outputs(r: dict[str, int]) -> int:
    pixels = _block_size(r, "HEIGHT") * _block_size(r, "WIDTH")
    depth = r["OFM_BLK_DEPTH_M1"] % 128 + 1
    rows = pixels * (4 * depth // 16 + 4)
    scales = burst_cycles(10 * depth // 8 + 2)
    return _blocks(r) * (STEP + scales + 4 * pixels * depth + rows * 3 * (WRITE_LATENCY + 2))
