# SPDX-License-Identifier: Apache-2.0
"""The faults that are wanted, each with its injection number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.campaign.clusters import cluster_bits
from resil.campaign.fault_settings import BRIDGE, LOGIC, OPEN, PULSE, STUCK_AT, UPSET
from resil.rtl_harness.faults import Fault
from resil.stats.sampling import Stratum, drawn

IntArray = npt.NDArray[np.int64]

# What stored injections call a fault: by what its bit is held at, from -1 (nothing: an upset) on.
FAULT_NAMES = ("upset", "stuck_at_0", "stuck_at_1")
# The first of these, where the fault strikes logic.
PULSE_NAME = "set"
# What permanent faults of each model are called, by value.
PERMANENT_NAMES: Mapping[str, tuple[str, ...]] = {
    STUCK_AT: FAULT_NAMES[1:],
    OPEN: ("open_0", "open_1"),
    BRIDGE: ("bridge",),
}


@dataclass(frozen=True)
class FaultStratum:
    """Faults that are sampled together: in some storage, while some operation runs, over all inputs.

    Attributes:
        block: Name of the block.
        kind: "ff", "macro" or "sram".
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
        stuck: The faults are there from reset on: what the population counts as cycles are the two values of
            each.
        model: Of such faults, one of `PERMANENT_MODELS`; a bridge has one value.
        relative: How often faults at its sites come beside the rate of the kind.
        rated: It is one of several of its block and kind, which have other rates; its class says which.
        rooms: How many bits an upset that begins at each site has at the most, by a placement; None where
            that is what its word has from there on.
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
    stuck: bool = False
    rooms: IntArray | None = None
    model: str = STUCK_AT
    relative: float = 1.0
    rated: bool = False

    @property
    def label(self) -> tuple[str, ...]:
        """The stratum from coarse to fine, for `resil.stats.strata`."""
        if self.rated:
            return (self.block, self.kind, self.register_class)
        fine = () if self.operation is None else (self.register_class, self.variable, str(self.operation))
        return (self.block, self.kind, *fine)

    def fault_name(self, held: int) -> str:
        """Return what stored injections call a fault that holds its bit at this value; -1: at nothing."""
        if held < 0:
            return PULSE_NAME if self.kind == LOGIC else FAULT_NAMES[0]
        return PERMANENT_NAMES[self.model][held]

    def draw(
        self, seed: int, clusters: Sequence[float], draws: IntArray
    ) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
        """Return site, cycle, place of the input, size and held value of the draws with these numbers.

        An upset holds nothing, -1.
        """
        population = self.population
        members = drawn(seed, population.name, population.size, draws)
        within, moment, place = population.locate(members)
        piece = np.searchsorted(self.ends, within, side="right")
        before = np.concatenate(([0], self.ends[:-1]))[piece]
        sites = self.first_sites[piece] + within - before
        if self.rooms is None:
            room = self.widths[piece] - (within - before) % self.widths[piece]
        else:
            room = self.rooms[sites]
        cycle = np.zeros_like(moment) if self.stuck else moment + np.array(self.starts, dtype=np.int64)[place]
        return (
            sites,
            cycle,
            place,
            cluster_bits(seed, population.name, clusters, draws, room),
            moment if self.stuck else np.full_like(moment, -1),
        )


@dataclass(frozen=True)
class FaultPlan:
    """Faults in order of their injection numbers.

    Attributes:
        strata: All strata of the campaign.
        injection: Injection numbers, ascending.
        stratum: Index into `strata` of each.
        site: Fault site of each.
        cycle: Cycle of each.
        input: Place among the campaign's inputs of the input of each.
        bits: Adjacent bits, or neighbours, that each flips.
        held: What the bit of each is held at, -1 of upsets.
    """

    strata: tuple[FaultStratum, ...]
    injection: IntArray
    stratum: IntArray
    site: IntArray
    cycle: IntArray
    input: IntArray
    bits: IntArray
    held: IntArray

    @property
    def size(self) -> int:
        """Number of injections."""
        return len(self.injection)

    def fault(self, row: int) -> Fault:
        """Return the fault in row `row`."""
        held = int(self.held[row])
        return Fault(
            int(self.site[row]), int(self.cycle[row]), int(self.bits[row]), None if held < 0 else held
        )

    def names(self, rows: IntArray) -> list[str]:
        """Return what stored injections call the faults in these rows."""
        strata = [self.strata[stratum] for stratum in self.stratum[rows].tolist()]
        return [own.fault_name(held) for own, held in zip(strata, self.held[rows].tolist(), strict=True)]

    def missing(self, done: IntArray) -> IntArray:
        """Return the rows of the plan whose injection numbers are not among `done`, each there once."""
        return np.flatnonzero(~np.isin(self.injection, done, assume_unique=True))


def held_value(name: str) -> int | None:
    """Return what a fault of this name, as of `fault_name`, holds its bit at; None of an upset or a pulse."""
    if name in (PULSE_NAME, FAULT_NAMES[0]):
        return None
    return next(names.index(name) for names in PERMANENT_NAMES.values() if name in names)


def model_of(name: str) -> str:
    """Return the model of campaigns whose stored injections call a fault this."""
    if name == PULSE_NAME:
        return PULSE
    return next((model for model, names in PERMANENT_NAMES.items() if name in names), UPSET)
