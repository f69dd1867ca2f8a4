# SPDX-License-Identifier: Apache-2.0
"""A fault list on a design: sites and inputs looked up, and refused what the design does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose

from resil.bench.bench import Bench
from resil.bench.site_list import SiteNames, block_name, no_sites
from resil.campaign.fault_settings import BRIDGE, LOGIC, OPEN, PULSE, UPSET
from resil.errors import ResilError
from resil.faults.plan import model_of
from resil.lists.rows import SET, FaultList, ListedFault, require_none
from resil.lists.statuses import not_injected
from resil.record.listed import NOT_ATTEMPTED, UNTESTABLE
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.logic.sites import NoSite

COUNTED = (
    "times count edges of the clock from 0: from the release of reset on, on a recording from the first edge "
    "of its window, and under a test of cocotb from the first edge of all"
)


@dataclass(frozen=True)
class PlacedFault:
    """A row of a fault list, with what it strikes.

    Attributes:
        row: The row.
        fault: As engines take it; None where the netlist has no site for it.
        position: Place of its input among those of the bench.
        block: That it strikes.
        status: Of what cannot be simulated, which is no hardware or has no site; else "".
        reason: Likewise.
    """

    row: ListedFault
    fault: Fault | None
    position: int
    block: str
    status: str = ""
    reason: str = ""


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
        """Refuse what cannot be injected in a campaign of a model.

        Raises:
            ResilError: As `require_fitting`; a latch is held, or storage is upset where pins are struck.
        """
        self.require_fitting(model)
        for own in self.faults:
            if own.fault is None:
                continue
            element = self.bench.sites[own.fault.site].element
            if own.row.held is not None and element.path in self.bench.latches:
                raise self._error(own, "expected a bit that can be held, found a latch; leave it out")
            in_storage = element.kind != LOGIC and self._strikes_logic
            if in_storage and (model == PULSE or model_of(own.row.type) == UPSET):
                raise self._error(
                    own,
                    f'type: expected faults of the campaign\'s model = "{model}", found {own.row.type} in '
                    f'storage; list it for a campaign whose kinds are without "{LOGIC}"',
                )

    def require_fitting(self, model: str) -> None:
        """Refuse types that are none of where they strike, in a campaign of a model.

        Raises:
            ResilError: A fault in logic is of another model, which says what a value at a site is; storage is
                to be upset at a pin; or a fault of logic is in storage.
        """
        for own in self.faults:
            wanted = model_of(own.row.type)
            if own.fault is not None and self.bench.sites[own.fault.site].element.kind != LOGIC:
                if wanted in (PULSE, OPEN, BRIDGE):
                    raise self._error(
                        own,
                        f"type: expected a fault of storage, found {own.row.type}, which strikes pins; "
                        f'name a pin and write model = "{wanted}" with kinds = ["{LOGIC}"], or leave it out',
                    )
                continue
            if wanted == UPSET:
                raise self._error(
                    own,
                    f"type: expected a fault of a pin, found {UPSET}: a pin stores nothing that could be "
                    f'inverted; a pulse at the output of a cell is "{SET}", of model = "{PULSE}"; '
                    "or name the bit of the register",
                )
            if wanted != model:
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

        What cannot be simulated was not drawn, whatever its weight is.

        Raises:
            ResilError: They differ.
        """
        weights = [
            own.row.weight
            for own in self.faults
            if own.row.weight is not None
            and not own.status
            and own.row.status not in (UNTESTABLE, NOT_ATTEMPTED)
        ]
        if weights and not isclose(min(weights), max(weights)):
            raise ResilError(
                f"{self.listed.file}: weight: expected equal weights with --random, whose limits are those "
                f"of a simple random sample, found {min(weights):.10g} to {max(weights):.10g}; leave "
                "--random out: coverage is the ratio of weights then, without limits",
                "--random",
            )

    @property
    def _strikes_logic(self) -> bool:
        """Whether the campaign is about pins of cells, alone or beside storage."""
        return any(element.kind == LOGIC for element in self.bench.sites.elements[-1:])

    def _error(self, own: PlacedFault, text: str) -> ResilError:
        return ResilError(f"{self.listed.file}: {own.row.site}: {text}", "LIST")


def on_design(bench: Bench, listed: FaultList) -> PlacedList:
    """Look up what each row of a list strikes.

    Raises:
        ResilError: The design does not have something, all at once, upsets do not fit their words, or faults
            are there more than once.
    """
    names = SiteNames(bench.sites)
    left_out = {own.name: own for own in no_sites(bench.sites)}
    sites: dict[str, int] = {}
    wrong: list[str] = []
    for name in dict.fromkeys(row.site for row in listed.rows if row.site not in left_out):
        try:
            sites[name] = names.site(name)
        except ResilError as error:
            wrong.append(str(error).removeprefix("--site: "))
    labels = {row.input for row in listed.rows} - {-1, *bench.inputs}
    wrong += [f"input: expected one of {', '.join(map(str, bench.inputs))}, found {own}" for own in labels]
    require_none(listed.file, wrong)
    struck = [(row, sites[row.site]) for row in listed.rows if row.site in sites]
    require_none(listed.file, [*_misfits(bench, struck)])
    faults = tuple(_placed(bench, row, sites.get(row.site), left_out) for row in listed.rows)
    require_none(listed.file, [*_repeated(bench, faults)])
    return PlacedList(bench, listed, faults)


def _placed(bench: Bench, row: ListedFault, site: int | None, left_out: Mapping[str, NoSite]) -> PlacedFault:
    position = 0 if row.input == -1 else bench.inputs.index(row.input)
    if site is None:
        own = left_out[row.site]
        return PlacedFault(row, None, position, block_name(own.block), *not_injected(own.reason))
    fault, block = Fault(site, row.time, row.bits, row.held), block_name(bench.sites[site].element.block)
    absent = [own.hardware for own in map(bench.sites.hardware, _absent(bench, row, site)) if own is not None]
    return PlacedFault(row, fault, position, block, *(not_injected(absent[0]) if absent else ()))


def _repeated(bench: Bench, faults: Sequence[PlacedFault]) -> Iterator[str]:
    """Say which faults stand there more than once: rows that differ in their words may be the same fault."""
    counts = Counter((own.row.site, own.row.type, own.row.time, own.row.bits, own.position) for own in faults)
    for (site, type_, time, _, position), times in counts.items():
        if times > 1:
            yield f"{site}, {type_}, {time}, input {bench.inputs[position]}: is there {times} times"


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
