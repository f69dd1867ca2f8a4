# SPDX-License-Identifier: Apache-2.0
"""A fault list on a design: sites and inputs looked up, and refused what the design does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isclose

from resil.bench.bench import Bench
from resil.bench.site_list import SiteNames
from resil.campaign.fault_settings import BRIDGE, LOGIC, OPEN
from resil.errors import ResilError
from resil.faults.plan import model_of
from resil.lists.rows import FaultList, ListedFault, require_none
from resil.record.listed import UNTESTABLE
from resil.rtl_harness.faults import Fault

COUNTED = (
    "times count edges of the clock from 0: from the release of reset on, on a recording from the first edge "
    "of its window, and under a test of cocotb from the first edge of all"
)


@dataclass(frozen=True)
class PlacedFault:
    """A row of a fault list, with what it strikes.

    Attributes:
        row: The row.
        fault: As engines take it.
        position: Place of its input among those of the bench.
        exists: Whether synthesis leaves hardware for what it strikes.
    """

    row: ListedFault
    fault: Fault
    position: int
    exists: bool


@dataclass(frozen=True)
class PlacedList:
    """A fault list on a design.

    Attributes:
        bench: The design.
        listed: The list.
        faults: A fault for each row, in their order.
    """

    bench: Bench
    listed: FaultList
    faults: tuple[PlacedFault, ...]

    def require_injectable(self, model: str) -> None:
        """Refuse what cannot be injected, for a campaign of a model of permanent faults.

        Raises:
            ResilError: A latch is held, or a fault in logic is of another model, which says what a value at
                a site is.
        """
        for own in self.faults:
            element = self.bench.sites[own.fault.site].element
            if own.row.held is not None and element.path in self.bench.latches:
                raise self._error(own, "expected a bit that can be held, found a latch; leave it out")
            wanted = model_of(own.row.type)
            in_logic = element.kind == LOGIC
            if wanted != model and (wanted in (OPEN, BRIDGE) or (wanted is not None and in_logic)):
                raise self._error(
                    own,
                    f'type: expected faults of the campaign\'s model = "{model}" in logic, found '
                    f'{own.row.type}; write model = "{wanted}" with kinds = ["{LOGIC}"], or leave it out',
                )

    def require_in_time(self, cycles: Sequence[int]) -> None:
        """Refuse times after the end of the runs without a fault.

        Args:
            cycles: Of the run of each input.

        Raises:
            ResilError: There is such a time.
        """
        for own in self.faults:
            last = cycles[own.position]
            if own.row.time >= last:
                raise self._error(
                    own,
                    f"time: expected a cycle of the run without a fault, 0 to {last - 1:,}, "
                    f"found {own.row.time:,}; {COUNTED}",
                )

    def require_equal_weights(self) -> None:
        """Refuse weights that differ, where the list is to be a sample of equally likely faults.

        What does not exist was not drawn, whatever its weight is.

        Raises:
            ResilError: They differ.
        """
        weights = [
            own.row.weight
            for own in self.faults
            if own.row.weight is not None and own.exists and own.row.status != UNTESTABLE
        ]
        if weights and not isclose(min(weights), max(weights)):
            raise ResilError(
                f"{self.listed.file}: weight: expected equal weights with --random, whose limits are those "
                f"of a simple random sample, found {min(weights):.10g} to {max(weights):.10g}; leave "
                "--random out: coverage is the ratio of weights then, without limits",
                "--random",
            )

    def _error(self, own: PlacedFault, text: str) -> ResilError:
        return ResilError(f"{self.listed.file}: {own.row.site}: {text}", "LIST")


def on_design(bench: Bench, listed: FaultList) -> PlacedList:
    """Look up what each row of a list strikes.

    Raises:
        ResilError: The design does not have something, all at once, upsets do not fit their words, or faults
            are there more than once.
    """
    names = SiteNames(bench.sites)
    sites: dict[str, int] = {}
    wrong: list[str] = []
    for name in dict.fromkeys(row.site for row in listed.rows):
        try:
            sites[name] = names.site(name)
        except ResilError as error:
            wrong.append(str(error).removeprefix("--site: "))
    labels = {row.input for row in listed.rows} - {-1, *bench.inputs}
    wrong += [f"input: expected one of {', '.join(map(str, bench.inputs))}, found {own}" for own in labels]
    require_none(listed.file, wrong)
    struck = [(row, sites[row.site]) for row in listed.rows]
    require_none(listed.file, [*_misfits(bench, struck)])
    faults = tuple(_placed(bench, row, site) for row, site in struck)
    require_none(listed.file, [*_repeated(bench, faults)])
    return PlacedList(bench, listed, faults)


def _placed(bench: Bench, row: ListedFault, site: int) -> PlacedFault:
    position = 0 if row.input == -1 else bench.inputs.index(row.input)
    exists = not _absent(bench, row, site)
    return PlacedFault(row, Fault(site, row.time, row.bits, row.held), position, exists)


def _repeated(bench: Bench, faults: Sequence[PlacedFault]) -> Iterator[str]:
    """Say which faults stand there more than once: rows that differ in their words may be the same fault."""
    counts = Counter((own.fault, own.position, own.row.type) for own in faults)
    for (fault, position, type_), times in counts.items():
        if times > 1:
            name = bench.sites[fault.site].name
            yield f"{name}, {type_}, {fault.cycle}, input {bench.inputs[position]}: is there {times} times"


def _absent(bench: Bench, row: ListedFault, site: int) -> list[int]:
    """Return those of the sites that a row strikes for which there is no hardware."""
    return [own for own in bench.sites.cluster(site, row.bits) if bench.sites.hardware(own) is not None]


def _misfits(bench: Bench, struck: Sequence[tuple[ListedFault, int]]) -> Iterator[str]:
    """Say which upsets of several bits do not fit where they are."""
    for row, site in struck:
        if row.bits == 1:
            continue
        room = 1 if bench.sites[site].element.kind == LOGIC else bench.sites.room(site)
        if row.bits > room:
            near = "it and its neighbours by the placement"
            which = near if bench.placement else "the bits that its word has from there on"
            yield f"{row.site}: bits: expected at most {room}, {which}, found {row.bits}"
            continue
        absent = _absent(bench, row, site)
        if 0 < len(absent) < row.bits:
            names = ", ".join(bench.sites[own].name for own in absent)
            yield (
                f"{row.site}: bits: expected hardware for each of the {row.bits} bits, found none for {names}"
            )
