# SPDX-License-Identifier: Apache-2.0
"""The campaigns of a confirmation: how much is injected, into what, and how far injections go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.data_set import DataSet
from resil.campaign.fault_settings import STUCK_AT, FaultSettings
from resil.campaign.network_settings import NetworkSettings
from resil.campaign.rules import UNTIL
from resil.campaign.safety import SafetySettings
from resil.campaign.sampling_settings import SamplingSettings
from resil.folder.store import CAMPAIGN
from resil.progress import Progress
from resil.protection.confirm import latent_coverage
from resil.protection.observed import Observed
from resil.protection.read_back import BuiltProtection, mechanism_counts, observed_on
from resil.protection.sample_size import ExpectedStorage, InjectionSpread, spread_needed
from resil.record.blocks import LOGIC
from resil.record.protection_confirmation import MechanismCoverage
from resil.results.run import FinishedRun
from resil.results.summarise import upset_rates
from resil.run.campaign import run_campaign

UNPROTECTED = "unprotected"


@dataclass(frozen=True)
class Sizes:
    """How much is injected on each network.

    Attributes:
        spread: Upsets of all storage but what is redundant; None for as many as the plan's limits need to be
            shown, most where failures are expected.
        redundant: Upsets of copies and code bits, in each kind of storage that has some.
        stuck: Stuck bits of copies and parity bits, in each kind of storage, on the network with the fewest
            cycles; of those that raise alarms as many as there are, up to this.
        all_stuck: Stuck bits of all storage, where permanent faults are asked for.
        unprotected: Upsets of the design without protection, by raw rates, to show that the network can
            refuse a set.
    """

    spread: int | None = None
    redundant: int = 3000
    stuck: int = 400
    all_stuck: int = 2000
    unprotected: int = 12_000


def by_raw_rate(run: FinishedRun, campaign: Campaign, size: int, moments: int) -> dict[str, dict[str, int]]:
    """Spread upsets over the source's storage by raw rates: most of its bits are memory that hardly fails.

    Args:
        run: Of the source.
        campaign: Says which storage, at which rates.
        size: How many; fewer where there are no more faults.
        moments: Cycles of all inputs in which a bit may be struck, of the network with the fewest.
    """
    technology = upset_rates(campaign)
    expected = []
    for own in run.summary.blocks:
        for kind in campaign.faults.kinds:
            bits = getattr(own, f"{kind}_bits")
            raw = bits * technology.fit_per_bit(kind)
            expected.append(ExpectedStorage(own.name, kind, raw, 0.0, faults=bits * moments))
    return by_block(spread_needed(expected, None, campaign.confidence, (size,)))


def by_block(spread: InjectionSpread) -> dict[str, dict[str, int]]:
    """Return how many upsets go into each kind of storage, by block."""
    found: dict[str, dict[str, int]] = {}
    for (block, kind), n in spread.by_storage.items():
        found.setdefault(block, {})[kind] = n
    return found


def _sampled(work: Campaign) -> SamplingSettings:
    """Return how its faults are chosen: by raw rates and minima, about the inputs that it asks about."""
    return SamplingSettings(inputs=work.sampling.inputs)


def _ended(campaign: Campaign, *, whole: bool) -> Campaign:
    """Return a campaign whose injections end when an alarm rises, where nothing is asked of what would come.

    Args:
        campaign: What is injected; some rows of its safety verdict ask what detected faults would have done.
        whole: Something else asks for that, too.
    """
    asked = campaign.safety is not None and campaign.safety.asks_of_detected
    to_the_end = whole or asked or campaign.inferences > 1
    return replace(campaign, execution=replace(campaign.execution, until=UNTIL[0 if to_the_end else 1]))


def inject_unprotected(
    work: Campaign,
    name: str,
    folder: Path,
    built: BuiltProtection,
    spread: Mapping[str, Mapping[str, int]],
    progress: Progress,
) -> Observed:
    """Inject upsets on one network into the design without protection."""
    kinds, clusters = work.faults.kinds, work.faults.clusters
    injections = sum(sum(own.values()) for own in spread.values())
    faults = FaultSettings(kinds, injections, 0, clusters, minimum_in=spread)
    named = f"{name}-unprotected"
    asked = replace(work, name=named, faults=faults, sampling=_sampled(work), safety=None)
    place = folder / UNPROTECTED / name
    run_campaign(asked, place, resume=True, progress=progress, with_area=False)
    bare = replace(built, copies=frozenset(), used=frozenset(), hardened=(), watchdog=None)
    return observed_on(name, FinishedRun(place), bare, asked)


def inject_upsets(
    campaign: Campaign,
    name: str,
    place: Path,
    built: BuiltProtection,
    planned: Mapping[str, Mapping[str, int]],
    progress: Progress,
) -> Observed:
    """Inject upsets on one network, as many into each storage as is planned."""
    injections = sum(sum(own.values()) for own in planned.values())
    kinds, clusters = campaign.faults.kinds, campaign.faults.clusters
    faults = FaultSettings(kinds, injections, 0, clusters, minimum_in=planned)
    asked = replace(campaign, name=f"{name}-upsets", faults=faults, sampling=_sampled(campaign))
    # A watchdog is credited with the part of the hangs that it detects.
    asked = _ended(asked, whole=built.watchdog is not None)
    run_campaign(asked, place, resume=True, progress=progress, with_area=False)
    return observed_on(name, FinishedRun(place), built, asked)


def struck_in_logic(safety: SafetySettings | None) -> list[tuple[str, FaultSettings]]:
    """Return what runs that a safety table names struck in the logic of the source, by key of the table."""
    if safety is None:
        return []
    named = {"logic": safety.logic, "permanent_logic": safety.permanent_logic or safety.permanent}
    found = [(key, load_campaign(own / CAMPAIGN).faults) for key, own in named.items() if own is not None]
    return [(key, replace(own, kinds=(LOGIC,), minimum_in={})) for key, own in found if LOGIC in own.kinds]


def inject_in_logic(
    campaign: Campaign, name: str, place: Path, faults: FaultSettings, progress: Progress
) -> Path:
    """Strike the logic of what was built as a run that the safety table names struck that of the source."""
    asked = replace(campaign, name=f"{name}-{place.name}", faults=faults, sampling=_sampled(campaign))
    asked = replace(asked, safety=None, execution=replace(asked.execution, until=UNTIL[0]))
    run_campaign(asked, place, resume=True, progress=progress, with_area=False)
    return place


def _with_one_input(campaign: Campaign) -> Campaign | None:
    """Return the campaign with the first of its network's inputs alone; None if they are of one file."""
    network = campaign.work
    if not isinstance(network, NetworkSettings) or isinstance(network.inputs, Path):
        return None
    given = network.inputs
    one = replace(given, draw=1, hardest=0) if isinstance(given, DataSet) else given[:1]
    sampling = replace(campaign.sampling, inputs=None)
    return replace(campaign, work=replace(network, inputs=one), sampling=sampling)


