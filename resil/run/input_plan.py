# SPDX-License-Identifier: Apache-2.0
"""How many inputs a campaign draws from its data set: planned from a pilot, which is a run of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.data_set import DataSet
from resil.campaign.sampling_settings import SamplingSettings
from resil.errors import CampaignError, ConsistencyError, StoreError
from resil.folder.finished import Finished, finished_run
from resil.folder.store import CAMPAIGN
from resil.progress import Progress
from resil.stats.input_spread import InputSpread, fewest_inputs
from resil.stats.two_stage import InputPlan, plan_inputs
from resil.work.data_set import PILOT_INPUTS, data_set_size

_SHARE = 0.1
_FEWEST, _MOST = 400, 2000
_PER_BLOCK = 10
NOTHING_SEEN = f"the {PILOT_INPUTS} inputs of the pilot, which saw no failure to plan from"


@dataclass(frozen=True)
class PlannedInputs:
    """How many inputs are worth their cost, and what says so.

    Attributes:
        plan: The figures.
        spread: What they rest on.
        origin: The run that gave it.
        golden_seconds: Of one input.
        injection_seconds: Of one injection.
        confidence: Of the campaign's intervals.
    """

    plan: InputPlan
    spread: InputSpread
    origin: str
    golden_seconds: float
    injection_seconds: float
    confidence: float

    @property
    def text(self) -> str:
        """The plan and its reasons, in sentences."""
        plan, varies = self.plan, 100 * (self.spread.variation or 0.0)
        each = "any number of" if plan.each == inf else f"{plan.each:,.0f}"
        expected = "" if plan.half_width is None else f", \N{PLUS-MINUS SIGN}{100 * plan.half_width:.0f} %"
        half = (
            ""
            if plan.half_as_many is None
            else f" (\N{PLUS-MINUS SIGN}{100 * plan.half_as_many:.0f} % with half as many)"
        )
        return (
            f"{plan.inputs} inputs{expected}{half}: by {self.origin}, inputs vary by {varies:.0f} %, a run "
            f"without a fault takes {self.golden_seconds:.3g} s and an injection "
            f"{1000 * self.injection_seconds:.3g} ms, so {each} injections an input are worth their cost; "
            f"runs without a fault are {100 * plan.golden_share:.0f} % of it. A bound for 95 % of the inputs "
            f"needs {fewest_inputs(confidence=self.confidence)} inputs, with a confidence of "
            f"{100 * self.confidence:g} %."
        )


def with_planned_inputs(
    campaign: Campaign, out: Path, progress: Progress, run: Callable[[Campaign, Path], object]
) -> Campaign:
    """Return the campaign with the number of inputs that its pilot asks for; as it is if it states one.

    The pilot's injections decide how many inputs are run and count nowhere, as those of a sampling plan do.
    A run that is there has its inputs: they are planned once, so that it can be finished, and grow.

    Args:
        campaign: What is asked.
        out: Its run folder; the pilot's lies beside it.
        progress: Where the plan goes.
        run: Carries a campaign out in a folder, as far as that is not done.

    Raises:
        As `run`.
    """
    data_set = campaign.data_set
    if data_set is None or data_set.draw is not None:
        return campaign
    if (kept := _kept(campaign, data_set, out)) is not None:
        progress.stage(f"{kept} inputs, as they were planned for the run in {out}")
        return drawing(campaign, data_set, kept)
    folder = pilot_folder(out)
    progress.stage(f"a pilot of {PILOT_INPUTS} inputs, in {folder}")
    run(pilot_campaign(campaign), folder)
    found = planned(campaign, finished_run(folder))
    progress.stage(f"planned: {NOTHING_SEEN if found is None else found.text}")
    return drawing(campaign, data_set, PILOT_INPUTS if found is None else found.plan.inputs)


def as_planned(campaign: Campaign, out: Path) -> Campaign:
    """Return the campaign with the inputs that `resil run` draws, if its run or its pilot is there to say."""
    data_set = campaign.data_set
    if data_set is None or data_set.draw is not None:
        return campaign
    if (kept := _kept(campaign, data_set, out)) is not None:
        return drawing(campaign, data_set, kept)
    if (pilot := _finished(pilot_folder(out))) is None:
        return campaign
    found = planned(campaign, pilot)
    return drawing(campaign, data_set, PILOT_INPUTS if found is None else found.plan.inputs)


def _kept(campaign: Campaign, data_set: DataSet, out: Path) -> int | None:
    """Return how many inputs the run in a folder has drawn of this data set; None if there is no such run."""
    try:
        recorded = load_campaign(out / CAMPAIGN)
    except CampaignError:
        return None
    own = recorded.data_set
    if own is None or own.draw is None or own.draw > data_set.most:
        return None
    same = recorded.network.path == campaign.network.path and replace(own, draw=None, most=data_set.most)
    return own.draw if same == data_set else None


def planned_before(campaign: Campaign, out: Path, hashes: Mapping[str, str]) -> PlannedInputs | str:
    """Return what is known of the inputs that are worth their cost before anything runs, or why nothing is.

    It rests on the campaign's own pilot, or on the latest run beside it of that network on that target.

    Args:
        campaign: What is asked.
        out: Its run folder.
        hashes: Digests of its network and target.
    """
    data_set = campaign.data_set
    if data_set is None or not data_set.drawn:
        return "inputs are not drawn"
    beside = sorted(out.absolute().parent.glob("*/provenance.json"), key=lambda p: -p.stat().st_mtime)
    for folder in (pilot_folder(out), *(path.parent for path in beside)):
        if (found := _finished(folder)) is None:
            continue
        ran = found.provenance.hashes
        same = all(ran.get(name) == hashes[name] for name in ("network", "target"))
        if same and (own := planned(campaign, found)):
            return own
    if data_set.draw is not None:
        return "no finished run with several inputs lies beside it, which would say how much they differ"
    return (
        f"a pilot of {PILOT_INPUTS} inputs and {pilot_campaign(campaign).faults.injections:,} injections "
        "comes first and says how many are worth their cost"
    )


def _finished(folder: Path) -> Finished | None:
    try:
        return finished_run(folder)
    except (StoreError, ConsistencyError):
        return None


def pilot_folder(out: Path) -> Path:
    """Return the run folder of the pilot of a campaign, beside its own."""
    place = out if out.name not in ("", "..") else out.resolve()
    return place.parent / f"{place.name}-pilot"


def pilot_campaign(campaign: Campaign) -> Campaign:
    """Return the pilot: few injections by block into a few inputs, with nothing to be judged."""
    injections = max(_FEWEST, min(_MOST, round(_SHARE * campaign.faults.injections)))
    faults = replace(campaign.faults, injections=injections, minimum_per_block=_PER_BLOCK, minimum_in={})
    own = replace(campaign, name=f"{campaign.name}, pilot", faults=faults, sampling=SamplingSettings())
    # What its injections cost is measured: none is taken from an earlier campaign.
    execution = replace(campaign.execution, recall=False)
    own = replace(own, budget=None, safety=None, execution=execution)
    assert campaign.data_set is not None
    return drawing(own, campaign.data_set, PILOT_INPUTS)


def drawing(campaign: Campaign, data_set: DataSet, count: int) -> Campaign:
    """Return the campaign with that many inputs drawn."""
    size = data_set_size(campaign.network, data_set)
    own = replace(data_set, draw=min(count, size, data_set.most), most=DataSet(None, 1).most)
    return replace(campaign, work=replace(campaign.network, inputs=own))


def planned(campaign: Campaign, found: Finished) -> PlannedInputs | None:
    """Return what a finished run on the same network and target says of the inputs that are worth their cost.

    None if it says nothing: one input, no failure, no time, or nothing simulated.
    """
    sampling, facts = found.summary.sampling, found.provenance
    if sampling is None or sampling.over_inputs.variation is None or not facts.seconds:
        return None
    inputs = len(found.summary.campaign.inputs)
    injections = found.summary.total.injections + sampling.pilot - facts.recalled
    if injections <= 0:
        return None
    mean = found.summary.total.fit or 0.0
    between = (sampling.over_inputs.variation * mean) ** 2
    spread = InputSpread(mean, between, sampling.over_inputs.within, inputs)
    golden = max(facts.golden_seconds / inputs, 1e-6)
    injection = max(facts.seconds / injections, 1e-9)
    data_set = campaign.data_set
    most = data_set.most if data_set is not None and data_set.draw is None else 1 << 20
    most = min(most, data_set_size(campaign.network, data_set)) if data_set is not None else most
    plan = plan_inputs(spread, campaign.faults.injections, golden, injection, most, campaign.confidence)
    return PlannedInputs(plan, spread, found.path.name, golden, injection, campaign.confidence)
