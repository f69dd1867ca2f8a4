# SPDX-License-Identifier: Apache-2.0
"""What a hold-out network is, whatever its file is called, and whether it can refuse anything."""

from __future__ import annotations

from collections import Counter
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
from resil.prepare.targets import rows_of_recordings
from resil.progress import Progress
from resil.protection.corners import Corners
from resil.protection.observed import STATED, Observed, evidence_of
from resil.protection.sensitive import CRITICAL, asked_text, asks_of_hazards, can_refuse, missed_limits
from resil.record.golden import DIFFERS
from resil.record.protection import Protection
from resil.rtl_harness.cache import content_key

# Networks whose weights differ in a smaller part of their bytes are one network.
DIFFERENT = 0.05
# Recordings are compared where so much of the shorter one lies along the other, at the places for which rows
# speak that neither has more often than so.
_OVERLAP, _RARE, _SHIFTS = 0.5, 4, 3
# Between the digests of several recordings.
_TOGETHER = "+"

Rows = npt.NDArray[np.uint8]


def judge_of(name: str, work: Campaign, progress: Progress) -> Judge:
    """Return a hold-out network by its content; how much is injected on it is not known yet.

    Raises:
        HarnessError, NetworkError, CampaignError: It cannot be read or laid out.
    """
    here = prepare(work, progress).identity.definition
    # Recordings are known in any order, and each by itself.
    recordings = sorted(content_key(rows.tobytes()) for rows in _recordings(work))
    network = _TOGETHER.join(recordings) or work_content(here)
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
        known = {part: own.name for own in look.judges for part in own.network.split(_TOGETHER)}
        for judge in () if confirmed else judges:
            if parts := [part for part in judge.network.split(_TOGETHER) if part in known]:
                also = known[parts[0]]
                name = judge.name if also == judge.name else f"{judge.name}, which is {also},"
                ended = "failed" if confirmed is False else "was not ended"
                raise StoreError(
                    f"--verify-network: {name} took part in the confirmation of {look.folder}, which "
                    f"{ended}; the choice may rest on it, give another",
                    "--verify-network.looks",
                )


def refuse_near_copies(works: Mapping[str, Campaign], chose: Sequence[Campaign]) -> None:
    """Raise StoreError if a hold-out network or workload is almost one that chose.

    Of networks the weights are compared, of workloads the contents of all memories for each input, of
    recordings the values of all ports in each cycle, wherever they lie along one another. Each input or
    recording is compared with each that chose.
    """
    own = [graph for graph in map(_graph, chose) if graph is not None]
    images = [found for campaign in chose for found in _images(campaign)]
    recordings = [rows for campaign in chose for rows in _recordings(campaign)]
    for name, work in works.items():
        pairs = [_differing_images(ours, other) for ours in _images(work) for other in images]
        pairs += [differing_cycles(ours, other) for ours in _recordings(work) for other in recordings]
        for share in pairs:
            if share is not None and share < DIFFERENT:
                raise StoreError(
                    f"--verify-network: expected a workload that took no part in the choice, found "
                    f"{name}, of which one input differs in {share:.2%} of its bytes from one that did "
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


def differing_cycles(one: Rows, other: Rows) -> float | None:
    """Return the part of the bytes that differ between two recordings, at the best place along one another.

    Args:
        one, other: What the ports have in each cycle, (cycles, bytes).

    Returns:
        None if they have other ports.
    """
    if one.shape[1] != other.shape[1] or not one.size or not other.size:
        return None
    least, found = _OVERLAP * min(len(one), len(other)), 1.0
    for shift in (0, *_likely_shifts(one, other)):
        ours, theirs = one[max(0, shift) :], other[max(0, -shift) :]
        size = min(len(ours), len(theirs))
        if size >= least:
            found = min(found, float(np.mean(ours[:size] != theirs[:size])))
    return found


def _likely_shifts(one: Rows, other: Rows) -> list[int]:
    """Return by how many cycles rows that are rare in both recordings lie apart most often."""
    places: list[dict[bytes, list[int]]] = []
    for rows in (one, other):
        found: dict[bytes, list[int]] = {}
        for place, row in enumerate(rows):
            found.setdefault(row.tobytes(), []).append(place)
        places.append(found)
    votes = Counter(
        i - j
        for row, ours in places[0].items()
        for theirs in [places[1].get(row, [])]
        if len(ours) <= _RARE and len(theirs) <= _RARE
        for i in ours
        for j in theirs
    )
    return [shift for shift, _ in votes.most_common(_SHIFTS)]


def _recordings(campaign: Campaign) -> list[Rows]:
    return rows_of_recordings(campaign) if campaign.replays else []


def _images(campaign: Campaign) -> list[dict[tuple[str, int], bytes]]:
    """Return what lies in the memories of a workload, by memory and place, for each of its inputs."""
    if campaign.replays or not isinstance(campaign.work, WorkloadSettings):
        return []
    images = campaign.work.images
    return [
        {(own.memory, own.offset): own.files[min(i, len(own.files) - 1)].read_bytes() for own in images}
        for i in range(max((len(own.files) for own in images), default=0))
    ]


def _differing_images(
    ours: Mapping[tuple[str, int], bytes], theirs: Mapping[tuple[str, int], bytes]
) -> float | None:
    """Return the part of the bytes that differ; None if they are of other places or sizes."""
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
