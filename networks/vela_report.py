# SPDX-License-Identifier: Apache-2.0
"""What Vela says about the network it compiled: layers, cycles, and which command belongs to which layer."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass

from resil.networks.errors import NetworkError

_TABLE = re.compile(r'<table name="(\w+)">\s*<!\[CDATA\[\n(.*?)\]\]>\s*</table>', re.DOTALL)


@dataclass(frozen=True)
class ScheduledOperation:
    """An operation as Vela scheduled it.

    Attributes:
        operator: Vela's name of the operation, such as "Conv2D".
        name: Name of its output tensor.
        cycles: Vela's estimate.
    """

    operator: str
    name: str
    cycles: int


@dataclass(frozen=True)
class VelaReport:
    """Vela's debug database and summary.

    Attributes:
        layers: By Vela's number.
        commands: Byte offset of an NPU_OP_* command in the stream to the number of its layer.
        addresses: Tensor name to its address, where a name stands for one tensor only.
        total_cycles: Vela's estimate for the network.
    """

    layers: Mapping[int, ScheduledOperation]
    commands: Mapping[int, int]
    addresses: Mapping[str, int]
    total_cycles: int


def parse_report(debug: bytes, summary: bytes) -> VelaReport:
    """Read the debug database (XML) and the summary (CSV).

    Raises:
        NetworkError: They are not what Vela 5.2.0 writes.
    """
    tables = {m.group(1): _rows(m.group(2)) for m in _TABLE.finditer(debug.decode("utf-8", errors="replace"))}
    totals = _rows(summary.decode("utf-8", errors="replace"))
    try:
        return VelaReport(
            {
                int(row["id"]): ScheduledOperation(row["operator"], row["name"], int(row["op_cycles"]))
                for row in tables["perf"]
            },
            {int(row["offset"]): int(row["scheduled_id"]) for row in tables["queue"]},
            _addresses(tables["tensors"]),
            round(float(totals[0]["cycles_total"])),
        )
    except (KeyError, IndexError, ValueError) as error:
        raise NetworkError(
            f"Vela's report is not as Vela 5.2.0 writes it ({type(error).__name__}: {error}); "
            "install ethos-u-vela==5.2.0",
            "vela",
        ) from error


def _rows(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV table; rows of the wrong length (a name with a line break) are left out."""
    reader = csv.reader(io.StringIO(text))
    header = next(reader, [])
    return [dict(zip(header, row, strict=True)) for row in reader if len(row) == len(header)]


def _addresses(rows: list[dict[str, str]]) -> dict[str, int]:
    names = [row["name"] for row in rows]
    return {row["name"]: int(row["start_address"], 0) for row in rows if names.count(row["name"]) == 1}
