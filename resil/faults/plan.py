"""The faults that are wanted, each with its injection number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.campaign.clusters import cluster_bits
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
        variable: Path of the storage without indices; "" for all storage of the class.
        operation: Number of the operation that runs, from 0; the one after the last is what comes after all
            operations. None for the whole inference.
        population: Its size and the name that the sampling is keyed with.
        starts: For each input, the cycle in which it begins.
        first_sites: First site of each piece of its storage.
        ends: Sites up to the end of each piece.
        widths: Bits of a word of each piece.
        exposure: Part of the time of all inferences.
    """

    block: str
    kind: str
    register_class: str
    variable: str
    operation: int | None
    population: Stratum
    starts: tuple[int, ...]
    first_sites: IntArray
    ends: IntArray
    widths: IntArray
    exposure: float

    @property
    def label(self) -> tuple[str, ...]:
        """The stratum from coarse to fine, for `stats.strata`."""
        fine = () if self.operation is None else (self.register_class, self.variable, str(self.operation))
        return (self.block, self.kind, *fine)

    def draw(
        self, seed: int, clusters: Sequence[float], start: int, count: int
    ) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return site, cycle, place of the input and size of draws `start .. start + count - 1`."""
        population = self.population
        members = draw(seed, population.name, population.size, count, start)
        within, cycle, place = population.locate(members)
        piece = np.searchsorted(self.ends, within, side="right")
        before = np.concatenate(([0], self.ends[:-1]))[piece]
        room = self.widths[piece] - (within - before) % self.widths[piece]
        return (
            self.first_sites[piece] + within - before,
            cycle + np.array(self.starts, dtype=np.int64)[place],
            place,
            cluster_bits(seed, population.name, clusters, start, room),
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
        bits: Adjacent bits that each flips.
    """

    strata: tuple[FaultStratum, ...]
    injection: IntArray
    stratum: IntArray
    site: IntArray
    cycle: IntArray
    input: IntArray
    bits: IntArray

    @property
    def size(self) -> int:
        """Number of injections."""
        return len(self.injection)

    def fault(self, row: int) -> Fault:
        """Return the fault in row `row`."""
        return Fault(int(self.site[row]), int(self.cycle[row]), int(self.bits[row]))

    def missing(self, done: IntArray) -> IntArray:
        """Return the rows of the plan whose injection numbers are not among `done`, each there once."""
        return np.flatnonzero(~np.isin(self.injection, done, assume_unique=True))
