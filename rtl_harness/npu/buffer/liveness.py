# SPDX-License-Identifier: Apache-2.0
"""Which data lie in the shared buffer, from when to when: what a command stream says of it, without RTL.

Every byte of the buffer is known to be written at a time, and read for the last time at a later one; between
the two a flip in it may reach the output, and at other times it cannot. Which data and which blocks is exact;
the times are as good as the cycles are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.networks.compile import CompiledNetwork
from resil.rtl_harness.npu.buffer.stays import ROW_BYTES, Role, Stay
from resil.rtl_harness.npu.buffer.walk import Walk
from resil.rtl_harness.npu.model.config import NpuConfig, npu_config
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER
from resil.rtl_harness.npu.model.output import table_bytes
from resil.rtl_harness.npu.model.program import Copy, Execute, OperationConfig, lower
from resil.rtl_harness.npu.workload import CONSTANTS

FloatArray = npt.NDArray[np.float64]

_LEAD = 40


@dataclass(frozen=True)
class Liveness:
    """The shared buffer over one inference.

    Attributes:
        stays: What lies in it.
        bits: Of the buffer.
        cycles: Of the inference.
        last_write: When each 128-bit row is written for the last time, 0 if never, (rows,).
    """

    stays: tuple[Stay, ...]
    bits: int
    cycles: float
    last_write: FloatArray

    @property
    def live(self) -> float:
        """Share of upsets that hit data which are read afterwards, of all that hit the buffer."""
        return sum(stay.bit_cycles for stay in self.stays) / (self.bits * self.cycles)

    @property
    def left(self) -> float:
        """Share of upsets that nothing writes over before the inference ends."""
        return float(1.0 - self.last_write.mean() / self.cycles)


def buffer_liveness(compiled: CompiledNetwork, cycles: Sequence[float], tail: float) -> Liveness:
    """Follow the shared buffer through an inference.

    Args:
        compiled: The network.
        cycles: Of each operation.
        tail: Cycles after the last operation.
    """
    npu = npu_config(compiled.accelerator)
    stays: list[Stay] = []
    last = np.zeros(npu.shared_buffer_bytes // ROW_BYTES)
    now, copied, before, ring = 0.0, 0.0, 0.0, 0
    tables: dict[int, float] = {}
    for step in lower(compiled.commands, npu, frozenset({CONSTANTS})).steps:
        action = step.action
        if isinstance(action, Copy):
            copied += action.length
            if action.destination_region == SHARED_BUFFER:
                first = action.destination // ROW_BYTES
                tables |= dict.fromkeys(range(first, first + action.length // ROW_BYTES), now)
                last[first : first + action.length // ROW_BYTES] = now
        elif isinstance(action, Execute):
            # A copy goes on beside the operation before, which has begun when it is asked for.
            whole = cycles[action.index]
            begin = now + min(_LEAD + max(copied - before, 0.0), 0.5 * whole)
            walk = Walk(action.index, action.config, npu, ring)
            own = walk.stays(begin, now + whole)
            for first, count, at in ((*rows, stay.last_written) for stay in own for rows in stay.rows):
                last[first : first + count] = np.maximum(last[first : first + count], at)
            stays += [*own, *_table(action, npu, tables, now + whole)]
            now, copied, before, ring = now + whole, 0.0, whole, walk.ring
    return Liveness(tuple(stays), 8 * npu.shared_buffer_bytes, now + tail, last)


def walk_cycles(config: OperationConfig, npu: NpuConfig) -> float:
    """Return the cycles of an operation's walk over its blocks, each unit at its pace."""
    return Walk(0, config, npu).schedule()[1]


def _table(action: Execute, npu: NpuConfig, written: dict[int, float], end: float) -> Iterator[Stay]:
    """Yield the look-up table that an operation uses, from its copy or its last use on.

    Args:
        action: The operation.
        npu: The accelerator.
        written: Of each row since when nobody has read it; brought up to date.
        end: Of the operation.
    """
    output = action.config.output
    if output.activation.table is None:
        return
    ofm = output.ofm
    size = table_bytes(ofm.element_bytes)
    first = npu.table_base + output.activation.table * size
    rows = range(first // ROW_BYTES, (first + size) // ROW_BYTES)
    begin = min((written.get(row, end) for row in rows), default=end)
    written |= dict.fromkeys(rows, end)
    box = ((0, 1), (0, 1), (first, first + size))
    reach = ((0, ofm.height), (0, ofm.width), (0, ofm.depth))
    times = ((begin, begin), (end, end), (begin, end))
    yield Stay(Role.TABLE, action.index, box, 8, reach, *times, False, ((rows.start, len(rows)),))
