# SPDX-License-Identifier: Apache-2.0
"""What goes to a worker, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256

import numpy as np
import pyarrow as pa

from resil.bench.identity import Identity
from resil.faults.plan import IntArray
from resil.faults.population import Population
from resil.folder.contents import content_of
from resil.folder.parts import SCHEMA, PartError
from resil.rtl_harness.engine.contract import Audited


@dataclass(frozen=True)
class Order:
    """Injections that a worker is to simulate.

    Attributes:
        campaign: Text of the resolved campaign.
        file: Where the campaign was read from; for messages.
        folder: Run folder; for messages.
        definition: Of the campaign's identity: a worker that makes another of the campaign has other files.
        sources: `vet.source_digest` of whoever asks.
        position: Place of the input of these injections.
        numbers: Of the injections, ascending, as bytes of int64.
        expected: Injections that this worker may expect to get in all.
    """

    campaign: str
    file: str
    folder: str
    definition: Mapping[str, str]
    sources: str
    position: int
    numbers: bytes
    expected: int

    @property
    def injections(self) -> IntArray:
        """The numbers as an array."""
        return np.frombuffer(self.numbers, dtype=np.int64)

    @property
    def identity(self) -> Identity:
        """Of the campaign."""
        return Identity(self.definition)


class Result(StrEnum):
    """What became of an order."""

    ROWS = "rows"
    REFUSED = "this worker cannot carry the campaign out"
    BROKEN = "the simulator broke"
    FAILED = "results contradict each other"


@dataclass(frozen=True)
class Reply:
    """What a worker answers.

    Attributes:
        result: What became of the order.
        message: Why there are no rows.
        rows: Rows of `parts.SCHEMA` as an Arrow stream.
        digest: SHA-256 of `rows`.
        seconds: Time that simulating them took.
        processor: Seconds of processor time of the worker in that time.
        preparing: Seconds before that, of a worker's first order of a campaign.
        notes: What the engine has to say.
        audits: What the engine has audited of these rows.
    """

    result: Result
    message: str = ""
    rows: bytes = b""
    digest: str = ""
    seconds: float = 0.0
    processor: float = 0.0
    preparing: float = 0.0
    notes: tuple[str, ...] = ()
    audits: Mapping[str, Audited] = field(default_factory=dict)


def packed(rows: pa.Table) -> tuple[bytes, str]:
    """Return rows as a `Reply` has them, and the digest of that."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, SCHEMA, options=options) as writer:
        writer.write_table(rows)
    data = sink.getvalue().to_pybytes()
    return data, sha256(data).hexdigest()


def rows_of(reply: Reply, numbers: IntArray, population: Population) -> pa.Table:
    """Return the rows of a reply, which are those of `numbers`, each once, and of the faults of that number.

    Raises:
        PartError: they are not.
    """
    if sha256(reply.rows).hexdigest() != reply.digest:
        raise PartError("is altered: its content does not match its checksum")
    try:
        rows = pa.ipc.open_stream(reply.rows).read_all()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise PartError(f"cannot be read ({str(error).splitlines()[0]})") from None
    if not rows.schema.equals(SCHEMA):
        raise PartError("has columns other than those of an injection part")
    content = content_of(rows)
    if not np.array_equal(np.sort(content.injections), numbers):
        raise PartError("holds other injections than were asked for")
    if (fault := population.check(rows)) is not None:
        raise PartError(fault)
    return rows
