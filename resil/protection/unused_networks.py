# SPDX-License-Identifier: Apache-2.0
"""Seeds and networks that took no part in a choice of protection, for its confirmation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.data_set import DataSet
from resil.campaign.network_settings import ZOO_PREFIX, NetworkSettings
from resil.campaign.work_settings import Work
from resil.errors import StoreError
from resil.folder.looks import ProtectionLook
from resil.folder.store import CAMPAIGN, recorded_definition
from resil.networks import zoo
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.protection.judges import refuse_near_copies
from resil.stats.two_stage import FEWEST

Results = Sequence[tuple[ProtectionLook, bool | None]]
_NETWORKS = 2


def fresh_seed(run_dirs: Sequence[Path], looks: Results, digest: str, seed: int | None, folder: Path) -> int:
    """Return the seed of a confirmation.

    Raises:
        StoreError: It took part in the choice, or in an earlier confirmation.
    """
    for look, confirmed in looks:
        if look.rtl == digest and confirmed is False:
            raise StoreError(
                f"{folder}: this RTL was not confirmed with seed {look.seed}; one look is all that a "
                "confirmation has: choose again, from more injections or for another target, and build that",
                "rtl.refused",
            )
    used = {load_campaign(run_dir / CAMPAIGN).seed: f"that of {run_dir}" for run_dir in run_dirs}
    first = min(used) + 1
    used |= {look.seed: f"that of {look.folder}" for look, _ in looks}
    if seed is None:
        return next(s for s in range(first, first + 1 + len(used)) if s not in used)
    for look, confirmed in looks:
        if look.seed == seed and look.rtl == digest:
            done = "was confirmed" if confirmed else "was looked at"
            raise StoreError(
                f"{folder}: this RTL {done} with seed {seed} before; give another --verify-seed",
                "--verify-seed.rtl",
            )
    if seed in used:
        raise StoreError(
            f"--verify-seed: expected a seed that took no part, found {seed}, {used[seed]}; give another",
            "--verify-seed.used",
        )
    return seed


def fresh_works(
    run_dirs: Sequence[Path], looks: Results, asked: Sequence[str], progress: Progress
) -> dict[str, Campaign]:
    """Return what runs on the protected design, as campaigns, by name.

    Args:
        run_dirs: The runs that chose.
        looks: That bear on them: where nothing is asked, no zoo network is taken that was in one that failed.
        asked: Names of zoo networks, or campaign files.
        progress: For what goes on.

    Raises:
        StoreError: It took part in the choice, or there is none.
    """
    seen = {judge.name for look, confirmed in looks if not confirmed for judge in look.judges}
    campaigns = [load_campaign(run_dir / CAMPAIGN) for run_dir in run_dirs]
    campaign, run_dir = campaigns[0], run_dirs[0]
    own = {work_label(each) for each in campaigns}
    chosen = [asked_work(campaign, name) for name in asked]
    if not asked:
        if not isinstance(campaign.work, NetworkSettings):
            raise StoreError(
                f"{run_dir}: its workload is its own, so no other is known; name campaign files with other "
                "workloads for its target with --verify-network",
                "workload",
            )
        free = [name for name in zoo.names() if name not in own and name not in seen]
        chosen = [asked_work(campaign, name) for name in free[:_NETWORKS]]
        if not chosen:
            raise StoreError(
                f"{run_dir}: no zoo network is left that took no part; give --verify-network",
                "--verify-network",
            )
    definitions = [recorded_definition(each) for each in run_dirs]
    works: dict[str, Campaign] = {}
    for work in chosen:
        name = work_label(work)
        if name in own or _same_work(work, definitions, progress):
            raise StoreError(
                f"--verify-network: {name} took part in the choice; give another network",
                "--verify-network.choice",
            )
        if name in works:
            one, other = (own for own, made in zip(asked, chosen, strict=True) if work_label(made) == name)
            raise StoreError(
                f"--verify-network: {one} and {other} are both called {name}; give each file another name",
                "--verify-network.name",
            )
        works[name] = work
    refuse_near_copies(works, campaigns)
    return works


def asked_work(campaign: Campaign, name: str) -> Campaign:
    """Return a campaign with what a user named in place of its network or workload.

    A file says itself which inputs there are, and whether they stand for others. A zoo network has as many
    inputs drawn from its held-out split as the campaign draws, if what it asks is about inputs like its own.
    """
    path = Path(name)
    if path.suffix == ".toml":
        own = load_campaign(path)
        sampling = replace(campaign.sampling, inputs=own.sampling.inputs)
        return replace(campaign, work=_drawn(own.work), sampling=sampling, name=path.stem)
    plain = name.removeprefix(ZOO_PREFIX)
    if plain not in zoo.names():
        raise StoreError(
            f"--verify-network: expected a zoo network ({', '.join(zoo.names())}) or a campaign file whose "
            f"[network] or [workload] is taken, found {name!r}; correct it",
            "--verify-network",
        )
    sampling = replace(campaign.sampling, inputs=None)
    work = NetworkSettings(f"{ZOO_PREFIX}{plain}", _zoo_inputs(campaign, plain))
    return replace(campaign, work=work, sampling=sampling, name=plain)


def _zoo_inputs(campaign: Campaign, name: str) -> tuple[int, ...] | DataSet:
    source = campaign.data_set
    if source is None or not campaign.over_inputs:
        return (0,)
    return DataSet(None, min(source.draw or FEWEST, zoo.load(name).heldout_count), seed=source.seed)


def _drawn(work: Work) -> Work:
    """Return a work whose inputs are drawn without a pilot, which would be a look before the look."""
    if not isinstance(work, NetworkSettings) or not isinstance(work.inputs, DataSet):
        return work
    if work.inputs.hardest or work.inputs.draw is not None:
        return work
    return replace(work, inputs=replace(work.inputs, draw=FEWEST))


def work_label(campaign: Campaign) -> str:
    """Return what the network or workload of a campaign is called in a confirmation."""
    return campaign.network.path.removeprefix(ZOO_PREFIX) if of_the_zoo(campaign) else campaign.slug


def of_the_zoo(campaign: Campaign) -> bool:
    """Whether a campaign runs a network of the zoo."""
    return isinstance(campaign.work, NetworkSettings) and campaign.work.path.startswith(ZOO_PREFIX)


def _same_work(work: Campaign, definitions: Sequence[Mapping[str, str]], progress: Progress) -> bool:
    """Whether the network of one of the runs, or its workload, is that of another campaign."""
    here = prepare(work, progress).identity.definition
    key = "network" if "network" in here else "workloads"
    return any(here[key] == definition.get(key) for definition in definitions)
