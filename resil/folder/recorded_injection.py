# SPDX-License-Identifier: Apache-2.0
"""One injection of a run folder, by its number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from resil.bench.identity import Identity
from resil.errors import StoreError
from resil.folder.parts import PartError, read_part
from resil.folder.row_maker import injections_of, outcome_columns
from resil.folder.store import INJECTIONS, recorded_definition
from resil.rtl_harness.faults import Fault


@dataclass(frozen=True, slots=True)
class RecordedInjection:
    """What a row says of an injection.

    Attributes:
        number: Its number.
        path: Hierarchical name of the register or memory.
        fault: What was injected.
        fault_name: Its kind, as the column `fault` has it.
        input: Label of the input that was run.
        came_of_it: The columns of `outcome_columns`.
    """

    number: int
    path: str
    fault: Fault
    fault_name: str
    input: int
    came_of_it: Mapping[str, int | str]

    @staticmethod
    def of(row: pa.Table) -> RecordedInjection:
        """Return what a table of one row says."""
        injection = next(injections_of(row))
        (values,) = row.select(["injection", "path", "fault", "input", *outcome_columns(())]).to_pylist()
        number, path, name, label = (values.pop(key) for key in ("injection", "path", "fault", "input"))
        return RecordedInjection(number, path, injection.fault, name, label, values)


def find_injection(path: Path, number: int) -> RecordedInjection:
    """Return what is stored of injection `number` in the run folder `path`.

    Raises:
        StoreError: there is no such injection.
    """
    identity = Identity(recorded_definition(path))
    if not 0 <= number < 2**63:
        raise StoreError(
            f"{path}: expected the number of an injection, found {number}; choose one it has", "number"
        )
    damaged = 0
    for part in sorted((path / INJECTIONS).glob("part-*.parquet")):
        try:
            rows = read_part(part, identity.digest)
        except PartError:
            damaged += 1
            continue
        if (found := rows.filter(pc.field("injection") == number)).num_rows:
            return RecordedInjection.of(found.slice(0, 1))
    cause = (
        f"; {damaged} damaged part files were passed over, resil run --resume repairs them" if damaged else ""
    )
    raise StoreError(
        f"{path}: expected injection {number}, found none of that number{cause}; choose one of {INJECTIONS}/",
        "number",
    )
