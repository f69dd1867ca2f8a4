# SPDX-License-Identifier: Apache-2.0
"""From a campaign to a bench: what runs laid out in memories, target elaborated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from resil.bench.bench import Area, AreaFacts, Bench
from resil.bench.placement import placed
from resil.bench.site_list import block_name, counts_text
from resil.campaign.campaign import Campaign
from resil.campaign.engines import engine_named
from resil.prepare.coded import CORRECTS, DETECTS, coded_text
from resil.prepare.engines import comparison, engine_of, output_facts
from resil.prepare.identity import digest_of, identity_of, library_digest, target_digest, workload_digest
from resil.prepare.memory import memory_bench
from resil.prepare.netlist import logic_engine, netlist_sites
from resil.prepare.not_assessed import conditions, not_assessed
from resil.prepare.targets import storage_of, targeted, with_known_hardware, work_on
from resil.progress import Progress
from resil.rtl_harness.cache import file_digest, observe_builds
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.netlist_text import register_behind
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.synthesis import design_under_test
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import CampaignEngine
from resil.rtl_harness.engine.memories import check_workload
from resil.rtl_harness.engine.timeout import Timeout, check_timeout
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Truths
from resil.rtl_harness.redundancy.parts import mechanism_parts
from resil.rtl_harness.replay.closed import Closed
from resil.work.recording import cycles_in_reset


def prepare(campaign: Campaign, progress: Progress, *, simulates: int = 0) -> Bench:
    """Lay out what runs in the target's memories, and elaborate the target; all that is slow is cached.

    If the caller simulates, what the engine is built of is begun while synthesis counts the hardware.

    Args:
        campaign: What is asked.
        progress: Where stages and warnings go.
        simulates: Campaigns of about this size that will be simulated by what is built, this one among them.

    Raises:
        CampaignError: the inputs do not fit the network, or the images do not fit the target.
        NetworkError: the network cannot be read or compiled.
        HarnessError: the target cannot be read or elaborated.
    """
    observe_builds(progress.building)
    found = targeted(campaign, progress)
    target = found.target
    check_timeout(target, Timeout(campaign.execution.timeout), campaign.execution.timeout_factor)
    if campaign.faults.external:
        return memory_bench(campaign, target, progress)
    work = work_on(campaign, found, progress)
    workloads = [workload for run in work.workloads for workload in run]
    progress.stage(f"storage of {target.name}")
    elaboration = storage_of(target, workloads[0].parameters)
    if simulates and not elaboration.unmapped:
        faults = simulates * campaign.faults.injections
        cycles = work.facts.vela_cycles or 0
        if (ahead := engine_named(campaign.execution.engine).build_ahead) is not None:
            ahead(target, workloads[0], elaboration, faults * cycles)
    progress.stage(f"what of the storage of {target.name} becomes hardware, by synthesis")
    elaboration = with_known_hardware(target, elaboration)
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
        "target": target_digest(target, workloads[0]),
        "rtl": rtl_digest(target),
    }
    if elaboration.coded:
        hashes["codes"] = digest_of(*elaboration.coded)
    if campaign.faults.logic:
        logic = netlist_sites(campaign, target, elaboration, progress)
        sites = logic.sites.table
        hashes["netlist"] = logic.digest
        if campaign.faults.bridges is not None:
            hashes["bridges"] = file_digest(campaign.faults.bridges)

        def engine(run: Sequence[Workload]) -> CampaignEngine:
            return logic_engine(campaign, target, run, elaboration, logic)

    else:

        def engine(run: Sequence[Workload]) -> CampaignEngine:
            return engine_of(campaign, target, run, elaboration)

    return Bench(
        network=work.facts,
        target_name=target.name,
        top=target.top,
        blocks=tuple(target.blocks),
        sites=sites,
        inputs=work.labels,
        identity=identity_of(campaign, work, sites, hashes),
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
        compare=comparison(work, engine),
        alarms={
            **{name: alarm.reports for name, alarm in target.alarms.items()},
            **({CORRECTS: "corrected", DETECTS: "detected"} if elaboration.coded else {}),
        },
        titles=target.titles,
        parameters={
            **target.parameters,
            **workloads[0].parameters,
            **({} if found.driven is None else found.driven.parameters),
        },
        output=output_facts(campaign, work.workloads, engine) if found.driven is None else None,
        latches=frozenset(e.path for e in elaboration.sites.elements if elaboration.is_latch(e.path)),
        workloads=tuple(digest_of(*map(workload_digest, run)) for run in work.workloads),
        rtl_registers=None if target.cells is None else _registers(sites),
        not_assessed=not_assessed(target, elaboration),
        conditions=conditions(target, elaboration),
        codes=coded_text(elaboration),
        placement=by_placement.text if by_placement else "",
        cycles=() if found.closed is None else found.closed.run_cycles,
        in_reset=lambda: _in_reset(found.closed),
        gate_places=lambda: gate_places(target, elaboration),
        logic_faults=lambda: logic.counted(campaign.faults.model) if campaign.faults.logic else None,
    )


def gate_places(target: Target, elaboration: Elaboration) -> Iterator[str]:
    """Yield the paths by which gates of a target are known: synthesis keeps what lies below apart.

    Those are blocks, mechanisms that were built, and all instances of a target that is a netlist.
    """
    yield from (path for paths in target.blocks.values() for path in paths)
    instances = design_under_test(target, elaboration).instances
    yield from (part.path for part in mechanism_parts(instances))
    if target.cells is not None:
        yield from filter(None, instances)


def _registers(sites: SiteTable) -> dict[str, str]:
    """Return which register of the RTL an element of a netlist is called after, by its path."""
    return {e.path: own for e in sites.elements if (own := register_behind(e.path))}


def _in_reset(closed: Closed | None) -> tuple[Truths, ...]:
    """Return in which cycles of each recording with one clock a fault finds the design in reset."""
    return () if closed is None or closed.layout.by_edges else cycles_in_reset(closed)


def _area(
    campaign: Campaign, target: Target, elaboration: Elaboration, progress: Progress
) -> Callable[[], AreaFacts]:
    def synthesise() -> AreaFacts:
        progress.stage(f"area of {target.name}, by synthesis")
        report = area_per_block(target, elaboration, campaign.liberty)
        blocks = {block_name(name): Area(area.logic, area.sram) for name, area in report.blocks.items()}
        return AreaFacts(blocks, report.unit, report.notes, library_digest(campaign.liberty))

    return synthesise
