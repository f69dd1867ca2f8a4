"""The faults that are wanted, each with its injection number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rtl_harness.faults import Fault
from stats.sampling import Stratum, draw

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FaultStratum:
    """Faults that are sampled together: in some storage, while some operation runs, over all inputs.

    Attributes:
        block: Name of the block.
        kind: "ff" or "sram".
        register_class: Of the storage; "" for all classes.
        operation: Number of the operation that runs, from 0; the one after the last is what comes after all
            operations. None for the whole inference.
        population: Its size and the name that the sampling is keyed with.
        starts: For each input, the cycle in which it begins.
        first_sites: First site of each piece of its storage.
        ends: Sites up to the end of each piece.
        exposure: Part of the time of all inferences.
    """

    block: str
    kind: str
    register_class: str
    operation: int | None
    population: Stratum
    starts: tuple[int, ...]
    first_sites: IntArray
    ends: IntArray
    exposure: float

    @property
    def label(self) -> tuple[str, ...]:
        """The stratum from coarse to fine, for `stats.strata`."""
        fine = () if self.operation is None else (self.register_class, str(self.operation))
        return (self.block, self.kind, *fine)

    def draw(self, seed: int, start: int, count: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return site, cycle and place of the input of draws `start .. start + count - 1`."""
        population = self.population
        members = draw(seed, population.name, population.size, count, start)
        within, cycle, place = population.locate(members)
        piece = np.searchsorted(self.ends, within, side="right")
        before = np.concatenate(([0], self.ends[:-1]))[piece]
        return (
            self.first_sites[piece] + within - before,
            cycle + np.array(self.starts, dtype=np.int64)[place],
            place,
        )


@dataclass(frozen=True)
class Plan:
    """Faults in order of their injection numbers.

    Attributes:
        strata: All strata of the campaign.
        injection: Injection numbers, ascending.
        stratum: Index into `strata` of each.
        site: Fault site of each.
        cycle: Cycle of each.
        input: Place among the campaign's inputs of the input of each.
    """

    strata: tuple[FaultStratum, ...]
    injection: IntArray
    stratum: IntArray
    site: IntArray
    cycle: IntArray
    input: IntArray

    @property
    def size(self) -> int:
        """Number of injections."""
        return len(self.injection)

    def fault(self, row: int) -> Fault:
        """Return the fault in row `row`."""
        return Fault(int(self.site[row]), int(self.cycle[row]))

    def missing(self, done: pa.Table) -> IntArray:
        """Return the rows of the plan whose injections are not among `done`."""
        return np.flatnonzero(~np.isin(self.injection, done["injection"].to_numpy()))

    def chosen(self, done: pa.Table) -> pa.Table:
        """Return those rows of `done` whose injections belong to the plan."""
        return done.filter(pa.array(np.isin(done["injection"].to_numpy(), self.injection)))
