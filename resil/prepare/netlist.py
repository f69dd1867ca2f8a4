# SPDX-License-Identifier: Apache-2.0
"""The netlist of a campaign's target: sites in its logic, and the engine that strikes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from resil.campaign.campaign import Campaign
from resil.campaign.fault_settings import OPEN, PULSE, STUCK_AT
from resil.campaign.technology_settings import BY
from resil.errors import CampaignError
from resil.prepare.identity import digest_of
from resil.prepare.targets import driven_by_test, storage_of, targeted, with_known_hardware, work_on
from resil.progress import Progress
from resil.record.blocks import NO_SITES
from resil.record.campaign_facts import LogicFaultCounts
from resil.rtl_harness.cache import observe_builds
from resil.rtl_harness.design.area_library import library_text
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.chain import ChainEngine
from resil.rtl_harness.engine.contract import CampaignEngine
from resil.rtl_harness.engine.memories import check_workload
from resil.rtl_harness.engine.run_limits import RunLimits
from resil.rtl_harness.engine.timeout import Timeout, check_timeout
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError

if TYPE_CHECKING:
    from resil.rtl_harness.logic.bridges import Bridges
    from resil.rtl_harness.logic.netlist import LogicNetlist
    from resil.rtl_harness.logic.sites import LogicSites

# Cells that a remark names one by one.
_NAMED = 5


@dataclass(frozen=True)
class LogicDesign:
    """A target with its netlist, and what runs on it.

    Attributes:
        target: The target, of which no file changes any more.
        elaboration: Its storage, with what is hardware.
        netlist: Its cells.
        workload: The first input of the campaign.
        label: Of that input, and what runs.
        hashes: Of RTL, netlist and what runs.
        remarks: Which cells have no sites.
    """

    target: Target
    elaboration: Elaboration
    netlist: LogicNetlist
    workload: Workload
    label: str
    hashes: Mapping[str, str]
    remarks: tuple[str, ...]


def logic_design(campaign: Campaign, progress: Progress) -> LogicDesign:
    """Return the netlist of the target of a campaign, whatever it injects, and its first input.

    Raises:
        CampaignError: what runs is no single run on the design.
        HarnessError: the target cannot be read, or there is no netlist that gates can say all of.
    """
    observe_builds(progress.building)
    found = targeted(campaign, progress)
    target = found.target
    if found.driven is not None:
        raise driven_by_test(campaign)
    check_timeout(target, Timeout(campaign.execution.timeout), campaign.execution.timeout_factor)
    work = work_on(campaign, found, progress)
    if len(work.workloads[0]) > 1 or work.workloads[0][0].inferences > 1:
        raise CampaignError(
            f"{campaign.file}: expected what is one run and one inference where pins are held, found "
            f"{len(work.workloads[0])} stretches and {work.workloads[0][0].inferences} inferences; choose "
            "another network, or ask for one inference",
            "campaign.inferences",
        )
    workload = work.workloads[0][0]
    progress.stage(f"storage of {target.name}")
    elaboration = with_known_hardware(target, storage_of(target, workload.parameters))
    check_workload(target, workload, elaboration)
    logic = netlist_sites(campaign, target, elaboration, progress)
    hashes = {**work.hashes, "rtl": rtl_digest(target), "netlist": logic.digest}
    label = f"{work.facts.name}, input {work.labels[0]}"
    return LogicDesign(target, elaboration, logic.netlist, workload, label, hashes, logic.remarks)


def compared_cycles(campaign: Campaign, design: LogicDesign) -> int:
    """Return the cycles of the golden run, in which a netlist was compared with the RTL.

    Raises:
        HarnessError: They differ; it names register, bit and cycle.
        UnsupportedError: A flip-flop of the netlist cannot be found in the RTL.
    """
    from resil.rtl_harness.logic.sites import pin_sites
    from resil.rtl_harness.logic.stuck_engine import StuckEngine

    settings = campaign.execution
    with StuckEngine(
        design.target,
        design.workload,
        design.elaboration,
        design.netlist,
        pin_sites(design.elaboration.sites, design.netlist),
        timeout_factor=settings.timeout_factor,
        timeout=Timeout(settings.timeout),
    ) as engine:
        cycles = engine.golden().cycles
        # It is made after a comparison of all of it.
        assert engine.simulator
    return cycles


@dataclass(frozen=True)
class NetlistSites:
    """The netlist of a target, and the sites in it."""

    netlist: LogicNetlist
    sites: LogicSites
    digest: str
    bridges: Bridges | None = None
    relative: Mapping[str, float] = field(default_factory=dict)

    def counted(self, model: str) -> LogicFaultCounts | None:
        """Return how many faults of a model there are at the sites, and in how many classes; None of bridges.

        Of open inputs none stands for another: what they keep of the cycle before is each one's own.
        """
        import numpy as np

        from resil.rtl_harness.logic.collapse import collapsed_pins, collapsed_pulses

        if self.bridges is not None:
            return None
        pins = self.sites.pins
        if model == OPEN:
            return LogicFaultCounts(faults=2 * len(pins), classes=2 * len(pins))
        if model == PULSE:
            found = collapsed_pulses(self.netlist, self.sites)
            return LogicFaultCounts(faults=found.faults, classes=found.classes)
        held = collapsed_pins(self.netlist).representative
        there = np.concatenate((2 * pins, 2 * pins + 1))
        return LogicFaultCounts(faults=len(there), classes=len(np.unique(held[there])))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What has no sites."""
        from resil.rtl_harness.logic.netlist import LEFT_OUT

        found = []
        if left := self.netlist.left_out:
            found.append(
                f"{len(left):,} {NO_SITES}, as {LEFT_OUT[next(iter(left.values())).reason]}: "
                f"{', '.join(sorted(left)[:_NAMED])}"
            )
        if self.bridges is not None and (out := self.bridges.left_out):
            found.append(
                f"{len(out):,} bridges of the list have no sites, as they would close a loop of gates: "
                f"{', '.join(out[:_NAMED])}"
            )
        return tuple(found)


