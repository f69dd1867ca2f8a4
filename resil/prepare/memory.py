# SPDX-License-Identifier: Apache-2.0
"""The bench of a campaign that strikes memory outside the NPU."""

from __future__ import annotations

from collections.abc import Sequence

from resil.bench.bench import NO_AREA, Bench
from resil.campaign.campaign import Campaign
from resil.campaign.network_settings import NetworkSettings
from resil.errors import CampaignError
from resil.prepare.engines import engine_of, output_facts
from resil.prepare.identity import identity_of, target_digest
from resil.prepare.targets import Targeted, work_on
from resil.progress import Progress
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import CampaignEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.npu.memory_engine import BLOCK, memory_sites
from resil.rtl_harness.npu.model.config import CONFIGS


def memory_bench(campaign: Campaign, target: Target, progress: Progress) -> Bench:
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
    work = work_on(campaign, Targeted(target), progress)
    first = work.workloads[0][0]
    if first.sequel is not None:
        raise CampaignError(
            f"{campaign.file}: [faults] kinds: expected a network that the NPU computes as a whole, in one "
            f"inference, where {kinds} outside the NPU are struck, found {work.facts.name} in stretches; "
            "change the campaign or inject into the NPU's own storage"
        )
    sites = memory_sites(first)
    storage = Elaboration(sites, (), {}, {})
    hashes = {**work.hashes, "target": target_digest(target, first), "rtl": rtl_digest(target)}

    def engine(run: Sequence[Workload]) -> CampaignEngine:
        return engine_of(campaign, target, run, storage)

    return Bench(
        network=work.facts,
        target_name=target.name,
        top=target.top,
        blocks=(BLOCK,),
        sites=sites,
        inputs=work.labels,
        compare=work.compare,
        identity=identity_of(campaign, work, sites, hashes),
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
        output=output_facts(campaign, work.workloads, engine),
    )
