# SPDX-License-Identifier: Apache-2.0
"""Injections as the columns of a part file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from resil.bench.bench import Describe
from resil.faults.plan import FaultPlan, IntArray, held_value
from resil.folder.parts import SCHEMA
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.faults import NEVER, Fault, Injection, Outcome, Reported, Rise, Seen, Untestable


class RowMaker:
    """Makes tables of `parts.SCHEMA`.

    Args:
        plan: Which fault has which number.
        sites: The fault sites that the plan refers to.
        labels: Label of each input.
        operation_ends: Cycle at which each operation ends, for each input.
        describe: Says what a corruption of memory is.
    """

    def __init__(
        self,
        plan: FaultPlan,
        sites: SiteTable,
        labels: Sequence[int],
        operation_ends: Sequence[Sequence[int]],
        describe: Describe,
    ) -> None:
        self._plan = plan
        self._offsets = np.array(sites.offsets, dtype=np.int64)
        self._elements = {
            name: np.array([getattr(element, name) for element in sites.elements], dtype=np.int64)
            for name in ("width", "first_word", "lsb")
        }
        self._step = np.array([-1 if element.ascending else 1 for element in sites.elements], dtype=np.int64)
        self._paths = pa.array([element.path for element in sites.elements], pa.string())
        self._strata = {
            "stratum": pa.array([stratum.population.name for stratum in plan.strata], pa.string()),
            "block": pa.array([stratum.block for stratum in plan.strata], pa.string()),
            "kind": pa.array([stratum.kind for stratum in plan.strata], pa.string()),
        }
        self._labels = np.array(labels, dtype=np.int64)
        self._ends = [np.array(ends, dtype=np.int64) for ends in operation_ends]
        self._describe = describe

    def table(self, rows: Sequence[int], injections: Sequence[Injection]) -> pa.Table:
        """Return a row for each of the plan's rows and the injection of its fault."""
        plan, at = self._plan, np.array(rows, dtype=np.int64)
        site, stratum, position = plan.site[at], pa.array(plan.stratum[at]), plan.input[at]
        element = np.searchsorted(self._offsets, site, side="right") - 1
        word, bit = np.divmod(site - self._offsets[element], self._elements["width"][element])
        columns: dict[str, pa.Array | IntArray | list[int] | list[str]] = {
            "injection": plan.injection[at],
            **{name: values.take(stratum) for name, values in self._strata.items()},
            "site": site,
            "path": self._paths.take(pa.array(element)),
            "word": word + self._elements["first_word"][element],
            "bit": self._elements["lsb"][element] + self._step[element] * bit,
            "bits": plan.bits[at],
            "fault": plan.names(at),
            "input": self._labels[position],
            "cycle": plan.cycle[at],
            **outcome_columns(injections),
            "operation": np.where(plan.held[at] < 0, self._operations(position, plan.cycle[at]), -1),
            "corruption": [
                "" if injection.corruption is None else self._describe(where, injection.corruption)
                for where, injection in zip(position.tolist(), injections, strict=True)
            ],
        }
        return pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)

    def _operations(self, position: IntArray, cycle: IntArray) -> IntArray:
        """Return the operation that ran in each cycle."""
        found = np.zeros(len(cycle), dtype=np.int64)
        for number, ends in enumerate(self._ends):
            here = position == number
            found[here] = np.searchsorted(ends, cycle[here], side="right")
        return found


def outcome_columns(injections: Sequence[Injection]) -> dict[str, list[int] | list[str]]:
    """Return the columns that say what came of injections."""
    return {
        "outcome": [injection.outcome.value for injection in injections],
        "seen": [injection.seen.value for injection in injections],
        "reported": [injection.reported.value for injection in injections],
        **_rises("alarm", [injection.detected for injection in injections]),
        **_rises("correction", [injection.corrected for injection in injections]),
        "first": [injection.first or "" for injection in injections],
        "second": [injection.second or "" for injection in injections],
        "end_cycle": [injection.end_cycle for injection in injections],
        "status": [injection.status for injection in injections],
        "output_hash": [injection.output_hash for injection in injections],
        "untestable": [own.untestable.value if own.untestable else "" for own in injections],
    }


def injections_of(rows: pa.Table) -> Iterator[Injection]:
    """Yield what rows of `parts.SCHEMA` say came of their faults; corruptions are not kept in them."""
    names = ("site", "cycle", "bits", "fault", "seen", "end_cycle", "status", "output_hash")
    reports = ("alarm", "alarm_cycle", "correction", "correction_cycle", "first", "second", "untestable")
    for row in rows.select([*names, *reports]).to_pylist():
        fault = Fault(row["site"], row["cycle"], row["bits"], held_value(row["fault"]))
        yield Injection(
            fault,
            Seen(row["seen"]),
            row["end_cycle"],
            row["status"],
            row["output_hash"],
            _rise(row["alarm"], Reported.DETECTED, row["alarm_cycle"]),
            _rise(row["correction"], Reported.CORRECTED, row["correction_cycle"]),
            Outcome(row["first"]) if row["first"] else None,
            Outcome(row["second"]) if row["second"] else None,
            untestable=Untestable(row["untestable"]) if row["untestable"] else None,
        )


def _rise(alarm: str, kind: Reported, cycle: int) -> Rise | None:
    return Rise(alarm, kind, cycle) if cycle != NEVER else None


def _rises(name: str, found: Sequence[Rise | None]) -> dict[str, list[int] | list[str]]:
    """Return the columns that say which alarm rose and when."""
    return {
        name: ["" if rise is None else rise.alarm for rise in found],
        f"{name}_cycle": [NEVER if rise is None else rise.cycle for rise in found],
    }
