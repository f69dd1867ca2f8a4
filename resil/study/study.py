# SPDX-License-Identifier: Apache-2.0
"""A study: targets by networks, and what is asked of each pair."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from resil.campaign.campaign import Campaign, campaign_of
from resil.campaign.fault_settings import FaultSettings
from resil.campaign.rules import Rules
from resil.campaign.sampling_settings import SamplingSettings
from resil.campaign.work_settings import Work
from resil.protection.targets import Targets
from resil.protection.units import Granularity


@dataclass(frozen=True)
class StudyTarget:
    """A target of a study.

    Attributes:
        name: Of a shipped target, or of the file without its suffix.
        place: That name, or the absolute path of the file.
        estimate: Its cells are predicted, not injected.
    """

    name: str
    place: str | Path
    estimate: bool = False


@dataclass(frozen=True)
class StudyWork:
    """A network of a study, or memory images of the user's own.

    Attributes:
        name: For people, and of its folders.
        settings: As of a campaign.
        estimate: Its cells are predicted, not injected.
        on: Names of the targets that it runs on; empty for all.
    """

    name: str
    settings: Work
    estimate: bool = False
    on: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyCell:
    """A network on a target.

    Attributes:
        target: Name.
        network: Name.
        campaign: What is carried out.
        predicted: By `resil estimate` alone.
        folder: Of the run or the estimate, relative to the study's.
        permanent: Campaign of permanent faults that the cell's safety rows use; None if there is none.
    """

    target: str
    network: str
    campaign: Campaign
    predicted: bool
    folder: str
    permanent: Campaign | None = None

    @property
    def permanent_folder(self) -> str:
        """Of the run of permanent faults, relative to the study's."""
        return f"{self.folder}.permanent"

    def campaign_in(self, out: Path) -> Campaign:
        """Return the campaign; its safety rows use the run of permanent faults in the folder `out`."""
        safety = self.campaign.safety
        if self.permanent is None or safety is None:
            return self.campaign
        place = out.resolve() / self.permanent_folder
        return replace(self.campaign, safety=replace(safety, permanent=place))

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.network} on {self.target}"


@dataclass(frozen=True)
class ProtectionWanted:
    """Protection of each target that holds for all of its networks.

    Attributes:
        granularity: What it is chosen for.
        targets: What it has to keep; nothing: the budget of the study.
        options: File of options over those that ship; None for none.
        verify_networks: Zoo networks or campaign files, on which what was chosen is confirmed once it is
            built; nothing: it is neither built nor confirmed.
    """

    granularity: Granularity = Granularity.REGISTER
    targets: Targets = field(default_factory=Targets)
    options: Path | None = None
    verify_networks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A study file, checked.

    Attributes:
        file: Where it was read from; for messages and labels only.
        name: Label for people.
        rules: What all cells share. A cell has a seed of its own, made of the study's and of its name, so
            that cells are independent samples and do not change when others are added.
        targets: In the order of the file.
        works: Likewise.
        protection: What is asked of the protection of each target; None if none is.
        permanent: Which permanent faults are injected for the safety rows, and how they are chosen; None if
            none are.
        model: Sensitivity model of the cells that are estimated; None for the one that comes with resil.
        options: Words of the command line that replaced keys of the file; for messages only.
    """

    file: Path
    name: str
    rules: Rules
    targets: tuple[StudyTarget, ...]
    works: tuple[StudyWork, ...]
    protection: ProtectionWanted | None
    permanent: tuple[FaultSettings, SamplingSettings] | None = None
    model: Path | None = None
    options: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The name as that of a folder."""
        return slug_of(self.name) or "study"

    @property
    def cells(self) -> tuple[StudyCell, ...]:
        """All pairs of a target and what runs on it, target by target."""
        return tuple(
            self._cell(target, work)
            for target in self.targets
            for work in self.works
            if not work.on or target.name in work.on
        )

    def _cell(self, target: StudyTarget, work: StudyWork) -> StudyCell:
        predicted = target.estimate or work.estimate
        seed = int.from_bytes(
            sha256(f"{self.rules.head.seed}/{target.name}/{work.name}".encode()).digest()[:7], "big"
        )
        name = f"{self.name}: {work.name} on {target.name}"
        campaign = campaign_of(self.file, self.rules, name, seed, work.settings, target.place)
        folder = f"{slug_of(target.name)}/{slug_of(work.name)}{'.estimate' if predicted else ''}"
        return StudyCell(
            target.name, work.name, campaign, predicted, folder, self._permanent(campaign, predicted)
        )

    def _permanent(self, campaign: Campaign, predicted: bool) -> Campaign | None:
        if self.permanent is None or predicted:
            return None
        faults, sampling = self.permanent
        name = f"{campaign.name}, permanent faults"
        return replace(campaign, name=name, faults=faults, sampling=sampling, budget=None, safety=None)


def slug_of(name: str) -> str:
    """Return a name as that of a folder."""
    return re.sub(r"[^\w-]+", "-", name).strip("-")