def netlist_sites(
    campaign: Campaign, target: Target, elaboration: Elaboration, progress: Progress
) -> NetlistSites:
    """Return the netlist of the design and the fault sites in it.

    Raises:
        HarnessError: There is no netlist that gates can say all of.
    """
    from resil.rtl_harness.logic.bridges import bridges_of, read_pairs
    from resil.rtl_harness.logic.cell_rates import areas_of, read_weights, relative_rates
    from resil.rtl_harness.logic.netlist import packed_netlist
    from resil.rtl_harness.logic.open_pins import open_sites
    from resil.rtl_harness.logic.sites import pin_sites, pulse_sites
    from resil.rtl_harness.logic.synthesis import UnsupportedError, logic_netlist

    progress.stage(f"the netlist of {target.name}, by synthesis")
    try:
        netlist = logic_netlist(target, elaboration, campaign.liberty)
    except UnsupportedError as error:
        raise HarnessError(
            f"target {target.name}: logic cannot be struck: {error}; leave logic out of the campaign's kinds",
            "faults.kinds",
        ) from error
    digest = digest_of(packed_netlist(netlist).hex())
    if campaign.faults.bridges is not None:
        bridges = bridges_of(elaboration.sites, netlist, read_pairs(campaign.faults.bridges))
        if not bridges.faults:
            raise HarnessError(
                f"{campaign.faults.bridges}: expected a bridge that closes no loop of gates, found none; "
                "list other pairs",
                "faults.bridges",
            )
        _check_even(
            campaign, "bridges of several weights, as of pairs with one and with two", bridges.relative
        )
        progress.stage(f"{len(bridges.faults):,} bridges between nets of {netlist.cells:,} cells")
        return NetlistSites(netlist, bridges.sites, digest, bridges, bridges.relative)
    permanent = {STUCK_AT: ("pins", "be held", pin_sites), OPEN: ("inputs", "be open", open_sites)}
    struck = ("outputs", "be struck by pulses", pulse_sites)
    pins, can, chosen = permanent.get(campaign.faults.model, struck)
    sites = chosen(elaboration.sites, netlist)
    cells = len(sites.table.elements) - len(elaboration.sites.elements)
    progress.stage(f"{len(sites.pins):,} {pins} of {cells:,} cells that can {can}")
    relative: dict[str, float] = {}
    if campaign.technology.logic_by != BY[0]:
        file = campaign.technology.logic_weights
        library = library_text(target.cells or campaign.liberty)
        relative = relative_rates(netlist, sites, areas_of(library) if file is None else read_weights(file))
        _check_even(campaign, f'logic_by = "{campaign.technology.logic_by}"', relative)
    return NetlistSites(netlist, sites, digest, relative=relative)


def _check_even(campaign: Campaign, found: str, relative: Mapping[str, float]) -> None:
    """Raise CampaignError if faults do not come equally often and the plan takes it that they do."""
    if campaign.sampling.plan == "uniform" and len(set(relative.values())) > 1:
        raise CampaignError(
            f'{campaign.file}: [sampling] plan: expected "proportional" with {found}, found "uniform"; '
            "change the plan",
            "sampling.plan",
        )


def logic_engine(
    campaign: Campaign, target: Target, run: Sequence[Workload], elaboration: Elaboration, logic: NetlistSites
) -> CampaignEngine:
    """Return the engine that strikes sites of a netlist, for the stretches of one run."""
    from resil.rtl_harness.engine.fast.declaration import WANTED
    from resil.rtl_harness.logic.open_pins import OpenHolder
    from resil.rtl_harness.logic.pulse_engine import PulseEngine
    from resil.rtl_harness.logic.stuck_engine import BRIDGED_NETS, OPEN_INPUTS, StuckEngine

    settings = campaign.execution
    options = settings.options
    limits = RunLimits(
        timeout_factor=settings.timeout_factor,
        timeout=Timeout(settings.timeout),
        until_detection=settings.ends_at_detection,
        golden_limit=int(options["golden_limit"]),
    )
    sweep, lanes = (WANTED[str(options[name])] for name in ("sweep", "lanes"))
    made: list[CampaignEngine] = []
    for workload in run:
        of = (target, workload, elaboration, logic.netlist, logic.sites)
        if logic.bridges is not None:
            made.append(StuckEngine(*of, holder=logic.bridges.holder, names=BRIDGED_NETS, **limits))
        elif campaign.faults.model == OPEN:
            made.append(StuckEngine(*of, holder=OpenHolder, names=OPEN_INPUTS, **limits))
        elif campaign.faults.permanent:
            made.append(StuckEngine(*of, **limits))
        else:
            made.append(PulseEngine(*of, sweep=sweep, lanes=lanes, **limits))
    return ChainEngine(made, run) if run[0].sequel is not None else made[0]