def inject_stuck(
    campaign: Campaign,
    name: str,
    place: Path,
    built: BuiltProtection,
    sizes: Sizes,
    inputs: int,
    everything: int,
    progress: Progress,
) -> MechanismCoverage | None:
    """Hold bits of the mechanisms, and so many of all storage, and count how many an alarm reports.

    Mechanisms alone are asked about with one input of a network: what reports a bit that is stuck in one is
    hardly another input's doing, and each further one costs a run without a fault.
    """
    redundant = bool(built.copies or built.timer)
    if not redundant and not everything:
        return None
    if not everything and (one := _with_one_input(campaign)) is not None:
        campaign, inputs = one, 1
    # Of all permanent faults those of memories are some; alarms report them when a word is read.
    kinds = campaign.faults.kinds if everything else ("ff", "macro")
    mechanisms = (built.block, built.alerts, built.timer)
    # Each bit is held at 0 and at 1, on each input.
    stuck = {key: 2 * inputs * n for key, n in built.bits(kinds).items()}
    minima = {block: sizes.stuck for block, _ in stuck if block in mechanisms}
    least = sum(min(n, sizes.stuck) for (block, _), n in stuck.items() if block in mechanisms)
    total = min(least + everything, sum(stuck.values()))
    faults = FaultSettings(kinds, total, 0, model=STUCK_AT, minimum_in=minima)
    asked = replace(campaign, name=f"{name}-stuck-at", faults=faults, sampling=_sampled(campaign))
    # Of a mechanism it is asked whether an alarm reports it; of permanent faults, what those would have done.
    asked = _ended(asked, whole=bool(everything))
    run_campaign(asked, place, resume=True, progress=progress, with_area=False)
    if not redundant:
        return None
    reported, injections = mechanism_counts(FinishedRun(place), built)
    return latent_coverage(name, reported, injections, campaign.confidence)
