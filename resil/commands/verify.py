"""`resil protect --build DIR --verify`: new injections into what was built, on networks new to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from networks import zoo
from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.fault_settings import STUCK_AT, FaultSettings
from resil.campaign.network_settings import ZOO_PREFIX, NetworkSettings
from resil.campaign.sampling_settings import SamplingSettings
from resil.commands.build import RECORD, longest_operation_of, same_runs
from resil.commands.confirmed import Built, mechanism_counts, observed_on, read_built
from resil.commands.fresh import HISTORY, asked_work, fresh_seed, fresh_works, read_history
from resil.commands.run import run_campaign
from resil.files import json_text, read_json, write_text
from resil.folder.plans import PLANS, add_to_plan, kept_plan
from resil.folder.run import Run
from resil.folder.store import CAMPAIGN
from resil.prepare import prepare
from resil.progress import Progress
from resil.protection.confirm import Observed, confirmation, latent_coverage, planned_uniform
from resil.protection.options import WATCHDOG, load_options
from rtl_harness.target import load_target, rtl_digest

CONFIRMATION = "confirmation"


@dataclass(frozen=True)
class Sizes:
    """How much is injected on each network.

    Attributes:
        uniform: Upsets spread evenly over all storage; as many more as the plan's limits need to be shown.
        redundant: Fewest upsets of copies and code bits, in each kind of storage that has some.
        stuck: Stuck bits of copies and parity bits, in each kind of storage, on the first network; of those
            that raise alarms as many as there are, up to this.
    """

    uniform: int = 2000
    redundant: int = 3000
    stuck: int = 400


def verify_build(
    run_dirs: Sequence[Path],
    plan: Mapping[str, Any],
    folder: Path,
    *,
    options: Path | None = None,
    networks: Sequence[str] = (),
    seed: int | None = None,
    sizes: Sizes | None = None,
) -> dict[str, Any]:
    """Inject into built protection once, judge its plan by that alone, and keep what was found.

    Args:
        run_dirs: The runs that the plan is for; predicted is the most that it predicts for any of them.
        plan: Content of `protection.json` of the first.
        folder: Of the build.
        options: The file of options that the plan was chosen from, too.
        networks: Names of zoo networks, or campaign files whose [network] or [workload] is taken.
        seed: Of the new injections; None for one that was not used yet.
        sizes: How many; None for the usual numbers, and as many evenly spread ones as the plan needs.

    Returns:
        The content of `confirmation.json`.

    Raises:
        StoreError: The build was confirmed with this seed before, the seed or a network took part in the
            choice or in a confirmation that failed, or there is no such network.
        ConsistencyError: Without a fault the protected design does something else than the source.
        HarnessError, NetworkError: The target or a network cannot be used.
    """
    progress = Progress()
    campaign = load_campaign(run_dirs[0] / CAMPAIGN)
    built = read_built(folder, plan, load_options(options), campaign, progress)
    history = [entry for run_dir in run_dirs for entry in read_history(run_dir)]
    digest = rtl_digest(built.target)
    seed = fresh_seed(run_dirs, history, digest, seed, folder)
    works = fresh_works(run_dirs, history, networks)
    kept = [plan, *(kept_plan(run_dir, plan["name"]) for run_dir in run_dirs[1:])]
    plan = max(kept, key=lambda own: float(own["fit"]))
    sizes = sizes or Sizes(planned_uniform(plan, len(works), campaign.confidence))
    exact, beyond = _bit_exact(campaign, built, works, progress)
    observed: list[Observed] = []
    mechanisms: dict[str, Any] = {}
    for number, (name, work) in enumerate(works.items()):
        place = folder / CONFIRMATION / name
        own = replace(work, seed=seed, target=built.confirm_target, safety=None)
        permanent = campaign.safety is not None and campaign.safety.permanent is not None
        if not number or permanent:
            latent = _stuck(own, name, place / "stuck-at", built, sizes, progress, permanent)
            mechanisms = mechanisms or latent
        if campaign.safety is not None:
            run = place / "stuck-at" if permanent else None
            own = replace(own, safety=replace(campaign.safety, permanent=run))
        observed.append(_upsets(own, name, place / "upsets", built, sizes, progress))
    found = confirmation(plan, observed, campaign.hazardous, campaign.confidence)
    if built.changed:
        found["confirmed"] = False
        found["reasons"].append(
            "the RTL was changed since it was built: proofs and area are of another; build it again"
        )
    found |= {
        "plan": plan["name"],
        "seed": seed,
        "seed_of_choice": campaign.seed,
        "rtl": str(folder),
        "rtl_digest": digest,
        "hardened_not_confirmed": sorted({own["group"] for own in built.hardened}),
        "latent": mechanisms,
        "watchdog": built.watchdog and {"limit": built.watchdog.limit, "false_alarms": beyond},
        "bit_exact": exact,
        "commands": [
            f"resil run {run / CAMPAIGN} --out {run} --resume"
            for run in sorted(path.parent for path in (folder / CONFIRMATION).glob(f"*/*/{CAMPAIGN}"))
        ],
    }
    _keep(run_dirs, plan, folder, found)
    return found


def _bit_exact(
    campaign: Campaign, built: Built, works: Mapping[str, Campaign], progress: Progress
) -> tuple[dict[str, Any], list[str]]:
    """Compare runs without a fault of all networks, those of the zoo too if the run's is one of them.

    Returns:
        What was equal, and other networks of the zoo whose operations take longer than a watchdog waits.
    """
    found = dict(works)
    limit = None if built.watchdog is None else built.watchdog.limit
    if isinstance(campaign.work, NetworkSettings) and campaign.work.path.startswith(ZOO_PREFIX):
        found |= {name: asked_work(campaign, name) for name in zoo.names() if name not in found}
    inputs = 0
    beyond = []
    for name, work in found.items():
        before = prepare(work, progress)
        if limit is not None and name not in works and longest_operation_of(before) >= limit:
            beyond.append(name)
            continue
        same_runs(before, prepare(replace(work, target=built.confirm_target), progress), progress, limit)
        inputs += len(before.inputs)
    return {"networks": sorted({*found} - {*beyond}), "inputs": inputs, "equal": True}, sorted(beyond)


def longest_operations(run_dirs: Sequence[Path], networks: Sequence[str], options: Path | None) -> list[int]:
    """Return the longest operations in cycles of the networks that a confirmation will run.

    A watchdog has to let them through; how long they take without a fault says nothing of what faults do.

    Args:
        run_dirs: The runs that choose.
        networks: As `verify_build` takes them.
        options: Likewise.

    Returns:
        One for each network; nothing if there is no watchdog to be offered.

    Raises:
        StoreError, HarnessError, NetworkError: As `verify_build`.
    """
    target = load_target(load_campaign(run_dirs[0] / CAMPAIGN).target)
    if WATCHDOG not in load_options(options).options or not target.operation:
        return []
    history = [entry for run_dir in run_dirs for entry in read_history(run_dir)]
    progress = Progress()
    works = fresh_works(run_dirs, history, networks)
    return [longest_operation_of(prepare(work, progress)) for work in works.values()]


def _upsets(
    campaign: Campaign, name: str, place: Path, built: Built, sizes: Sizes, progress: Progress
) -> Observed:
    """Inject upsets on one network, more of them into redundant storage."""
    kinds = campaign.faults.kinds
    redundant = built.bits_in(built.block, kinds)
    minima = {built.block: sizes.redundant} if redundant else {}
    injections = sizes.uniform + sizes.redundant * len(redundant)
    faults = FaultSettings(kinds, injections, 0, campaign.faults.clusters, minimum_in=minima)
    asked = replace(campaign, name=f"{name}-upsets", faults=faults, sampling=SamplingSettings())
    run_campaign(asked, place, resume=True, progress=progress)
    return observed_on(name, Run(place), built, asked)


def _stuck(
    campaign: Campaign,
    name: str,
    place: Path,
    built: Built,
    sizes: Sizes,
    progress: Progress,
    everything: bool,
) -> dict[str, Any]:
    """Hold bits of the mechanisms, and of all storage if asked, and count of how many an alarm tells."""
    if not built.copies and not built.timer:
        return {}
    kinds = ("ff", "macro")
    bits = {block: built.bits_in(block, kinds) for block in (built.block, built.alerts, built.timer)}
    minima = {block: sizes.stuck for block, found in bits.items() if found}
    # Each bit is held at 0 and at 1, on each input.
    each = 2 * len(prepare(campaign, progress).inputs)
    total = sum(min(each * n, sizes.stuck) for found in bits.values() for n in found.values())
    total += sizes.uniform if everything else 0
    faults = FaultSettings(kinds, total, 0, model=STUCK_AT, minimum_in=minima)
    asked = replace(campaign, name=f"{name}-stuck-at", faults=faults, sampling=SamplingSettings())
    run_campaign(asked, place, resume=True, progress=progress)
    told, injections = mechanism_counts(Run(place), built)
    return {"network": name, **latent_coverage(told, injections, campaign.confidence)}


def _keep(run_dirs: Sequence[Path], plan: Mapping[str, Any], folder: Path, found: Mapping[str, Any]) -> None:
    """Keep a confirmation beside the build, in the plan and in the runs' history, whatever it says."""
    write_text(folder / f"{CONFIRMATION}.json", json_text(dict(found)))
    entry = {key: found[key] for key in ("plan", "rtl", "rtl_digest", "seed", "confirmed")}
    entry["networks"] = [row["network"] for row in found["networks"]]
    record = read_json(folder / RECORD, "build it again")
    write_text(folder / RECORD, json_text({**record, "confirmed": found["confirmed"]}))
    keys = ("predicted", "measured", "bit_exact", "confirmed", "latent", "reasons", "commands", "rtl")
    for run_dir in run_dirs:
        text = json_text({"confirmations": [*read_history(run_dir), entry]})
        write_text(run_dir / PLANS / HISTORY, text)
        add_to_plan(run_dir, plan["name"], {key: found[key] for key in keys})


