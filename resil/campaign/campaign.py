# SPDX-License-Identifier: Apache-2.0
"""The campaign file: what to inject into, how much, and against which budget."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from resil.campaign.data_set import DataSet
from resil.campaign.execution_keys import engine_tables
from resil.campaign.fault_settings import FaultSettings
from resil.campaign.key_places import Places, key_places
from resil.campaign.keys import TABLES
from resil.campaign.network_settings import NetworkSettings, read_network
from resil.campaign.overrides import Override, overridden, said, words
from resil.campaign.problems import Problems, UnreadError
from resil.campaign.rules import (
    BETWEEN,
    Budget,
    ExecutionSettings,
    Rules,
    Tables,
    read_rules,
)
from resil.campaign.safety import SafetySettings
from resil.campaign.sampling_settings import INPUTS, SamplingSettings
from resil.campaign.section import Section
from resil.campaign.technology_settings import TechnologySettings
from resil.campaign.testbench_rules import check_testbench
from resil.campaign.work_settings import Work, read_own_work, replays
from resil.errors import CampaignError
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.toml_file import read_toml


@dataclass(frozen=True)
class Campaign:
    """A campaign file, checked.

    Attributes:
        file: Where it was read from; for messages and labels only.
        name: Label for people.
        seed: Seed of the sampling.
        confidence: Of all intervals, 0.95 for 95 %.
        work: What the target runs: a network that is compiled for it, memory images of the user's own, a
            recording, or a test of cocotb.
        target: Name of a shipped target, or the absolute path of a target file.
        faults: What is injected.
        sampling: How the faults are chosen.
        execution: How.
        technology: Raw upset rates.
        budget: None if no verdict is asked for.
        hazardous: Outcomes that count as failures.
        liberty: Cell library for the area; None for the built-in gate equivalents.
        safety: What the safety verdict is asked about; None if none is.
        inferences: How many a run makes: 1 or 2 of its input, of which faults strike in the first, or any
            number of a network with variables, of which faults strike in each.
        between: What the host does to the NPU before the second: "rewrite" all registers, or "reset" it too.
        options: Words of the command line that replaced keys of the file; for messages only.
    """

    file: Path
    name: str
    seed: int
    confidence: float
    work: Work
    target: str | Path
    faults: FaultSettings
    sampling: SamplingSettings
    execution: ExecutionSettings
    technology: TechnologySettings
    budget: Budget | None
    hazardous: tuple[str, ...]
    liberty: Path | None
    safety: SafetySettings | None = None
    inferences: int = 1
    between: str = BETWEEN[0]
    options: tuple[str, ...] = field(default=(), compare=False)

    def with_workers(self, workers: int | None) -> Campaign:
        """Return the campaign with as many simulator processes; as it is if None are said."""
        return self if workers is None else replace(self, execution=replace(self.execution, workers=workers))

    @property
    def network(self) -> NetworkSettings:
        """The network; CampaignError if the campaign has none, but a workload."""
        if isinstance(self.work, NetworkSettings):
            return self.work
        raise CampaignError(
            f"{self.file}: expected a table [network], found [workload]; this needs a network that was "
            "compiled for the target",
            "network",
        )

    @property
    def replays(self) -> bool:
        """Whether a recording drives the target: one that is given, or one of a test."""
        return replays(self.work, self.execution.engine)

    @property
    def data_set(self) -> DataSet | None:
        """What inputs are drawn from; None if they are listed."""
        inputs = self.work.inputs if isinstance(self.work, NetworkSettings) else None
        return inputs if isinstance(inputs, DataSet) else None

    @property
    def over_inputs(self) -> bool:
        """Whether what is asked is about inputs like those that are run: drawn ones stand for others."""
        if self.sampling.inputs is not None:
            return self.sampling.inputs == INPUTS[1]
        return self.data_set is not None and self.data_set.drawn

    @property
    def detection_cycles(self) -> int | None:
        """Cycles from a fault to its alarm within which it counts as detected; None if any alarm does."""
        return None if self.safety is None else self.safety.detection_cycles

    @property
    def slug(self) -> str:
        """The name as that of a folder."""
        return re.sub(r"[^\w-]+", "-", self.name).strip("-") or "campaign"


def load_campaign(path: str | Path, overrides: Sequence[Override] = ()) -> Campaign:
    """Read and check a campaign file. Nothing is run.

    Args:
        path: A TOML file; paths in it are relative to its folder.
        overrides: Keys that have other values than in the file; paths are relative to its folder, too.

    Returns:
        What it asks for, with all defaults filled in; `run_campaign` carries it out.

    Raises:
        CampaignError: the file cannot be read; a key is missing, unknown, of the wrong type or out of range.

    Examples:
        >>> from resil import load_campaign
        >>> campaign = load_campaign("campaign.toml")
        >>> campaign.name, campaign.faults.injections, campaign.hazardous
        ('small', 200, ('sdc_critical', 'hang'))
    """
    try:
        path = Path(path).expanduser().absolute()
        text, tables = read_toml(path, "campaign file")
    except (HarnessError, RuntimeError) as error:
        raise CampaignError(str(error), "file") from None
    return parse_campaign(path, tables, key_places(text), overrides)


def parse_campaign(
    file: Path,
    tables: Mapping[str, Any],
    places: Places | None = None,
    overrides: Sequence[Override] = (),
) -> Campaign:
    """Check the tables of a campaign file; see `load_campaign`.

    Args:
        file: For messages, and what paths are relative to.
        tables: Content of the file.
        places: Where its keys stand, if that is known.
        overrides: Keys that have other values.

    Raises:
        CampaignError: something is wrong; all of it is said.
    """
    tables = overridden(tables, overrides)
    problems = Problems(file, places or {}, said(overrides))
    known = Tables(problems, tables, TABLES | engine_tables())
    rules = read_rules(known, "campaign", own_work="workload" in tables)
    head = rules.head
    work = problems.attempt(lambda: _work(file, known, head.name if "campaign" in tables else ""))
    target = problems.attempt(lambda: read_target(known.section("target", required=True)))
    problems.finish()
    campaign = campaign_of(file, rules, head.name, head.seed, work, target)
    return replace(campaign, options=words(overrides))


def campaign_of(
    file: Path,
    rules: Rules,
    name: str,
    seed: int,
    work: Work,
    target: str | Path,
) -> Campaign:
    """Return the campaign that these rules make of a work on a target.

    Raises:
        CampaignError: a claim about other inputs is made of inputs that were searched for.
    """
    campaign = Campaign(
        file=file,
        name=name,
        seed=seed,
        confidence=rules.head.confidence,
        work=work,
        target=target,
        faults=rules.faults,
        sampling=rules.sampling,
        execution=rules.execution,
        technology=rules.technology,
        budget=rules.budget,
        hazardous=rules.hazardous,
        liberty=rules.liberty,
        safety=rules.safety,
        inferences=rules.head.inferences,
        between=rules.head.between,
    )
    check_testbench(campaign)
    if campaign.over_inputs and campaign.data_set is not None and not campaign.data_set.drawn:
        raise CampaignError(
            f'{file}: [sampling] inputs: expected "{INPUTS[0]}" with inputs that are searched for '
            f'([network.inputs] hardest), found "{INPUTS[1]}"; inputs are a sample only if they are drawn: '
            "give draw in place of hardest, or remove the key",
            "sampling.inputs",
        )
    return campaign


def _work(file: Path, tables: Tables, name: str) -> Work:
    given = [table for table in ("network", "workload") if table in tables]
    if len(given) != 1:
        found = "both" if given else "neither"
        if not given and tables.meant & {"network", "workload"}:
            raise UnreadError
        raise CampaignError(
            f"{file}: expected either a table [network], for a target that runs compiled networks, or a "
            f"table [workload], for any other, found {found}; keep or add one",
            "network",
        )
    if given == ["workload"]:
        return read_own_work(tables.section("workload"), name)
    return read_network(tables.section("network"))


def read_target(section: Section) -> str | Path:
    """Check a table that names a target, or gives its file."""
    if section.has("name") == section.has("file"):
        note, found = (section.wrong, "both") if section.has("name") else (section.missing, "neither")
        note("name", "either a name or a file", found, "name a shipped target or give a target file")
        section.finish()
        return ""
    target = section.text("name") if section.has("name") else section.path("file", "a target file")
    section.finish()
    return target
