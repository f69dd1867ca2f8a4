# SPDX-License-Identifier: Apache-2.0
"""The gates of a design, and the file that they are kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Gates:
    """Logic in the order of evaluation; nets are numbered, 0 and 1 are the constants.

    Attributes:
        nets: Number of nets.
        gates: Operation and nets (a, b, s, y) of each, (gates, 5). For `READ`, `a` is the read port's number.
        flip_flops: Nets of q, d and asynchronous reset or load, its active level, and whether an upset
            makes an edge of a clock or moves an open latch, (flip_flops, 5); latches are among them.
        ports: Nets of the outputs of the top, alarms aside.
        alarms: Nets of each alarm.
        operation: Nets of the counter of operations, the lowest bit first; none if the target has none.
        undefined: Nets that are 1 where what the gates say of a word is not what the simulator computes.
        wires: Nets of each variable that holds storage, least significant first, by path.
        memories: Paths of the memories.
        reads: Memory, address nets and data nets of each read port.
        writes: Memory, address, data and enable nets of each write port.
    """

    nets: int
    gates: Ints
    flip_flops: Ints
    ports: Ints
    alarms: tuple[tuple[int, ...], ...]
    operation: tuple[int, ...]
    undefined: tuple[int, ...]
    wires: Mapping[str, tuple[int, ...]]
    memories: tuple[tuple[str, int], ...]
    reads: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]
    writes: tuple[tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...]


def packed(gates: Gates) -> bytes:
    """Return gates as an archive of NumPy arrays that compresses well: equal gates make equal bytes."""
    rest = {
        "nets": gates.nets,
        "alarms": gates.alarms,
        "operation": gates.operation,
        "undefined": gates.undefined,
        "wires": dict(gates.wires),
        "memories": gates.memories,
        "reads": gates.reads,
        "writes": gates.writes,
    }
    content = BytesIO()
    np.savez(
        content,
        gates=_steps(gates.gates),
        flip_flops=_steps(gates.flip_flops),
        ports=gates.ports,
        rest=np.frombuffer(json.dumps(rest).encode(), np.uint8),
    )
    return content.getvalue()


def unpacked(content: bytes) -> Gates:
    """Return the gates of an archive that `packed` made."""
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        rest = json.loads(arrays["rest"].tobytes())
        return Gates(
            rest["nets"],
            _from_steps(arrays["gates"]),
            _from_steps(arrays["flip_flops"]),
            arrays["ports"],
            tuple(tuple(nets) for nets in rest["alarms"]),
            tuple(rest["operation"]),
            tuple(rest["undefined"]),
            {path: tuple(nets) for path, nets in rest["wires"].items()},
            tuple((path, first) for path, first in rest["memories"]),
            tuple((m, tuple(a), tuple(d)) for m, a, d in rest["reads"]),
            tuple((m, tuple(a), tuple(d), tuple(e)) for m, a, d, e in rest["writes"]),
        )


def _steps(table: Ints) -> Ints:
    """Return the columns of a table as rows, each number as the step from the one before."""
    return np.ascontiguousarray(np.diff(table.T, axis=1, prepend=np.int32(0)))


def _from_steps(steps: Ints) -> Ints:
    return np.ascontiguousarray(np.cumsum(steps, axis=1, dtype=np.int32).T)
