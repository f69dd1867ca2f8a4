# SPDX-License-Identifier: Apache-2.0
"""The engine of a campaign, and what it says of the output."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from resil.bench.bench import Compare, OutputFacts
from resil.campaign.campaign import Campaign
from resil.campaign.engines import engine_named
from resil.campaign.network_settings import NetworkSettings
from resil.prepare.coded import CodedEngine
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.chain import ChainEngine
from resil.rtl_harness.engine.contract import CampaignEngine, Limits
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError
from resil.work.work import Work


def engine_of(
    campaign: Campaign, target: Target, run: Sequence[Workload], elaboration: Elaboration
) -> CampaignEngine:
    """Return the engine that a campaign names, for the stretches of one run."""
    settings = campaign.execution
    limits = Limits(
        timeout_factor=settings.timeout_factor,
        timeout=Timeout(settings.timeout),
        until_detection=settings.ends_at_detection,
    )
    declared = engine_named(settings.engine)
    made = [declared.make(target, workload, elaboration, limits, settings.options) for workload in run]
    engine = ChainEngine(made, run) if run[0].sequel is not None else made[0]
    if elaboration.coded:
        return CodedEngine(engine, elaboration, until_detection=settings.ends_at_detection)
    return engine


def comparison(work: Work, engine: Callable[[Sequence[Workload]], CampaignEngine]) -> Compare:
    """Return what compares outputs without a fault with an independent reference of what runs."""

    def again(workload: Workload) -> bytes:
        with engine([workload]) as own:
            return own.golden().end.output

    return work.compare if work.compare_with is None else work.compare_with(again)


def output_facts(
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
