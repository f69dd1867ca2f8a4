# SPDX-License-Identifier: Apache-2.0
"""`strata.parquet`: how the injections of a run were drawn, and which of them its figures rest on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from resil.faults.population import Population
from resil.faults.sampling import Sample
from resil.files import read_parquet, write_file
from resil.stats.designs import SamplingDesign
from resil.stats.parts import GroupParts, parts_by
from resil.stats.strata import Strata

IntArray = npt.NDArray[np.int64]

# Names of a label where classes have rates of their own: block, kind and class.
_RATED = 3
_LABEL = ("block", "kind", "division", "register", "operation")


@dataclass(frozen=True, eq=False)
class Drawn:
    """How injections were drawn. Injection `n` is draw `n // strata` of the stratum `n % strata`.

    Attributes:
        strata: The population.
        groups: Group of each stratum that it is analysed with, shape (strata,).
        pilots: First draws of each stratum that planned the sampling and do not count, shape (strata,).
        injections: Draws after these that count, shape (strata,).
    """

    strata: Strata
    groups: IntArray
    pilots: IntArray
    injections: IntArray

    def owners(self, numbers: IntArray) -> IntArray:
        """Return the stratum of each injection number."""
        return numbers % len(self.strata)

    def count(self, numbers: IntArray) -> npt.NDArray[np.bool_]:
        """Return which injections the run's figures rest on."""
        draw, own = np.divmod(numbers, len(self.strata))
        first = self.pilots[own]
        counts: npt.NDArray[np.bool_] = (draw >= first) & (draw < first + self.injections[own])
        return counts

    @property
    def rated(self) -> bool:
        """Whether classes within a kind of storage of a block have rates of their own."""
        return len(self.strata.labels[0]) == _RATED

    def parts(self, depth: int) -> GroupParts:
        """Return what the sample is counted by; `depth` as in `resil.stats.parts.parts_by`."""
        sizes = np.bincount(self.groups).astype(np.float64)
        return parts_by(self.strata, SamplingDesign(self.groups, sizes / sizes.sum(), jitter=False), depth)


def write_strata(population: Population, sample: Sample, path: Path) -> None:
    """Write how a sample was drawn, a row for each stratum in the order of their numbers."""
    strata = sample.strata
    missing = ("",) * (len(_LABEL) - len(strata.labels[0]))
    labels = [(*label, *missing) for label in strata.labels]
    columns = {
        "stratum": [stratum.population.name for stratum in population.strata],
        **{name: [label[i] for label in labels] for i, name in enumerate(_LABEL)},
        "faults": strata.sizes,
        "fit_raw": strata.weights,
        "group": sample.design.owner,
        "pilot": sample.pilots,
        "injections": sum(sample.counts.values(), np.zeros(len(strata), dtype=np.int64)),
    }
    write_file(path, lambda temporary: pq.write_table(pa.table(columns), temporary, compression="zstd"))


def read_strata(path: Path) -> Drawn:
    """Return how a finished run's injections were drawn; the file must be as the run left it."""
    table = read_parquet(path)
    columns = [table[name].to_pylist() for name in _LABEL]
    # Divided by operation, by class alone where classes have rates of their own, or not.
    names = len(_LABEL) if any(columns[-1]) else _RATED if any(columns[2]) else 2
    labels = list(zip(*columns[:names], strict=True))
    weights, *rest = (
        table[name].to_numpy() for name in ("fit_raw", "faults", "group", "pilot", "injections")
    )
    sizes, groups, pilots, injections = (own.astype(np.int64) for own in rest)
    return Drawn(Strata.of(labels, weights, sizes), groups, pilots, injections)
