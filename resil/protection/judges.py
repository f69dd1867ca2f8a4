# SPDX-License-Identifier: Apache-2.0
"""What a hold-out network is, whatever its file is called, and whether it can refuse anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.campaign.campaign import Campaign
from resil.campaign.network_settings import ZOO_PREFIX, NetworkSettings
from resil.campaign.workload_settings import WorkloadSettings
from resil.errors import StoreError
from resil.folder.looks import Judge, ProtectionLook
from resil.networks import zoo
from resil.networks.graph import Graph
from resil.networks.tflite_reader import read_network
from resil.prepare.bench import prepare
from resil.prepare.targets import recorded_images
from resil.progress import Progress
from resil.protection.corners import Corners
from resil.protection.observed import STATED, Observed, evidence_of
from resil.protection.sensitive import CRITICAL, asked_text, asks_of_hazards, can_refuse, missed_limits
from resil.record.golden import DIFFERS
from resil.record.protection import Protection
from resil.rtl_harness.cache import content_key
from resil.rtl_harness.replay.bench import RECORDING as RECORDED

# Networks whose weights differ in a smaller part of their bytes are one network.
DIFFERENT = 0.05


def judge_of(name: str, work: Campaign, progress: Progress) -> Judge:
    """Return a hold-out network by its content; how much is injected on it is not known yet.

    Raises:
        HarnessError, NetworkError, CampaignError: It cannot be read or laid out.
    """
    here = prepare(work, progress).identity.definition
    network = work_content(here)
    rule: tuple[object, ...] = ()
    if isinstance(work.work, NetworkSettings):
        # The name of the rule rounds the threshold.
        rule = (work.work.decision, work.work.threshold, work.work.output)
    parts = [here.get(key, "") for key in ("workloads", "decision", "inputs", "inferences")]
    return Judge(name=name, network=network, content=content_key(network, *parts, repr(rule)), injections=0)


def work_content(definition: Mapping[str, str]) -> str:
    """Return what distinguishes networks and workloads in the definition of a run."""
    return definition["network" if "network" in definition else "workloads"]


def refuse_known_judges(judges: Sequence[Judge], looks: Sequence[tuple[ProtectionLook, bool | None]]) -> None:
    """Raise StoreError if a look that refused, or that was not ended, knew one of these networks.

    Args:
        judges: That are to judge.
        looks: With their results, which bear on what is judged.
    """
    for look, confirmed in looks:
        known = {} if confirmed else {own.network: own.name for own in look.judges}
        for judge in judges:
            if judge.network in known:
                also = known[judge.network]
                name = judge.name if also == judge.name else f"{judge.name}, which is {also},"
                ended = "failed" if confirmed is False else "was not ended"
                raise StoreError(
                    f"--verify-network: {name} took part in the confirmation of {look.folder}, which "
                    f"{ended}; the choice may rest on it, give another",
                    "--verify-network.looks",
                )


def refuse_near_copies(works: Mapping[str, Campaign], chose: Sequence[Campaign]) -> None:
    """Raise StoreError if a hold-out network or workload is almost one that chose.

    Of networks the weights are compared, of workloads the contents of all memories.
    """
    own = [graph for graph in map(_graph, chose) if graph is not None]
    images = [found for found in map(_images, chose) if found is not None]
    for name, work in works.items():
        if (ours := _images(work)) is not None:
            for share in (_differing_images(ours, other) for other in images):
                if share is not None and share < DIFFERENT:
                    raise StoreError(
                        f"--verify-network: expected a workload that took no part in the choice, found "
                        f"{name}, whose memory images differ in {share:.2%} of their bytes from one that did "
                        f"(a workload of its own: {DIFFERENT:.0%} or more); give another",
                        "--verify-network.images",
                    )
        if (graph := _graph(work)) is None:
            continue
        for share in (differing_share(graph, other) for other in own):
            if share is not None and share < DIFFERENT:
                raise StoreError(
                    f"--verify-network: expected a network that took no part in the choice, found {name}, "
                    f"whose weights differ in {share:.2%} of their bytes from one that did (a network of its "
                    f"own: {DIFFERENT:.0%} or more); give another network",
                    "--verify-network.weights",
                )


def differing_share(one: Graph, other: Graph) -> float | None:
    """Return the part of the bytes of constants that differ; None if their shapes do, or there are none."""
    ours, theirs = ([t.data for t in graph.tensors if t.data is not None] for graph in (one, other))
    shapes, others = ([(data.shape, data.dtype) for data in found] for found in (ours, theirs))
    size = sum(data.nbytes for data in ours)
    if shapes != others or not size:
        return None
    differ = sum(int(np.count_nonzero(_bytes(a) != _bytes(b))) for a, b in zip(ours, theirs, strict=True))
    return differ / size


def _images(campaign: Campaign) -> dict[tuple[str, int, int], bytes] | None:
    """Return what lies in the memories of a workload, by memory, place and file; None of a network."""
    if campaign.replays:
        return recorded_images(campaign)
    if not isinstance(campaign.work, WorkloadSettings):
        return None
    return {
        (image.memory, image.offset, number): file.read_bytes()
        for image in campaign.work.images
        for number, file in enumerate(image.files)
    }


def _differing_images(
    ours: Mapping[tuple[str, int, int], bytes], theirs: Mapping[tuple[str, int, int], bytes]
) -> float | None:
    """Return the part of the bytes that differ; None if they are of other places or sizes."""
    if ours.keys() != theirs.keys():
        return None
    if any(key[0] == RECORDED for key in ours):  # of which one may be the beginning of the other
        sizes = {key: min(len(ours[key]), len(theirs[key])) for key in ours}
        ours, theirs = ({key: own[key][: sizes[key]] for key in sizes} for own in (ours, theirs))
    if {key: len(data) for key, data in ours.items()} != {key: len(data) for key, data in theirs.items()}:
        return None
    size = sum(map(len, ours.values()))
    pairs = ([np.frombuffer(own[key], np.uint8) for own in (ours, theirs)] for key in ours)
    differ = sum(int(np.count_nonzero(one != other)) for one, other in pairs)
    return differ / size if size else None


def _bytes(data: npt.NDArray[np.generic]) -> npt.NDArray[np.uint8]:
    return np.frombuffer(data.tobytes(), np.uint8)


def _graph(campaign: Campaign) -> Graph | None:
    """Return the network of a campaign; None of a workload."""
    if not isinstance(campaign.work, NetworkSettings):
        return None
    path = campaign.work.path
    shipped = path.startswith(ZOO_PREFIX)
    return read_network(zoo.load(path.removeprefix(ZOO_PREFIX)).path if shipped else Path(path))


def require_sensitive(
    plan: Protection,
    observed: Sequence[Observed],
    hazardous: Collection[str],
    confidence: float,
    corners: Corners,
) -> None:
    """Raise StoreError unless each network is itself, and misses what was asked where nothing protects.

    A network that keeps the targets without protection, of a rule that calls no output wrong for instance,
    would confirm any set, and one that fails by hangs alone any that lets wrong outputs through; one whose
    output without a fault is another network's says nothing of networks.

    Args:
        plan: That is to be confirmed.
        observed: What was found without protection, a network each.
        hazardous: Outcomes that count as failures.
        confidence: Of the limits.
        corners: Of the raw rates.
    """
    for found in observed:
        if found.nothing_measured:
            raise StoreError(
                f"--verify-network: {found.network} measures nothing: {found.nothing_measured} Correct it, "
                "or give another network",
                "--verify-network.measured",
            )
        if found.golden.state == DIFFERS:
            raise StoreError(
                f"--verify-network: expected without a fault the outputs of {found.network}, found others: "
                f"{found.golden.text}. What protection does for this other computation says nothing of the "
                "network, though the campaign accepts it; give another network",
                "--verify-network.golden",
            )
        evidence = evidence_of(found.strata, STATED, confidence)
        if asks_of_hazards(plan) and CRITICAL in hazardous and not evidence.count({CRITICAL}):
            raise StoreError(
                f"--verify-network: expected on {found.network}, without protection, a wrong output that its "
                f"rule calls critical, found none in {evidence.injections:,} injections, of which "
                f"{evidence.count({'sdc_tolerable'}):,} had wrong outputs: by hangs alone it would refuse no "
                "set that lets wrong outputs through; give another network, or a stricter rule",
                "--verify-network.refuses",
            )
        missed = missed_limits(plan, found.strata, hazardous, confidence, corners)
        if can_refuse(plan, missed):
            continue
        rate, due = evidence.rate(hazardous), evidence.rate({"due"})
        raise StoreError(
            f"--verify-network: expected {asked_text(plan)} on {found.network} without protection, found "
            f"{rate.estimate:.3g} [{rate.lo:.3g}, {rate.hi:.3g}] FIT of {evidence.fit_raw:.3g}, and "
            f"{due.estimate:.3g} [{due.lo:.3g}, {due.hi:.3g}] detected, in {evidence.injections:,} "
            "injections: it is not shown that it can refuse a set; give another network",
            "--verify-network.refuses",
        )
