# SPDX-License-Identifier: Apache-2.0
"""Which look at protected RTL the next one is: what judges it, with which seed, and at which confidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from resil.bench.identity import Identity
from resil.campaign.campaign import Campaign, load_campaign
from resil.folder.looks import Judge, ProtectionLook
from resil.folder.store import CAMPAIGN, recorded_definition
from resil.progress import Progress
from resil.protection.judges import judge_of, refuse_known_judges
from resil.protection.ledger import LookLedger, shared_confidence
from resil.protection.unused_networks import Results, fresh_seed, fresh_works


def bearing(ledger: LookLedger, run_dirs: Sequence[Path], digest: str = "") -> Results:
    """Return the looks, with their results, at RTL of that digest or at any that rests on these runs.

    Raises:
        StoreError: A folder is none of a run.
    """
    runs = _identities(run_dirs)
    return [(look, result) for look, result in ledger.results() if look.bears_on(digest, runs)]


def next_look(
    ledger: LookLedger,
    run_dirs: Sequence[Path],
    folder: Path,
    digest: str,
    asked: str,
    networks: Sequence[str],
    seed: int | None,
    progress: Progress,
) -> tuple[dict[str, Campaign], ProtectionLook]:
    """Return what judges, as campaigns by name, and the look that it is.

    The last look at this RTL is gone on with if it was not ended and is just the same: the same injections
    on the same networks, for the same promise, say the same. Any other is a look of its own.

    Args:
        ledger: Of all looks.
        run_dirs: The runs that chose.
        folder: Of the build.
        digest: Of its RTL.
        asked: Digest of what the plan promises and of how much is injected.
        networks: Names of zoo networks, or campaign files whose [network] or [workload] is taken.
        seed: Of the new injections; None for one that was not used yet.
        progress: For what goes on.

    Raises:
        StoreError, HarnessError, NetworkError: As `verify_build`.
    """
    looks = bearing(ledger, run_dirs, digest)
    at_this = [(own, result) for own, result in looks if own.rtl == digest]
    last, result = at_this[-1] if at_this else (None, None)
    if last is not None and result is None and last.asked == asked and seed in (None, last.seed):
        others = [own for own in looks if own[0] != last]
        works, judges = _judges(run_dirs, others, networks, progress)
        if [own.content for own in judges] == [own.content for own in last.judges]:
            refuse_known_judges(judges, others)
            return works, last
    seed = fresh_seed(run_dirs, looks, digest, seed, folder)
    works, judges = _judges(run_dirs, looks, networks, progress)
    refuse_known_judges(judges, looks)
    number = len(at_this) + 1
    campaign = load_campaign(run_dirs[0] / CAMPAIGN)
    return works, ProtectionLook(
        rtl=digest,
        folder=str(folder),
        runs=_identities(run_dirs),
        asked=asked,
        number=number,
        confidence=shared_confidence(campaign.confidence, number),
        seed=seed,
        judges=tuple(judges),
    )


def registered(ledger: LookLedger, look: ProtectionLook, injections: int) -> ProtectionLook:
    """Return a look that stands in the ledger, with as many upsets on each network as are planned."""
    if any(look == own for own, _ in ledger.results()):
        return look
    look = look.changed(judges=tuple(own.changed(injections=injections) for own in look.judges))
    ledger.register(look)
    return look


def _judges(
    run_dirs: Sequence[Path], looks: Results, networks: Sequence[str], progress: Progress
) -> tuple[dict[str, Campaign], list[Judge]]:
    works = fresh_works(run_dirs, looks, networks, progress)
    return works, [judge_of(name, work, progress) for name, work in works.items()]


def _identities(run_dirs: Sequence[Path]) -> tuple[str, ...]:
    """Return what distinguishes runs, whatever their folders are called."""
    return tuple(Identity(recorded_definition(run_dir)).digest for run_dir in run_dirs)
