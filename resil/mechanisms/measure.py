# SPDX-License-Identifier: Apache-2.0
"""Pins of all cells held, those of mechanisms with second faults too: what is detected, what is latent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from resil.campaign.campaign import Campaign
from resil.campaign.declared import declared_mechanisms
from resil.campaign.mechanism_storage import MechanismPlaces, check_mechanism_storage
from resil.errors import CampaignError
from resil.files import write_text
from resil.folder.provenance import now
from resil.mechanisms.marks import MarkedDesign, marked_design, storage_without_cells
from resil.mechanisms.samples import (
    Pulse,
    Second,
    SecondFaultDraw,
    SecondFaults,
    Upset,
    class_of,
    counted,
    drawn_pins,
    recorded,
    share,
)
from resil.prepare.netlist import LogicDesign, logic_design
from resil.progress import Progress
from resil.record.interval import NOTHING_KNOWN, RecordedInterval
from resil.record.mechanism_faults import (
    EscapedFault,
    LatentFaults,
    MechanismFaults,
    PinFaults,
    UncoveredPair,
)
from resil.rtl_harness.design.synthesis import design_under_test
from resil.rtl_harness.engine.logic.library import HeldPin, HeldPins
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.faults import Fault, Injection
from resil.rtl_harness.logic.fault_pairs import FaultPairs
from resil.rtl_harness.logic.sites import pin_sites
from resil.rtl_harness.redundancy.parts import mechanism_parts
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.intervals import clopper_pearson
from resil.stats.sampling import draw

ALL, NO_BLOCK = "all", "outside all blocks"
SORTS = ("held", "upsets", "pulses")
EXAMPLES = 12
ESCAPED = 20
_OF_WORKLOAD = (
    "one input was run: a fault that does nothing in it may do something in another, so quiet is not harmless"
)
_GUARDED = (
    "second faults are drawn in what the mechanism of the first guards: of a redundant register its first "
    "copy (of three the other two), of a code its memory, of lockstep the block, of a mechanism of the "
    "campaign its blocks with their memories, of alarms all that raises them guards"
)
_STUCK_BITS = (
    "bits of memories are upset, not stuck: where what a mechanism guards has a memory, or latches, no quiet "
    "fault of it is called safe"
)


@dataclass(frozen=True)
class MechanismSizes:
    """How much is simulated.

    Attributes:
        function: Faults in cells of no mechanism.
        mechanisms: Faults in cells of mechanisms.
        seconds: Pins that are held, and likewise upsets and pulses, after each quiet fault of a mechanism.
    """

    function: int = 4000
    mechanisms: int = 2000
    seconds: int = 50


def measure_mechanisms(
    campaign: Campaign, folder: Path, sizes: MechanismSizes | None = None, seed: int | None = None
) -> MechanismFaults:
    """Hold pins of all cells, then those of mechanisms with second faults; keep what comes of it in a folder.

    Args:
        campaign: Says what runs, what is hazardous, and which mechanisms there are beside those of resil.
        folder: Where `mechanism-faults.json` goes; made if it is not there.
        sizes: How much is simulated.
        seed: Of the draws; that of the campaign by default.

    Raises:
        CampaignError: the design has no mechanisms, or detected failures count as hazardous.
        HarnessError: there is no netlist that gates can say all of, or it is not the RTL that runs.
    """
    if "due" in campaign.hazardous:
        raise CampaignError(
            f"{campaign.file}: [budget] hazardous: expected detected failures not to be hazardous where "
            "coverage is asked for, found due; take it out",
            "budget.hazardous",
        )
    progress = Progress()
    design = logic_design(campaign, progress)
    instances = design_under_test(design.target, design.elaboration).instances
    declared = campaign.safety.mechanisms if campaign.safety is not None else ()
    storage = storage_without_cells(design.target, design.elaboration, design.netlist)
    places = MechanismPlaces(design.target.name, design.elaboration.sites, lambda: design.netlist.names)
    for mechanism in declared:
        check_mechanism_storage(campaign, mechanism, places)
    marked = marked_design(design.netlist, storage, mechanism_parts(instances), declared, str(campaign.file))
    own_seed = campaign.seed if seed is None else seed
    measurement = Measurement(campaign, design, marked, sizes or MechanismSizes(), own_seed, progress)
    with measurement.engine:
        found = measurement.measured()
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / MechanismFaults.FILE, found.text())
    return found


@dataclass(frozen=True)
class _Quiet:
    """A quiet fault of a mechanism, and what followed.

    Attributes:
        fault: The first.
        kind: Of its mechanism.
        seconds: What followed.
        uncovered: By place in `seconds.all`, whether the pair is hazardous and the second by itself is not.
        seen: By place, what was seen of the pair.
    """

    fault: Fault
    kind: str
    seconds: SecondFaults
    uncovered: Sequence[bool]
    seen: Sequence[str]

    def of_sort(self, sort: int) -> Sequence[bool]:
        """Return `uncovered` of the second faults of one of `SORTS`."""
        sizes = [len(getattr(self.seconds, name)) for name in SORTS]
        first = sum(sizes[:sort])
        return self.uncovered[first : first + sizes[sort]]


class Measurement:
    """Faults in the gates of one design, before any is simulated.

    Args:
        campaign: What was asked.
        design: Target, netlist and what runs.
        marked: Its cells by mechanism.
        sizes: How much is simulated.
        seed: Of all draws.
        progress: For people.

    Attributes:
        engine: Simulates; to be closed by who made this.
    """

    def __init__(
        self,
        campaign: Campaign,
        design: LogicDesign,
        marked: MarkedDesign,
        sizes: MechanismSizes,
        seed: int,
        progress: Progress,
    ) -> None:
        self.campaign = campaign
        self.design = design
        self.marked = marked
        self.sizes = sizes
        self.seed = seed
        self.progress = progress
        self.limit = campaign.safety.detection_cycles if campaign.safety is not None else None
        self.sites = pin_sites(design.elaboration.sites, design.netlist)
        settings = campaign.execution
        self.engine = FaultPairs(
            design.target,
            design.workload,
            design.elaboration,
            design.netlist,
            self.sites,
            timeout_factor=settings.timeout_factor,
            timeout=Timeout(settings.timeout),
        )
        kinds = np.array(marked.kinds)
        self.of_mechanisms = np.flatnonzero(kinds != "").tolist()
        names = [design.netlist.block(cell) or NO_BLOCK for cell in range(design.netlist.cells)]
        self.of_blocks: dict[str, list[int]] = {}
        for cell in np.flatnonzero(kinds == "").tolist():
            self.of_blocks.setdefault(names[cell], []).append(cell)

    def measured(self) -> MechanismFaults:
        """Return all of it."""
        names = sorted(self.of_blocks)
        drawn = [self._drawn(name) for name in names]
        own = drawn_pins(
            self.design.netlist, self.of_mechanisms, self.seed, "mechanisms", self.sizes.mechanisms
        )
        outside = sum(map(len, drawn))
        self.progress.stage(f"{outside:,} faults outside mechanisms and {len(own):,} in them, by themselves")
        # All at once: an audit takes as long for one answer as for many.
        every = self._held([pin for pins in (*drawn, own) for pin in pins])
        found = iter(every)
        by_block = [[self._class(one) for one in islice(found, len(pins))] for pins in drawn]
        classes = [self._class(one) for one in found]
        blocks = {
            name: self._row(name, self.of_blocks[name], one)
            for name, one in zip(names, by_block, strict=True)
        }
        first = [fault for fault, found in zip(own, classes, strict=True) if found == "quiet"]
        self.progress.stage(f"second faults after {len(first):,} quiet ones")
        quiet = self._followed(first)
        mechanisms = self._mechanisms(own, classes)
        latent = self._latent(quiet)
        return MechanismFaults(
            schema=MechanismFaults.SCHEMA,
            campaign=self.campaign.name,
            target=self.design.target.name,
            input=self.design.label,
            hashes=self.design.hashes,
            seed=self.seed,
            hazardous_outcomes=tuple(self.campaign.hazardous),
            detection_cycles=self.limit,
            confidence=self.campaign.confidence,
            declared=declared_mechanisms(self.campaign.safety, self.design.elaboration.sites.elements),
            whole=self._whole([*blocks.values(), mechanisms[0]]),
            blocks=tuple(blocks.values()),
            mechanisms=mechanisms,
            latent=latent,
            latent_share=self._latent_share(latent[0], complete=self._is_whole(len(own))),
            escaped=self._escaped(every, [*blocks.values(), *mechanisms[1:]]),
            examples=tuple(self._examples(quiet)),
            notes=(_OF_WORKLOAD, _GUARDED, _STUCK_BITS, *self.design.remarks),
            made=now(),
        )

    def _is_whole(self, simulated: int) -> bool:
        return simulated == self._faults(self.of_mechanisms)

    def _faults(self, cells: Sequence[int]) -> int:
        return 2 * int(np.isin(self.design.netlist.pins["cell"], cells).sum())

    # Faults by themselves.

    def _at(self, fault: Fault) -> Fault:
        return Fault(self.sites.first + fault.site, fault.cycle, held=fault.held)

    def _held(self, pins: Sequence[Fault]) -> list[Injection]:
        """Return what each pin that is held comes to; the site of such a fault is the row of the pin."""
        at = [self._at(pin) for pin in pins]
        found = {own.fault: own for own in self.engine.run(list(dict.fromkeys(at)))}
        return [found[fault] for fault in at]

    def _class(self, found: Injection) -> str:
        return class_of(found, self.campaign.hazardous, self.limit)

    def _escaped(self, found: Sequence[Injection], rows: Sequence[PinFaults]) -> tuple[EscapedFault, ...]:
        """Name those that are hazardous, at most `ESCAPED` of each row's place."""
        netlist = self.design.netlist
        by_place: dict[str, list[EscapedFault]] = {row.name: [] for row in rows}
        for own in found:
            pin = own.fault.site - self.sites.first
            cell = int(netlist.pins["cell"][pin])
            place = self.marked.kinds[cell] or netlist.block(cell) or NO_BLOCK
            if len(by_place[place]) < ESCAPED and self._class(own) == "hazardous":
                name = f"{netlist.pin_name(pin)} held at {own.fault.held}"
                by_place[place].append(EscapedFault(place=place, pin=name, seen=own.seen.value))
        best = sorted(rows, key=lambda row: -(row.coverage.estimate or 0))
        return tuple(own for row in best for own in by_place[row.name])

    def _drawn(self, name: str) -> list[Fault]:
        """Return pins of a block."""
        share_of = max(1, self.sizes.function // len(self.of_blocks))
        return drawn_pins(self.design.netlist, self.of_blocks[name], self.seed, f"block {name}", share_of)

    def _mechanisms(self, pins: Sequence[Fault], classes: Sequence[str]) -> tuple[PinFaults, ...]:
        cells = self.design.netlist.pins["cell"][[pin.site for pin in pins]].tolist() if pins else []
        kinds = [self.marked.kinds[cell] for cell in cells]
        rows = [self._row(ALL, self.of_mechanisms, classes)]
        for kind in sorted(set(self.marked.kinds) - {""}):
            own = [cell for cell in self.of_mechanisms if self.marked.kinds[cell] == kind]
            rows.append(self._row(kind, own, [c for k, c in zip(kinds, classes, strict=True) if k == kind]))
        return tuple(rows)

    def _row(self, name: str, cells: Sequence[int], classes: Sequence[str]) -> PinFaults:
        faults, detected, bad = self._faults(cells), classes.count("detected"), classes.count("hazardous")
        complete, confidence = faults == len(classes), self.campaign.confidence
        return PinFaults(
            name=name,
            cells=len(cells),
            faults=faults,
            simulated=len(classes),
            counts=counted(classes),
            coverage=share(detected, detected + bad, confidence, complete=complete),
            hazardous=share(bad, len(classes), confidence, complete=complete),
        )

    def _whole(self, rows: Sequence[PinFaults]) -> PinFaults:
        """Return the sum over rows: each stands for all faults that it was drawn from."""
        confidence = self.campaign.confidence
        groups = tuple(PooledGroup(row.name, "logic", float(row.faults), dict(row.counts)) for row in rows)
        evidence = Evidence(groups, confidence, confidence)
        faults = sum(row.faults for row in rows)
        counts: dict[str, int] = {}
        for row in rows:
            for name, count in row.counts.items():
                counts[name] = counts.get(name, 0) + count
        if all(row.simulated == row.faults for row in rows):
            detected, bad = counts.get("detected", 0), counts.get("hazardous", 0)
            coverage = share(detected, detected + bad, confidence, complete=True)
            hazardous = share(bad, faults, confidence, complete=True)
        else:
            part = evidence.part({"detected"}, {"hazardous"})
            coverage = RecordedInterval(None, 0.0, 1.0) if part is None else recorded(part)
            rate = evidence.rate({"hazardous"})
            hazardous = RecordedInterval(
                *(min(1.0, value / faults) for value in (rate.estimate, rate.lo, rate.hi))
            )
        return PinFaults(
            name=ALL,
            cells=sum(row.cells for row in rows),
            faults=faults,
            simulated=sum(row.simulated for row in rows),
            counts=counts,
            coverage=coverage,
            hazardous=hazardous,
        )

    # A quiet fault of a mechanism, and then another one.

    def _followed(self, firsts: Sequence[Fault]) -> list[_Quiet]:
        """Simulate the second faults of each, alone and with it."""
        seconds = [self._draw.after(first.site, first.held or 0) for first in firsts]
        own = [self.engine.held(self._at(first)) for first in firsts]
        places = [after.all for after in seconds]
        known = {place: self._second(place) for of_one in places for place in of_one}
        pairs = [
            (known[place][0], (*pins, *known[place][1]))
            for pins, of_one in zip(own, places, strict=True)
            for place in of_one
        ]
        found = iter(self.engine.together([*known.values(), *pairs]))
        before = {place: self._class(next(found)) for place in known}
        return [
            self._quiet(first, after, [(before[place], next(found)) for place in of_one])
            for first, after, of_one in zip(firsts, seconds, places, strict=True)
        ]

    def _second(self, place: Second) -> tuple[Fault, HeldPins]:
        """Return what a second fault is called, and what it is along the gates."""
        if isinstance(place, Pulse):
            return Fault(0, place.cycle), (self.engine.pulse_at(place.pin, place.cycle),)
        if isinstance(place, Upset):
            return Fault(0, place.cycle), (self._strike(place),)
        fault = Fault(self.sites.first + place[0], 0, held=place[1])
        return fault, self.engine.held(fault)

    def _quiet(self, first: Fault, seconds: SecondFaults, found: Sequence[tuple[str, Injection]]) -> _Quiet:
        uncovered = [before != "hazardous" and self._class(both) == "hazardous" for before, both in found]
        kind = self.marked.kinds[int(self.design.netlist.pins["cell"][first.site])]
        return _Quiet(first, kind, seconds, uncovered, [both.seen.value for _, both in found])

    @cached_property
    def _draw(self) -> SecondFaultDraw:
        elements = {e.path: (e.depth, e.width) for e in self.design.elaboration.sites.elements}
        shapes = [elements.get(path, (0, 0)) for path, _ in self.design.netlist.gates.memories]
        cycles = self.engine.golden().cycles
        return SecondFaultDraw(self.marked, shapes, cycles, self.seed, self.sizes.seconds)

    def _strike(self, upset: Upset) -> HeldPin:
        if upset.cell >= 0:
            return self.engine.upset_of_cell(upset.cell, upset.cycle)
        return self.engine.upset_of_memory(upset.memory, upset.word, upset.bit, upset.cycle)

    def _latent(self, quiet: Sequence[_Quiet]) -> tuple[LatentFaults, ...]:
        kinds = [ALL, *sorted({own.kind for own in quiet})]
        return tuple(self._latent_row(kind, [q for q in quiet if kind in (ALL, q.kind)]) for kind in kinds)

    def _latent_row(self, kind: str, quiet: Sequence[_Quiet]) -> LatentFaults:
        explored = [own for own in quiet if own.uncovered]
        held, upsets, pulses = (
            [flag for own in explored for flag in own.of_sort(sort)] for sort in range(len(SORTS))
        )
        return LatentFaults(
            kind=kind,
            quiet=len(quiet),
            explored=len(explored),
            latent=sum(any(own.uncovered) for own in explored),
            safe=sum(own.seconds.complete and not any(own.uncovered) for own in explored),
            pairs=len(held) + len(upsets) + len(pulses),
            held=len(held),
            pulses=len(pulses),
            hazardous_held=sum(held),
            hazardous_upsets=sum(upsets),
            hazardous_pulses=sum(pulses),
            share=self._pair_share(explored),
        )

    def _pair_share(self, explored: Sequence[_Quiet]) -> RecordedInterval:
        """Return the share of second faults that quiet ones uncover.

        The pairs of one first fault are not independent, so the limits come from one of each, drawn evenly.
        """
        if not explored:
            return NOTHING_KNOWN
        one = [
            own.uncovered[int(draw(self.seed, f"one of {own.fault}", len(own.uncovered), 1)[0])]
            for own in explored
        ]
        return recorded(clopper_pearson(sum(one), len(one), self.campaign.confidence))

    def _latent_share(self, row: LatentFaults, *, complete: bool) -> RecordedInterval:
        """Return the share of quiet faults that count as latent; open ones do, but for the lower limit."""
        if not row.quiet:
            return NOTHING_KNOWN
        confidence = self.campaign.confidence
        count = row.latent + row.open
        if complete:
            return RecordedInterval(count / row.quiet, row.latent / row.quiet, count / row.quiet)
        upper = clopper_pearson(count, row.quiet, confidence)
        return RecordedInterval(
            upper.estimate, clopper_pearson(row.latent, row.quiet, confidence).lo, upper.hi
        )

    def _examples(self, quiet: Sequence[_Quiet]) -> list[UncoveredPair]:
        found: list[UncoveredPair] = []
        by_kind: dict[str, int] = {}
        for own in quiet:
            place = next((i for i, flag in enumerate(own.uncovered) if flag), None)
            if place is None or by_kind.get(own.kind, 0) >= EXAMPLES // 3 or len(found) >= EXAMPLES:
                continue
            by_kind[own.kind] = by_kind.get(own.kind, 0) + 1
            first = f"{self.design.netlist.pin_name(own.fault.site)} held at {own.fault.held}"
            found.append(
                UncoveredPair(
                    kind=own.kind, first=first, second=self._named(own.seconds, place), seen=own.seen[place]
                )
            )
        return found

    def _named(self, seconds: SecondFaults, place: int) -> str:
        netlist, upset = self.design.netlist, seconds.all[place]
        if isinstance(upset, tuple):
            return f"{netlist.pin_name(upset[0])} held at {upset[1]}"
        if isinstance(upset, Pulse):
            return f"pulse at {netlist.pin_name(upset.pin)} in cycle {upset.cycle}"
        if upset.cell >= 0:
            return f"upset of {netlist.names[upset.cell]} in cycle {upset.cycle}"
        path, first = netlist.gates.memories[upset.memory]
        return f"upset of {path}[{first + upset.word}], bit {upset.bit}, in cycle {upset.cycle}"