def confirmation_text(found: Mapping[str, Any]) -> str:
    """Return a confirmation as lines for a person."""
    lines = [
        f"{row['network']}: {row['fit']:.3g} [{row['fit_lo']:.3g}, {row['fit_hi']:.3g}] FIT, SPFM at least "
        f"{row['spfm_lo']:.3%}; {row['hazardous']} of {row['injections']:,} upsets hazardous"
        for row in found["networks"]
    ]
    copies, latent = found["copies"], found["latent"]
    if copies["injections"]:
        lines.append(
            f"redundant storage: {copies['hazardous']} of {copies['injections']:,} upsets hazardous: at "
            f"least {copies['harmless_lo']:.3%} harmless ({copies['confidence']:.0%} confidence)"
        )
    if latent:
        lines.append(
            f"stuck bits of mechanisms: {latent['told']} of {latent['injections']} told, at least "
            f"{latent['coverage_lo']:.1%}"
        )
    if dog := found["watchdog"]:
        told = ", ".join(f"{r['hangs_told']} of {r['hangs']} on {r['network']}" for r in found["networks"])
        lines.append(f"watchdog of {dog['limit']:,} cycles: hangs told {told}")
    if dog and dog["false_alarms"]:
        lines.append(
            f"NOT FOR {', '.join(dog['false_alarms'])}: operations longer than the watchdog waits, each run "
            "a false alarm"
        )
    if left := found["hardened_not_confirmed"]:
        lines.append(f"hardened cells cannot be confirmed in RTL: {', '.join(left)}; their range is in it")
    said = f"CONFIRMED by injection, seed {found['seed']}" if found["confirmed"] else "NOT CONFIRMED"
    lines.append(f"{said}: predicted {found['predicted']['fit']:.3g} FIT")
    lines += [f"  {reason}" for reason in found["reasons"]]
    return "\n".join(lines)
